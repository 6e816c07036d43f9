"""Runs as a table with what a report needs of them, and that table packed into one file.

A row per run. ``best`` is the best value that counts after the initial points and after each
further evaluation, all digits kept; where a problem has larger values outside its domain than
inside, only points inside count. ``picked`` is the value of the point with the best observation,
``failed_share`` the share of suggestions whose evaluation failed, ``outside_share`` of those
outside the domain. ``growth`` is the mean over
dimensions of ``log10(side / start side)`` of the box of every suggestion, empty for a method
without boxes and NaN before its first one. ``farthest`` is how far outside the start box a point
was evaluated, in its sides, ``evaluating`` the seconds of all evaluations; ``fit``, ``geometry``
and ``acquisition`` are seconds of every suggestion.

The packed file is JSON by columns, compressed with xz; what is to be known of machine and code is
there once for all runs that have it in common. Records in a directory have more: points, boxes,
tracebacks.
"""

import json
import lzma
import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.runs.records import THINKING, Record, read_records

KEY = ["problem", "method", "seed"]
SUFFIX = ".json.xz"
_MAY_LACK = ("distance", "optimal_value", "start_value", "target")
_COPIED = (*KEY, "dim", "num_initial", "budget", *_MAY_LACK, "status")
_MEASURED_ONCE = ("time", "load", "seconds_total", "problem")  # of metadata, no two runs alike
_DIGITS = {"growth": 6, **dict.fromkeys(THINKING, 3)}


def tabulate(records: Iterable[Record]) -> pd.DataFrame:
    """A row per record."""
    table = pd.DataFrame([_row(record) for record in records])
    return table.astype(dict.fromkeys(_MAY_LACK, float)) if len(table) else table


def _row(record: Record) -> dict[str, Any]:
    values = np.array(record.Y, dtype=float)
    counts = (np.array(record.inside) | (not record.scored_inside_only)) & ~np.isnan(values)
    best = np.maximum.accumulate(np.where(counts, values, -math.inf))
    observed = np.array(record.Y if record.Y_observed is None else record.Y_observed, dtype=float)
    seen = np.where(counts, observed, -math.inf)
    suggested = record.inside[record.num_initial :]
    error = (record.error or "").strip().rpartition("\n")[2]
    return {
        **{name: getattr(record, name) for name in _COPIED},
        "error": error or None,
        "best": best[record.num_initial - 1 :].tolist(),
        "picked": values[seen.argmax()],
        "failed_share": float(np.isnan(values[record.num_initial :]).mean())
        if suggested
        else math.nan,
        "outside_share": 1.0 - float(np.mean(suggested)) if suggested else math.nan,
        "growth": _growth(record),
        "farthest": _farthest(record),
        "evaluating": float(sum(record.seconds.get("evaluate", []))),
        **{phase: record.seconds.get(phase, []) for phase in THINKING},
        "metadata": _metadata(record),
    }


def _metadata(record: Record) -> dict[str, Any]:
    """What runs have in common; of the problem's notes only how large a task is."""
    kept = {k: v for k, v in record.metadata.items() if k not in _MEASURED_ONCE}
    notes = record.metadata.get("problem") or {}
    return {**kept, "preset": notes["preset"]} if "preset" in notes else kept


def _farthest(record: Record) -> float:
    X, (lower, upper) = np.array(record.X), np.array(record.start_box)
    return float((np.maximum(lower - X, X - upper) / (upper - lower)).max(initial=0.0))


def _growth(record: Record) -> list[float]:
    start = np.array(record.start_box)
    growth = np.full(len(record.Y) - record.num_initial if record.boxes else 0, math.nan)
    for box in record.boxes:
        bounds = np.array(box["bounds"])
        growth[box["t"] :] = np.log10((bounds[1] - bounds[0]) / (start[1] - start[0])).mean()
    return growth.tolist()


def read_table(paths: Sequence[Path]) -> pd.DataFrame:
    """The runs of directories, ``.jsonl`` and packed files; of several of one run the last."""
    tables = [
        _unpack(path) if path.name.endswith(SUFFIX) else tabulate(read_records(path))
        for path in paths
    ]
    found = pd.concat([table for table in tables if len(table)] or tables)
    if found.empty:
        raise ValueError("Expected records; got none. `python -m benchmarks run` makes them.")
    return found.drop_duplicates(KEY, keep="last", ignore_index=True)


def write_packed(table: pd.DataFrame, target: Path) -> int:
    """Write a table in a fixed order, the same bytes for the same runs; returns how many."""
    if not target.name.endswith(SUFFIX):
        raise ValueError(f"Expected a name that ends in {SUFFIX}; got {target}.")
    columns = table.sort_values(KEY).astype(object).to_dict("list")
    for name, digits in _DIGITS.items():
        columns[name] = [[float(f"{x:.{digits}g}") for x in run] for run in columns[name]]
    texts = [json.dumps(known) for known in columns["metadata"]]
    kinds = sorted(set(texts))
    columns["metadata"] = [kinds.index(text) for text in texts]
    content = {"metadata": [json.loads(text) for text in kinds], "runs": columns}
    packed = lzma.compress(json.dumps(content, separators=(",", ":")).encode(), preset=9)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(target.name + ".tmp")
    temporary.write_bytes(packed)
    os.replace(temporary, target)
    return len(table)


def _unpack(path: Path) -> pd.DataFrame:
    if not path.exists():
        raise FileNotFoundError(f"Expected packed records; {path} does not exist.")
    content = json.loads(lzma.decompress(path.read_bytes()))
    table = pd.DataFrame(content["runs"])
    older = dict.fromkeys(set(_MAY_LACK) - set(table), math.nan)  # than some of these columns
    return table.assign(**older).assign(
        metadata=[content["metadata"][i] for i in table["metadata"]]
    )
