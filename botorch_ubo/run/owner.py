"""Which process has a trial in hand, and whether that process is still there."""

from __future__ import annotations

import os
import socket
import uuid
from contextlib import suppress
from pathlib import Path

_SEPARATOR = "|"
_AT_WORK: set[str] = set()  # owners in this process whose loops are running


def new_owner() -> str:
    """A name for whoever evaluates trials in this process now; another one each time."""
    return _SEPARATOR.join([*_process(os.getpid()), uuid.uuid4().hex[:8]])


def start_work(owner: str) -> None:
    """Say that an owner of this process evaluates until :func:`end_work`."""
    _AT_WORK.add(owner)


def end_work(owner: str) -> None:
    """The end of :func:`start_work`."""
    _AT_WORK.discard(owner)


def may_be_at_work(owner: str) -> bool:
    r"""Whether somebody may still come up with a result.

    Args:
        owner: What :func:`new_owner` returned, in any process on any machine; empty for nobody.

    Returns:
        False if it is known that nobody will: the process is gone, or the machine has started
        anew, or it is this process and no loop of it is at work. Of another machine nothing is
        known.
    """
    parts = owner.split(_SEPARATOR)
    if len(parts) != 6:
        return False
    host, boot, namespace, pid, _, _ = parts
    here = _process(os.getpid())
    if host != here[0]:
        return True
    if boot != here[1]:
        return False
    if namespace != here[2]:  # another container: its numbers are not ours
        return True
    if parts[:5] == here:
        return owner in _AT_WORK
    return _is_alive(int(pid)) and _process(int(pid))[:5] == parts[:5]


def is_elsewhere(owner: str) -> bool:
    """Whether an owner is on a machine, or in a container, that cannot be looked into."""
    parts, here = owner.split(_SEPARATOR), _process(os.getpid())
    return len(parts) == 6 and (
        parts[0] != here[0] or (parts[1] == here[1] and parts[2] != here[2])
    )


def _process(pid: int) -> list[str]:
    """Host, its start, the name space of process numbers, number, and start of a process.

    Where the system does not tell, a part is empty and the same for all.
    """
    boot = namespace = start = ""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        namespace = os.readlink("/proc/self/ns/pid")
    with suppress(OSError, IndexError):
        # Behind the command, which may hold anything, in brackets: field 22, clock ticks.
        start = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    host = socket.gethostname().replace(_SEPARATOR, "_")
    return [host, boot, namespace, str(pid), start]


def _is_alive(pid: int) -> bool:
    """Whether there is such a process; where the system has no harmless way to ask, there is not.

    On Windows, signal 0 is Ctrl-C.
    """
    if os.name != "posix":
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        return True
    # A process that has ended and has not been waited for works no more.
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return True
