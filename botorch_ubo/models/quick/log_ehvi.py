r"""Log expected hypervolume improvement of two objectives of a :class:`QuickModelList`.

The value is the logarithm of BoTorch's ``ExpectedHypervolumeImprovement`` times the probability of
being feasible, computed on the CPU by numpy. Where no formula holds, as beyond pending points,
another acquisition function is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.exceptions.errors import UnsupportedError
from botorch.utils.transforms import t_batch_mode_transform
from torch import Tensor

from botorch_ubo.compat.botorch_private import LogValues
from botorch_ubo.models.quick.hypervolume import Line, NumpyLogEHVI
from botorch_ubo.models.quick.log_ei import WrittenOut
from botorch_ubo.models.quick.outcomes import QuickModelList
from botorch_ubo.models.quick.written_out import ClosedForm


class QuickLogExpectedHypervolumeImprovement(LogValues, AcquisitionFunction):
    """Log expected hypervolume improvement over posterior means, for models on the CPU."""

    def __init__(
        self,
        model: QuickModelList,
        objectives: Sequence[Line],
        X_front: Tensor,
        reference_point: Tensor,
        sampled: Callable[[], AcquisitionFunction],
        constraints: Sequence[Line] = (),
    ) -> None:
        r"""Log expected hypervolume improvement.

        Args:
            model: A fitted model of independent outcomes.
            objectives: The two objectives, to be maximised, each of an outcome of its own.
            X_front: ``r x d`` points whose posterior means make the front.
            reference_point: Two values of the objectives that count as bad.
            sampled: What makes the acquisition function for several points at once, or with
                pending ones.
            constraints: Feasible where not positive, each of an outcome of its own.
        """
        super().__init__(model)
        parts = model.factored()
        used = [line.outcome for line in (*objectives, *constraints)]
        if parts is None or len(objectives) != 2 or len(set(used)) < len(used):
            raise UnsupportedError(
                "Expected a QuickModelList of squared exponential GPs with the same inputs, and "
                "two objectives and constraints each of an outcome of its own; got "
                f"{len(objectives)} objective(s), of outcomes {used}. Use BoTorch's "
                "qLogNoisyExpectedHypervolumeImprovement."
            )
        self._parts = parts
        first, second = objectives
        self._formula = NumpyLogEHVI.of(
            parts, (first, second), tuple(constraints), X_front, reference_point
        )
        self._sampled = sampled
        self._other: AcquisitionFunction | None = None
        self.set_X_pending(None)

    @t_batch_mode_transform()  # type: ignore[arg-type]  # annotated for the base class
    def forward(self, X: Tensor) -> Tensor:
        r"""Evaluate on the candidate set X.

        Args:
            X: A ``b x q x d``-dim batch of points.

        Returns:
            A ``b``-dim tensor.
        """
        if X.shape[-2] != 1 or self.X_pending is not None:
            return self._by_samples()(X)
        p = self._parts[0]
        points = ((X.squeeze(-2) - p.origin) * p.slope).reshape(-1, X.shape[-1])
        values: Tensor = WrittenOut.apply(points, self._formula)
        return values.reshape(X.shape[:-2])

    def closed_form(self) -> ClosedForm | None:
        """The formula of raw inputs; ``None`` with pending points."""
        if type(self) is not QuickLogExpectedHypervolumeImprovement or self.X_pending is not None:
            return None
        return ClosedForm(self._formula, self._parts[0].origin, self._parts[0].slope)

    def _by_samples(self) -> AcquisitionFunction:
        if self._other is None:
            self._other = self._sampled()
        pending: Any = self.X_pending
        known = self._other.X_pending
        same = pending is None if known is None else pending is not None and known.equal(pending)
        if not same:
            self._other.set_X_pending(pending)
        return self._other
