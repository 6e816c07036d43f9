r"""Bounded minimisation of many small functions at once: a projected BFGS over rows.

Every row is a problem of its own with its own state; all rows are evaluated together. At each
evaluation a row that is accepted (Armijo's condition along the projected step) updates its inverse
Hessian and turns to the next direction, and a row that is refused shortens its step: no row waits
for another's line search. Rows that have converged leave the batch.

With ``p`` of a few dozen parameters a dense inverse Hessian costs nothing beside a function value,
and a handful of operations serves all rows: their number is what a device pays for. Directions are
those of the inverse Hessian with rows and columns of the active bounds removed, a descent direction
for any positive definite one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol

import torch
from torch import Tensor

_SUFFICIENT = 1e-4  # of the predicted decrease, Armijo's
_LEARNED = 1e-10  # curvature below which a step teaches nothing
_SHORTER = 0.3  # of a step that was refused
_WORTHWHILE = 0.75  # share of rows still active above which nothing is gained by a smaller batch
_LESSONS = 3  # evaluations; the first success among them is taken
_LOOK_EVERY = 2  # evaluations, since to look is to wait for the device


class Rows(Protocol):
    """Functions of rows, several in one."""

    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]:
        """Values (``B``) and gradients (``B x p``) at ``B x p`` points.

        Where there is no value, it is NaN or very large; the gradient means nothing there.
        """

    def take(self, groups: Tensor) -> Rows:
        """The functions of some groups of rows, by index."""


@dataclass(frozen=True)
class Stopping:
    r"""When a row has converged.

    Args:
        evaluations: Most evaluations of a row.
        ftol: Decrease of the value, predicted to first order, that is none.
        longest: Longest step in one parameter.
    """

    evaluations: int
    ftol: float
    longest: float


@dataclass(frozen=True)
class Descent:
    """Where ``B`` rows are, and where each of them looks next."""

    packed: Tensor
    """``B x (2 p + 1)``: point, gradient and value, in one so that one operation serves all."""
    inverse: Tensor
    """``B x p x p`` inverse Hessians."""
    trial: Tensor
    """``B x p``: what is evaluated next."""
    slope: Tensor
    """``B``: the decrease that it promises, to first order."""
    threshold: Tensor
    """``B``: zero, or minus infinity for a row that has converged: nothing is accepted there."""
    lower: Tensor
    """``B x p``."""
    upper: Tensor
    lessons: int
    """Evaluations of which the first success is to teach the scale of the inverse Hessian."""

    @property
    def x(self) -> Tensor:
        """``B x p`` points."""
        return self.packed[:, : self.trial.shape[-1]]

    @property
    def gradient(self) -> Tensor:
        """``B x p`` gradients."""
        return self.packed[:, self.trial.shape[-1] : -1]

    @property
    def value(self) -> Tensor:
        """``B`` values."""
        return self.packed[:, -1]

    @property
    def active(self) -> Tensor:
        """``B``: which rows have not converged."""
        return self.threshold == 0

    def take(self, rows: Tensor) -> Descent:
        """Some of the rows, by index."""
        parts: dict[str, Any] = {k: v[rows] for k, v in vars(self).items() if k != "lessons"}
        return replace(self, **parts)


def minimize_rows(
    function: Rows, x: Tensor, lower: Tensor, upper: Tensor, stopping: Stopping, group: int = 1
) -> tuple[Tensor, Tensor]:
    r"""Minimise every row of a batch in its box.

    Args:
        function: Values and gradients of all rows.
        x: ``B x p`` starts, within the bounds.
        lower: ``B x p``, or what broadcasts to it.
        upper: See above.
        stopping: When a row has converged.
        group: Rows in succession that leave the batch together, as they share data.

    Returns:
        ``B x p`` points and their ``B`` values, never worse than the starts.
    """
    descent = begin_descent(function, x, lower, upper, stopping)
    return descend(function, descent, 1, stopping, group)


def begin_descent(
    function: Rows,
    x: Tensor,
    lower: Tensor,
    upper: Tensor,
    stopping: Stopping,
    inverse: Tensor | None = None,
) -> Descent:
    r"""The first evaluation; see :func:`minimize_rows`.

    Args:
        function: Values and gradients of all rows.
        x: ``B x p`` starts, within the bounds.
        lower: ``B x p``, or what broadcasts to it.
        upper: See above.
        stopping: When a row has converged.
        inverse: ``B x p``, or what broadcasts to it: what the diagonal of the inverse Hessian is
            thought to be; if omitted, a step of one unit at most, and its success, teach the scale.

    Returns:
        The rows at their starts.
    """
    f, g = function(x)
    lessons = 0 if inverse is not None else _LESSONS
    if inverse is None:
        inverse = g.norm(dim=-1, keepdim=True).clamp_min(1.0).reciprocal()
    zero = torch.zeros_like(f)
    bounds = lower.expand_as(x), upper.expand_as(x)
    first = torch.diag_embed(inverse.expand_as(x))
    state = Descent(_pack(x, f, g), first, x, zero, zero, *bounds, lessons)
    return _aim(state, _next(state, stopping), stopping)


def follow(function: Rows, descent: Descent, numbers: range, stopping: Stopping) -> Descent:
    """The evaluations with these numbers (the start has 1) of all rows; none leaves the batch."""
    for number in numbers:
        packed = _pack(descent.trial, *function(descent.trial))
        descent = _advance(descent, packed, stopping, scale=number <= descent.lessons)
    return descent


def descend(
    function: Rows, descent: Descent, done: int, stopping: Stopping, group: int = 1
) -> tuple[Tensor, Tensor]:
    r"""Go on with a descent to its end.

    Args:
        function: Values and gradients of all rows.
        descent: Where they are.
        done: Evaluations that each row has had.
        stopping: When a row has converged.
        group: Rows in succession that leave the batch together, as they share data.

    Returns:
        ``B x p`` points and their ``B`` values.
    """
    p, end = descent.trial.shape[-1], stopping.evaluations
    found = descent.packed
    rows: Tensor | None = None  # of the whole batch, that are still in it
    for begin in range(done + 1, end + 1, _LOOK_EVERY):
        numbers = range(begin, min(begin + _LOOK_EVERY, end + 1))
        descent = follow(function, descent, numbers, stopping)
        active = descent.active.reshape(-1, group).any(dim=-1)
        left = int(active.sum()) if numbers[-1] < end else 0
        if left > _WORTHWHILE * len(active):
            continue
        found = descent.packed if rows is None else found.index_copy(0, rows, descent.packed)
        if not left:
            break
        groups = active.nonzero().squeeze(-1)
        inside = torch.arange(group, device=groups.device)
        keep = (groups.unsqueeze(-1) * group + inside).flatten()
        rows = keep if rows is None else rows[keep]
        function, descent = function.take(groups), descent.take(keep)
    return found[:, :p], found[:, -1]


def _pack(x: Tensor, f: Tensor, g: Tensor) -> Tensor:
    return torch.cat([x, g, f.unsqueeze(-1)], dim=-1)


def _advance(state: Descent, packed: Tensor, stopping: Stopping, scale: bool) -> Descent:
    """One evaluation later; with the scale of the first steps, if it is one of them."""
    p = state.trial.shape[-1]
    change = packed - state.packed
    # A step that the bounds have bent may lead uphill, and NaN leads nowhere: no successes.
    accepted = torch.add(change[:, -1], state.slope, alpha=_SUFFICIENT) <= state.threshold
    accepted = accepted.unsqueeze(-1)
    taken = torch.where(accepted, change, 0.0)
    s, y = taken[:, :p].unsqueeze(-1), taken[:, p:-1].unsqueeze(-2)
    curvature = y @ s
    # Of a step that was not taken, or teaches nothing, it is zero.
    rho = torch.threshold(curvature, _LEARNED, torch.inf).reciprocal()
    inverse, eye = state.inverse, _eye(p, s.dtype, str(s.device))
    if scale:  # the first lesson: Nocedal and Wright 2006, equation 6.20
        inverse = torch.where(rho > 0, curvature / (y @ y.mT) * eye, inverse)
    # Broyden, Fletcher, Goldfarb and Shanno's: V H V' + rho s s', V = 1 - rho s y'
    rho_s = rho * s
    V = torch.baddbmm(eye, rho_s, y, alpha=-1)
    inverse = torch.baddbmm(rho_s @ s.mT, V @ inverse, V.mT)
    back = torch.add(state.x, change[:, :p], alpha=_SHORTER)
    state = replace(state, packed=torch.where(accepted, packed, state.packed), inverse=inverse)
    return _aim(state, torch.where(accepted, _next(state, stopping), back), stopping)


def _next(state: Descent, stopping: Stopping) -> Tensor:
    """``B x p`` points to try next, from where the rows are."""
    x, g = state.x, state.gradient
    free = torch.clamp(x - g, state.lower, state.upper) != x  # others would leave at a bound
    step = (state.inverse @ (g * free).unsqueeze(-1)).squeeze(-1) * free
    size = torch.linalg.vector_norm(step, ord=torch.inf, dim=-1, keepdim=True)
    ahead = torch.addcdiv(x, step, size.clamp_min(stopping.longest), value=-stopping.longest)
    return torch.clamp(ahead, state.lower, state.upper)


def _aim(state: Descent, trial: Tensor, stopping: Stopping) -> Descent:
    """With the points to try next; a row of which little is to be expected has converged."""
    slope = (trial - state.x).unsqueeze(-2) @ state.gradient.unsqueeze(-1)
    slope = slope.reshape(-1).abs()
    threshold = torch.where(slope > stopping.ftol, state.threshold, -torch.inf)
    return replace(state, trial=trial, slope=slope, threshold=threshold)


@cache
def _eye(p: int, dtype: torch.dtype, device: str) -> Tensor:
    """``1 x p x p``."""
    return torch.eye(p, dtype=dtype, device=device).unsqueeze(0)
