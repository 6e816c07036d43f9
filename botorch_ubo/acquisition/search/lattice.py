r"""From a maximiser among real numbers to a point that can be evaluated, and has not been.

A candidate is brought to the nearest values of its parameters. If that point is known, the best of
its neighbours on the grid that are not takes its place: one step away in one parameter, or in
another category; two steps if all of those are known, and so on. Parameters without a grid have no
neighbours: there it is the best of some samples, as at a limit where all is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.exceptions.errors import BotorchError
from torch import Tensor

from botorch_ubo.spaces import Space

_MAX_VISITED = 10_000  # neighbours: a grid of which all of those are known is as good as exhausted


class SpaceExhaustedError(BotorchError):
    """All points of a space are known, and the data tell of no noise: there is nothing to do."""

    def __init__(self, known: int) -> None:
        r"""There is nothing left to evaluate.

        Args:
            known: The number of points that are known, pending or failed.
        """
        super().__init__(
            f"Expected a point that is not known, pending or failed; the space has none beside "
            f"these {known}. Widen its limits, or stop here. If outcomes are noisy, so that a "
            "repetition is worth something, hand in the variance of their noise."
        )


@dataclass(frozen=True)
class Lattice:
    r"""The values that parameters can have, and the points that are not to come up again.

    Args:
        space: The parameters.
        taken: Points that are known, in coordinates of the space; empty where a repetition is
            worth something, as under noise.
        draw: An acquisition function to ``m x d`` samples: what takes the place of a candidate
            that is taken, where some parameters have no grid.
    """

    space: Space
    taken: frozenset[tuple[float, ...]] = frozenset()
    draw: Callable[[AcquisitionFunction], Tensor] | None = None

    def taking(self, X: Tensor) -> Lattice:
        """The same with the rows of ``X`` (``n x d``) taken too."""
        rows = {self.space.snap(row) for row in X.tolist()}
        return replace(self, taken=self.taken | rows)

    def best_of(self, acq_function: AcquisitionFunction, X: Tensor) -> Tensor:
        """The ``1 x d`` point of the space with the best value, of those nearest to ``n x d``.

        A point that is taken is chosen only if all are.
        """
        points = list(dict.fromkeys(map(self.space.snap, X.tolist())))
        rows = X.new_tensor([point for point in points if point not in self.taken] or points)
        with torch.no_grad():
            values = acq_function(rows.unsqueeze(-2)).nan_to_num(nan=-torch.inf)
        return rows[values.argmax()].unsqueeze(0)

    def beside(self, X: Tensor) -> Tensor:
        """``m x d``: the points one step of the grid or one category away from a ``1 x d`` one."""
        return X.new_tensor(self.space.beside(self.space.snap(X[0].tolist()))).reshape(
            -1, X.shape[-1]
        )

    def settle(self, acq_function: AcquisitionFunction, X: Tensor) -> Tensor:
        r"""The point to evaluate in place of a candidate.

        Args:
            acq_function: What the candidate maximises.
            X: The ``1 x d`` candidate.

        Returns:
            A ``1 x d`` point of the space that is not taken.

        Raises:
            SpaceExhaustedError: If there is none.
        """
        point = self.space.snap(X[0].tolist())
        if point not in self.taken:
            return _row(point, X)
        fresh = self.nearest_fresh(point)
        if self.draw is not None and len(self.space.grid) < len(self.space):
            samples = dict.fromkeys(map(self.space.snap, self.draw(acq_function).tolist()))
            fresh += [other for other in samples if other not in self.taken]
        if not fresh:
            raise SpaceExhaustedError(len(self.taken))
        rows = torch.cat([_row(other, X) for other in fresh])
        with torch.no_grad():
            values = acq_function(rows.unsqueeze(-2)).nan_to_num(nan=-torch.inf)
        return rows[values.argmax()].unsqueeze(0)

    def nearest_fresh(self, point: tuple[float, ...]) -> list[tuple[float, ...]]:
        """All points of the grid that are not taken, the fewest steps away; none if all are."""
        seen, ring = {point}, [point]
        while ring and len(seen) < _MAX_VISITED:
            beside = dict.fromkeys(other for p in ring for other in self.space.beside(p))
            ring = [other for other in beside if other not in seen]
            seen.update(ring)
            fresh = [other for other in ring if other not in self.taken]
            if fresh:
                return fresh
        return []

    def settle_all(self, acq_function: AcquisitionFunction, X: Tensor) -> Tensor:
        """The same for ``q x d`` candidates, no two of which become one point."""
        lattice, rows = self, []
        for candidate in X.split(1):
            rows.append(lattice.settle(acq_function, candidate))
            lattice = lattice.taking(rows[-1])
        return torch.cat(rows)


def _row(point: tuple[float, ...], like: Tensor) -> Tensor:
    return torch.tensor([point], dtype=torch.double).to(like)
