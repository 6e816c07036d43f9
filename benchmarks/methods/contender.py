"""What a benchmark asks of a method: data in, next point out, with the seconds it took."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from benchmarks.problems.problem import Problem, Start


class Clock:
    """Seconds of one suggestion, by phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds[name] += time.perf_counter() - began


class Contender(Protocol):
    """A method at work on one problem; ``bounds`` is the ``2 x d`` box of its last suggestion."""

    bounds: Tensor | None

    def suggest(self, X: Tensor, Y: Tensor, clock: Clock) -> Tensor:
        """The next ``1 x d`` point, from all ``n x d`` points and their ``n x 1`` values so far.

        The value of an evaluation that failed is NaN.
        """
        ...


Make = Callable[[Problem, Start, int], Contender]  # the last is the seed
Place = Callable[[Problem, Start, int], Start]


@dataclass(frozen=True)
class Placed:
    """How to make a contender that puts its initial points elsewhere than the others.

    Attributes:
        make: Of the contender.
        place: The start that all methods of the seed share, to its own.
    """

    make: Make
    place: Place

    def __call__(self, problem: Problem, start: Start, seed: int) -> Contender:
        """The contender."""
        return self.make(problem, start, seed)


def with_worst(Y: Tensor) -> Tensor:
    """Values in which failures are as bad as the worst success, for those who know no failures."""
    return torch.where(Y.isnan(), Y[~Y.isnan()].min(), Y)
