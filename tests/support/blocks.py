"""The blocks of code in a Markdown file, run as a reader would."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def blocks_of(path: Path) -> list[tuple[str, str]]:
    """Language and text of all fenced blocks of a file."""
    text = path.read_text(encoding="utf-8")
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def side(diff: str, drop: str) -> str:
    """One side of a diff: without the lines that start with ``drop``, and without the marks."""
    return "".join(line[1:] for line in diff.splitlines(keepends=True) if line[0] != drop)


def run_blocks(
    path: Path, begin: dict[str, Any] | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Run the blocks in Python of a file in their order; of a diff both sides, the new one last.

    Args:
        path: The file.
        begin: Names that are there before the first.

    Yields:
        Each block, after it has been run, and all names as they are then.
    """
    names: dict[str, Any] = {"__name__": "__main__", **(begin or {})}
    exec("import torch; torch.manual_seed(0)", names)
    for language, code in blocks_of(path):
        if language == "diff":
            _run(side(code, "+"), path, dict(names))
            code = side(code, "-")
        elif language != "python":
            continue
        _run(code, path, names)
        yield code, names


def _run(code: str, path: Path, names: dict[str, Any]) -> None:
    exec(compile(code, path.name, "exec", dont_inherit=True), names)
