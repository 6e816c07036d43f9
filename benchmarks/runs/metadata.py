"""What must be known of machine and code to read a measurement, and the files that keep both."""

import json
import os
import platform
import resource
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import torch

from benchmarks.runs.versions import fingerprint

PACKAGES = (
    "botorch-ubo", "botorch", "gpytorch", "linear_operator", "torch", "scipy", "numpy",
    "scikit-learn", "cma", "optuna", "greenlet", "ax-platform", "xopt", "gest-api",
)  # fmt: skip
ROOT = Path(__file__).resolve().parents[2]


def collect_metadata() -> dict[str, Any]:
    """Versions, fingerprint of the sources, commit, hardware and threads, as JSON values."""
    installed = {found.name: found.version for found in distributions()}
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "code": fingerprint(),
        "commit": _git("rev-parse", "HEAD"),
        "uncommitted_changes": bool(_git("status", "--porcelain", "--", "botorch_ubo")),
        "python": platform.python_version(),
        "packages": {name: installed.get(name) for name in PACKAGES},
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "threads": torch.get_num_threads(),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
    }


def save_json(output: Path | None, **content: Any) -> None:
    """Write content with the metadata, if there is a file to write to.

    In one piece: a process that is killed here leaves the file as it was.
    """
    if output is None:
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    part = output.with_name(f"{output.name}.part")
    part.write_text(json.dumps({"metadata": collect_metadata(), **content}, indent=1) + "\n")
    os.replace(part, output)


def peak_memory() -> float:
    """The most that was resident in this process so far, in MiB."""
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, KiB elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True, timeout=30
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
