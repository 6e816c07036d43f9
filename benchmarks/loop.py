"""One run: a method on a problem with a seed, to one record."""

from __future__ import annotations

import math
import time
import traceback
import warnings
from typing import Any

import torch
from botorch.exceptions.warnings import BotorchWarning
from linear_operator.utils.warnings import NumericalWarning
from torch import Tensor

from benchmarks.catalog import Sources, Start, draw_noise, find_problem, make_start
from benchmarks.contender import Clock
from benchmarks.contenders import AUTHORS, make_contender
from benchmarks.convert import convert_authors_run
from benchmarks.metadata import collect_metadata
from benchmarks.problems import Problem
from benchmarks.records import PHASES, Record


class Trace:
    """The evaluations of a run so far."""

    def __init__(self, problem: Problem, start: Start, seed: int) -> None:
        self.problem, self.start, self.seed = problem, start, seed
        self.X = start.X[:0]
        self.Y: list[float] = []
        self.observed: list[float] = []
        self.boxes: list[dict[str, Any]] = []
        self.seconds: dict[str, list[float]] = {phase: [] for phase in PHASES}
        self.process_seconds: dict[str, list[float]] = {phase: [] for phase in PHASES}
        self.target: float | None = None

    def evaluate(self, X: Tensor) -> None:
        """Evaluate points one by one and keep what came out."""
        for x in X.detach().cpu().double():
            value = float(self.problem(x.unsqueeze(0)))
            if not (math.isfinite(value) and bool(x.isfinite().all())):
                raise FloatingPointError(f"Expected a finite value; got {value} at {x.tolist()}.")
            noise = draw_noise(self.problem, self.seed, len(self.Y))
            self.X = torch.cat([self.X, x.unsqueeze(0)])
            self.Y.append(value)
            self.observed.append(value + noise)

    def note_box(self, bounds: Tensor | None, t: int) -> None:
        """Keep the box of suggestion ``t`` if it differs from the last."""
        if bounds is None:
            return
        box = bounds.tolist()
        if not self.boxes or self.boxes[-1]["bounds"] != box:
            self.boxes.append({"t": t, "bounds": box})

    def set_target(self) -> None:
        """From the initial points, once they are known."""
        share, optimal = self.problem.target_share, self.problem.optimal_value
        if share is not None and optimal is not None:
            self.target = optimal - share * (optimal - max(self.Y))

    @property
    def target_reached(self) -> bool:
        return self.target is not None and max(self.Y) >= self.target


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
        problem_name: A name of :mod:`benchmarks.catalog`.
        method: A name of :mod:`benchmarks.contenders`, or ``"authors"``.
        seed: Of start box, initial points, noise and method.
        sources: Where problems that need files find them.
        budget: Evaluations after the initial points, instead of the problem's own.
    """
    torch.set_num_threads(1)
    sources = sources or Sources()
    began = time.perf_counter()
    problem = find_problem(problem_name, seed, sources)
    if method == AUTHORS:
        return convert_authors_run(problem, seed, sources)
    start = make_start(problem, seed, budget)
    trace = Trace(problem, start, seed)
    trace.evaluate(start.X)
    trace.set_target()
    error: str | None = None
    with warnings.catch_warnings():
        # They concern single fits and searches, of which there are thousands in a sweep.
        for category in (BotorchWarning, NumericalWarning, RuntimeWarning):
            warnings.simplefilter("ignore", category)
        try:
            _run(trace, method)
        except Exception:
            error = traceback.format_exc()
    return _make_record(trace, method, error, time.perf_counter() - began)


def _run(trace: Trace, method: str) -> None:
    start = trace.start
    contender = make_contender(method, trace.problem, start, trace.seed)
    for t in range(start.budget):
        if trace.target_reached:
            break
        clock = Clock()
        observed = torch.tensor(trace.observed, dtype=torch.double).unsqueeze(-1)
        x = contender.suggest(trace.X, observed, clock)
        with clock.phase("evaluate"):
            trace.evaluate(x)
        trace.note_box(contender.bounds, t)
        for phase in PHASES:
            trace.seconds[phase].append(round(clock.seconds.get(phase, 0.0), 6))
            process = clock.process_seconds.get(phase, 0.0)
            trace.process_seconds[phase].append(round(process, 6))


def _make_record(trace: Trace, method: str, error: str | None, seconds: float) -> Record:
    problem, start = trace.problem, trace.start
    domain = problem.bounds
    inside = [True] * len(trace.Y)
    if domain is not None:
        inside = ((trace.X >= domain[0]) & (trace.X <= domain[1])).all(dim=-1).tolist()
    return Record(
        problem=problem.name,
        method=method,
        seed=trace.seed,
        dim=problem.dim,
        num_initial=len(start.X),
        budget=start.budget,
        start_box=start.box.tolist(),
        X=trace.X.tolist(),
        Y=trace.Y,
        Y_observed=trace.observed if problem.noise_std else None,
        inside=inside,
        scored_inside_only=problem.unbounded,
        optimal_value=problem.optimal_value,
        domain=None if domain is None else domain.tolist(),
        distance=problem.distance,
        target=trace.target,
        boxes=trace.boxes,
        seconds=trace.seconds,
        process_seconds=trace.process_seconds,
        status="ok" if error is None else "failed",
        error=error,
        metadata={
            **collect_metadata(),
            "device": str(trace.X.device),
            "seconds_total": round(seconds, 3),
            "problem": problem.notes,
        },
    )
