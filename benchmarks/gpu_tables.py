"""Markdown of the GPU benchmark: times side by side, cross-over, equality."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from benchmarks.gpu_cases import Timing
from benchmarks.gpu_equality import RTOL, Equality
from benchmarks.markdown import MISSING, write_table

_KEYS = ["stage", "n", "d", "dtype", "q", "restarts"]
_STAGES = ("fit", "geometry", "search")
_NO_GPU = (
    "No GPU was there: the cuda columns are empty, no GPU figure has been measured, and nothing "
    "follows from the CPU's about one."
)


def format_report(timings: Sequence[Timing], equalities: Sequence[Equality], has_gpu: bool) -> str:
    """Tables of times per stage, and what can be said about them."""
    frame = to_frame(timings)
    parts = []
    for stage in _STAGES:
        part = frame[frame["stage"] == stage]
        if len(part):
            parts += [f"## {stage.capitalize()}", _table(part)]
    parts += ["## Where the GPU is faster", _crossovers(frame) if has_gpu else _NO_GPU]
    parts += ["## Equal to the CPU", _equality_table(equalities)]
    return "\n\n".join(parts)


def to_frame(timings: Sequence[Timing]) -> pd.DataFrame:
    """A row per timing, with median and quartiles in milliseconds."""
    rows = []
    for timing in timings:
        quartiles = 1e3 * pd.Series(timing.seconds, dtype=float).quantile([0.25, 0.5, 0.75])
        rows.append(
            {
                "stage": timing.stage,
                "n": timing.case.n,
                "d": timing.case.dim,
                "dtype": timing.case.dtype,
                "q": timing.q or 0,
                "restarts": timing.restarts or 0,
                "device": timing.device,
                "lower": quartiles[0.25],
                "median": quartiles[0.5],
                "upper": quartiles[0.75],
                "memory": timing.peak_memory,
                "error": timing.error,
            }
        )
    return pd.DataFrame(rows)


def _table(frame: pd.DataFrame) -> str:
    keys = [key for key in _KEYS[1:] if frame[key].astype(bool).any()]
    headers = [*keys, "cpu ms", "cpu MiB", "cuda ms", "cuda MiB", "cpu / cuda"]
    rows = []
    for values, group in frame.groupby(keys, sort=False):
        cells: list[str] = [str(value) for value in values]
        medians = []
        for device in ("cpu", "cuda"):
            own = group[group["device"] == device]
            medians.append(own["median"].iloc[0] if len(own) else float("nan"))
            cells += _cells(own)
        ratio = medians[0] / medians[1]
        rows.append([*cells, MISSING if pd.isna(ratio) else f"{ratio:.2f}"])
    return f"{write_table(headers, rows)}\n\nMedians, and quartiles in brackets."


def _cells(own: pd.DataFrame) -> list[str]:
    if not len(own):
        return [MISSING, MISSING]
    row = own.iloc[0]
    if row["error"]:
        return [str(row["error"]), MISSING]
    time = f"{row['median']:.1f} [{row['lower']:.1f}, {row['upper']:.1f}]"
    return [time, f"{row['memory']:.0f}"]


def _crossovers(frame: pd.DataFrame) -> str:
    """Per stage and setting, the smallest n from which the GPU was faster at every measured n."""
    keys = [key for key in _KEYS if key != "n"]
    rows = []
    for values, group in frame.groupby(keys, sort=False):
        medians = group.pivot_table(index="n", columns="device", values="median")
        faster = (medians["cuda"] < medians["cpu"]) if {"cpu", "cuda"} <= {*medians} else None
        if faster is None:
            found = "not measured on both"
        else:
            from_here = faster[::-1].cummin()[::-1]
            found = str(from_here.idxmax()) if from_here.any() else f"not up to {faster.index[-1]}"
        rows.append([str(value or MISSING) for value in values] + [found])
    return write_table([*keys, "from n"], rows)


def _equality_table(equalities: Sequence[Equality]) -> str:
    if not equalities:
        return "No other device was asked for."
    names = list(equalities[0].differences)
    rows = [
        [
            equality.device, str(equality.case.n), str(equality.case.dim), equality.case.dtype,
            *(f"{equality.differences[name]:.1e}" for name in names),
            "yes" if equality.equal else "NO",
        ]
        for equality in equalities
    ]  # fmt: skip
    limits = ", ".join(f"{rtol:g} ({dtype})" for dtype, rtol in RTOL.items())
    return (
        write_table(["device", "n", "d", "dtype", *names, "equal"], rows)
        + f"\n\nLargest difference relative to the largest value; equal if at most {limits}."
    )
