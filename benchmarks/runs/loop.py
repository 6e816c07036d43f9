"""One run: a method on a problem with a seed, to one record."""

import math
import time
import traceback
import warnings

import torch
from botorch.exceptions.warnings import BotorchWarning
from linear_operator.utils.warnings import NumericalWarning
from torch import Tensor

from benchmarks.methods.contender import Clock, Contender
from benchmarks.methods.registry import load_plugins, make_contender, place_start
from benchmarks.problems.problem import Problem, Sources, Start, make_start, observe
from benchmarks.problems.reference import AUTHORS, NAMES, read_authors_run
from benchmarks.problems.registry import find_problem
from benchmarks.runs.metadata import collect_metadata
from benchmarks.runs.records import PHASES, Record


def run_one(
    problem_name: str,
    method: str,
    seed: int,
    sources: Sources | None = None,
    budget: int | None = None,
) -> Record:
    """Run a method on a problem.

    A failing method gives a record too, with the traceback and the evaluations before it. A
    problem that does not exist or cannot evaluate its initial points is no method's fault: that
    is raised.

    Args:
        problem_name: A name of :mod:`benchmarks.problems.registry`.
        method: A name of :mod:`benchmarks.methods.registry`, or ``"authors"``.
        seed: Of start box, initial points, noise and method.
        sources: Where problems that need files find them.
        budget: Evaluations after the initial points, instead of the problem's own.
    """
    torch.set_num_threads(1)
    sources = sources or Sources()
    load_plugins(sources.plugins)
    began = time.perf_counter()
    problem = find_problem(problem_name, seed, sources)
    start = make_start(problem, seed, None if method == AUTHORS else budget)
    record = begin_record(problem, start, method, seed)
    if method == AUTHORS:
        _copy_authors_run(record, problem, sources)
        return record
    own = place_start(method, problem, start, seed)
    evaluate(record, problem, own.X)
    if (
        own is not start and record.start_value is None
    ):  # what is gained counts from the start that others have
        record.start_value = float(problem(start.X).nan_to_num(nan=-math.inf).max())
    if problem.target_share is not None and problem.optimal_value is not None:
        first = record.best if record.start_value is None else record.start_value
        regret = problem.optimal_value - first
        record.target = problem.optimal_value - problem.target_share * regret
    with warnings.catch_warnings():
        # They concern single fits and searches, of which there are thousands in a sweep.
        for category in (BotorchWarning, NumericalWarning, RuntimeWarning):
            warnings.simplefilter("ignore", category)
        try:
            _run(record, problem, own)
        except Exception:
            record.status, record.error = "failed", traceback.format_exc()
    record.metadata["seconds_total"] = round(time.perf_counter() - began, 3)
    return record


def begin_record(problem: Problem, start: Start, method: str, seed: int) -> Record:
    """The record of a run that has evaluated nothing yet."""
    return Record(
        problem=problem.name,
        method=method,
        seed=seed,
        dim=problem.dim,
        num_initial=len(start.X),
        budget=start.budget,
        start_box=start.box.tolist(),
        Y_observed=[] if problem.is_noisy else None,
        scored_inside_only=problem.unbounded,
        optimal_value=problem.optimal_value,
        start_value=problem.start_value,
        distance=problem.distance,
        seconds={phase: [] for phase in PHASES},
        metadata={**collect_metadata(), "device": "cpu", "problem": problem.notes},
    )


def evaluate(record: Record, problem: Problem, X: Tensor) -> None:
    """Evaluate points one by one and keep what came out."""
    for x in X.detach().cpu().double():
        value = float(problem(x.unsqueeze(0)))
        failed = not math.isfinite(value)
        if not bool(x.isfinite().all()) or (failed and not problem.may_fail):
            raise FloatingPointError(f"Expected a finite value; got {value} at {x.tolist()}.")
        if record.Y_observed is not None:
            seen = observe(problem, x.unsqueeze(0), value, record.seed, len(record.Y))
            record.Y_observed.append(None if failed else seen)
        record.X.append(x.tolist())
        record.Y.append(None if failed else value)
        record.inside += problem.contains(x.unsqueeze(0))


def suggest(record: Record, contender: Contender, clock: Clock) -> Tensor:
    """The contender's next point, from all that was observed so far."""
    X = torch.tensor(record.X, dtype=torch.double)
    observed = record.Y if record.Y_observed is None else record.Y_observed
    Y = torch.tensor([math.nan if y is None else y for y in observed], dtype=torch.double)
    return contender.suggest(X, Y.unsqueeze(-1), clock)


def _run(record: Record, problem: Problem, start: Start) -> None:
    contender = make_contender(record.method, problem, start, record.seed)
    for t in range(start.budget):
        if record.target is not None and record.best >= record.target:
            break
        clock = Clock()
        x = suggest(record, contender, clock)
        with clock.phase("evaluate"):
            evaluate(record, problem, x)
        if contender.bounds is not None:
            bounds = contender.bounds.tolist()
            if not record.boxes or record.boxes[-1]["bounds"] != bounds:
                record.boxes.append({"t": t, "bounds": bounds})
        for phase in PHASES:
            record.seconds[phase].append(round(clock.seconds[phase], 6))


def _copy_authors_run(record: Record, problem: Problem, sources: Sources) -> None:
    """Fill in the authors' run behind a problem ``ref_...``.

    The values are their file's, not ours at the same points. It has the boxes but not the steps
    at which they moved: only the first, which is that of the first suggestion, has one. Of their
    seconds there is the mean.
    """
    if problem.name not in NAMES:
        raise ValueError(
            f"Expected a problem of the authors' runs ({', '.join(NAMES)}); got {problem.name}."
        )
    run = read_authors_run(problem.name, record.seed, sources)
    record.X, record.Y, record.inside = run.X.tolist(), run.Y.tolist(), problem.contains(run.X)
    record.boxes = [{"t": 0, "bounds": box.tolist()} for box in run.boxes[:1]]
    record.seconds = {phase: [0.0] * record.budget for phase in PHASES}
    record.seconds["acquisition"] = [run.seconds] * record.budget
    record.metadata = {"problem": problem.notes, "source": "runs of the authors' code"}
