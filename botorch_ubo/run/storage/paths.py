"""Where a run may be kept."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from botorch_ubo.run.storage.errors import CheckpointError

_JOURNAL = "-journal"


def check_path(path: str | os.PathLike[str]) -> Path:
    r"""Find out early whether a run can be kept in a file.

    Args:
        path: A file, which need not exist, in a folder that does.

    Returns:
        The path with symbolic links resolved: what SQLite keeps beside the file while it writes
        is then beside the file, not beside the link.
    """
    try:
        resolved = Path(os.fsdecode(path)).resolve()
        kind = resolved.stat().st_mode if resolved.exists() else None
        folder = resolved.parent.is_dir()
    except (TypeError, OSError, RuntimeError, ValueError) as error:
        # No path, too long, a loop of links, a null byte.
        raise CheckpointError(
            f"Expected `checkpoint` to name a file; got {path!r} ({error}). Give another path."
        ) from error
    longest = _longest_name(resolved.parent) if folder else 0
    if folder and len(os.fsencode(resolved.name + _JOURNAL)) > longest:
        raise CheckpointError(
            f"Expected `checkpoint` to have a name of at most {longest - len(_JOURNAL)} bytes: "
            f"while SQLite writes, it keeps a file with {_JOURNAL!r} behind the name beside it; "
            f"got {len(os.fsencode(resolved.name))} bytes in {path}. Give another path."
        )
    if not folder:
        problem = "is in a directory that does not exist"
    elif kind is None or stat.S_ISREG(kind):
        return resolved
    else:
        problem = "is a directory" if stat.S_ISDIR(kind) else "is a pipe, a device or the like"
    raise CheckpointError(
        f"Expected `checkpoint` to be a file in an existing directory; {path} {problem}. Create "
        "the directory, or give another path."
    )


def _longest_name(folder: Path) -> int:
    """In bytes; 255 where the system does not tell."""
    try:
        return os.pathconf(folder, "PC_NAME_MAX")
    except (AttributeError, OSError, ValueError):  # not on Windows
        return 255
