r"""Log expected improvement of one model on a device, and its search there.

The value is that of ``QuickLogExpectedImprovement``. Values, gradients, starts and steps of a
search are those of many runs at once, with one run; of a union of boxes, with one for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.exceptions.errors import UnsupportedError
from botorch.utils.transforms import t_batch_mode_transform
from torch import Tensor

from botorch_ubo.acquisition.batched.maximize import maximize_batched
from botorch_ubo.compat.botorch_private import LogValues
from botorch_ubo.models.batched import (
    BatchedFormula,
    BatchedGP,
    BatchedLogEI,
    BatchedPendingLogEI,
    as_batch,
    pending_outcomes,
)
from botorch_ubo.models.quick import QuickGP

if TYPE_CHECKING:  # a search comes here, too
    from botorch_ubo.acquisition.search.settings import SearchSettings

_APART = 7919  # between the seeds of two boxes


@dataclass(frozen=True)
class BatchedForm:
    """A formula of a batch of one, whose points are in length-scales of the model's."""

    formula: BatchedFormula
    gp: BatchedGP


def batched_form(acq_function: AcquisitionFunction) -> BatchedForm | None:
    r"""The formula of an acquisition function of a model on a device, if it has one.

    Args:
        acq_function: Any acquisition function. One with such a formula answers ``batched_form()``
            with it, or with ``None`` where it does not hold.

    Returns:
        The formula, or ``None``.
    """
    own = getattr(acq_function, "batched_form", None)
    found: BatchedForm | None = None if own is None else own()
    return found


class LogEIOnDevice(LogValues, AcquisitionFunction):
    """Log expected improvement of a :class:`QuickGP` on a device, also beyond pending points."""

    def __init__(
        self, model: QuickGP, best_f: Tensor, maximize: bool = True, seed: int = 0
    ) -> None:
        r"""Log expected improvement.

        Args:
            model: A fitted model in its own units, with an affine way to its inputs.
            best_f: The value to improve on, a scalar.
            maximize: If True, consider the problem a maximization problem.
            seed: Of the outcomes that pending points may have.
        """
        super().__init__(model)
        gp = as_batch(model, maximize)
        if gp is None or hasattr(model, "outcome_transform"):
            raise UnsupportedError(
                "Expected a model in its own units whose inputs are transformed by an affine map, "
                "if at all; this one is another. Use BoTorch's LogExpectedImprovement."
            )
        self.gp, self.seed = gp, seed
        self.best_f = (best_f if maximize else -best_f).to(gp.z).reshape(1)
        self.set_X_pending(None)

    def set_X_pending(self, X_pending: Tensor | None = None) -> None:
        r"""Take pending points into account.

        Args:
            X_pending: ``m x d`` points that are being evaluated.
        """
        super().set_X_pending(X_pending)
        self._formula: BatchedFormula = BatchedLogEI(self.gp, self.best_f)
        if self.X_pending is not None and len(self.X_pending):
            pending = self.gp.to_points(self.X_pending.to(self.gp.X).unsqueeze(0))
            seeds = torch.full((1,), self.seed, device=self.gp.X.device)
            e = pending_outcomes(seeds, pending.shape[1], self.gp.X)
            self._formula = BatchedPendingLogEI.of(self.gp, self.best_f, pending, e)

    @t_batch_mode_transform(expected_q=1)  # type: ignore[arg-type]  # annotated for the base class
    def forward(self, X: Tensor) -> Tensor:
        r"""Evaluate log expected improvement on the candidate set X.

        Args:
            X: A ``b x 1 x d``-dim batch of points.

        Returns:
            A ``b``-dim tensor.
        """
        points = self.gp.to_points(X.reshape(1, -1, X.shape[-1]))
        values: Tensor = _WrittenOut.apply(points, self._formula)
        return values.reshape(X.shape[:-2])

    def batched_form(self) -> BatchedForm | None:
        """The formula; ``None`` of a subclass, which may have other values."""
        return BatchedForm(self._formula, self.gp) if type(self) is LogEIOnDevice else None


@torch.no_grad()
def maximize_on_device(
    form: BatchedForm, boxes: Tensor, seed: int, settings: SearchSettings
) -> tuple[Tensor, Tensor]:
    r"""Maximise over a union of boxes; nothing leaves the device but how many rows still climb.

    Args:
        form: The formula.
        boxes: ``b x 2 x d``, in raw units.
        seed: Of the starts.
        settings: Numbers of restarts and samples.

    Returns:
        The best ``1 x d`` point, and its value, a scalar.
    """
    rows = torch.zeros(len(boxes), dtype=torch.long, device=boxes.device)
    gp = form.gp.take(rows)
    seeds = seed + _APART * torch.arange(len(boxes), device=boxes.device)
    # A transform may turn a dimension round.
    ends = gp.to_points(boxes.to(gp.X)).sort(dim=1).values
    found = maximize_batched(form.formula.take(rows), gp, ends, seeds, settings)
    X = gp.from_points(found.points.unsqueeze(1)).squeeze(1).to(boxes)
    X = torch.clamp(X, boxes[:, 0], boxes[:, 1])  # back and forth may leave it by a rounding
    best = found.values.argmax().reshape(1)
    return X.index_select(0, best), found.values.index_select(0, best).reshape(())


class _WrittenOut(torch.autograd.Function):
    """A formula as a function of points, with the gradient that it has written out."""

    @staticmethod
    def forward(ctx: Any, points: Tensor, formula: BatchedFormula) -> Tensor:
        values, gradient = formula(points, ctx.needs_input_grad[0])
        ctx.save_for_backward(gradient)
        return values

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None]:
        (gradient,) = ctx.saved_tensors
        return grad_output.unsqueeze(-1) * gradient, None
