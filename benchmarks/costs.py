"""Section of a report on seconds per suggestion, as in the paper's table 1."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from benchmarks.analysis import THINKING, suggestion_seconds, suite_of
from benchmarks.markdown import MISSING, plain, write_table
from benchmarks.records import Record
from benchmarks.study import Study

BY_NAME = ("paper", "tuning")  # problems with a column each; those of other suites share one


def collect_seconds(records: Sequence[Record]) -> pd.DataFrame:
    """One row per suggestion of finished runs, with its method, column and dimension."""
    frames = [pd.DataFrame(columns=["method", "column", "dim", *THINKING, "total"])]
    for record in records:
        seconds = suggestion_seconds(record)
        if record.status == "ok" and len(seconds["total"]):
            suite = suite_of(record)
            column = record.problem if suite in BY_NAME else f"{suite}, d = {record.dim}"
            labels = {"method": record.method, "column": column, "dim": record.dim}
            frames.append(pd.DataFrame({**labels, **seconds}))
    return pd.concat(frames[1:], ignore_index=True) if len(frames) > 1 else frames[0]


def write_seconds(study: Study) -> str:
    """Seconds per suggestion by problem and method, and where they go."""
    rows = collect_seconds(study.records)
    title = "## Seconds per suggestion"
    if rows.empty:
        return f"{title}\n\nNo seconds in the records."
    groups = rows.groupby(["method", "column"])["total"]
    order = rows.sort_values(["dim", "column"])["column"].unique().tolist()
    cells = groups.median().map(plain) + " / " + groups.mean().map(plain)
    phases = rows.groupby(["method", "dim"])[list(THINKING)].mean()
    split = phases.map(plain).agg(" / ".join, axis=1)
    dims = sorted(rows["dim"].unique())
    return "\n\n".join(
        [
            title,
            "Fit, geometry and acquisition together, without the evaluation: median / mean over "
            "all suggestions. Wall time, so other processes on the machine have a say in it.",
            _write(cells.unstack().reindex(columns=order)),
            "Where they go by dimension, means: fit / geometry / acquisition. A method that does "
            "not tell has all in the last.",
            _write(split.unstack().reindex(columns=dims), "d = "),
        ]
    )


def _write(cells: pd.DataFrame, prefix: str = "") -> str:
    heads = [f"{prefix}{column}" for column in cells.columns]
    lines = [
        [str(name), *row]
        for name, row in zip(cells.index, cells.fillna(MISSING).to_numpy(), strict=True)
    ]
    return write_table(["method", *heads], lines)
