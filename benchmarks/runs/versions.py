"""Which code a run is of: a fingerprint of the sources, and runs that do not go together.

A commit says too much: one that changes words or results leaves every run as it was. A record
carries a hash of what a run can depend on, the package and the benchmarks' problems, methods and
runs. Records from before that are told apart by their commits.
"""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

import botorch_ubo

BENCHMARKS = Path(__file__).resolve().parents[1]
PACKAGE = Path(botorch_ubo.__file__).resolve().parent
_FOLDERS = (PACKAGE, *(BENCHMARKS / name for name in ("problems", "methods", "runs")))
_SUFFIXES = (".py", ".json")  # the best known values of tuning tasks are data, and count
_DIGITS = 12


class MixedVersionsError(ValueError):
    """Runs of one method are of several code versions."""


@cache
def fingerprint(folders: tuple[Path, ...] = _FOLDERS) -> str:
    """A hash of the sources: names and contents of their files, wherever the folders are.

    Taken once per process, of what that process has begun with.
    """
    found = hashlib.sha256()
    for folder in folders:
        paths = (path for path in folder.rglob("*") if path.suffix in _SUFFIXES)
        for path in sorted(paths):
            name = f"{folder.name}/{path.relative_to(folder).as_posix()}"
            found.update(f"{name}\0{len(content := path.read_bytes())}\0".encode())
            found.update(content)
    return found.hexdigest()[:_DIGITS]


def versions(metadata: pd.Series) -> pd.Series:
    """Of each run's metadata the code version in words; ``None`` if it is not of this code.

    Records without a fingerprint have that of a record of the same commit, if there is one.
    """
    known = {
        _commit(found): str(found["code"])
        for found in metadata
        if found.get("code") and found.get("commit") and not found.get("uncommitted_changes")
    }
    return metadata.map(lambda found: _version(found, known))


def _version(found: Mapping[str, Any], known: Mapping[str, str]) -> str | None:
    code = found.get("code") or known.get(_commit(found))
    if code:
        return f"code {code}"
    return f"commit {_commit(found)}" if found.get("commit") else None


def _commit(found: Mapping[str, Any]) -> str:
    changed = " with uncommitted changes" if found.get("uncommitted_changes") else ""
    return f"{found.get('commit') or 'not known'!s:.9}{changed}"


def mixed_versions(table: pd.DataFrame) -> dict[str, dict[str, int]]:
    """The methods whose runs are of several versions, with the number of runs of each."""
    found = table.assign(version=versions(table["metadata"])).dropna(subset=["version"])
    counts = {
        str(name): {str(k): int(v) for k, v in own["version"].value_counts().items()}
        for name, own in found.groupby("method")
    }
    return {name: own for name, own in counts.items() if len(own) > 1}


def describe_mixed(mixed: Mapping[str, Mapping[str, int]]) -> list[str]:
    """A line per method: the versions, and how many runs are of each."""
    return [
        f"{name}: " + ", ".join(f"{version} ({count} runs)" for version, count in own.items())
        for name, own in mixed.items()
    ]


def check_one_version(table: pd.DataFrame) -> None:
    """Refuse a table in which a method is of several code versions."""
    mixed = mixed_versions(table)
    if mixed:
        lines = "\n".join(f"  {line}" for line in describe_mixed(mixed))
        raise MixedVersionsError(
            f"Expected one code version of each method; got several of {len(mixed)}:\n{lines}\n"
            "Run them anew into another directory, or leave the older records out; with "
            "--mixed-versions the report is written and marks these methods."
        )
