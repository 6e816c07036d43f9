"""Contenders on problems of several outcomes.

- ``EI-Turns``, the default, ``EI-Roaming``, ``HuBO-EI``: methods of the package from the start box;
- ``oracle``: the same model and acquisition function in the domain, which it is told;
- ``oracle (BoTorch)``: BoTorch's default models, ``fit_gpytorch_mll``, the same acquisition
  functions with BoTorch's temperatures, and ``optimize_acqf``, in the domain, with the samples
  and restarts of BoTorch's tutorials;
- ``first box``: the same as ``oracle`` in the start box.
"""

from collections.abc import Callable
from functools import partial
from typing import Protocol

import torch
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.acquisition.multi_objective.logei import qLogNoisyExpectedHypervolumeImprovement
from botorch.acquisition.multi_objective.objective import GenericMCMultiOutputObjective
from botorch.acquisition.objective import GenericMCObjective
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from botorch.optim import optimize_acqf
from botorch.sampling import SobolQMCNormalSampler
from botorch.utils.multi_objective import infer_reference_point, is_non_dominated
from botorch.utils.sampling import manual_seed
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

from benchmarks.problems.outcomes import OutcomeProblem
from benchmarks.problems.problem import Start
from botorch_ubo import ExpandingBounds
from botorch_ubo.models import fit_default_models

_SAMPLES, _SAMPLES_OF_VOLUME = 256, 128  # those of BoTorch's tutorials
_RESTARTS, _RAW_SAMPLES = 10, 512  # likewise


class OutcomeContender(Protocol):
    """Data in, next point out."""

    bounds: Tensor

    def suggest(self, X: Tensor, Y: Tensor) -> Tensor: ...


def objective_of(problem: OutcomeProblem) -> GenericMCObjective | GenericMCMultiOutputObjective:
    """The objectives of a problem's outcomes, to be maximised."""
    if problem.is_multi:
        k = problem.num_objectives
        return GenericMCMultiOutputObjective(lambda Y, X=None: -Y[..., :k])
    return GenericMCObjective(lambda Y, X=None: -Y[..., 0])


def constraints_of(problem: OutcomeProblem) -> list[Callable[[Tensor], Tensor]]:
    """Its constraints, as BoTorch states them."""
    first, count = problem.num_objectives, problem.num_constraints
    return [partial(_column, index=first + i) for i in range(count)]


def _column(Y: Tensor, index: int) -> Tensor:
    return Y[..., index]


class BoxContender:
    """A method of the package, from the start box or in a box that it is told."""

    def __init__(
        self, method: str, problem: OutcomeProblem, start: Start, seed: int, told: Tensor | None
    ) -> None:
        self.start = start
        self.box = ExpandingBounds(
            start.box if told is None else told,
            method=method,
            hard_limits=problem.hard_limits,
            objective=objective_of(problem),
            constraints=constraints_of(problem),
            seed=seed,
        )
        self.bounds = self.box.bounds

    def suggest(self, X: Tensor, Y: Tensor) -> Tensor:
        # In units of the start box, whatever is told: the same model for all.
        directions = self.box.settings.goal.directions(Y)
        x = self.box.suggest(fit_default_models(X, Y, self.start.box, None, directions))
        self.bounds = self.box.bounds
        return x


class BoTorchContender:
    """The stock loop in the domain."""

    def __init__(self, problem: OutcomeProblem, start: Start, seed: int) -> None:
        self.problem, self.seed, self.bounds = problem, seed, problem.bounds
        self.objective, self.constraints = objective_of(problem), constraints_of(problem) or None

    def suggest(self, X: Tensor, Y: Tensor) -> Tensor:
        with manual_seed(self.seed + len(X)):
            unit = Normalize(X.shape[-1], bounds=self.bounds)
            model = SingleTaskGP(X, Y, input_transform=unit)  # outcomes are independent
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
            acqf = self._acquisition(model, X, Y)
            x, _ = optimize_acqf(acqf, self.bounds, 1, _RESTARTS, _RAW_SAMPLES)
        return x

    def _acquisition(
        self, model: SingleTaskGP, X: Tensor, Y: Tensor
    ) -> qLogNoisyExpectedImprovement | qLogNoisyExpectedHypervolumeImprovement:
        samples = _SAMPLES_OF_VOLUME if self.problem.is_multi else _SAMPLES
        sampler = SobolQMCNormalSampler(torch.Size([samples]), seed=self.seed)
        if not self.problem.is_multi:
            return qLogNoisyExpectedImprovement(
                model,
                X,
                sampler=sampler,
                objective=self.objective,
                constraints=self.constraints,
                prune_baseline=True,
            )
        feasible = self.problem.feasible(Y)
        values = self.objective(Y[feasible] if feasible.any() else Y)
        return qLogNoisyExpectedHypervolumeImprovement(
            model,
            infer_reference_point(values[is_non_dominated(values)]),
            X,
            sampler=sampler,
            objective=self.objective,
            constraints=self.constraints,
            prune_baseline=True,
        )


Make = Callable[[OutcomeProblem, Start, int], OutcomeContender]
CONTENDERS: dict[str, Make] = {
    "EI-Turns": lambda p, start, seed: BoxContender("EI-Turns", p, start, seed, None),
    "EI-Roaming": lambda p, start, seed: BoxContender("EI-Roaming", p, start, seed, None),
    "oracle": lambda p, start, seed: BoxContender("EI-Vanilla", p, start, seed, p.bounds),
    "oracle (BoTorch)": BoTorchContender,
    "HuBO-EI": lambda p, start, seed: BoxContender("HuBO-EI", p, start, seed, None),
    "first box": lambda p, start, seed: BoxContender("EI-Vanilla", p, start, seed, None),
}
DEFAULT_CONTENDERS = ("EI-Turns", "oracle", "oracle (BoTorch)")


def make_outcome_contender(
    name: str, problem: OutcomeProblem, start: Start, seed: int
) -> OutcomeContender:
    """A contender, ready to begin on a problem."""
    torch.set_num_threads(1)
    return CONTENDERS[name](problem, start, seed)
