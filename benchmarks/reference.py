"""Run our two presets of the paper's method from the same starts as the authors' own runs.

Reads JSON files `FUNCTION_SEED.json` with keys initial_box (d x 2), X, Y, num_initial and boxes
(values for maximisation), runs `as_published` and `corrected` from the same box and initial
points for the same number of evaluations, and prints the normalised log-regret

    log10(max(regret / regret of the best initial point, 1e-4))

side by side, with the first expansion's box compared with the authors'. Lower is better.
With --out, finished runs are kept and skipped the next time.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from botorch.exceptions.errors import ModelFittingError
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

from benchmarks.metadata import collect_metadata
from benchmarks.problems import Problem, get_problem
from botorch_ubo import ExpandingBounds, default_model, published_model

NAME = "reference"
HELP = "compare the presets with runs of the authors' code from the same starts"

# The authors' names of functions, which the files carry, and ours.
PROBLEM_OF = {
    "Beale": "beale",
    "Eggholder": "eggholder",
    "Hartman3": "hartmann3",
    "Hartman6": "hartmann6_authors",
    "Levy3": "levy3_authors",
    "LevyT3": "levy3",
    "LevyT10": "levy10",
    "Ackley10": "ackley10",
}
PRESETS = ("as_published", "corrected")
LOG_REGRET_FLOOR = 1e-4
FIT_RESTARTS = 8  # the authors' scikit-learn GP used 25, of which most end in the same optimum


@dataclass(frozen=True)
class ReferenceRun:
    """A run of the authors' code."""

    function: str
    seed: int
    initial_box: Tensor
    """``2 x d``."""
    X: Tensor
    Y: Tensor
    """``n x 1``."""
    num_initial: int
    boxes: list[Tensor]
    """``2 x d`` each, after each of its expansions."""


@dataclass(frozen=True)
class Run:
    """A run of one of our presets."""

    function: str
    preset: str
    seed: int
    X: list[list[float]]
    Y: list[float]
    num_initial: int
    boxes: list[list[list[float]]]
    """``2 x d`` each, after each expansion."""
    expansions: list[str]
    """The reasons, one line each."""
    seconds: float


def read_reference(path: Path) -> ReferenceRun:
    """Read and check one file of the authors' runs."""
    values = json.loads(path.read_text())
    missing = {"function", "seed", "initial_box", "X", "Y", "num_initial", "boxes"} - set(values)
    if missing:
        raise ValueError(f"{path}: expected a run of the authors' code; it lacks {sorted(missing)}")
    return ReferenceRun(
        function=values["function"],
        seed=values["seed"],
        initial_box=torch.tensor(values["initial_box"], dtype=torch.double).T.contiguous(),
        X=torch.tensor(values["X"], dtype=torch.double),
        Y=torch.tensor(values["Y"], dtype=torch.double).reshape(-1, 1),
        num_initial=values["num_initial"],
        boxes=[torch.tensor(box, dtype=torch.double).T.contiguous() for box in values["boxes"]],
    )


def fit(model: SingleTaskGP) -> float:
    """Fit by marginal likelihood; the value reached per observation, or -inf on failure."""
    mll = ExactMarginalLogLikelihood(model.likelihood, model)
    try:
        fit_gpytorch_mll(mll)
    except ModelFittingError:
        return -math.inf
    model.train()
    with torch.no_grad():
        value = float(mll(model(*model.train_inputs), model.train_targets))
    model.eval()
    return value if math.isfinite(value) else -math.inf


def fit_published_model(
    X: Tensor, Y: Tensor, box: Tensor, seed: int, restarts: int = FIT_RESTARTS
) -> SingleTaskGP:
    """The authors' GP, with the best marginal likelihood over restarts.

    Initial length-scales spread from 0.01 to 100 times the first box's mean side (one in each
    part of a log-uniform grid), as a stand-in for the 25 random restarts of scikit-learn.
    """
    generator = torch.Generator().manual_seed(seed + 1009 * len(X))
    offsets = torch.rand(restarts, generator=generator, dtype=torch.double)
    exponents = -2 + 4 * (torch.arange(restarts) + offsets) / restarts
    best, best_value = None, -math.inf
    for lengthscale in (box[1] - box[0]).mean() * 10**exponents:
        model = published_model(X, Y)
        model.covar_module.outputscale = 1.0
        model.covar_module.base_kernel.lengthscale = lengthscale.clamp(1.01e-5, 0.99e5)
        value = fit(model)
        if value > best_value:
            best, best_value = model, value
    if best is None:
        raise ModelFittingError(f"No restart of the published model's fit succeeded (n={len(X)}).")
    return best


def fit_default_model(X: Tensor, Y: Tensor, box: Tensor, seed: int) -> SingleTaskGP:
    """Our recommended GP, fitted by maximum a posteriori."""
    model = default_model(X, Y, box)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


FITS: dict[str, Callable[[Tensor, Tensor, Tensor, int], SingleTaskGP]] = {
    "as_published": fit_published_model,
    "corrected": fit_default_model,
}


def run_preset(preset: str, problem: Problem, start: ReferenceRun, evaluations: int) -> Run:
    """Run a preset from the start of a run of the authors'."""
    X, Y = start.X[: start.num_initial], start.Y[: start.num_initial]
    box = getattr(ExpandingBounds, preset)(start.initial_box, seed=start.seed)
    began = time.perf_counter()
    for _ in range(evaluations):
        model = FITS[preset](X, Y, start.initial_box, start.seed)
        x = box.suggest(model)
        X, Y = torch.cat([X, x]), torch.cat([Y, problem(x)])
    return Run(
        function=start.function,
        preset=preset,
        seed=start.seed,
        X=X.tolist(),
        Y=Y.flatten().tolist(),
        num_initial=start.num_initial,
        boxes=[[list(row) for row in record.new_bounds] for record in box.history],
        expansions=[str(record) for record in box.history],
        seconds=time.perf_counter() - began,
    )


def log_regret(Y: Tensor, num_initial: int, optimal_value: float) -> float:
    """``log10`` of the final regret relative to that of the best initial point, from -4."""
    first = optimal_value - float(Y[:num_initial].max())
    last = optimal_value - float(Y.max())
    return math.log10(max(last / first, LOG_REGRET_FLOOR))


def side_differences(box: Tensor, reference: Tensor) -> Tensor:
    """``d`` relative differences of the sides of two ``2 x d`` boxes."""
    side, expected = box[1] - box[0], reference[1] - reference[0]
    return (side - expected) / expected


def parse_seeds(text: str) -> list[int]:
    """``"0-2,5"`` to ``[0, 1, 2, 5]``."""
    seeds: list[int] = []
    try:
        for part in text.split(","):
            first, _, last = part.partition("-")
            seeds.extend(range(int(first), int(last or first) + 1))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected seeds like 0-5 or 0,2,4; got {text!r}"
        ) from None
    return seeds


def read_runs(path: Path | None) -> dict[tuple[str, str, int], Run]:
    """Finished runs of a JSONL file; a last line cut short by an interruption is dropped."""
    runs: dict[tuple[str, str, int], Run] = {}
    if path is None or not path.exists():
        return runs
    for line in path.read_text().splitlines():
        try:
            values = json.loads(line)
        except json.JSONDecodeError:
            continue
        values.pop("metadata", None)
        run = Run(**values)
        runs[run.function, run.preset, run.seed] = run
    return runs


def append_run(path: Path, run: Run) -> None:
    """Append a run with its metadata as one line of JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    cut_short = path.exists() and not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0
    with path.open("a") as file:
        line = json.dumps({**asdict(run), "metadata": collect_metadata()})
        file.write(("\n" if cut_short else "") + line + "\n")


def format_table(references: Iterable[ReferenceRun], runs: dict[tuple[str, str, int], Run]) -> str:
    """Mean log-regret per function with the seeds' values, and the first boxes compared."""
    by_function: dict[str, list[ReferenceRun]] = {}
    for reference in references:
        by_function.setdefault(reference.function, []).append(reference)
    lines = ["log10(regret / best initial regret), mean and per seed (lower is better)"]
    for function, group in by_function.items():
        optimal = get_problem(PROBLEM_OF[function]).optimal_value
        lines.append(f"{function} (seeds {', '.join(str(r.seed) for r in group)})")
        values = [log_regret(r.Y, r.num_initial, optimal) for r in group]
        lines.append(_row("authors", values))
        for preset in PRESETS:
            done = [runs.get((function, preset, r.seed)) for r in group]
            lines.append(_row(preset, [_run_regret(run, optimal) for run in done]))
    lines.append("first expansion: sides relative to the authors' first box, minus 1, mean over d")
    for function, group in by_function.items():
        for preset in PRESETS:
            done = [runs.get((function, preset, r.seed)) for r in group]
            values = [_first_box(run, r) for run, r in zip(done, group, strict=True)]
            lines.append(_row(f"{function} {preset}", values))
    return "\n".join(lines)


def _run_regret(run: Run | None, optimal_value: float) -> float:
    if run is None:
        return math.nan
    return log_regret(torch.tensor(run.Y, dtype=torch.double), run.num_initial, optimal_value)


def _first_box(run: Run | None, reference: ReferenceRun) -> float:
    if run is None or not run.boxes or not reference.boxes:
        return math.nan
    box = torch.tensor(run.boxes[0], dtype=torch.double)
    return float(side_differences(box, reference.boxes[0]).mean())


def _row(label: str, values: list[float]) -> str:
    known = [value for value in values if not math.isnan(value)]
    mean = sum(known) / len(known) if known else math.nan
    cells = " ".join(f"{value:+6.2f}" for value in values)
    return f"  {label:<24} {mean:+6.2f}   [{cells}]"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "--reference", type=Path, required=True, metavar="DIR", help="the authors' runs"
    )
    parser.add_argument(
        "--functions", nargs="+", default=["Beale", "Hartman3", "Levy3"], choices=PROBLEM_OF,
        metavar="NAME", help=f"of {', '.join(PROBLEM_OF)} (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--seeds", type=parse_seeds, default="0-5", help="default: %(default)s")
    parser.add_argument("--presets", nargs="+", default=PRESETS, choices=PRESETS)
    parser.add_argument("--out", type=Path, metavar="FILE", help="JSONL of runs, to resume from")
    parser.add_argument(
        "--evaluations", type=int, metavar="N", help="after the initial points; default: theirs"
    )
    parser.add_argument("--report-only", action="store_true", help="print what --out holds")


def run(arguments: argparse.Namespace) -> int:
    """Run what is missing and print the comparison."""
    paths = [
        arguments.reference / f"{function}_{seed}.json"
        for function in arguments.functions
        for seed in arguments.seeds
    ]
    absent = [str(path) for path in paths if not path.exists()]
    if absent:
        raise SystemExit(f"no such runs of the authors': {', '.join(absent)}")
    references = [read_reference(path) for path in paths]
    runs = read_runs(arguments.out)
    for reference in () if arguments.report_only else references:
        for preset in arguments.presets:
            _run_if_missing(arguments, reference, preset, runs)
    print(format_table(references, runs))
    return 0


def _run_if_missing(
    arguments: argparse.Namespace,
    reference: ReferenceRun,
    preset: str,
    runs: dict[tuple[str, str, int], Any],
) -> None:
    key = reference.function, preset, reference.seed
    if key in runs:
        return
    evaluations = arguments.evaluations or len(reference.X) - reference.num_initial
    done = run_preset(preset, get_problem(PROBLEM_OF[key[0]]), reference, evaluations)
    runs[key] = done
    print(
        f"{key[0]} {preset} seed {key[2]}: best {max(done.Y):.4g}, {done.seconds:.0f} s", flush=True
    )
    if arguments.out is not None:
        append_run(arguments.out, done)
