"""Where a run may be kept."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from botorch_ubo.run.storage.errors import CheckpointError


def check_path(path: str | os.PathLike[str]) -> Path:
    r"""Find out early whether a run can be kept in a file.

    Args:
        path: A file, which need not exist, in a folder that does.

    Returns:
        The path with symbolic links resolved: what SQLite keeps beside the file while it writes
        is then beside the file, not beside the link.
    """
    try:
        resolved = Path(path).resolve()
        kind = resolved.stat().st_mode if resolved.exists() else None
        folder = resolved.parent.is_dir()
    except (OSError, RuntimeError, ValueError) as error:  # too long, a loop of links, a null byte
        raise CheckpointError(
            f"Expected `checkpoint` to name a file; got {path!r} ({error}). Give another path."
        ) from error
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
