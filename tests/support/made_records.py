"""Records with given values, as `run` would have written them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from benchmarks.report.measures import summarize
from benchmarks.runs.records import Record
from benchmarks.runs.table import tabulate

METADATA = {
    "commit": "0123abc",
    "uncommitted_changes": False,
    "python": "3.11.7",
    "packages": {"botorch": "0.18.1", "torch": "2.13.0"},
    "cpu": "a processor",
    "cores": 2,
    "threads": 1,
    "device": "cpu",
}


def make_record(
    problem: str = "beale",
    method: str = "EI-UBO",
    seed: int = 0,
    regrets: Sequence[float] = (10.0, 20.0, 5.0, 1.0),
    num_initial: int = 2,
    **values: Any,
) -> Record:
    """A run in two dimensions with these regrets in order, of a problem whose optimum is 3."""
    count = len(regrets) - num_initial
    defaults: dict[str, Any] = {
        "dim": 2,
        "budget": count,
        "start_box": [[0.0, 0.0], [1.0, 1.0]],
        "X": [[0.5, 0.5]] * len(regrets),
        "Y": [3.0 - regret for regret in regrets],
        "optimal_value": 3.0,
        "boxes": [{"t": 0, "bounds": [[0.0, 0.0], [1.0, 10.0]]}],
        "seconds": {
            "fit": [0.2] * count,
            "geometry": [0.1] * count,
            "acquisition": [0.3] * count,
            "evaluate": [9.0] * count,
        },
        "metadata": METADATA,
    }
    return Record(
        problem=problem, method=method, seed=seed, num_initial=num_initial, **{**defaults, **values}
    )


def runs_ending_at(method: str, **ends: float) -> list[Record]:
    """Two runs of each problem that end at a share of the initial regret."""
    return [
        make_record(problem, method, seed, (10, 20, 10 * end))
        for problem, end in ends.items()
        for seed in range(2)
    ]


def summarize_records(*records: Record) -> pd.DataFrame:
    """The measures of records, a row each."""
    return summarize(tabulate(records))
