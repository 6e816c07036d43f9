"""Suggestions per second of many runs at once, against one after the other on the CPU."""

import time
from dataclasses import asdict, dataclass
from typing import Any
from unittest import mock

import torch
from torch import Tensor

from benchmarks.runs.gpu import DTYPES
from benchmarks.runs.metadata import peak_memory
from benchmarks.runs.operations import Operations, synchronize
from benchmarks.runs.speed import Version
from botorch_ubo import BatchedRuns, ExpandingBounds
from botorch_ubo.models.batched import groups

WARM_UP = 1
ONE_BY_ONE = 8  # runs on which the time of one after the other is taken


@dataclass(frozen=True)
class ManyRuns:
    """``runs`` runs with ``n`` data of Rosenbrock's function, half of them where it is small."""

    runs: int
    n: int
    dim: int
    dtype: str

    def data(self, run: int) -> tuple[Tensor, Tensor]:
        generator = torch.Generator().manual_seed(run)
        X = 4 * torch.rand(self.n, self.dim, generator=generator, dtype=torch.double) - 2
        half = self.n // 2
        best = X[_rosenbrock(X).argmin()]
        steps = torch.randn(half, self.dim, generator=generator, dtype=torch.double)
        X[-half:] = best + 0.1 * steps
        return X, _rosenbrock(X)

    def box(self) -> list[tuple[float, float]]:
        return [(-1.0, 1.0)] * self.dim


def measure_many(
    case: ManyRuns, device: str, repeats: int, before: Version | None = None
) -> dict[str, Any]:
    r"""Seconds per step of all runs, the operations in it, and seconds per run one by one.

    Args:
        case: How many runs of how many data.
        device: Where.
        repeats: How often, after one time that does not count.
        before: An older version, whose seconds per run are taken, too.

    Returns:
        What was measured.
    """
    data = [case.data(run) for run in range(case.runs)]
    options: dict[str, Any] = {"dtype": DTYPES[case.dtype], "device": device}
    # On a CPU that others use, too, the time of this process.
    clock = time.process_time if device == "cpu" else time.perf_counter
    seconds = []
    operations = Operations()
    for repeat in range(WARM_UP + repeats):
        runs = BatchedRuns(case.box(), case.runs, data=data, num_initial=1, **options)
        synchronize(device)
        began = clock()
        if repeat == 0:
            # As a GPU is given them: all models together, which a CPU's cache may not hold.
            with operations, mock.patch.object(groups, "NUMBERS_IN_CACHE", 2**62):
                runs.ask()
        else:
            runs.ask()
        synchronize(device)
        seconds.append(clock() - began)
    seconds = seconds[WARM_UP:]
    found = {
        **asdict(case),
        "device": device,
        "seconds": seconds,
        "launched": operations.launched,
        "scalars": operations.scalars,
        "peak_memory": torch.cuda.max_memory_allocated() / 2**20
        if device == "cuda"
        else peak_memory(),
    }
    if device == "cpu":
        found["seconds_one_by_one"] = _one_by_one(case)
        if before is not None:
            found["seconds_before"] = _one_by_one_before(case, before)
    return found


def _one_by_one(case: ManyRuns) -> list[float]:
    """Seconds per suggestion of the package's own path for one run, in double."""
    seconds = []
    for run in range(ONE_BY_ONE):
        X, Y = case.data(run)
        bounds = torch.tensor(case.box(), dtype=torch.double).T
        box = ExpandingBounds(bounds, maximize=False, seed=run)
        began = time.process_time()
        box.suggest(box.fit(X, Y.unsqueeze(-1)))
        seconds.append(time.process_time() - began)
    return seconds


def _one_by_one_before(case: ManyRuns, before: Version) -> list[float]:
    """The same of an older version, means over its last few steps."""
    bounds = torch.tensor(case.box(), dtype=torch.double).T.tolist()
    seconds = []
    for run in range(WARM_UP + ONE_BY_ONE):
        X, Y = case.data(run)
        asked = {"q": 1, "X_pending": [], "X_failed": [], "bounds": bounds}
        answer = before({"X": X.tolist(), "Y": (-Y).unsqueeze(-1).tolist(), **asked})
        seconds.append(answer["seconds"])
    return seconds[WARM_UP:]


def _rosenbrock(X: Tensor) -> Tensor:
    along, next_one = X[:, :-1], X[:, 1:]
    return (100 * (next_one - along.square()).square() + (1 - along).square()).sum(dim=-1)
