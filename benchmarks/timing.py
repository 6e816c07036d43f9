"""Time an iteration with ExpandingBounds against a plain BoTorch iteration, on one thread.

Per dimension and number of data, in one run and interleaved:

  fit       SingleTaskGP with default priors, fit_gpytorch_mll (the same model for all)
  plain     optimize_acqf of UpperConfidenceBound, 10 restarts, 512 raw samples, in the same box
  quiet     ExpandingBounds.suggest at a step at which the trigger cannot fire (t_local = 2)
  watchful  ExpandingBounds.suggest at a step that computes the regret bound (t_local = 6)
  geometry  ExpandingBounds.update at a first step: summary, radius, beta, box, nothing else

An iteration is fit plus one of these. Targets: geometry under 5 % of a plain iteration, an
iteration without expansion under 1.2 times the plain one. Ratios are of medians over repeats;
in brackets the ratio of minima, which a busy machine disturbs least.
"""

from __future__ import annotations

import argparse
import copy
import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import torch
from botorch.acquisition import UpperConfidenceBound
from botorch.exceptions.warnings import BotorchWarning
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

from benchmarks.metadata import collect_metadata
from benchmarks.problems import Problem, get_problem, start_box, start_points
from botorch_ubo import ExpandingBounds, default_model
from botorch_ubo.boxes import scale_about_center

NAME = "time"
HELP = "time an iteration with ExpandingBounds against a plain BoTorch one"

PROBLEM_OF_DIM = {2: "levy2", 6: "hartmann6", 10: "levy10"}
STEPS_SINCE_EXPANSION = {"quiet": 1, "watchful": 5}  # t_local - 1
VARIANTS = ("plain", *STEPS_SINCE_EXPANSION, "geometry")
GEOMETRY_TARGET = 0.05
ITERATION_TARGET = 1.2
SPREAD = 3.0  # side of the box of the later data, in start boxes


@dataclass(frozen=True)
class Case:
    """Data and prepared controllers for one dimension and number of data."""

    X: Tensor
    Y: Tensor
    box: Tensor
    """The start box."""
    states: dict[str, dict[str, Any]]
    """State of a controller that last moved 1 or 5 evaluations ago, per variant."""
    beta: float
    bounds: Tensor
    """The box that every variant searches."""


@dataclass(frozen=True)
class Measurement:
    """Seconds of every repeat for one dimension and number of data."""

    dim: int
    n: int
    problem: str
    seconds: dict[str, list[float]]
    """``fit`` and each variant without its fit."""
    moved: dict[str, bool]
    """Whether a box moved where it should not have: its times then hold two optimisations."""

    def search_ratio(self, variant: str) -> float:
        """Suggestion against plain search, both without the fit, which is slow and hides it."""
        return median(self.seconds[variant]) / median(self.seconds["plain"])

    def ratio(self, variant: str, statistic: Callable[[Sequence[float]], float] = median) -> float:
        """An iteration relative to the plain one; for ``geometry`` its share of the plain one."""
        fit = statistic(self.seconds["fit"])
        own = statistic(self.seconds[variant]) + (0.0 if variant == "geometry" else fit)
        return own / (fit + statistic(self.seconds["plain"]))


def fit_model(X: Tensor, Y: Tensor, box: Tensor) -> SingleTaskGP:
    """The fitted model of every variant."""
    model = default_model(X, Y, box)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def draw_data(problem: Problem, box: Tensor, n: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Half of the data in the start box, half (the later ones) spread around it."""
    first = start_points(box, n - n // 2, seed)
    later = start_points(scale_about_center(box, SPREAD), n // 2, seed + 1)
    X = torch.cat([first, later])
    return X, problem(X)


def prepare_case(problem: Problem, n: int, seed: int = 0) -> Case:
    """Fit the models of the last expansions, outside the timing."""
    box = start_box(problem, seed)
    X, Y = draw_data(problem, box, n, seed)
    states = {}
    for variant, steps in STEPS_SINCE_EXPANSION.items():
        controller = ExpandingBounds.corrected(box)
        record = controller.update(fit_model(X[: n - steps], Y[: n - steps], box))
        assert record is not None  # the first step always moves the box
        states[variant] = controller.state_dict()
    return Case(X=X, Y=Y, box=box, states=states, beta=record.beta, bounds=controller.bounds)


def time_variant(variant: str, model: SingleTaskGP, case: Case) -> tuple[float, bool]:
    """Seconds of one variant on a model without caches, and whether the box moved."""
    model = copy.deepcopy(model)  # drops the prediction caches
    controller = ExpandingBounds.corrected(case.box)
    if variant in case.states:
        controller.load_state_dict(case.states[variant])
    moves = len(controller.history)
    torch.manual_seed(0)
    began = time.perf_counter()
    if variant == "plain":
        ucb = UpperConfidenceBound(model, beta=torch.tensor(case.beta, dtype=torch.double))
        optimize_acqf(ucb, bounds=case.bounds, q=1, num_restarts=10, raw_samples=512)
    elif variant == "geometry":
        controller.update(model)
    else:
        controller.suggest(model)
    seconds = time.perf_counter() - began
    return seconds, variant != "geometry" and len(controller.history) > moves


def measure(dim: int, n: int, repeats: int, seed: int = 0) -> Measurement:
    """Time all variants in turn, ``repeats`` times, after one round that does not count."""
    name = PROBLEM_OF_DIM[dim]
    case = prepare_case(get_problem(name), n, seed)
    seconds: dict[str, list[float]] = {key: [] for key in ("fit", *VARIANTS)}
    moved = dict.fromkeys(VARIANTS, False)
    for repeat in range(repeats + 1):
        began = time.perf_counter()
        model = fit_model(case.X, case.Y, case.box)
        taken = {"fit": time.perf_counter() - began}
        turn = repeat % len(VARIANTS)
        for variant in VARIANTS[turn:] + VARIANTS[:turn]:
            taken[variant], moves = time_variant(variant, model, case)
            moved[variant] |= moves
        if repeat > 0:
            for key, value in taken.items():
                seconds[key].append(value)
    return Measurement(dim=dim, n=n, problem=name, seconds=seconds, moved=moved)


def format_table(measurements: Sequence[Measurement]) -> str:
    """Times in milliseconds, ratios, and whether the targets are met."""
    header = "  d    n |    fit   plain   quiet watchful geometry |  quiet/plain  watchful/plain"
    lines = [f"{header}  geometry/plain | without fit", "-" * 115]
    for m in measurements:
        times = [1e3 * median(m.seconds[key]) for key in ("fit", *VARIANTS)]
        ratios = [f"{m.ratio(key):.2f} ({m.ratio(key, min):.2f})" for key in STEPS_SINCE_EXPANSION]
        share = f"{m.ratio('geometry'):.1%} ({m.ratio('geometry', min):.1%})"
        cells = " ".join(f"{value:7.1f}" for value in times)
        bare = "  ".join(f"{m.search_ratio(key):.2f}" for key in STEPS_SINCE_EXPANSION)
        note = "  box moved!" if any(m.moved.values()) else ""
        lines.append(
            f"{m.dim:3d} {m.n:4d} | {cells} | {ratios[0]:>12} {ratios[1]:>15} {share:>15} | "
            f"{bare}{note}"
        )
    worst = max(m.ratio(key) for m in measurements for key in STEPS_SINCE_EXPANSION)
    share = max(m.ratio("geometry") for m in measurements)
    lines.append(
        "times in ms; ratios of whole iterations, medians (minima); without fit: quiet, watchful"
    )
    lines.append(
        f"largest iteration ratio {worst:.2f}, target {ITERATION_TARGET}: "
        f"{'met' if worst < ITERATION_TARGET else 'MISSED'}; largest geometry share {share:.1%}, "
        f"target {GEOMETRY_TARGET:.0%}: {'met' if share < GEOMETRY_TARGET else 'MISSED'}"
    )
    return "\n".join(lines)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "--dims", type=int, nargs="+", default=[2, 6, 10], choices=PROBLEM_OF_DIM,
        help="default: %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[20, 100, 500], metavar="N",
        help="numbers of data, 10 or more; default: %(default)s",
    )  # fmt: skip
    parser.add_argument("--repeats", type=int, default=7, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="of the data; default: %(default)s")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write JSON here")


def run(arguments: argparse.Namespace) -> int:
    """Measure, print the table, write JSON."""
    if min(arguments.sizes) < 10 or arguments.repeats < 1:
        raise SystemExit("expected --sizes of 10 or more and --repeats of 1 or more")
    metadata = collect_metadata()
    measurements = []
    with warnings.catch_warnings():
        # A stock call in an expanded box warns that all its starts lie on the plateau.
        warnings.simplefilter("ignore", BotorchWarning)
        for dim in arguments.dims:
            for n in arguments.sizes:
                measurements.append(measure(dim, n, arguments.repeats, arguments.seed))
                print(f"measured d={dim}, n={n}", flush=True)
    print(format_table(measurements))
    if arguments.out is not None:
        rows = [asdict(m) for m in measurements]
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(json.dumps({"metadata": metadata, "cases": rows}, indent=1))
    return 0
