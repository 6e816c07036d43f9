r"""Bounded minimisation of many small functions at once: a projected BFGS over rows.

Every row is a problem of its own with its own state; all rows are evaluated together. At each
evaluation a row that is accepted (Armijo's condition along the projected step) updates its inverse
Hessian and turns to the next direction, and a row that is refused shortens its step: no row waits
for another's line search. Rows that have converged leave the batch.

With ``p`` of a few dozen parameters a dense inverse Hessian costs nothing beside a function value,
and a handful of operations serves all rows. Directions are those of the inverse Hessian with rows
and columns of the active bounds removed, a descent direction for any positive definite one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

_SUFFICIENT = 1e-4  # of the predicted decrease, Armijo's
_LEARNED = 1e-10  # curvature below which a step teaches nothing
_SHORTER = 0.3  # of a step that was refused
_WORTHWHILE = 0.75  # share of rows still active above which nothing is gained by a smaller batch
_LOOK_EVERY = 2  # evaluations, since to look is to wait for the device


class Rows(Protocol):
    """Functions of rows, several in one."""

    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]:
        """Values (``B``) and gradients (``B x p``) at ``B x p`` points."""

    def take(self, groups: Tensor) -> Rows:
        """The functions of some groups of rows, by index."""


@dataclass(frozen=True)
class Stopping:
    r"""When a row has converged.

    Args:
        evaluations: Most evaluations of a row.
        ftol: Change of the value that is none.
        gtol: Largest entry of the projected gradient that is none.
        longest: Longest step in one parameter.
    """

    evaluations: int
    ftol: float
    gtol: float
    longest: float


@dataclass(frozen=True)
class _State:
    """Where the rows are, and where each of them looks next."""

    packed: Tensor
    """``B x (2 p + 1)``: point, gradient and value, in one so that one operation serves all."""
    inverse: Tensor
    """``B x p x p`` inverse Hessians."""
    trial: Tensor
    """``B x p``: what is evaluated next."""
    active: Tensor
    """``B``."""
    lower: Tensor
    upper: Tensor

    def take(self, index: Tensor) -> _State:
        return _State(**{name: value[index] for name, value in vars(self).items()})


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
    p = x.shape[-1]
    state = _begin(function, x, lower.expand_as(x), upper.expand_as(x), stopping)
    found = state.packed
    rows: Tensor | None = None  # of the whole batch, that are still in it
    for count in range(2, stopping.evaluations + 1):
        packed = _pack(state.trial, *function(state.trial))
        state = _advance(state, packed, stopping, scale=count <= 3)
        last = count == stopping.evaluations
        if count % _LOOK_EVERY and not last:
            continue
        active = state.active.reshape(-1, group).any(dim=-1)
        left = int(active.sum())
        if left > _WORTHWHILE * len(active) and not last:
            continue
        found = state.packed if rows is None else found.index_copy(0, rows, state.packed)
        if not left or last:
            break
        groups = active.nonzero().squeeze(-1)
        inside = torch.arange(group, device=x.device)
        keep = (groups.unsqueeze(-1) * group + inside).flatten()
        rows = keep if rows is None else rows[keep]
        function, state = function.take(groups), state.take(keep)
    return found[:, :p], found[:, -1]


def _pack(x: Tensor, f: Tensor, g: Tensor) -> Tensor:
    return torch.cat([x, g, f.unsqueeze(-1)], dim=-1)


def _begin(function: Rows, x: Tensor, lower: Tensor, upper: Tensor, stopping: Stopping) -> _State:
    f, g = function(x)
    # Nothing is known of the scale of the first step: one unit at most.
    size = g.norm(dim=-1, keepdim=True).clamp_min(1.0)
    inverse = torch.diag_embed((1 / size).expand_as(x))
    active = torch.ones_like(f, dtype=torch.bool)
    state = _State(_pack(x, f, g), inverse, x, active, lower, upper)
    return replace(state, trial=_next(state, state.packed, inverse, stopping)[0])


def _advance(state: _State, packed: Tensor, stopping: Stopping, scale: bool) -> _State:
    """One evaluation later; with the scale of the first steps, if it is one of them."""
    p = state.trial.shape[-1]
    change = packed - state.packed
    s, y, rise = change[:, :p], change[:, p:-1], change[:, -1]
    vectors = torch.cat([change[:, :-1], state.packed[:, p:-1]], dim=-1).reshape(-1, 3, p)
    products = vectors @ vectors.mT
    slope, curvature = products[:, 0, 2], products[:, 0, 1]
    # A step that the bounds have bent may lead uphill: it must not be taken for a success.
    accepted = (rise <= _SUFFICIENT * slope.clamp_max(0.0)) & state.active
    learns = accepted & (curvature > _LEARNED)
    inverse = state.inverse
    if scale:  # the first lesson: Nocedal and Wright 2006, equation 6.20
        ratio = torch.where(learns, curvature / products[:, 1, 1], 1.0)
        eye = torch.eye(p, dtype=s.dtype, device=s.device)
        inverse = torch.where(learns[:, None, None], ratio[:, None, None] * eye, inverse)
    inverse = _updated(inverse, s, y, torch.where(learns, 1 / curvature, 0.0).unsqueeze(-1))
    now = torch.where(accepted.unsqueeze(-1), packed, state.packed)
    trial, gradient = _next(state, now, inverse, stopping)
    back = torch.add(state.packed[:, :p], s, alpha=_SHORTER)
    trial = torch.where(accepted.unsqueeze(-1), trial, back)
    moves = rise.abs() > stopping.ftol  # up or down: what changes nothing has come to rest
    steep = torch.linalg.vector_norm(gradient, ord=torch.inf, dim=-1) > stopping.gtol
    return replace(
        state, packed=now, inverse=inverse, trial=trial, active=state.active & moves & steep
    )


def _updated(inverse: Tensor, s: Tensor, y: Tensor, rho: Tensor) -> Tensor:
    """Inverse Hessians with what a step has taught (Broyden, Fletcher, Goldfarb and Shanno)."""
    Hy = (inverse @ y.unsqueeze(-1)).squeeze(-1) * rho
    weight = torch.addcmul(rho, rho, (y * Hy).sum(dim=-1, keepdim=True))
    # H + (half s' + s half') / 2 is the formula's three terms
    half = torch.sub(weight * s, Hy, alpha=2)
    pair = torch.stack([half, s], dim=-1)
    return torch.baddbmm(inverse, pair, pair.flip(-1).mT, alpha=0.5)


def _next(
    state: _State, packed: Tensor, inverse: Tensor, stopping: Stopping
) -> tuple[Tensor, Tensor]:
    """``B x p`` points to try next, and the projected gradients."""
    p = state.lower.shape[-1]
    x, g = packed[:, :p], packed[:, p:-1]
    projected = torch.clamp(x - g, state.lower, state.upper) - x
    free = projected != 0  # others are at a bound, and would leave
    step = (inverse @ (g * free).unsqueeze(-1)).squeeze(-1) * free
    size = torch.linalg.vector_norm(step, ord=torch.inf, dim=-1, keepdim=True)
    step = step / (size / stopping.longest).clamp_min(1.0)
    return torch.clamp(x - step, state.lower, state.upper), projected
