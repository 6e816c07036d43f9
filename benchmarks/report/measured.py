"""Tables of the commands that measure: quality, endurance, gpu, torture."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from benchmarks.report.markdown import met, percent, write_table
from benchmarks.runs.gpu import DEFAULT_BEHIND, RTOL

Rows = Sequence[dict[str, Any]]
QUALITY_LARGE = 0.5
QUALITY_WITHIN = {"fit": 0.05, "search": 0.01}
QUALITY_TARGETS = {"fit": ("fits", 0.95), "search": ("searches", 0.99)}
BATCHED_TARGETS = {"search": ("searches", 0.95)}
SLOWEST_TARGET = 3.0
MEMORY_TARGET = 1.25
APART_TARGET = 1.5  # of a step late in the run, so that the whole is about linear
RECORD_SECONDS_TARGET = 2.0  # a step copies references to all trials; its file does not care
RECORD_BYTES_TARGET = 1.05
MEMORY_FROM = 50  # evaluations: by then everything that is loaded once has been
_NO_GPU = (
    "No GPU was there: the cuda columns are empty, no GPU figure has been measured, and nothing "
    "follows from the CPU's about one."
)


def format_quality(measured: Rows, batched: bool = False) -> str:
    """A row per problem, and one for all; of many runs at once, with targets of their own."""
    targets = {**QUALITY_TARGETS, **(BATCHED_TARGETS if batched else {})}
    table = pd.DataFrame(list(measured))
    rows = {}
    for name, part in [*table.groupby("problem"), ("all", table)]:
        rows[name] = {"d": part["dim"].iloc[0] if name != "all" else "", "steps": len(part)}
        for kind, near in QUALITY_WITHIN.items():
            rows[name][f"{kind}: within {near}"] = percent((part[kind] <= near).mean())
            rows[name][f"{kind}: 95th percentile"] = f"{part[kind].quantile(0.95):.2g}"
            rows[name][f"{kind}: largest"] = f"{part[kind].max():.2g}"
    verdicts = [
        f"{plural} within {near}: {percent(share)}, target {percent(target)}: "
        f"{met(share >= target)}"
        for kind, near in QUALITY_WITHIN.items()
        for plural, target in [targets[kind]]
        for share in [(table[kind] <= near).mean()]
    ]
    large = [
        f"{plural} that lose more than {QUALITY_LARGE}: {(table[kind] > QUALITY_LARGE).sum()} of "
        f"{len(table)}"
        for kind, (plural, _) in QUALITY_TARGETS.items()
    ]
    others, near = table["ten_others"], QUALITY_WITHIN["fit"]
    chance = (
        f"the best of ten long descents from other draws, in place of a fit: "
        f"{percent((others <= near).mean())} within {near}, {(others > QUALITY_LARGE).sum()} of "
        f"{len(table)} lose more than {QUALITY_LARGE}, the largest {others.max():.2g}"
    )
    frame = pd.DataFrame.from_dict(rows, orient="index")
    return "\n\n".join([write_table(frame, "problem"), *verdicts, *large, chance])


def format_endurance(steps: pd.DataFrame) -> str:
    """Memory along the run, seconds, and verdicts."""
    memory, taken = steps["peak_memory"], steps[steps["suggested"]]["seconds"]
    every = MEMORY_FROM * max(1, len(steps) // (10 * MEMORY_FROM))
    marks = memory[(steps.index % every == 0) | (steps.index == len(steps))]
    half = len(taken) // 2
    lines = [
        f"peak memory in MiB by evaluation: {marks.round().to_dict()}",
        f"seconds per suggestion: median {taken.median():.2f} (first half "
        f"{taken[:half].median():.2f}, second {taken[half:].median():.2f}), slowest "
        f"{taken.max():.2f} (at evaluation {taken.idxmax()})",
        _verdict("slowest / median", taken.max() / taken.median(), SLOWEST_TARGET),
    ]
    if len(steps) > MEMORY_FROM:
        growth = memory.iloc[-1] / memory[MEMORY_FROM]
        lines.append(_verdict(f"memory at the end / at {MEMORY_FROM}", growth, MEMORY_TARGET))
    quarter = len(taken) // 4
    if quarter:
        apart = steps["apart"][steps["suggested"]]
        parts = [apart.iloc[i * quarter : (i + 1) * quarter].mean() for i in range(4)]
        shown = ", ".join(f"{1e3 * part:.2f}" for part in parts)
        lines += [
            f"milliseconds of an ask and a tell apart from the model, by quarters: {shown}; of all "
            f"{len(steps)} evaluations together {steps['apart'].sum():.1f} s",
            _verdict("apart from the model, last / first", parts[3] / parts[0], APART_TARGET),
        ]
    return "\n\n".join(lines)


def format_record(steps: pd.DataFrame) -> str:
    """A row for some hundreds of steps along a run, and verdicts."""
    size = min(100, len(steps) // 2)
    last = len(steps) - size
    begins = sorted({*range(0, last, max(size, last // 4)), last})
    rows = []
    for begin in begins:
        part = steps.iloc[begin : begin + size]
        rows.append(
            {
                "steps": f"{begin + 1} to {begin + size}",
                "milliseconds (median)": f"{1e3 * part['seconds'].median():.2f}",
                "bytes written (mean)": f"{part['written'].mean():.0f}",
                "file grows by (mean)": f"{part['grown'].mean():.0f}",
            }
        )
    first, final = steps.iloc[:size], steps.iloc[last:]
    spent = final["seconds"].median() / first["seconds"].median()
    grown = final["written"].mean() / max(first["written"].mean(), 1)
    return "\n".join(
        [
            write_table(pd.DataFrame(rows).set_index("steps"), "steps"),
            "",
            _verdict("seconds, last / first", spent, RECORD_SECONDS_TARGET),
            _verdict("bytes written, last / first", grown, RECORD_BYTES_TARGET),
        ]
    )


def _verdict(name: str, value: float, target: float) -> str:
    return f"{name}: {value:.2f}, target {target}: {met(value <= target)}"


def format_gpu(timings: Rows, equalities: Rows) -> str:
    """Tables of times per stage, and what can be said about them."""
    frame = pd.DataFrame(timings).convert_dtypes()
    parts = []
    for stage, part in frame.groupby("stage"):
        parts += [f"## {stage.capitalize()}", _times(part.dropna(axis="columns", how="all"))]
    parts.append("Milliseconds: medians, and quartiles in brackets. Memory in MiB.")
    if set(frame["device"]) == {"cpu"}:
        parts.append(_NO_GPU)
    return "\n\n".join([*parts, "## Equal to the CPU", _equality_table(equalities)])


def format_many_runs(rows: Rows) -> str:
    """A table of suggestions per second of many runs at once."""
    frame = pd.DataFrame(rows)
    frame["ms"] = 1e3 * frame["seconds"].map(_median)
    keys = ["runs", "n", "dim", "dtype"]
    parts = {}
    for device in _devices(frame):
        part = frame[frame["device"] == device].set_index(keys)
        parts[f"{device} ms per step"] = part["ms"].map("{:.0f}".format)
        speed = 1e3 * part.index.get_level_values("runs").to_series(index=part.index) / part["ms"]
        parts[f"{device} suggestions / s"] = speed.map("{:.0f}".format)
        if device == "cpu" and len(part):
            alone = part["seconds_one_by_one"].map(_median)
            parts["times as fast as one by one"] = (alone * speed).map("{:.1f}".format)
            if "seconds_before" in part:
                alone = part["seconds_before"].map(_median)
                parts["as one by one in the older version"] = (alone * speed).map("{:.1f}".format)
    launched = frame.drop_duplicates(keys).set_index(keys)["launched"].astype(str)
    parts["launches"] = launched
    text = ["## Many runs at once", write_table(pd.DataFrame(parts).reset_index(keys[1:]), "runs")]
    text.append(
        "Medians, on the CPU of the seconds of the process. Launches: operations of one step that "
        "are no views, which is what a GPU pays for."
    )
    if set(frame["device"]) == {"cpu"}:
        text.append(_NO_GPU)
    return "\n\n".join(text)


def _devices(frame: pd.DataFrame) -> list[str]:
    """The CPU, then whatever else was there; the place of CUDA's, if nothing was."""
    others = [device for device in frame["device"].unique() if device != "cpu"]
    return ["cpu", *(others or ["cuda"])]


def _times(frame: pd.DataFrame) -> str:
    keys = [key for key in ("n", "dim", "dtype", "q", "restarts") if key in frame]
    devices = {
        device: frame[frame["device"] == device].set_index(keys) for device in _devices(frame)
    }
    cells = {}
    for device, rows in devices.items():
        cells[f"{device} ms"] = rows.apply(_time_cell, axis=1, result_type="reduce")
        cells[f"{device} MiB"] = rows["peak_memory"].map("{:.0f}".format)
    medians = {device: rows["seconds"].map(_median) for device, rows in devices.items()}
    for device in list(devices)[1:]:
        ratios = medians["cpu"] / medians[device]
        cells[f"cpu / {device}"] = ratios.map("{:.2f}".format, na_action="ignore")
    return write_table(pd.DataFrame(cells).reset_index(keys[1:]), "n")


def _median(seconds: Sequence[float]) -> float:
    return pd.Series(seconds, dtype=float).median()


def _time_cell(row: pd.Series) -> str:
    if isinstance(row.get("error"), str):
        return row["error"]
    low, middle, high = 1e3 * pd.Series(row["seconds"]).quantile([0.25, 0.5, 0.75])
    return f"{middle:.1f} [{low:.1f}, {high:.1f}]"


def _equality_table(equalities: Rows) -> str:
    if not equalities:
        return "No other device was there."
    frame = pd.DataFrame(equalities).set_index("device")
    numbers = frame.select_dtypes(float).columns
    cells = frame.astype({"equal": str}).assign(**frame[numbers].map("{:.1e}".format))
    limits = ", ".join(f"{rtol:g} ({dtype})" for dtype, rtol in RTOL.items())
    return (
        f"{write_table(cells, 'device')}\n\nLargest difference relative to the largest value; "
        f"equal if at most {limits}. Default: nats by which its suggestion is behind the CPU's; at "
        f"most {DEFAULT_BEHIND}."
    )


def format_torture(attacks: Rows) -> str:
    """A row per attack, then what went wrong."""
    counts = ("tried", "survived", "refused", "losses", "opaque")
    rows = {
        attack["attack"]: {
            **{name: f"{attack[name]:,}" for name in counts},
            "seconds": f"{attack['seconds']:.0f}",
        }
        for attack in attacks
    }
    heads = {"refused": "of them refused in words", "opaque": "opaque errors"}
    table = pd.DataFrame.from_dict(rows, orient="index").rename(columns=heads)
    wrong = [f"- {attack['name']}: {text}" for attack in attacks for text in attack["examples"]]
    return "\n".join([write_table(table, "attack"), *(["", *wrong] if wrong else [])])
