"""Section of a report on seconds per suggestion, as in the paper's table 1."""

import pandas as pd

from benchmarks.report.markdown import plain, write_table
from benchmarks.report.study import Study
from benchmarks.runs.records import THINKING

BY_NAME = ("paper", "mnist")  # problems with a column each; those of other suites share one


def collect_seconds(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per suggestion of finished runs, with its method, column and dimension."""
    done = frame[(frame["status"] == "ok") & frame["acquisition"].astype(bool)]
    shared = done["suite"] + ", d = " + done["dim"].astype(str)
    column = done["problem"].where(done["suite"].isin(BY_NAME), shared)
    phases = list(THINKING)
    rows = done[["method", "dim", *phases]].assign(column=column).explode(phases)
    rows[phases] = rows[phases].astype(float)
    return rows.assign(total=rows[phases].sum(axis=1))


def write_seconds(study: Study) -> str:
    """Seconds per suggestion by problem and method, and where they go."""
    rows = collect_seconds(study.frame)
    title = "## Seconds per suggestion"
    if rows.empty:
        return f"{title}\n\nNo seconds in the records."
    totals = rows.groupby(["method", "column"])["total"]
    cells = totals.median().map(plain) + " / " + totals.mean().map(plain)
    order = rows.sort_values(["dim", "column"])["column"].unique()
    phases = rows.groupby(["method", "dim"])[list(THINKING)].mean()
    split = phases.map(plain).agg(" / ".join, axis=1).unstack()
    return "\n\n".join(
        [
            title,
            "Fit, geometry and acquisition together, without the evaluation: median / mean over "
            "all suggestions. Wall time, so other processes on the machine have a say in it.",
            write_table(cells.unstack()[order]),
            "Where they go by dimension, means: fit / geometry / acquisition. A method that does "
            "not tell has all in the last.",
            write_table(split.rename(columns="d = {}".format)),
        ]
    )
