"""The default method with one ingredient removed or added in turn, to see what each is worth.

Box:

- ``no extent``: nothing but the hyperharmonic box, so distance counts linearly;
- ``no series``: at least the first box's sides, however many steps;
- ``with radius``: the extent of the data limited by Theorem 4.1's radius for EI;

acquisition:

- ``lingering``: LogEI over the best observation, which may polish one optimum for ever;

model:

- ``no tempering``: outcomes as they are, however bad, not compressed;
- ``no output scale``: BoTorch's kernel of unit variance;
- ``always noise``: noise is inferred even where observations are exact;
- ``exact by density``: observations are exact if that has the larger density, not at even odds;
- ``exact though rough``: even odds, however much rougher that makes the function;
- ``BoTorch's noise prior``: log-normal (-4, 1) for (-2, 1.5).
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import torch
from botorch.models.transforms import Normalize
from botorch.models.utils.gpytorch_modules import get_covar_module_with_dim_scaled_prior
from gpytorch.priors import LogNormalPrior
from torch import Tensor

from benchmarks.methods.contender import Make
from benchmarks.methods.expanding import Fit, expanding
from botorch_ubo import Context, Proposal, default_model, get_method
from botorch_ubo.methods import DEFAULT_METHOD
from botorch_ubo.models import compress_bad_outcomes
from botorch_ubo.models.quick import QuickGP, fit_quick_gp
from botorch_ubo.policies import factories
from botorch_ubo.posterior import theorem_radius
from botorch_ubo.strategies import HyperharmonicBox, RoamingBox
from botorch_ubo.strategies.improvement import IMPROVEMENT_BETA


@dataclass(frozen=True)
class _Box(RoamingBox):
    """RoamingBox from its own record, without the series or with Theorem 4.1's radius."""

    series: bool = True
    radius: bool = False

    def propose(self, context: Context) -> Proposal:
        details = super().propose(context).details
        extent, least, center = (
            context.X.new_tensor(details[key])
            for key in ("extent_of_data", "hyperharmonic_half_widths", "center")
        )
        if not self.series:
            least = (context.first_box[1] - context.first_box[0]) / 2
        if self.radius:
            radius = theorem_radius(context.view.summary, context.epsilon, IMPROVEMENT_BETA)
            extent = torch.minimum(radius.half_widths, extent)
        reach = torch.maximum(least, extent)
        return Proposal(bounds=torch.stack([center - reach, center + reach]))


def _untempered(X: Tensor, Y: Tensor, bounds: Tensor) -> QuickGP:
    return fit_quick_gp(default_model(X, Y, bounds))


def _tempered(X: Tensor, Y: Tensor, bounds: Tensor) -> QuickGP:
    return default_model(X, compress_bad_outcomes(X, Y, bounds)[0], bounds)


def _fitted_with(**options: object) -> Fit:
    return lambda X, Y, bounds: fit_quick_gp(_tempered(X, Y, bounds), **options)


def _botorch_noise(X: Tensor, Y: Tensor, bounds: Tensor) -> QuickGP:
    model = _tempered(X, Y, bounds)
    model.likelihood.noise_covar.register_prior(
        "noise_prior", LogNormalPrior(loc=-4.0, scale=1.0).to(X), "noise"
    )
    return fit_quick_gp(model)


def _unscaled(X: Tensor, Y: Tensor, bounds: Tensor) -> QuickGP:
    d = X.shape[-1]
    compressed = compress_bad_outcomes(X, Y, bounds)[0]
    model = QuickGP(
        X,
        compressed,
        likelihood=default_model(X, compressed, bounds).likelihood,
        covar_module=get_covar_module_with_dim_scaled_prior(ard_num_dims=d),
        input_transform=Normalize(d, bounds=bounds),
    )
    return fit_quick_gp(model)


def _with(**parts: Any) -> Make:
    return expanding(replace(get_method(DEFAULT_METHOD), **parts))


_VARIANTS: dict[str, Make] = {
    # In reach of all of space, so that only its sides are HuBO's.
    "no extent": _with(strategy=HyperharmonicBox(center_span=1e9)),
    "no series": _with(strategy=_Box(series=False)),
    "with radius": _with(strategy=_Box(radius=True)),
    "lingering": _with(acquisition=factories.log_ei, batch_acquisition=factories.q_log_ei),
    "no tempering": expanding(fit=_untempered),
    "no output scale": expanding(fit=_unscaled),
    "always noise": expanding(fit=_fitted_with(try_exact=False)),
    "exact by density": expanding(fit=_fitted_with(max_roughening=0.0)),
    "exact though rough": expanding(fit=_fitted_with(max_roughening=math.inf)),
    "BoTorch's noise prior": expanding(fit=_botorch_noise),
}

ABLATIONS: dict[str, Make] = {
    f"{DEFAULT_METHOD} ({name})": variant for name, variant in _VARIANTS.items()
}
