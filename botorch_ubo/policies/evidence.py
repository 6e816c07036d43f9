"""Whether the data show any structure: something that a box could be moved after."""

from __future__ import annotations

import math

from botorch.models import MultiTaskGP
from gpytorch.models import ExactGP
from torch import Tensor

from botorch_ubo.models.gram import training_gram
from botorch_ubo.models.quick import conditioned
from botorch_ubo.models.structure import sub_models
from botorch_ubo.policies.view import ModelView

ALL_EQUAL = "all outcomes are equal"
MAY_BE_NOISE = "the outcomes may be nothing but noise"


def why_blind(view: ModelView) -> str | None:
    r"""What keeps the data from telling where to go.

    Args:
        view: A fitted model.

    Returns:
        ``None`` if they show structure, else why not.
    """
    if view.flat:
        return ALL_EQUAL
    if evidence_of_structure(view) < min_evidence(view.X.shape[-1]):
        return MAY_BE_NOISE
    return None


def min_evidence(d: int) -> float:
    """Nats by which a model must explain the outcomes better than noise does.

    One for each parameter that it has more (Akaike's criterion), ``d`` length-scales and an output
    scale, and one more. Noise with heavy tails can pass.
    """
    return d + 2.0


def evidence_of_structure(view: ModelView) -> float:
    r"""By how much the model explains the outcomes better than independent noise would.

    The logarithm of the marginal likelihood less the one of a constant with normal noise, both at
    their best parameters; of several outputs or members, the largest.

    Args:
        view: A fitted model.

    Returns:
        A difference in nats.
    """
    return max(map(_evidence, sub_models(view.model)))


def _evidence(model: ExactGP) -> float:
    exact = isinstance(model, ExactGP) and not isinstance(model, MultiTaskGP)
    if not exact or model.train_targets.shape != model.train_inputs[0].shape[:-1]:
        return math.inf  # its marginal likelihood is not known here: nothing is held against it
    model = conditioned(model)
    gram = training_gram(model)
    targets: Tensor = model.train_targets.to(gram.prior_mean).expand_as(gram.prior_mean)
    n = targets.shape[-1]
    residual = targets - gram.prior_mean
    log_det = 2 * gram.cholesky.diagonal(dim1=-2, dim2=-1).log().sum(dim=-1)
    structured = -0.5 * ((residual * gram.z).sum(dim=-1) + log_det)
    variance = targets.var(dim=-1, correction=0)  # the most likely one of noise alone
    noise = -0.5 * n * (variance.log() + 1)
    return float((structured - noise).nan_to_num(nan=-math.inf).max())
