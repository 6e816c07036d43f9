"""Problems of several outcomes: constraints or several objectives, beyond their domain too.

The start box is a fifth of each side, placed by the seed where the best feasible point, or most of
the hypervolume, is not.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from botorch.utils.multi_objective import is_non_dominated
from botorch.utils.multi_objective.hypervolume import Hypervolume
from botorch.utils.sampling import draw_sobol_samples
from scipy.stats.qmc import LatinHypercube
from torch import Tensor

from benchmarks.problems.problem import EVALUATIONS_PER_DIM, INITIAL_PER_DIM, Start

SHARE = 0.2  # of a side of the domain: the start box
_MAX_VOLUME = 0.5  # of the hypervolume that samples of a start box may reach
_TRIES = 1000


@dataclass(frozen=True)
class OutcomeProblem:
    """A function of several outcomes, of which the first are to be minimised.

    Attributes:
        name: Of the problem.
        outcomes: ``n x d`` points to ``n x (k + c)`` outcomes: objectives to be minimised, then
            constraints that are met where they are not positive.
        bounds: ``2 x d``, the nominal domain, which oracles are told.
        num_objectives: ``k``.
        num_constraints: ``c``.
        hard_limits: ``2 x d``, infinite on free sides: what anyone would know, or where the
            function ends.
        optimal_value: Of the one objective, among feasible points.
        optimizer: ``d``, where it is taken.
        reference_point: ``k`` values that count as bad, for the hypervolume.
        max_hypervolume: Of the true front.
    """

    name: str
    outcomes: Callable[[Tensor], Tensor]
    bounds: Tensor
    num_objectives: int = 1
    num_constraints: int = 0
    hard_limits: Tensor | None = None
    optimal_value: float | None = None
    optimizer: Tensor | None = None
    reference_point: Tensor | None = None
    max_hypervolume: float | None = None

    @property
    def dim(self) -> int:
        return self.bounds.shape[-1]

    @property
    def is_multi(self) -> bool:
        return self.num_objectives > 1

    def feasible(self, Y: Tensor) -> Tensor:
        """``n`` booleans of ``n x (k + c)`` outcomes."""
        return (Y[:, self.num_objectives :] <= 0).all(dim=-1)

    def hypervolume(self, Y: Tensor) -> float:
        """Of the feasible ones among ``n x (k + c)`` outcomes."""
        assert self.reference_point is not None
        values = -Y[self.feasible(Y), : self.num_objectives]
        if not len(values):
            return 0.0
        front = values[is_non_dominated(values)]
        return float(Hypervolume(-self.reference_point.to(values)).compute(front))

    def regret(self, Y: Tensor) -> float:
        """Of the best feasible point; infinite while there is none."""
        assert self.optimal_value is not None
        values = Y[self.feasible(Y), 0]
        return float(values.min()) - self.optimal_value if len(values) else math.inf


def outcome_start(problem: OutcomeProblem, seed: int, budget: int | None = None) -> Start:
    """Where every method of a seed begins: a start box away from the optimum, and points in it."""
    generator = torch.Generator().manual_seed(seed)
    lower, upper = problem.bounds
    side = SHARE * (upper - lower)
    for _ in range(_TRIES):
        unit = torch.rand(problem.dim, generator=generator, dtype=torch.double)
        corner = lower + unit * (upper - lower - side)
        box = torch.stack([corner, corner + side])
        if not _is_good(problem, box):
            break
    else:
        raise ValueError(f"Expected a start box away from the optimum of {problem.name}.")
    rng = np.random.default_rng([7, seed])
    points = LatinHypercube(problem.dim, rng=rng).random(INITIAL_PER_DIM * problem.dim)
    X = box[0] + torch.from_numpy(points) * side
    return Start(box, X, budget or EVALUATIONS_PER_DIM * problem.dim)


def _is_good(problem: OutcomeProblem, box: Tensor) -> bool:
    """Whether a start box has what is sought in it."""
    if problem.is_multi:
        assert problem.max_hypervolume is not None
        Y = problem.outcomes(draw_sobol_samples(box, 128, 1, seed=0).squeeze(-2))
        return problem.hypervolume(Y) > _MAX_VOLUME * problem.max_hypervolume
    assert problem.optimizer is not None
    return bool(((problem.optimizer >= box[0]) & (problem.optimizer <= box[1])).all())
