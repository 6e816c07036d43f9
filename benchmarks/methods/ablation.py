"""The default method with one ingredient removed or added in turn, to see what each is worth.

Box:

- ``region alone``, ``box alone``: one of the two has every turn;
- ``no travel``: nothing but the hyperharmonic box, so distance counts linearly;
- ``as it has come``: the box reaches as far again as its centre has come from the first box, not as
  far as any datum lies, and the region does not leave it;
- ``filling``: the same; while ``d`` evaluations and all since have brought nothing notable over the
  initial ones, the region lies at the emptiest place of the box instead of on the incumbent;

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
from botorch.utils.sampling import draw_sobol_samples
from gpytorch.priors import LogNormalPrior
from torch import Tensor

from benchmarks.methods.contender import Make
from benchmarks.methods.expanding import Fit, expanding
from botorch_ubo import Context, Proposal, default_model, get_method
from botorch_ubo.boxes import hull
from botorch_ubo.methods import DEFAULT_METHOD
from botorch_ubo.models import compress_bad_outcomes
from botorch_ubo.models.quick import QuickGP, fit_quick_gp
from botorch_ubo.policies import factories
from botorch_ubo.policies.progress import evaluations_without_improvement
from botorch_ubo.strategies import TurnsBox


@dataclass(frozen=True)
class _Box(TurnsBox):
    """The default's box from its own record, with other turns or another reach."""

    turns: tuple[int, ...] = (0, 1)  # which of region and box
    travel: bool = True
    come: bool = False
    filling: bool = False

    def propose(self, context: Context) -> Proposal:
        proposal = super().propose(context)
        least, center = (
            context.X.new_tensor(proposal.details[key])
            for key in ("hyperharmonic_half_widths", "center")
        )
        assert proposal.boxes is not None
        region, box = proposal.boxes
        if not self.travel:
            box = torch.stack([center - least, center + least])
        if self.come:
            first = context.first_box
            come = (center - first.mean(dim=0)).abs() + (first[1] - first[0]) / 2
            led = (context.X[context.incumbent] - center).abs()
            reach = torch.maximum(torch.maximum(least, come), led)
            box = torch.stack([center - reach, center + reach])
        idle = evaluations_without_improvement(context)
        if self.filling and idle == context.t - 1 and idle >= context.d:
            region = _emptiest(context, box)
        boxes = torch.stack([region, box])[list(self.turns)]
        return Proposal(bounds=box if self.come else hull(box, region), boxes=boxes)


def _emptiest(context: Context, box: Tensor) -> Tensor:
    """As wide as the first box, where a box is farthest from all data."""
    sides = context.first_box[1] - context.first_box[0]
    half = torch.minimum(sides, box[1] - box[0]) / 2
    inner = torch.stack([box[0] + half, box[1] - half])
    samples = draw_sobol_samples(inner, 512, 1, seed=context.seed).squeeze(-2)
    distances = torch.cdist(samples / sides, context.X / sides).amin(dim=-1)
    center = samples[distances.argmax()]
    return torch.stack([center - half, center + half])


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
    "as it has come": _with(strategy=_Box(come=True)),
    "filling": _with(strategy=_Box(come=True, filling=True)),
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
