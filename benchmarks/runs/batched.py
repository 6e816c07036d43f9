"""All seeds of a method on a problem at once, as tensors, to the records that single runs give."""

import math
import time
import traceback
import warnings
from collections.abc import Sequence

import torch
from botorch.exceptions.errors import BotorchError

from benchmarks.methods.expanding import REGISTRY
from benchmarks.methods.registry import load_plugins, place_start
from benchmarks.problems.problem import Problem, Sources, Start, make_start
from benchmarks.problems.registry import find_problem
from benchmarks.runs.loop import begin_record, evaluate
from benchmarks.runs.records import PHASES, Record
from botorch_ubo import BatchedRuns, get_method
from botorch_ubo.run.batched.methods import can_be_batched


def is_batchable(method: str, problem: Problem) -> bool:
    """Whether runs of a method on a problem can be had at once."""
    return method in REGISTRY and can_be_batched(get_method(method)) and problem.space is None


def run_batched(
    problem_name: str,
    method: str,
    seeds: Sequence[int],
    sources: Sources | None = None,
    budget: int | None = None,
) -> list[Record]:
    """Run a method on a problem with all seeds; see :func:`benchmarks.runs.loop.run_one`.

    Seconds of a suggestion are the batch's, divided by its runs, and counted as acquisition.
    """
    torch.set_num_threads(1)
    sources = sources or Sources()
    load_plugins(sources.plugins)
    began = time.perf_counter()
    problems = [find_problem(problem_name, seed, sources) for seed in seeds]
    starts, records = list[Start](), list[Record]()
    for problem, seed in zip(problems, seeds, strict=True):
        shared = make_start(problem, seed, budget)
        own = place_start(method, problem, shared, seed)
        record = begin_record(problem, shared, method, seed)
        evaluate(record, problem, own.X)
        if own is not shared and record.start_value is None:
            record.start_value = float(problem(shared.X).nan_to_num(nan=-math.inf).max())
        if problem.target_share is not None and problem.optimal_value is not None:
            first = record.best if record.start_value is None else record.start_value
            regret = problem.optimal_value - first
            record.target = problem.optimal_value - problem.target_share * regret
        starts.append(own)
        records.append(record)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _run(records, problems, starts, method)
        except (BotorchError, FloatingPointError, RuntimeError):
            for record in records:
                record.status, record.error = "failed", traceback.format_exc()
    seconds = time.perf_counter() - began
    for record in records:
        record.metadata["seconds_total"] = round(seconds / len(records), 3)
        record.metadata["batched"] = len(records)
    return records


def _run(
    records: Sequence[Record], problems: Sequence[Problem], starts: Sequence[Start], method: str
) -> None:
    free = torch.tensor([[-math.inf], [math.inf]], dtype=torch.double)
    limits = [
        free.expand_as(start.box) if problem.hard_limits is None else problem.hard_limits
        for problem, start in zip(problems, starts, strict=True)
    ]
    runs = BatchedRuns(
        torch.stack([start.box for start in starts]),
        [record.seed for record in records],
        method=method,
        direction="maximize",
        hard_limits=torch.stack(limits),
        num_initial=len(starts[0].X),
        data=[(record.X, _observed(record)) for record in records],
        epsilon=problems[0].epsilon,
    )
    for t in range(starts[0].budget):
        done = [it.target is not None and it.best >= it.target for it in records]
        runs.stop(torch.tensor(done))
        active = runs.active.tolist()
        if not any(active):
            break
        began = time.perf_counter()
        X = runs.ask().cpu()
        thought = (time.perf_counter() - began) / sum(active)
        values = torch.full((len(records),), math.nan, dtype=torch.double)
        for i in (i for i, goes_on in enumerate(active) if goes_on):
            record, began = records[i], time.perf_counter()
            evaluate(record, problems[i], X[i : i + 1])
            seconds = dict.fromkeys(PHASES, 0.0)
            seconds["evaluate"] = time.perf_counter() - began
            seconds["acquisition"] = thought
            for phase in PHASES:
                record.seconds[phase].append(round(seconds[phase], 6))
            values[i] = _observed(record)[-1]
            bounds = runs.bounds[i].tolist()
            if not record.boxes or record.boxes[-1]["bounds"] != bounds:
                record.boxes.append({"t": t, "bounds": bounds})
        runs.tell(values)


def _observed(record: Record) -> list[float]:
    """What a method has seen; NaN for a failure."""
    seen = record.Y if record.Y_observed is None else record.Y_observed
    return [math.nan if y is None else y for y in seen]
