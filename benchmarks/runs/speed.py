"""CPU seconds of one suggestion, of several contenders in turn, on the same data."""

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.runs.metadata import ROOT
from benchmarks.runs.rivals import Contender

TOO_LONG = 4.0  # seconds after which a contender is asked for no larger case
_INITIAL = 3.0  # per dimension
_THREADS = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}


@dataclass(frozen=True)
class Case:
    """How much is known, and how much is asked for."""

    n: int
    d: int
    q: int = 1
    pending: int = 0
    failed: int = 0

    def data(self, seed: int) -> dict[str, Any]:
        """Data as a run leaves them: some around the first box, more the nearer to the best."""
        generator = torch.Generator().manual_seed(seed)

        def normal(count: int) -> Tensor:
            return torch.randn(count, self.d, generator=generator, dtype=torch.double)

        first = min(self.n, int(_INITIAL * self.d))
        spread = torch.logspace(0.2, -1.0, self.n - first, dtype=torch.double).unsqueeze(-1)
        around = 4 * torch.rand(first, self.d, generator=generator, dtype=torch.double) - 3
        X = torch.cat([around, 1 + spread * normal(self.n - first)])
        Y = _rosenbrock(X)
        best = X[Y.argmax()]
        bounds = torch.tensor([[-2.0] * self.d, [0.0] * self.d])
        return {
            "X": X.tolist(),
            "Y": Y.unsqueeze(-1).tolist(),
            "bounds": bounds.tolist(),
            "q": self.q,
            "X_pending": (best + 0.3 * normal(self.pending)).tolist(),
            "X_failed": (best + 0.3 * normal(self.failed)).tolist(),
        }


def _rosenbrock(X: Tensor) -> Tensor:
    """Its negative, of any number of dimensions."""
    steps = X[:, 1:] - X[:, :-1] ** 2
    return -(100 * steps**2 + (1 - X[:, :-1]) ** 2).sum(dim=-1)


class Version:
    """A version of the package in a process of its own."""

    def __init__(self, folder: Path) -> None:
        folder = folder.resolve()  # the process has another place to start from
        if not (folder / "botorch_ubo").is_dir():
            raise SystemExit(f"expected a checkout with a folder botorch_ubo; got {folder}")
        self._process = subprocess.Popen(
            [sys.executable, str(ROOT / "benchmarks" / "runs" / "suggest_once.py")],
            cwd=folder,
            env={**os.environ, **_THREADS, "PYTHONPATH": str(folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, data: dict[str, Any]) -> dict[str, float]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(data) + "\n")
        self._process.stdin.flush()
        answer: dict[str, float] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()


def measure_speed(
    cases: Iterable[Case], repeats: int, before: Path | None, rivals: dict[str, Contender]
) -> list[dict[str, Any]]:
    r"""Time each case, all contenders in turn and each on the same data.

    Args:
        cases: From small to large.
        repeats: How often, each time on other data, after one that does not count.
        before: The folder of an older version, to be timed beside this one.
        rivals: Others; they are asked for single suggestions without pending or failed points.

    Yields:
        Case and contender with the seconds and, of this package, the MiB that were needed.
    """
    versions = {"default": Version(ROOT)}
    if before is not None:
        versions["before"] = Version(before)
    contenders: dict[str, Contender] = {**versions, **rivals}
    found: list[dict[str, Any]] = []
    too_long: set[tuple[str, int, bool]] = set()  # contender, d, and whether for one point
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are about points out of the unit cube
            for case in cases:
                plain = case == Case(case.n, case.d)
                asked = [name for name in contenders if plain or name in versions]
                taken: dict[str, list[dict[str, float]]] = {name: [] for name in asked}
                for repeat in range(repeats + 1):
                    data = case.data(repeat)
                    for name in asked:
                        if (name, case.d, plain) not in too_long:
                            taken[name].append(contenders[name](data))
                            if taken[name][-1]["seconds"] > TOO_LONG:
                                too_long.add((name, case.d, plain))
                found += [_row(case, name, times) for name, times in taken.items() if times]
                print("measured", case, flush=True)
    finally:
        for version in versions.values():
            version.close()
    return found


def _row(case: Case, name: str, times: list[dict[str, float]]) -> dict[str, Any]:
    counted = times[1:] or times
    return {
        **asdict(case),
        "contender": name,
        "seconds": [time["seconds"] for time in counted],
        "fit": [time["fit"] for time in counted if "fit" in time],
        "memory": max(time.get("memory", 0.0) for time in times),
        "peak": max(time.get("peak", 0.0) for time in times),
    }
