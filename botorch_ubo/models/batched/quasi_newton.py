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
_SHORTEST = 1e-10  # step, in units of the parameters, below which a row has come to rest
_WORTHWHILE = 0.75  # share of rows still active above which nothing is gained by a smaller batch


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
        ftol: Relative decrease of the value, as in SciPy's L-BFGS-B.
        gtol: Largest entry of the projected gradient.
        longest: Longest step in one parameter.
    """

    evaluations: int
    ftol: float
    gtol: float
    longest: float


@dataclass(frozen=True)
class _State:
    """Where the rows are, and where each of them looks next."""

    x: Tensor
    f: Tensor
    g: Tensor
    inverse: Tensor
    """``B x p x p`` inverse Hessians."""
    fresh: Tensor
    """``B``: whether the inverse Hessian knows nothing yet."""
    step: Tensor
    """``B x p``: what is tried next, less what the bounds cut off."""
    done: Tensor
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
    f, g = function(x)
    lower, upper = lower.expand_as(x), upper.expand_as(x)
    eye = torch.eye(x.shape[-1], dtype=x.dtype, device=x.device).expand(len(x), -1, -1)
    fresh = torch.ones_like(f, dtype=torch.bool)
    state = _State(x, f, g, eye, fresh, x, ~fresh, lower, upper)
    state = replace(state, step=_direction(state, stopping))
    found_x, found_f = x.clone(), f.clone()
    rows: Tensor | None = None  # of the whole batch, that are still in it
    for count in range(2, stopping.evaluations + 1):
        trial = torch.clamp(state.x + state.step, state.lower, state.upper)
        state = _advance(state, trial, *function(trial), stopping)
        active = ~state.done.reshape(-1, group).all(dim=-1)
        left = int(active.sum())
        last = count == stopping.evaluations
        if left > _WORTHWHILE * len(active) and not last:
            continue
        index = slice(None) if rows is None else rows
        found_x[index], found_f[index] = state.x, state.f
        if not left or last:
            break
        groups = active.nonzero().squeeze(-1)
        inside = torch.arange(group, device=x.device)
        keep = (groups.unsqueeze(-1) * group + inside).flatten()
        rows = keep if rows is None else rows[keep]
        function, state = function.take(groups), state.take(keep)
    return found_x, found_f


def _advance(state: _State, trial: Tensor, ft: Tensor, gt: Tensor, stopping: Stopping) -> _State:
    """One evaluation later."""
    x, f, g = state.x, state.f, state.g
    s = trial - x
    slope = (s * g).sum(dim=-1)
    # A step that the bounds have bent may lead uphill: it must not be taken for a success.
    better = ft <= f + _SUFFICIENT * slope.clamp_max(0.0)
    accepted = better & ~state.done
    y = gt - g
    curvature = (s * y).sum(dim=-1)
    learns = accepted & (curvature > 1e-10 * (y * y).sum(dim=-1))
    inverse = _updated(state, s, y, curvature, learns)
    here = accepted.unsqueeze(-1)
    new = replace(
        state,
        x=torch.where(here, trial, x),
        f=torch.where(accepted, ft, f),
        g=torch.where(here, gt, g),
        inverse=inverse,
        fresh=state.fresh & ~learns,
    )
    # The minimum of the parabola through the value, the slope and the trial's value.
    share = (-0.5 * slope / (ft - f - slope)).nan_to_num(nan=0.1).clamp(0.1, 0.5)
    shorter = s * share.unsqueeze(-1)
    step = torch.where(here, _direction(new, stopping), shorter)
    little = f - ft <= stopping.ftol * torch.maximum(f.abs(), ft.abs()).clamp_min(1.0)
    gradient = torch.clamp(new.x - new.g, new.lower, new.upper) - new.x
    flat = gradient.abs().amax(dim=-1) <= stopping.gtol
    still = step.abs().amax(dim=-1) <= _SHORTEST
    return replace(new, step=step, done=state.done | (accepted & little) | flat | still)


def _updated(state: _State, s: Tensor, y: Tensor, curvature: Tensor, learns: Tensor) -> Tensor:
    """Inverse Hessians with what a step has taught (Broyden, Fletcher, Goldfarb and Shanno)."""
    # The first lesson is the scale: Nocedal and Wright 2006, equation 6.20.
    scale = torch.where(
        state.fresh & learns, curvature / (y * y).sum(dim=-1).clamp_min(1e-300), 1.0
    )
    H = state.inverse * scale[:, None, None]
    rho = torch.where(learns, 1 / curvature, 0.0)
    Hy = (H @ y.unsqueeze(-1)).squeeze(-1) * rho.unsqueeze(-1)
    weight = 0.5 * (1 + (y * Hy).sum(dim=-1)) * rho
    half = weight.unsqueeze(-1) * s - Hy  # H + half s' + s half' is the formula's three terms
    change = half.unsqueeze(-1) * s.unsqueeze(-2)
    return H + (change + change.mT)


def _direction(state: _State, stopping: Stopping) -> Tensor:
    """``B x p`` steps along which the bounds let a row descend."""
    x, g = state.x, state.g
    blocked = ((x <= state.lower) & (g > 0)) | ((x >= state.upper) & (g < 0))
    free = torch.where(blocked, 0.0, g)
    step = -(state.inverse @ free.unsqueeze(-1)).squeeze(-1)
    step = torch.where(blocked, 0.0, step)
    uphill = (step * free).sum(dim=-1) >= 0
    steepest = (uphill | state.fresh).unsqueeze(-1)
    step = torch.where(uphill.unsqueeze(-1), -free, step)
    size = step.abs().amax(dim=-1, keepdim=True)
    # Nothing is known of the scale of the first step: one unit at most.
    longest = torch.where(steepest, 1.0, stopping.longest)
    return step * (longest / size.clamp_min(1e-300)).clamp_max(1.0)
