r"""Points between planes, by hit-and-run [Smith1984]_ with a private generator.

BoTorch's ``get_polytope_samples`` seeds the generator of the process and puts it back, whether it
is given a seed or not. Its first point, and its way to leave out what equalities determine, are
taken from there.

.. [Smith1984]
    R. L. Smith. Efficient Monte Carlo procedures for generating points uniformly distributed over
    bounded regions. Operations Research 32, 1984.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from botorch.utils.sampling import (
    PolytopeSampler,
    normalize_dense_linear_constraints,
    sparse_to_dense_constraints,
)
from torch import Tensor

LinearConstraint = tuple[Tensor, Tensor, float]
"""Indices, coefficients and right-hand side, as in ``optimize_acqf``."""

_STEPS = 64  # a box cut by a few planes mixes soon; these are starts, not samples to average


class HitAndRun(PolytopeSampler):
    """As many chains as points, from one point inside."""

    def __init__(
        self,
        box: Tensor,
        inequality_constraints: Sequence[LinearConstraint] | None,
        equality_constraints: Sequence[LinearConstraint] | None,
        seed: int,
    ) -> None:
        r"""Find a point inside.

        Args:
            box: A ``2 x d`` box.
            inequality_constraints: ``(indices, coefficients, rhs)``: ``sum_i x[i] c_i >= rhs``.
            equality_constraints: Likewise, with ``==``.
            seed: The seed.

        Raises:
            ValueError: If there is nothing between the planes.
        """
        self._box = box.cpu().double()
        self._generator = torch.Generator().manual_seed(seed)
        above, equal = self._dense(inequality_constraints), self._dense(equality_constraints)
        super().__init__(  # in units of the box
            inequality_constraints=None if above is None else (-above[0], -above[1]),
            equality_constraints=equal,
            bounds=torch.stack([torch.zeros_like(self._box[0]), torch.ones_like(self._box[0])]),
        )

    def draw(self, n: int = 1) -> Tensor:
        """``n x d`` points, in double precision and main memory."""
        A, dim = self.new_A, self.nullC.shape[-1]
        room = (self.b - self.A @ self.x0).squeeze(-1).clamp_min(0).expand(n, -1)
        X = A.new_zeros(n, dim)
        for _ in range(_STEPS if dim else 0):
            direction = torch.randn(n, dim, generator=self._generator, dtype=torch.double)
            direction = direction / direction.norm(dim=-1, keepdim=True)
            slope = direction @ A.T
            left = (room - X @ A.T).clamp_min(0)
            ahead = torch.where(slope > 0, left / slope, torch.inf).amin(dim=-1)
            behind = torch.where(slope < 0, left / slope, -torch.inf).amax(dim=-1)
            share = torch.rand(n, generator=self._generator, dtype=torch.double)
            X = X + (behind + share * (ahead - behind)).unsqueeze(-1) * direction
        unit = self.x0.squeeze(-1) + X @ self.nullC.T
        return self._box[0] + (self._box[1] - self._box[0]) * unit

    def _dense(
        self, constraints: Sequence[LinearConstraint] | None
    ) -> tuple[Tensor, Tensor] | None:
        if not constraints:
            return None
        on_cpu = [(i.cpu(), c.cpu().double(), float(rhs)) for i, c, rhs in constraints]
        dense = sparse_to_dense_constraints(self._box.shape[-1], on_cpu)
        return normalize_dense_linear_constraints(self._box, dense)
