"""A fitted model in the units of its own outcomes, and the way back to the user's.

A posterior in raw units has floors and squares in raw units: BoTorch takes no standard deviation
for smaller than 1e-6, and variances over- and underflow. Policies therefore see a model without its
``Standardize``, and what they find is mapped back once, where it is written down.
"""

from __future__ import annotations

from dataclasses import dataclass

from botorch.acquisition.objective import PosteriorTransform, ScalarizedPosteriorTransform
from botorch.models import MultiTaskGP
from botorch.models.transforms.outcome import Standardize
from gpytorch.models import ExactGP
from torch import Tensor

from botorch_ubo.models.outcome_units import RobustStandardize
from botorch_ubo.models.structure import outcome_scale


@dataclass(frozen=True)
class OutcomeUnits:
    """``raw = location + scale * own``."""

    location: float = 0.0
    scale: float = 1.0


def in_own_units(
    model: ExactGP, posterior_transform: PosteriorTransform | None = None
) -> tuple[ExactGP, PosteriorTransform | None, OutcomeUnits]:
    r"""A model without the units of its outcomes.

    Args:
        model: A fitted GP.
        posterior_transform: What makes one objective of several outputs.

    Returns:
        A model with the same data and parameters whose posterior is in standardised units, the
        posterior transform for it, and the units of the objective. A model whose outcomes are not
        standardised, or not combined linearly, is left as it is.
    """
    outcome = getattr(model, "outcome_transform", None)
    if not isinstance(model, ExactGP) or isinstance(model, MultiTaskGP):
        outcome = None
    linear = isinstance(posterior_transform, ScalarizedPosteriorTransform | None)
    if type(outcome) not in (Standardize, RobustStandardize) or not linear:
        return model, posterior_transform, OutcomeUnits()
    means, scales = outcome_scale(model, model.train_targets.double())  # S x M
    members = len(scales)
    if members > 1 and not ((scales == scales[:1]) & (means == means[:1])).all():
        return model, posterior_transform, OutcomeUnits()  # no one unit for all members
    if posterior_transform is None:
        units = OutcomeUnits(float(means[0, 0]), float(scales[0, 0]))
        return _without_outcome_transform(model), None, units
    weights: Tensor = posterior_transform.get_buffer("weights").to(scales)
    raw = weights * scales[0]
    unit = float(raw.abs().max())
    if not unit > 0 or weights.numel() != scales.shape[-1]:
        return model, posterior_transform, OutcomeUnits()
    offset: float = posterior_transform.offset  # type: ignore[assignment]  # it is one
    location = float((weights * means[0]).sum()) + offset
    own = ScalarizedPosteriorTransform((raw / unit).to(model.train_targets))
    return _without_outcome_transform(model), own, OutcomeUnits(location, unit)


def _without_outcome_transform(model: ExactGP) -> ExactGP:
    """A model that shares everything but the outcome transform, and caches in its units."""
    bare: ExactGP = object.__new__(type(model))
    modules = {name: part for name, part in model._modules.items() if name != "outcome_transform"}
    bare.__dict__.update({**model.__dict__, "_modules": modules})
    bare.__dict__.pop("_factored", None)  # of a QuickGP, which includes the units
    return bare
