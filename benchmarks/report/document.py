"""The report as a whole: its head, its sections in order, and the files beside it."""

import re
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.report.claims import write_claims
from benchmarks.report.costs import write_seconds
from benchmarks.report.distances import write_ablations, write_far
from benchmarks.report.headline import write_headline
from benchmarks.report.measures import TRACES
from benchmarks.report.sections import write_suite
from benchmarks.report.study import Study
from benchmarks.runs.versions import describe_mixed

MARK = " ‡"  # at a method whose runs are of several code versions


def write_report(study: Study, directory: Path, command: str) -> Path:
    """Write ``report.md``, its figures and ``summary.csv``; returns the path of the first."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "report.md"
    _remove_figures(path)
    summary = study.frame.drop(columns=[*TRACES, "metadata"], errors="ignore")
    summary.to_csv(directory / "summary.csv", index=False, float_format="%.6g")
    parts = [write_header(study, command), write_claims(study), write_headline(study)]
    for suite in study.suites:
        write = write_far if suite == "far" else write_suite
        parts.append(write(study, suite, directory))
    if study.ablations:
        parts.append(write_ablations(study))
    if study.suites:
        parts.append(write_seconds(study))
    path.write_text(mark_mixed("\n\n".join(parts), study) + "\n")
    return path


def mark_mixed(text: str, study: Study) -> str:
    """Mark in all tables the methods whose runs are of several code versions."""
    lines = text.split("\n")
    for name in study.mixed:
        cell = re.compile(rf"(?<=\| ){re.escape(name)}(?= \|)")
        lines = [cell.sub(name + MARK, line) if line[:1] == "|" else line for line in lines]
    return "\n".join(lines)


def _remove_figures(path: Path) -> None:
    """Remove the figures of a former report, which this one may not have."""
    if path.exists():
        for name in re.findall(r"\]\((\w+\.png)\)", path.read_text()):
            for figure in (path.parent / name, (path.parent / name).with_suffix(".pdf")):
                figure.unlink(missing_ok=True)


def write_header(study: Study, command: str) -> str:
    """What was run, with what, and what failed."""
    frame = study.frame
    failed = frame[frame["status"] != "ok"]
    seeds = ", ".join(map(str, sorted(frame["seed"].unique())))
    lines = [
        f"- {len(frame)} records of {frame['problem'].nunique()} problems and "
        f"{frame['method'].nunique()} methods; seeds {seeds}",
        f"- reported by `{command}`",
        f"- compared with {study.default}; told the true domain: {study.oracle}",
        *_mixed(study),
        *_counted("sources", frame["metadata"].map(lambda m: m.get("code", "no fingerprint"))),
        *_counted("commit", frame["metadata"].map(_commit)),
        *_counted("versions", frame["metadata"].map(_versions)),
        *_counted("machine", frame["metadata"].map(_machine)),
        "- every run is a row of summary.csv, which the command writes beside this; every figure "
        "is there as PDF, too",
        f"- failed: {len(failed) or 'none'}",
        *(f"  - {r.problem}, {r.method}, seed {r.seed}: {r.error}" for r in failed.itertuples()),
    ]
    return "# Benchmarks of botorch_ubo\n\n" + "\n".join(lines)


def _counted(label: str, values: pd.Series) -> list[str]:
    """A line per different value, with the number of records if there are several."""
    counts = values.value_counts()
    several = len(counts) > 1
    return [
        f"- {label}: {value}" + (f" ({count} records)" if several else "")
        for value, count in counts.items()
    ]


def _mixed(study: Study) -> list[str]:
    """A warning that no reader of the head can miss."""
    if not study.mixed:
        return []
    return [
        f"- **runs of several code versions are mixed** in these methods (marked{MARK} in every "
        "table); a difference from them may be one of versions:",
        *(f"  - {line}" for line in describe_mixed(study.mixed)),
    ]


def _commit(found: dict[str, Any]) -> str:
    changed = " with uncommitted changes" if found.get("uncommitted_changes") else ""
    return f"{found.get('commit') or 'not known'}{changed}"


def _versions(found: dict[str, Any]) -> str:
    known = [f"{name} {version}" for name, version in found.get("packages", {}).items() if version]
    return ", ".join([f"Python {found.get('python', 'not known')}", *known])


def _machine(found: dict[str, Any]) -> str:
    return (
        f"{found.get('cpu', 'not known')}, {found.get('cores', '?')} cores, "
        f"{found.get('threads', '?')} thread(s) per run, device {found.get('device', 'cpu')}"
    )
