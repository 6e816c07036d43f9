"""LogEI in a box that it is told, with BoTorch's default model.

- ``LogEI-oracle``: in the true domain (for ``far``: the box of 3 D sides), inputs in units of it;
- ``LogEI-oracle-startunits``: the same, but inputs in units of the start box, as the registry's
  methods have them: told where the optimum can be, not how long length-scales are;
- ``LogEI-oracle-stock``: ``LogEI-oracle`` with ``fit_gpytorch_mll``; the others find the same
  maximum by ``fit_quick_gp``, so their seconds are not those of a stock loop;
- ``LogEI-wide5``, ``LogEI-wide25``: in a box 5 or 25 times as wide as the true domain per side,
  about the start box's centre (as wide as the start box, where there is no domain).

LogEI is BoTorch's ``LogExpectedImprovement`` with ``optimize_acqf``, 10 restarts and 512 raw
samples.
"""

from collections.abc import Callable

from botorch.acquisition import LogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from botorch.models.utils.gpytorch_modules import get_covar_module_with_dim_scaled_prior
from botorch.optim import optimize_acqf
from botorch.utils.sampling import manual_seed
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

from benchmarks.methods.contender import Clock, Make, with_worst
from benchmarks.methods.told import true_domain
from benchmarks.problems.problem import Problem, Start
from botorch_ubo.boxes import clip, scale_about_center
from botorch_ubo.models.quick import QuickGP, fit_quick_gp


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


def wide_box(problem: Problem, start: Start, factor: float) -> Tensor:
    """A box ``factor`` times as wide as the true domain, about the start box's centre."""
    known = start.box if problem.bounds is None else problem.bounds
    wide = scale_about_center(known, factor) - known.mean(dim=0) + start.box.mean(dim=0)
    return wide if problem.hard_limits is None else clip(wide, problem.hard_limits)


class LogEIContender:
    """LogEI in a fixed box, with inputs in units of that box or of another."""

    def __init__(
        self,
        bounds: Tensor,
        seed: int,
        units: Tensor | None = None,
        fit: Callable[[Tensor, Tensor, Tensor], SingleTaskGP] = fit_plain_model,
    ) -> None:
        self.bounds: Tensor | None = bounds
        self.told, self.seed, self.fit = bounds, seed, fit
        self.units = bounds if units is None else units

    def suggest(self, X: Tensor, Y: Tensor, clock: Clock) -> Tensor:
        seed, Y = self.seed + len(X), with_worst(Y)
        with clock.phase("fit"), manual_seed(seed):  # a failed fit may draw new starts
            model = self.fit(X, Y, self.units)
        with clock.phase("acquisition"), manual_seed(seed):
            acqf = LogExpectedImprovement(model, best_f=Y.max())
            x, _ = optimize_acqf(acqf, self.told, q=1, num_restarts=10, raw_samples=512)
        return x


LOG_EI: dict[str, Make] = {
    "LogEI-oracle": lambda p, start, seed: LogEIContender(true_domain(p), seed),
    "LogEI-oracle-startunits": lambda p, start, seed: LogEIContender(
        true_domain(p), seed, units=start.box
    ),
    "LogEI-oracle-stock": lambda p, start, seed: LogEIContender(
        true_domain(p), seed, fit=fit_stock_model
    ),
    "LogEI-wide5": lambda p, start, seed: LogEIContender(wide_box(p, start, 5), seed),
    "LogEI-wide25": lambda p, start, seed: LogEIContender(wide_box(p, start, 25), seed),
}
