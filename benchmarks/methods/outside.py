"""Optimisers of other packages.

- ``CMA-ES``: package ``cma``, from the best initial point with the start box's scales;
- Optuna's GP sampler in a box that it is told, as are the initial points: ``Optuna-GP-told`` in the
  true domain (``-spread``: with its initial points over it), ``Optuna-GP-wide5`` in a wide box.

Both respect the problem's hard limits.
"""

from typing import Any

import torch
from torch import Tensor

from benchmarks.methods.contender import Clock, with_worst
from benchmarks.problems.problem import Problem, Start

SIGMA = 0.3  # sides of the start box; cma's advice is a quarter to a third


class CMAContender:
    """CMA-ES, whose generations are handed out point by point."""

    bounds: Tensor | None = None

    def __init__(self, problem: Problem, start: Start, seed: int) -> None:
        import cma  # here, so that its import is not counted as the first suggestion's

        self._new_strategy = cma.CMAEvolutionStrategy
        self.problem, self.start, self.seed = problem, start, seed
        self._strategy: Any = None
        self._generation: list[Any] = []
        self._handed_out = 0

    def suggest(self, X: Tensor, Y: Tensor, clock: Clock) -> Tensor:
        Y = with_worst(Y)
        with clock.phase("acquisition"):
            if self._strategy is None:
                self._strategy = self._begin(X[Y.argmax()])
            elif self._handed_out == len(self._generation):
                self._strategy.tell(self._generation, (-Y[-self._handed_out :, 0]).tolist())
                self._generation = []
            if not self._generation:
                self._generation, self._handed_out = self._strategy.ask(), 0
            point = self._generation[self._handed_out]
            self._handed_out += 1
            return torch.as_tensor(point, dtype=torch.double).unsqueeze(0)

    def _begin(self, x: Tensor) -> Any:
        side = self.start.box[1] - self.start.box[0]
        # Seed 0 would mean one of the clock's.
        options = {"seed": self.seed + 1, "verbose": -9, "CMA_stds": side.tolist()}
        if self.problem.hard_limits is not None:
            options["bounds"] = self.problem.hard_limits.tolist()
        return self._new_strategy(x.tolist(), SIGMA, options)


class OptunaContender:
    """Optuna's GP sampler in a fixed box."""

    def __init__(self, bounds: Tensor, seed: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._optuna = optuna
        self.bounds: Tensor | None = bounds
        self.seed = seed
        self._space: dict[str, Any] = {
            f"x{i}": optuna.distributions.FloatDistribution(lower, upper)
            for i, (lower, upper) in enumerate(bounds.T.tolist())
        }
        self._study: Any = None
        self._trial: Any = None

    def suggest(self, X: Tensor, Y: Tensor, clock: Clock) -> Tensor:
        # A trial that has failed would leave no trace, and be proposed again.
        Y = with_worst(Y)
        with clock.phase("acquisition"):
            if self._study is None:
                self._study = self._begin(X, Y)
            else:
                self._study.tell(self._trial, float(Y[-1]))
            self._trial = self._study.ask(self._space)
            point = [self._trial.params[name] for name in self._space]
            return torch.tensor([point], dtype=torch.double)

    def _begin(self, X: Tensor, Y: Tensor) -> Any:
        # The initial points stand in for those that the sampler would draw itself.
        sampler = self._optuna.samplers.GPSampler(seed=self.seed, n_startup_trials=len(X))
        study = self._optuna.create_study(direction="maximize", sampler=sampler)
        for x, y in zip(X.tolist(), Y.flatten().tolist(), strict=True):
            params = dict(zip(self._space, x, strict=True))
            study.add_trial(
                self._optuna.trial.create_trial(params=params, distributions=self._space, value=y)
            )
        return study
