"""Work in small pieces, each with a key, whose results a file keeps: what is there is not repeated.

For commands whose results are rows of one JSON file, made under settings that must not change.
"""

import json
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.runs.pool import open_executor
from benchmarks.runs.versions import fingerprint

K = TypeVar("K", bound=Hashable)
Result = dict[str, Any]


def read_kept(
    output: Path | None, settings: dict[str, Any], name: str, key_of: Callable[[Result], K]
) -> dict[K, Result]:
    """The results that a file holds already, by key; it must be of the same settings.

    Args:
        output: The file, as ``save_json`` writes it; ``None``, or one that is not there, has none.
        settings: What all results depend on.
        name: Of the file's list of results.
        key_of: The key of a result.

    Returns:
        The results.
    """
    if output is None or not output.exists():
        return {}
    content = json.loads(output.read_text())
    if content["settings"] != settings:
        raise SystemExit(
            f"expected {output} to be of settings {settings}; it is of {content['settings']}. Give "
            "another --output, or the same settings"
        )
    return {key_of(result): result for result in content[name]}


def refuse_other_code(output: Path | None) -> None:
    """End if the results that a file holds are of other sources than those that would go on."""
    if output is None or not output.exists():
        return
    found = json.loads(output.read_text()).get("metadata", {}).get("code")
    if found != fingerprint():
        raise SystemExit(
            f"expected {output} to be of these sources, {fingerprint()}; it is of {found}. Give "
            "another --output, or take the sources of its commit"
        )


def map_keys(
    work: Callable[[K, dict[str, Any]], Result],
    keys: Sequence[K],
    settings: dict[str, Any],
    jobs: int,
) -> Iterator[Result]:
    """Do the work of some keys in this process, or in several others."""
    if jobs == 1:
        yield from (work(key, settings) for key in keys)
        return
    with open_executor(jobs) as executor:
        yield from executor.map(work, keys, repeat(settings))
