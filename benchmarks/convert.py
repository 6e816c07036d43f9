"""The authors' own runs as records, to stand beside ours."""

from __future__ import annotations

import json

from benchmarks.catalog import REFERENCE, Sources, read_reference_run, reference_path
from benchmarks.problems import Problem
from benchmarks.records import PHASES, Record


def convert_authors_run(problem: Problem, seed: int, sources: Sources) -> Record:
    """The record of the authors' run behind a problem ``ref_...``.

    Their files have the boxes but not the steps at which they moved: only the first, which is
    that of the first suggestion, has one, and the others follow it in order. Of their seconds
    there is the mean.
    """
    if problem.name not in REFERENCE:
        raise ValueError(
            f"Expected a problem of the authors' runs ({', '.join(REFERENCE)}); got {problem.name}."
        )
    run = read_reference_run(problem.name, seed, sources)
    assert problem.bounds is not None
    inside = ((run.X >= problem.bounds[0]) & (run.X <= problem.bounds[1])).all(dim=-1)
    count = len(run.X) - run.num_initial
    mean = json.loads(reference_path(problem.name, seed, sources).read_text()).get(
        "seconds_per_suggestion", 0.0
    )
    seconds = {phase: [0.0] * count for phase in PHASES}
    seconds["acquisition"] = [float(mean)] * count
    return Record(
        problem=problem.name,
        method="authors",
        seed=seed,
        dim=problem.dim,
        num_initial=run.num_initial,
        budget=count,
        start_box=run.initial_box.tolist(),
        X=run.X.tolist(),
        # Their file's values, not ours at the same points: these are the results to compare with.
        Y=run.Y.flatten().tolist(),
        inside=inside.tolist(),
        scored_inside_only=problem.unbounded,
        optimal_value=problem.optimal_value,
        domain=problem.bounds.tolist(),
        boxes=[{"t": 0, "bounds": run.boxes[0].tolist()}] if run.boxes else [],
        seconds=seconds,
        metadata={
            "device": "cpu",
            "problem": problem.notes,
            "source": "runs of the authors' code",
            "later_boxes": [box.tolist() for box in run.boxes[1:]],
        },
    )
