"""References from outside the registry.

- ``LogEI-oracle``: LogEI in the true domain (for ``far``: the box of 3 D sides) with BoTorch's
  default model, inputs in units of the domain;
- ``LogEI-oracle-startunits``: the same, but inputs in units of the start box, as the registry's
  methods have them: told where the optimum can be, not how long length-scales are;
- ``LogEI-oracle-ourmodel``: the same as ``LogEI-oracle`` with our default model;
- ``LogEI-oracle-stock``: ``LogEI-oracle`` with ``fit_gpytorch_mll``; the others find the same
  maximum by ``fit_quick_gp``, so their seconds are not those of a stock loop;
- ``LogEI-wide5``, ``LogEI-wide25``: LogEI in a box 5 or 25 times as wide as the true domain per
  side, about the start box's centre (as wide as the start box, where there is no domain);
- ``CMA-ES``: package ``cma``, from the best initial point with the start box's scales;
- ``Optuna-GP-wide5``: Optuna's GP sampler in the box of ``LogEI-wide5``, told the initial points.

LogEI is BoTorch's ``LogExpectedImprovement`` with ``optimize_acqf``, 10 restarts and 512 raw
samples. All respect the problem's hard limits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from botorch.models.utils.gpytorch_modules import get_covar_module_with_dim_scaled_prior
from botorch.optim import optimize_acqf
from botorch.utils.sampling import manual_seed
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

from benchmarks.catalog import Start
from benchmarks.contender import Clock, Contender
from benchmarks.problems import Problem
from botorch_ubo.boxes import clip, scale_about_center
from botorch_ubo.models import fit_default_model
from botorch_ubo.quick_fit import fit_quick_gp
from botorch_ubo.quick_gp import QuickGP

CMA_SIGMA = 0.3  # sides of the start box; cma's advice is a quarter to a third


class LogEIContender:
    """LogEI in a fixed box, with inputs in units of that box or of another."""

    def __init__(
        self,
        bounds: Tensor,
        seed: int,
        units: Tensor | None = None,
        fit: Callable[[Tensor, Tensor, Tensor], SingleTaskGP] | None = None,
    ) -> None:
        self.bounds: Tensor | None = bounds
        self.told, self.seed, self.fit = bounds, seed, fit or fit_plain_model
        self.units = bounds if units is None else units

    def suggest(self, X: Tensor, Y: Tensor, clock: Clock) -> Tensor:
        seed = self.seed + len(X)
        with clock.phase("fit"), manual_seed(seed):  # a failed fit may draw new starts
            model = self.fit(X, Y, self.units)
        with clock.phase("acquisition"), manual_seed(seed):
            acqf = LogExpectedImprovement(model, best_f=Y.max())
            x, _ = optimize_acqf(acqf, self.told, q=1, num_restarts=10, raw_samples=512)
        return x


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
        return self._new_strategy(x.tolist(), CMA_SIGMA, options)


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


def fit_plain_model(X: Tensor, Y: Tensor, bounds: Tensor) -> QuickGP:
    """BoTorch's default GP at the maximum that ``fit_gpytorch_mll`` looks for, found sooner."""
    d = X.shape[-1]
    model = QuickGP(
        X,
        Y,
        covar_module=get_covar_module_with_dim_scaled_prior(ard_num_dims=d),
        input_transform=Normalize(d, bounds=bounds),
    )
    return fit_quick_gp(model, try_exact=False)


def fit_stock_model(X: Tensor, Y: Tensor, bounds: Tensor) -> SingleTaskGP:
    """BoTorch's default GP, fitted as in its tutorials."""
    model = SingleTaskGP(X, Y, input_transform=Normalize(X.shape[-1], bounds=bounds))
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def _true_domain(problem: Problem) -> Tensor:
    if problem.bounds is None:
        raise ValueError(
            f"Expected a problem with a nominal domain for LogEI-oracle; {problem.name} has none. "
            "Leave the method out."
        )
    return problem.bounds


def wide_box(problem: Problem, start: Start, factor: float) -> Tensor:
    """A box ``factor`` times as wide as the true domain, about the start box's centre."""
    known = start.box if problem.bounds is None else problem.bounds
    wide = scale_about_center(known, factor) - known.mean(dim=0) + start.box.mean(dim=0)
    return wide if problem.hard_limits is None else clip(wide, problem.hard_limits)


OUTSIDE: dict[str, Callable[[Problem, Start, int], Contender]] = {
    "LogEI-oracle": lambda p, start, seed: LogEIContender(_true_domain(p), seed),
    "LogEI-oracle-startunits": lambda p, start, seed: LogEIContender(
        _true_domain(p), seed, units=start.box
    ),
    "LogEI-oracle-ourmodel": lambda p, start, seed: LogEIContender(
        _true_domain(p), seed, fit=fit_default_model
    ),
    "LogEI-oracle-stock": lambda p, start, seed: LogEIContender(
        _true_domain(p), seed, fit=fit_stock_model
    ),
    "LogEI-wide5": lambda p, start, seed: LogEIContender(wide_box(p, start, 5), seed),
    "LogEI-wide25": lambda p, start, seed: LogEIContender(wide_box(p, start, 25), seed),
    "CMA-ES": CMAContender,
    "Optuna-GP-wide5": lambda p, start, seed: OptunaContender(wide_box(p, start, 5), seed),
}
