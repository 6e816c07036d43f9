"""Write the page of a run, once or for as long as the run goes on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from botorch.exceptions.errors import InputDataError

from botorch_ubo.run.optimizer import UnboundedOptimizer
from botorch_ubo.run.page.document import make_page
from botorch_ubo.run.recorded import RunSource, as_run


def write_page(
    source: RunSource, path: str | os.PathLike[str], refresh: float | None = None
) -> Path:
    r"""Write a run as one self-contained HTML page.

    Args:
        source: The path of a run file, an optimizer or a result. A file is read while others write
            to it, and nobody is disturbed.
        path: The page; one that is there is replaced as a whole.
        refresh: Seconds after which the page loads itself anew in a browser; never by default.

    Returns:
        Where the page is.
    """
    target = Path(path)
    _check_target(source, target)
    text = make_page(as_run(source), refresh)
    # A browser that loads it now gets the old page or the new one, never half of it.
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    return target


def watch(
    path: str | os.PathLike[str],
    page: str | os.PathLike[str],
    seconds: float,
    go_on: Callable[[], bool] = lambda: True,
) -> None:
    r"""Write the page of a run file anew whenever something has happened.

    Args:
        path: The run file.
        page: The page.
        seconds: How often to look, and how often the page loads itself.
        go_on: Asked before every look; whoever interrupts ends it too.

    The last page does not load itself any more.
    """
    optimizer = UnboundedOptimizer.open(path)
    seen: tuple[object, ...] | None = None
    try:
        while go_on():
            optimizer.refresh()
            box = optimizer.box
            state = optimizer.journal.ledger, len(box.trace), len(box.history), len(box.limits)
            if state != seen:
                write_page(optimizer, page, refresh=seconds)
                seen = state
            time.sleep(seconds)
    finally:
        write_page(optimizer, page)


def _check_target(source: object, target: Path) -> None:
    if not target.absolute().parent.is_dir():
        raise InputDataError(
            f"Expected a page in a folder that exists; got {target}. Make the folder first."
        )
    if target.is_dir():
        raise InputDataError(f"Expected a file to write the page to; {target} is a folder.")
    if isinstance(source, UnboundedOptimizer):
        source = None if source.journal.file is None else source.journal.file.path
    if isinstance(source, str | os.PathLike) and target.exists() and target.samefile(source):
        raise InputDataError(f"Expected another file than the run file {target} for the page.")
