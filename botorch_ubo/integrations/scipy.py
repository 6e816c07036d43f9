r"""A ``method`` for ``scipy.optimize.minimize``: ``bounds`` are limits, the box grows from ``x0``.

Example:
    >>> from scipy.optimize import minimize
    >>> from botorch_ubo.integrations.scipy import expanding
    >>> minimize(f, [0.0, 0.0], method=expanding, bounds=[(None, None), (0, None)],
    >>>          options={"scale": 1.0, "maxfev": 40})
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import Bounds, OptimizeResult, OptimizeWarning

from botorch_ubo.controller import DEFAULT_METHOD, Method
from botorch_ubo.run import UnboundedOptimizer
from botorch_ubo.spaces import Float, Space

Array = NDArray[np.float64]
_NO_VALUE, _STOPPED = 2, 99  # 99 is SciPy's own for a callback that stopped


def expanding(
    fun: Callable[..., Any],
    x0: ArrayLike,
    args: tuple[Any, ...] = (),
    jac: Any = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Bounds | Sequence[tuple[float | None, float | None]] | None = None,
    constraints: Any = (),
    callback: Callable[..., Any] | None = None,
    *,
    scale: ArrayLike = 1.0,
    maxfev: int = 50,
    tol: float | None = None,
    seed: int = 0,
    num_initial: int | None = None,
    method: str | Method = DEFAULT_METHOD,
    **unknown: Any,
) -> OptimizeResult:
    r"""Minimise without derivatives, from a guess, where the right bounds are not known.

    Args:
        fun: The objective, called with a ``d``-dim array and ``args``. A value that is NaN or
            infinite is a failed evaluation; an exception ends the run.
        x0: The guess, which is evaluated first.
        args: Further arguments of ``fun``.
        jac: Not used, as are ``hess`` and ``hessp``.
        hess: See above.
        hessp: See above.
        bounds: Limits that no evaluation crosses; ``None`` or an infinity for a free side.
        constraints: Not supported.
        callback: Called after each evaluation as SciPy does, with ``intermediate_result`` or the
            best point; ``StopIteration`` ends the run.
        scale: The first box is ``x0 - scale`` to ``x0 + scale``; one number or ``d``.
        maxfev: The number of evaluations.
        tol: If given, stop when the box is certified to be exhausted to this accuracy, in standard
            deviations of the observed values.
        seed: Seed of all random choices.
        num_initial: Evaluations before the first model, ``x0`` included; ``3 d``, but no more
            than 30, by default.
        method: A name of :func:`botorch_ubo.available_methods`, or a method of one's own.
        unknown: Other options, of which SciPy's usual warning tells.

    Returns:
        SciPy's result: ``x``, ``fun``, ``nfev``, ``nit``, ``success``, ``status``, ``message``;
        further ``x_iters`` and ``func_vals``, all evaluations that have a value, ``nfail``, and
        ``bounds``, the last box. A budget that is used up is a success.
    """
    guess = np.atleast_1d(np.asarray(x0, dtype=np.float64)).ravel()
    if not np.isfinite(guess).all() or not guess.size:
        raise ValueError(f"Expected a finite guess `x0` of one variable or more; got {x0!r}.")
    _refuse(jac, hess, hessp, constraints, unknown)
    lower, upper = _limits(bounds, guess.size)
    if ((guess < lower) | (guess > upper)).any():
        warnings.warn(
            "Initial guess is not within the specified bounds", OptimizeWarning, stacklevel=2
        )
        guess = guess.clip(lower, upper)
    sides = np.broadcast_to(np.asarray(scale, dtype=np.float64), guess.shape)
    if not (np.isfinite(sides) & (sides > 0)).all() or maxfev < 1:
        raise ValueError(f"Expected a positive `scale` and `maxfev`; got {scale!r} and {maxfev}.")
    space = _space(guess, sides, lower, upper)
    optimizer = UnboundedOptimizer(
        space,
        method=method,
        seed=seed,
        num_initial=num_initial,
        epsilon=0.05 if tol is None else tol,
    )
    optimizer.add_data([space.decode(guess.tolist())], [_value(fun, guess, args)])
    stopped = _notify(callback, optimizer)
    exhausted = False
    while len(optimizer.trials) < maxfev and not stopped and not exhausted:
        trial = optimizer.ask()
        optimizer.tell(trial, _value(fun, np.array(trial.X), args))
        stopped = _notify(callback, optimizer)
        exhausted = tol is not None and optimizer.certify() is not None
    return _result(optimizer, stopped, exhausted)


def _space(guess: Array, sides: Array, lower: Array, upper: Array) -> Space:
    """A box around the guess, within the limits; with names, since no point is to come twice."""
    box = np.maximum(guess - sides, lower), np.minimum(guess + sides, upper)
    rows = np.stack([*box, lower, upper], axis=-1).tolist()
    return Space({f"x{i}": Float(row[0], row[1], limits=row[2:]) for i, row in enumerate(rows)})


def _value(fun: Callable[..., Any], x: Array, args: tuple[Any, ...]) -> float:
    """The value at a copy of a point; like SciPy, of an array with one element too."""
    return float(np.asarray(fun(np.copy(x), *args)).item())


def _result(optimizer: UnboundedOptimizer, stopped: bool, exhausted: bool) -> OptimizeResult:
    done = optimizer.completed
    best = _best(optimizer)
    status, message = 0, "The budget of function evaluations was used up."
    if exhausted:
        message = "The box is exhausted to the accuracy `tol`."
    if stopped:
        status, message = _STOPPED, "`callback` raised `StopIteration`."
    if not done:
        status, message = _NO_VALUE, "No function evaluation has returned a finite value."
    return OptimizeResult(
        x=best.x,
        fun=best.fun,
        nfev=len(optimizer.trials),
        nit=len(optimizer.trials),
        success=status == 0,
        status=status,
        message=message,
        x_iters=np.array([trial.X for trial in done]),
        func_vals=np.array([trial.value for trial in done]),
        nfail=len(optimizer.failed),
        bounds=optimizer.box.bounds.numpy().T,
    )


def _best(optimizer: UnboundedOptimizer) -> OptimizeResult:
    """The best evaluation so far; the first with a value of NaN if there is none."""
    done = optimizer.completed
    if not done:
        return OptimizeResult(x=np.array(optimizer.trials[0].X), fun=math.nan)
    best = min(done, key=lambda trial: trial.value if trial.value is not None else math.inf)
    return OptimizeResult(x=np.array(best.X), fun=best.value)


def _notify(callback: Callable[..., Any] | None, optimizer: UnboundedOptimizer) -> bool:
    """Tell the callback of the best evaluation; whether it says stop."""
    if callback is None:
        return False
    result = _best(optimizer)
    result.nfev = result.nit = len(optimizer.trials)
    try:
        if hasattr(callback, "stop_iteration"):  # `minimize` has wrapped it
            callback(result)
        elif set(inspect.signature(callback).parameters) == {"intermediate_result"}:
            callback(intermediate_result=result)
        else:
            callback(np.copy(result.x))
    except StopIteration:
        return True
    return False


def _limits(bounds: Any, d: int) -> tuple[Array, Array]:
    """Lower and upper limits, infinite on free sides."""
    if bounds is None:
        return np.full(d, -np.inf), np.full(d, np.inf)
    if isinstance(bounds, Bounds):
        lower, upper = bounds.lb, bounds.ub
    else:
        pairs = [
            (-np.inf if low is None else low, np.inf if high is None else high)
            for low, high in bounds
        ]
        lower, upper = np.array(pairs, dtype=np.float64).T
    lower, upper = (np.broadcast_to(np.asarray(x, dtype=np.float64), (d,)) for x in (lower, upper))
    if not (lower < upper).all():
        raise ValueError(
            f"Expected lower < upper in `bounds`; got {lower.tolist()} and {upper.tolist()}. Take "
            "a variable that is fixed out of `x0`."
        )
    return lower, upper


def _refuse(jac: Any, hess: Any, hessp: Any, constraints: Any, unknown: dict[str, Any]) -> None:
    constrained = len(constraints) if isinstance(constraints, Sequence | dict) else 1
    if constrained:
        raise ValueError(
            "Constraints are not supported: return NaN where a result is of no use, and `bounds` "
            "for limits of single variables."
        )
    for name, value in (("jac", jac), ("hess", hess), ("hessp", hessp)):
        if value is not None and value is not False:
            warnings.warn(
                f"Method expanding does not use derivatives ({name}).", RuntimeWarning, stacklevel=3
            )
    if unknown:
        names = ", ".join(sorted(unknown))
        warnings.warn(f"Unknown solver options: {names}", OptimizeWarning, stacklevel=3)
