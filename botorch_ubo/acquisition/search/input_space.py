r"""What candidates must satisfy beside the box: BoTorch's input constraints and kinds of inputs.

The arguments are those of ``optimize_acqf`` and ``optimize_acqf_mixed_alternating``. Starts of a
search satisfy them: samples are moved onto the equalities, then pulled towards the nearest point
that is known to satisfy everything until they do too, which for linear constraints is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypedDict

import torch
from botorch.exceptions.errors import UnsupportedError
from botorch.optim.optimize_mixed import round_discrete_dims
from botorch.optim.parameter_constraints import (
    evaluate_feasibility,
    project_to_equality_constraints,
)
from torch import Tensor

from botorch_ubo.acquisition.search.input_checks import check_inputs
from botorch_ubo.acquisition.search.polytope import HitAndRun, LinearConstraint
from botorch_ubo.boxes import clip

NonlinearConstraint = tuple[Callable[[Tensor], Tensor], bool]

_ANCHORS = 16


class InputArguments(TypedDict, total=False):
    """Arguments of BoTorch's optimisers that ``ExpandingBounds.suggest`` passes on."""

    inequality_constraints: Sequence[LinearConstraint] | None
    equality_constraints: Sequence[LinearConstraint] | None
    nonlinear_inequality_constraints: Sequence[NonlinearConstraint] | None
    fixed_features: Mapping[int, float] | None
    discrete_dims: Mapping[int, Sequence[float]] | None
    cat_dims: Mapping[int, Sequence[float]] | None


@dataclass(frozen=True)
class InputSpace:
    r"""What candidates must satisfy.

    Args:
        inequality_constraints: ``(indices, coefficients, rhs)``: ``sum_i x[i] c_i >= rhs``.
        equality_constraints: Likewise, with ``==``.
        nonlinear_inequality_constraints: ``(callable, True)``: ``callable(x) >= 0``.
        fixed_features: ``{index: value}``.
        discrete_dims: ``{index: allowed values}``; those within the box are searched.
        cat_dims: ``{index: categories}``; all of them are searched, whatever the box.
    """

    inequality_constraints: Sequence[LinearConstraint] | None = None
    equality_constraints: Sequence[LinearConstraint] | None = None
    nonlinear_inequality_constraints: Sequence[NonlinearConstraint] | None = None
    fixed_features: Mapping[int, float] | None = None
    discrete_dims: Mapping[int, Sequence[float]] | None = None
    cat_dims: Mapping[int, Sequence[float]] | None = None

    @property
    def is_free(self) -> bool:
        """Whether the box is all there is."""
        return not any(getattr(self, field.name) for field in fields(self))

    @property
    def is_mixed(self) -> bool:
        """Whether some inputs are not continuous."""
        return bool(self.discrete_dims or self.cat_dims)

    def check(self, d: int) -> None:
        """Refuse arguments that are not about ``d`` inputs of one point."""
        check_inputs(self, d)

    def linear_arguments(self) -> dict[str, Any]:
        """Constraints and fixed features as keyword arguments of ``optimize_acqf``."""
        return {
            "inequality_constraints": list(self.inequality_constraints or ()) or None,
            "equality_constraints": list(self.equality_constraints or ()) or None,
            "fixed_features": dict(self.fixed_features or {}) or None,
        }

    def widen(self, box: Tensor) -> Tensor:
        """A ``2 x d`` box with the fixed values and all categories in it."""
        wanted = {i: [v] for i, v in (self.fixed_features or {}).items()} | dict(
            self.cat_dims or {}
        )
        if not wanted:
            return box
        corners = box.clone()
        for i, values in wanted.items():
            span = box.new_tensor([min(values), max(values)])
            corners[:, i] = span  # a search elsewhere in these dimensions is not asked for
        return corners

    def values_within(self, box: Tensor) -> dict[int, list[float]]:
        """The discrete values within a box; the nearest one where there is none."""
        found = {}
        for i, values in (self.discrete_dims or {}).items():
            lower, upper = float(box[0, i]), float(box[1, i])
            kept = sorted(float(v) for v in values if lower <= v <= upper)
            middle = (lower + upper) / 2
            found[i] = kept or [float(min(values, key=lambda v: abs(v - middle)))]
        return found

    def is_satisfied(self, X: Tensor) -> Tensor:
        """``n`` booleans: which of ``n x d`` points satisfy the constraints."""
        nonlinear = list(self.nonlinear_inequality_constraints or ()) or None
        return evaluate_feasibility(
            X.unsqueeze(-2),
            inequality_constraints=list(self.inequality_constraints or ()) or None,
            equality_constraints=self._equalities(X),
            nonlinear_inequality_constraints=nonlinear,
        )

    def satisfy(self, X: Tensor, box: Tensor, seed: int = 0) -> Tensor:
        r"""Samples that satisfy the constraints, from some that need not.

        Args:
            X: ``n x d`` points within the box.
            box: The ``2 x d`` box.
            seed: Seed of points within linear constraints.

        Returns:
            ``n' x d`` points, ``n'`` at most ``n`` plus a few.
        """
        equalities = self._equalities(X)
        if equalities:
            try:
                X = project_to_equality_constraints(X, equalities)
            except RuntimeError as error:  # a singular matrix
                raise UnsupportedError(
                    "Expected equality constraints, fixed features among them, of which none "
                    "follows from the others or contradicts them. Leave one out."
                ) from error
        if equalities or self.inequality_constraints:
            try:
                between = HitAndRun(box, self.inequality_constraints, equalities, seed)
            except ValueError as error:  # so BoTorch says that there is nothing between the planes
                raise UnsupportedError(
                    "Expected a point of the box that satisfies the linear input constraints; "
                    "there is none. Relax them, or give the box more room."
                ) from error
            anchors = between.draw(_ANCHORS).to(X)
            inside = X[self._linear_only().is_satisfied(X) & (clip(X, box) == X).all(dim=-1)]
            anchors = torch.cat([anchors, inside])
            X = torch.cat([self._pull(X, anchors, box), anchors[:_ANCHORS]])
        kept = X[self.is_satisfied(X)]
        if self.is_mixed:
            kept = self._on_values(kept, box, seed)
        if not len(kept):
            raise UnsupportedError(
                f"Expected a point of the box that satisfies the input constraints; none of "
                f"{len(X)} samples does. Evaluate one that does, or give the box more room."
            )
        return kept

    def _on_values(self, X: Tensor, box: Tensor, seed: int) -> Tensor:
        """Points whose discrete inputs have the nearest values, as far as all is satisfied."""
        categories = {i: list(values) for i, values in (self.cat_dims or {}).items()}
        values = {**self.values_within(box), **categories}
        values = {i: v for i, v in values.items() if i not in (self.fixed_features or {})}
        X = round_discrete_dims(X, values)
        satisfied = self.is_satisfied(X)
        found = [X[satisfied]]
        columns = list(values)
        for row in X[~satisfied][:, columns].unique(dim=0)[:_ANCHORS].tolist():
            # Rounding has led beyond a constraint; the other inputs may make up for it.
            fixed = {**(self.fixed_features or {}), **dict(zip(columns, row, strict=True))}
            rest = replace(self, discrete_dims=None, cat_dims=None, fixed_features=fixed)
            try:
                found.append(rest.satisfy(X[~satisfied], rest.widen(box), seed))
            except UnsupportedError:
                continue
        return torch.cat(found).unique(dim=0)

    def _pull(self, X: Tensor, anchors: Tensor, box: Tensor) -> Tensor:
        """Points on the way from their nearest anchors to ``X``, as far as all is satisfied."""
        sides = (box[1] - box[0]).clamp_min(torch.finfo(X.dtype).tiny)
        anchor = anchors[torch.cdist(X / sides, anchors / sides).argmin(dim=-1)]
        step = X - anchor
        faces = [(step, anchor - box[0]), (-step, box[1] - anchor)]  # slope, room; n x d each
        for indices, coefficients, rhs in self.inequality_constraints or ():
            c, index = coefficients.to(X), indices.to(X.device)
            room = anchor[:, index] @ c - rhs
            faces.append(((step[:, index] @ c).unsqueeze(-1), room.unsqueeze(-1)))
        share = torch.ones_like(X[:, 0])
        for slope, room in faces:
            limit = torch.where(slope < 0, room.clamp_min(0) / -slope, torch.inf)
            share = torch.minimum(share, limit.amin(dim=-1))
        return clip(anchor + share.unsqueeze(-1) * step, box)

    def _linear_only(self) -> InputSpace:
        return InputSpace(
            self.inequality_constraints,
            self.equality_constraints,
            fixed_features=self.fixed_features,
        )

    def _equalities(self, X: Tensor) -> list[LinearConstraint] | None:
        """Equality constraints, fixed features among them."""
        fixed = [
            (torch.tensor([i % X.shape[-1]], device=X.device), X.new_ones(1), float(v))
            for i, v in (self.fixed_features or {}).items()
        ]
        return [*(self.equality_constraints or ()), *fixed] or None
