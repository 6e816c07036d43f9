"""The default method with one ingredient removed or added in turn, to see what each is worth.

Box:

- ``no extent``: nothing but the hyperharmonic box, so distance counts linearly;
- ``no series``: at least the first box's sides, however many steps;
- ``with radius``: the extent of the data limited by Theorem 4.1's radius for EI;

acquisition:

- ``lingering``: LogEI over the best observation, which may polish one optimum for ever;

model:

- ``no tempering``: outcomes as they are, however bad;
- ``no output scale``: BoTorch's kernel of unit variance;
- ``always noise``: noise is inferred even where observations are exact;
- ``exact by density``: observations are exact if that has the larger density, not at even odds;
- ``exact though rough``: even odds, however much rougher that makes the function;
- ``BoTorch's noise prior``: log-normal (-4, 1) for (-2, 1.5).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from botorch.models.transforms import Normalize
from botorch.models.utils.gpytorch_modules import get_covar_module_with_dim_scaled_prior
from gpytorch.priors import LogNormalPrior
from torch import Tensor

from botorch_ubo import factories
from botorch_ubo.boxes import from_model_space
from botorch_ubo.context import Context
from botorch_ubo.controller import ExpandingBounds
from botorch_ubo.methods import DEFAULT_METHOD
from botorch_ubo.models import default_model, fit_default_model, temper
from botorch_ubo.quick_fit import fit_quick_gp
from botorch_ubo.quick_gp import QuickGP
from botorch_ubo.radius import theorem_radius
from botorch_ubo.strategies import HyperharmonicBox, Proposal, RoamingBox
from botorch_ubo.strategies.improvement import IMPROVEMENT_BETA

Fit = Callable[[Tensor, Tensor, Tensor], QuickGP]


@dataclass(frozen=True)
class _Box(RoamingBox):
    """RoamingBox from its own record, without the series or with Theorem 4.1's radius."""

    series: bool = True
    radius: bool = False

    def propose(self, context: Context) -> Proposal:
        details = super().propose(context).details
        extent, least, center = (
            context.summary.X.new_tensor(details[key])
            for key in ("extent_of_data", "hyperharmonic_half_widths", "center")
        )
        if not self.series:
            first = context.to_model(context.state.initial_bounds)
            least = (first[1] - first[0]) / 2
        if self.radius:
            limit = theorem_radius(context.summary, context.epsilon, IMPROVEMENT_BETA).half_widths
            extent = torch.minimum(limit, extent)
        reach = torch.maximum(least, extent)
        box = torch.stack([center - reach, center + reach])
        return Proposal(bounds=from_model_space(context.model, box).cpu())


def _untempered(X: Tensor, Y: Tensor, bounds: Tensor) -> QuickGP:
    return fit_quick_gp(default_model(X, Y, bounds))


def _always_noise(X: Tensor, Y: Tensor, bounds: Tensor) -> QuickGP:
    return fit_quick_gp(default_model(X, temper(X, Y, bounds)[0], bounds), try_exact=False)


def _exact_by_density(X: Tensor, Y: Tensor, bounds: Tensor) -> QuickGP:
    return fit_quick_gp(default_model(X, temper(X, Y, bounds)[0], bounds), max_roughening=0.0)


def _exact_though_rough(X: Tensor, Y: Tensor, bounds: Tensor) -> QuickGP:
    return fit_quick_gp(default_model(X, temper(X, Y, bounds)[0], bounds), max_roughening=math.inf)


def _botorch_noise(X: Tensor, Y: Tensor, bounds: Tensor) -> QuickGP:
    model = default_model(X, temper(X, Y, bounds)[0], bounds)
    model.likelihood.noise_covar.register_prior(
        "noise_prior", LogNormalPrior(loc=-4.0, scale=1.0).to(X), "noise"
    )
    return fit_quick_gp(model)


def _unscaled(X: Tensor, Y: Tensor, bounds: Tensor) -> QuickGP:
    d = X.shape[-1]
    tempered = temper(X, Y, bounds)[0]
    model = QuickGP(
        X,
        tempered,
        likelihood=default_model(X, tempered, bounds).likelihood,
        covar_module=get_covar_module_with_dim_scaled_prior(ard_num_dims=d),
        input_transform=Normalize(d, bounds=bounds),
    )
    return fit_quick_gp(model)


@dataclass(frozen=True)
class Ablation:
    """How to build the controller, and how to fit the model."""

    build: Callable[..., ExpandingBounds] = ExpandingBounds
    fit: Fit = fit_default_model


def _with(**preset: object) -> Callable[..., ExpandingBounds]:
    return lambda bounds, **kwargs: ExpandingBounds(bounds, **{**preset, **kwargs})


_VARIANTS = {
    # In reach of all of space, so that only its sides are HuBO's.
    "no extent": Ablation(_with(strategy=HyperharmonicBox(center_span=1e9))),
    "no series": Ablation(_with(strategy=_Box(series=False))),
    "with radius": Ablation(_with(strategy=_Box(radius=True))),
    "lingering": Ablation(
        _with(acquisition=factories.log_ei, batch_acquisition=factories.q_log_ei)
    ),
    "no tempering": Ablation(fit=_untempered),
    "no output scale": Ablation(fit=_unscaled),
    "always noise": Ablation(fit=_always_noise),
    "exact by density": Ablation(fit=_exact_by_density),
    "exact though rough": Ablation(fit=_exact_though_rough),
    "BoTorch's noise prior": Ablation(fit=_botorch_noise),
}

ABLATIONS: dict[str, Ablation] = {
    f"{DEFAULT_METHOD} ({name})": variant for name, variant in _VARIANTS.items()
}
"""By name."""
