"""The default method with one ingredient removed or added in turn, to see what each is worth.

Box:

- ``region alone``, ``box alone``: one of the two has every turn;
- ``no travel``: nothing but the hyperharmonic box, so distance counts linearly;
- ``not filling``: a plateau is searched as all else is;
- ``not bounded``: the box reaches as far as any datum lies, and the region may leave it;
- ``as before``: both of these, the default of the day before;

initial points, acquisition:

- ``initial in box``: all initial points in the first box, none around it;
- ``not lingering``: LogEI over the best mean, at times by a notable amount;

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
from botorch_ubo.boxes import fit_inside, hull
from botorch_ubo.methods import DEFAULT_METHOD
from botorch_ubo.models import compress_bad_outcomes
from botorch_ubo.models.quick import QuickGP, fit_quick_gp
from botorch_ubo.policies import factories
from botorch_ubo.policies.progress import evaluations_without_improvement, on_plateau
from botorch_ubo.strategies import TurnsBox
from botorch_ubo.strategies.hyperharmonic import hyperharmonic_factor
from botorch_ubo.strategies.turns import WIDEST_SEARCH, emptiest, home_among_equals


@dataclass(frozen=True)
class _Box(TurnsBox):
    """The default's box put together again, with other turns or without some of its rules."""

    turns: tuple[int, ...] = (0, 1)  # which of region and box
    travel: bool = True
    bounded: bool = True
    filling: bool = True

    def propose(self, context: Context) -> Proposal:
        region = self.local.around(context.X[context.incumbent], context).bounds
        first = context.first_box
        sides = first[1] - first[0]
        widest = WIDEST_SEARCH / 2 * sides
        center = home_among_equals(context)
        least = hyperharmonic_factor(context.t, -1.0) / 2 * sides
        idle = evaluations_without_improvement(context)
        plateau = self.filling and on_plateau(context)
        if idle == context.t - 1 or plateau:
            least = torch.maximum(least, torch.minimum(least * 2 ** (idle / context.d), widest))
        extent = (context.X - center).abs().amax(dim=0)
        if self.bounded:
            come = (center - first.mean(dim=0)).abs() + sides / 2
            extent = torch.minimum(extent, torch.maximum(come, widest))
        reach = torch.maximum(least, extent) if self.travel else least
        box = torch.stack([center - reach, center + reach])
        if self.bounded:
            region = fit_inside(region, box)
        boxes = torch.stack([region, box])[list(self.turns)]
        if plateau:
            near = context.within_limits(torch.stack([center - least, center + least]))
            boxes = emptiest(near, context.X, sides).expand_as(boxes)
        return Proposal(bounds=hull(box, region), boxes=boxes)


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
    "region alone": _with(strategy=_Box(turns=(0, 0))),
    "box alone": _with(strategy=_Box(turns=(1, 1))),
    "no travel": _with(strategy=_Box(travel=False)),
    "not filling": _with(strategy=_Box(filling=False)),
    "not bounded": _with(strategy=_Box(bounded=False)),
    "as before": _with(strategy=_Box(bounded=False, filling=False)),
    "initial in box": _with(initial_span=1.0),
    "not lingering": _with(
        acquisition=factories.searching_log_ei, batch_acquisition=factories.q_searching_log_ei
    ),
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
