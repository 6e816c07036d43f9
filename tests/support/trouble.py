"""Trouble with files, the real thing: full disks, locks that are held, damage, no permission."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534


def run_python(code: str, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Some code in a process of its own, with the package and the tests to import."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **options,
    )


def unprivileged(folder: Path, statement: str) -> str:
    """What somebody without special rights gets to see; ``folder`` is opened to them before.

    Args:
        folder: Known to the statement under this name.
        statement: A statement that knows ``UnboundedOptimizer``.
    """
    opened = [parent for parent in folder.parents if not parent.stat().st_mode & 0o001]
    for parent in opened:
        parent.chmod(parent.stat().st_mode | 0o055)
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from botorch_ubo import UnboundedOptimizer\n"
        f"if os.geteuid() == 0: os.setgid({NOBODY}); os.setuid({NOBODY})\n"
        "folder = Path(sys.argv[1])\n" + statement
    )
    done = run_python(code, str(folder))
    return done.stdout + done.stderr


@contextmanager
def size_limit(num_bytes: int) -> Iterator[None]:
    """No file of this process grows beyond a size: writes fail as they do on a full disk."""
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[bool]:
    """A file system of some size in a folder; False where it may not be mounted."""
    options = ["-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    mounted = subprocess.run(["mount", *options], capture_output=True, check=False).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another process holds the write lock of a run file."""
    code = (
        "import sqlite3, sys\n"
        "connection = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "connection.execute('BEGIN EXCLUSIVE')\n"
        "print('locked', flush=True)\n"
        "sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "locked\n"
        yield
    finally:
        process.communicate()


def num_rows(path: Path) -> int:
    """The number of events in a run file."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        (count,) = connection.execute("SELECT count(*) FROM events").fetchone()
    return int(count)


def is_running(pid: int) -> bool:
    """Whether a process is there, and not only because nobody has waited for it."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
