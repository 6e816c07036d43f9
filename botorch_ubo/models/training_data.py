r"""What any fitted model was trained on: points and, where they are known, outcomes in raw units.

A ``ModelListGP`` is the models of its outcomes, a ``MultiTaskGP`` the data of the tasks that it
predicts. Models that keep no training data (``SingleTaskVariationalGP``) are told the points.
"""

from __future__ import annotations

from typing import Any

import torch
from botorch.acquisition.objective import PosteriorTransform
from botorch.exceptions.errors import UnsupportedError
from botorch.models import HigherOrderGP, MultiTaskGP
from botorch.models.deterministic import DeterministicModel
from botorch.models.model import Model
from botorch.models.transforms.input import ChainedInputTransform
from botorch.models.transforms.outcome import Standardize
from gpytorch.models import ExactGP
from torch import Tensor

from botorch_ubo.compat.botorch_private import is_ensemble, original_train_inputs, task_structure
from botorch_ubo.models.structure import member_shape, outcome_scale, sub_models


def check_fitted(model: Model, X_baseline: Tensor | None = None) -> Model:
    r"""Refuse what has no posterior at known points, or was not fitted.

    Args:
        model: Any BoTorch model.
        X_baseline: ``n x d`` evaluated points, for a model that does not keep them.

    Returns:
        The model.

    Raises:
        UnsupportedError: With what was expected, what came and what to do.
    """
    if not isinstance(model, Model):
        raise UnsupportedError(
            "Expected a fitted model of BoTorch, such as an exact GP; got "
            f"{type(model).__name__}. See botorch.models."
        )
    parts = [part for part in sub_models(model) if not isinstance(part, DeterministicModel)]
    if not parts:
        raise UnsupportedError(
            f"Expected a model that knows how uncertain it is, such as SingleTaskGP; got "
            f"{type(model).__name__}, which is deterministic: there is nothing to explore. Put it "
            "into a ModelList beside a GP, or use a GP alone."
        )
    for part in parts:
        _check_one(part, X_baseline is not None)
    return model


def check_one_objective(model: Model, posterior_transform: PosteriorTransform | None) -> None:
    """Refuse several outputs that nothing makes one objective of."""
    if posterior_transform is None and is_one_to_many(model):
        raise UnsupportedError(
            "Expected a `posterior_transform` with an input transform that makes several points of "
            "one; got none. Pass `posterior_transform=ExpectationPosteriorTransform(n_w)` for "
            "their mean."
        )
    if posterior_transform is None and model.num_outputs != 1:
        raise UnsupportedError(
            f"Expected a single-output model or a posterior transform; got {model.num_outputs} "
            "outputs. Pass `posterior_transform=ScalarizedPosteriorTransform(weights)` for their "
            "weighted sum, `objective=` for another function of them, or "
            "`objective=IdentityMCMultiOutputObjective()` for several objectives."
        )


def _check_one(model: Model, has_baseline: bool) -> None:
    name = type(model).__name__
    if isinstance(model, HigherOrderGP):
        raise UnsupportedError(
            f"Expected outcomes that are numbers; got {name}, whose outcomes are tensors. Use a "
            "SingleTaskGP or KroneckerMultiTaskGP of their entries, or of what is made of them."
        )
    inputs = getattr(model, "train_inputs", None) or None
    if inputs is None and not has_baseline:
        raise UnsupportedError(
            f"Expected a model with its training data; {name} does not keep them. Pass the "
            "evaluated points: `suggest(model, X_baseline=train_X)`."
        )
    if model.training or getattr(model, "covar_module", _UNKNOWN) is None:
        state = "is in training mode" if model.training else "has no kernel yet"
        raise UnsupportedError(
            f"Expected a fitted model in evaluation mode; this {name} {state}, so it was probably "
            "never fitted. Call `fit_gpytorch_mll(ExactMarginalLogLikelihood("
            "model.likelihood, model))`, or `model.eval()` if its hyper-parameters were set "
            "another way."
        )
    batch_shape = () if inputs is None else inputs[0].shape[:-2]
    if len(batch_shape) > 1 or (batch_shape and not is_ensemble(model) and model.num_outputs == 1):
        raise UnsupportedError(
            f"Expected one set of training data; got {name} with batch shape {tuple(batch_shape)}. "
            "Fit one model per data set."
        )


_UNKNOWN = object()  # a model without a `covar_module` has its covariance from elsewhere


def tensor_like(model: Model) -> Tensor:
    """An empty tensor of a model's dtype and device."""
    for part in sub_models(model):
        targets = getattr(part, "train_targets", None)
        # Those of a PairwiseGP are comparisons: indices.
        known = targets is not None and targets.is_floating_point()
        like = targets if known else next(part.parameters(), None)
        if like is not None:
            return like.new_empty(0)
    raise UnsupportedError(
        f"Expected a model with training data or parameters; got {type(model).__name__} with none."
    )


def training_inputs(model: Model, X_baseline: Tensor | None = None) -> Tensor:
    """``n x d`` evaluated points in raw units: those given, or those that a model has seen.

    The models of a list may have seen different points: these are then all of them, each once.
    """
    like = tensor_like(model)
    if X_baseline is not None:
        return X_baseline.detach().to(like)
    # BoTorch leaves the original inputs behind when a model is moved.
    known = [part for part in sub_models(model) if not isinstance(part, DeterministicModel)]
    first, *others = (_inputs(part).detach().to(like) for part in known)
    for X in others:
        if not torch.equal(first, X):
            first = _merged(first, X)
    return first


def training_targets(model: Model) -> tuple[Tensor, ...]:
    """Outcomes in the model's units, one tensor per model of a list; none where none are kept."""
    found = (getattr(part, "train_targets", None) for part in sub_models(model))
    return tuple(targets for targets in found if targets is not None)


def observed_outcomes(model: Model, X: Tensor | None = None) -> Tensor | None:
    r"""The observed outcomes at the evaluated points.

    Args:
        model: A fitted model.
        X: ``n x d`` evaluated points; :func:`training_inputs` by default.

    Returns:
        ``n x m`` values in raw units and their own sign, in double on the model's device; ``None``
        where not every outcome was observed once at every point, or the model does not keep them.
    """
    X = training_inputs(model) if X is None else X
    columns: list[Tensor] = []
    for part in sub_models(model):
        if isinstance(part, DeterministicModel):  # it knows its outcomes everywhere
            columns.append(part.posterior(X).mean.detach().double())
            continue
        if isinstance(part, MultiTaskGP) or not isinstance(part, ExactGP) or is_one_to_many(part):
            return None
        if not torch.equal(_inputs(part).to(X), X):
            return None
        columns.append(_outcomes(part))
    return torch.cat(columns, dim=-1)


def observed_objective(
    model: Model, posterior_transform: PosteriorTransform | None = None, X: Tensor | None = None
) -> Tensor | None:
    r"""The observed values of one objective.

    Args:
        model: A fitted model.
        posterior_transform: What makes one objective of several outputs.
        X: See :func:`observed_outcomes`.

    Returns:
        ``n`` values as in :func:`observed_outcomes`, or ``None``.
    """
    Y = observed_outcomes(model, X)
    if Y is None:
        return None
    if posterior_transform is None:
        return Y[:, 0]
    own = Y.to(tensor_like(model))
    return posterior_transform.evaluate(own).double().reshape(-1).detach()


def is_one_to_many(model: Model) -> bool:
    """Whether an input transform makes several points of one, as for robust optimisation."""
    parts = sub_models(model)
    return any(_makes_several(getattr(part, "input_transform", None)) for part in parts)


def _makes_several(transform: Any) -> bool:
    if isinstance(transform, ChainedInputTransform):
        return any(map(_makes_several, transform.values()))
    rows = getattr(transform, "feature_set", None)  # AppendFeatures may append the same to all
    return getattr(transform, "is_one_to_many", False) and (rows is None or len(rows) > 1)


def _inputs(model: Model) -> Tensor:
    """``n x d`` raw inputs of one model; of a multi-task model, those of the tasks it predicts."""
    X = original_train_inputs(model)
    X = X.reshape(-1, *X.shape[-2:])[0]
    if not isinstance(model, MultiTaskGP):
        return X
    feature, tasks = task_structure(model)
    predicted = torch.isin(X[:, feature], X.new_tensor(tasks))
    X = torch.cat([X[predicted, :feature], X[predicted, feature + 1 :]], dim=-1)
    return _merged(X[:0], X)


def _merged(first: Tensor, second: Tensor) -> Tensor:
    """The rows of both, each once, in the order in which they come."""
    rows = dict.fromkeys(map(tuple, torch.cat([first, second]).tolist()))
    return first.new_tensor(list(rows))


def _outcomes(model: ExactGP) -> Tensor:
    """``n x m`` outcomes of one exact GP in raw units, in double."""
    targets = model.train_targets.detach()
    if targets.shape == model.train_inputs[0].shape[:-1]:
        # One row per output; the members of an ensemble have the same data.
        rows = targets.reshape(-1, targets.shape[-1])[: member_shape(model)[1]]
        Y = rows.double().mT  # n x m
    else:  # correlated outputs (KroneckerMultiTaskGP) come as they are
        Y = targets.double()
    outcome = getattr(model, "outcome_transform", None)
    if outcome is None:
        return Y
    if isinstance(outcome, Standardize):
        means, scales = outcome_scale(model, Y)
        return Y * scales[0] + means[0]
    return outcome.untransform(Y.to(targets))[0].double().reshape(Y.shape)
