r"""``minimize`` and ``maximize``: one call for people with a function and a guess."""

from __future__ import annotations

import os
from concurrent.futures import Executor
from contextlib import suppress
from typing import Any, get_args

from botorch.exceptions.errors import InputDataError

from botorch_ubo.boxes import HardLimits
from botorch_ubo.controller import DEFAULT_METHOD, Method
from botorch_ubo.run.arguments import Bounds, InputType, as_count, check_callable
from botorch_ubo.run.evaluation import Objective
from botorch_ubo.run.goals import Directions, SeveralOutcomes, parse_goal
from botorch_ubo.run.loop import Callback, Catch, Loop
from botorch_ubo.run.named import NamedObjective
from botorch_ubo.run.optimizer import UnboundedOptimizer
from botorch_ubo.run.progress import Progress
from botorch_ubo.run.submission import Submission, check_timeout
from botorch_ubo.spaces import Named, as_space


def minimize(
    f: Objective,
    bounds: Bounds | Named,
    *,
    budget: int,
    direction: Directions | None = None,
    constraints: int = 0,
    epsilon: float | None = None,
    method: str | Method = DEFAULT_METHOD,
    hard_limits: HardLimits = None,
    seed: int = 0,
    input_type: InputType = "floats",
    executor: Executor | None = None,
    num_workers: int | None = None,
    timeout: float | None = None,
    catch: type[BaseException] | tuple[type[BaseException], ...] = (),
    callback: Callback | None = None,
    progress: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    take_over: bool = False,
    **options: Any,
) -> Any:
    r"""Minimise a function from a rough guess of where its minimum is.

    Args:
        f: The objective. It takes one point and returns a number, or a tuple of a number and the
            variance of its noise. An exception, NaN or an infinity is a failed evaluation; the
            first exception is shown as a warning.
        bounds: ``d`` pairs ``(lower, upper)``, or a ``2 x d`` tensor; or parameters by name, as in
            ``{"lr": Float(1e-4, 1e-2, log=True), "layers": Integer(1, 3, limits=(1, None))}``, of
            which ``f`` gets a dict.
        budget: The number of evaluations, failed ones included; with a checkpoint, those of
            earlier sessions too.
        direction: For several objectives, a list such as ``["minimize", "maximize"]``; ``f`` then
            returns a sequence of them.
        constraints: How many constraints ``f`` returns after its objectives, each met where it is
            not positive.
        epsilon: If given, stop as soon as the box is certified exhausted to this accuracy, in
            standard deviations of the observed values, very bad ones brought nearer
            (:func:`botorch_ubo.models.compress_bad_outcomes`). That is a statement about the box,
            not about what is beyond it.
        method: A name of :func:`botorch_ubo.available_methods`, or a method of one's own.
        hard_limits: Limits that no evaluation crosses: ``{dimension: (lower, upper)}``, with
            ``None`` for a side without. Parameters with names have limits of their own.
        seed: Seed of all random choices.
        input_type: What ``f`` is called with: ``"floats"``, a list of ``d`` floats, or
            ``"tensor"``, a ``d``-dim double tensor.
        executor: Evaluate in parallel on any ``concurrent.futures.Executor``; new proposals go
            out as results come in. ``f`` must be picklable if it crosses a process boundary.
            ``Client(...).get_executor()`` of Dask reaches other machines.
        num_workers: Evaluations under way at once; the size of the executor's pool by default.
        timeout: Seconds per evaluation. One that takes longer is ended, and has failed; that
            needs an executor of processes or Dask's, since a thread cannot be ended. An objective
            that kills its process is tried once more, and then has failed, too.
        catch: Exceptions, one or a tuple of them, that are failed evaluations at all times. Of
            others, one that looks like a programming error (``TypeError``, ``NameError`` and the
            like) stops the run if the first evaluation raises it; ``Exception`` catches all.
        callback: Called with the optimizer and each trial that has come back; ``True`` stops,
            after what is under way has come back.
        progress: Show a progress bar with the best value and the box, in a terminal or a notebook,
            and moves of the box that are news.
        checkpoint: A file to keep the run in and to resume it from. Several processes may work
            on one file, and share the budget. Pending trials of processes that are gone are
            evaluated first.
        take_over: Whether to evaluate pending trials of processes on other machines too, of which
            nobody can know here whether they are gone.
        options: Further arguments of :class:`UnboundedOptimizer`:
            ``data``, ``num_initial``, ``max_growth``, ``on_expand``, ``search``.

    Returns:
        An :class:`OptimizationResult`; with constraints or several objectives a
        :class:`GoalResult`, which has the front and the hypervolume over time.

    Raises:
        NoResultError: If every evaluation failed.
        EvaluationError: If the first evaluation ended with what looks like a programming error.

    Whatever else ends the run, Ctrl-C among it, is raised with the attributes ``result``, the
    result so far (or ``None``), and ``optimizer``, which has all trials.

    Example:
        >>> result = minimize(f, [(-1, 1), (0, 3)], budget=60, hard_limits={1: (0, None)})
        >>> print(result)
        >>> result = minimize(g, {"lr": Float(1e-4, 1e-2, log=True), "x": (-1, 1)}, budget=40)
        >>> result.best_params
    """
    return _run(
        f,
        bounds,
        budget,
        input_type,
        executor,
        num_workers,
        timeout,
        catch,
        callback,
        progress,
        take_over,
        stop_at=epsilon,
        direction=_several("minimize", direction),
        constraints=constraints,
        method=method,
        hard_limits=hard_limits,
        seed=seed,
        checkpoint=checkpoint,
        **options,
    )


def maximize(
    f: Objective,
    bounds: Bounds | Named,
    *,
    budget: int,
    direction: Directions | None = None,
    constraints: int = 0,
    epsilon: float | None = None,
    method: str | Method = DEFAULT_METHOD,
    hard_limits: HardLimits = None,
    seed: int = 0,
    input_type: InputType = "floats",
    executor: Executor | None = None,
    num_workers: int | None = None,
    timeout: float | None = None,
    catch: type[BaseException] | tuple[type[BaseException], ...] = (),
    callback: Callback | None = None,
    progress: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    take_over: bool = False,
    **options: Any,
) -> Any:
    """Maximise a function in its own sign; see :func:`minimize` for the arguments."""
    return _run(
        f,
        bounds,
        budget,
        input_type,
        executor,
        num_workers,
        timeout,
        catch,
        callback,
        progress,
        take_over,
        stop_at=epsilon,
        direction=_several("maximize", direction),
        constraints=constraints,
        method=method,
        hard_limits=hard_limits,
        seed=seed,
        checkpoint=checkpoint,
        **options,
    )


def _several(own: str, direction: Directions | None) -> Any:
    """The direction of a function that has one in its name, or those of several objectives."""
    if direction is None:
        return own
    if isinstance(direction, str):
        raise InputDataError(
            f"Expected `direction` of `{own}` as a list with one entry for each of several "
            f"objectives; got {direction!r}. For one objective call `minimize` or `maximize`."
        )
    return direction


def _run(
    f: Objective,
    bounds: Bounds | Named,
    budget: int,
    input_type: InputType,
    executor: Executor | None,
    num_workers: int | None,
    timeout: float | None,
    catch: type[BaseException] | tuple[type[BaseException], ...],
    callback: Callback | None,
    progress: bool,
    take_over: bool,
    stop_at: float | None,
    **options: Any,
) -> Any:
    check_callable(f, "f")
    if callback is not None:
        check_callable(callback, "callback")
    budget = as_count(budget, "budget")
    if input_type not in get_args(InputType):
        raise InputDataError(
            f"Expected `input_type` to be one of {get_args(InputType)}; got {input_type!r}."
        )
    if executor is None and num_workers is not None:
        raise InputDataError(
            f"Expected an `executor` with `num_workers`={num_workers}; got none. Pass, say, "
            "`concurrent.futures.ThreadPoolExecutor()`."
        )
    seconds = check_timeout(timeout, executor)
    caught = check_catch(catch)
    space = as_space(bounds)
    if space is not None:
        if input_type != "floats":
            raise InputDataError(
                f"Expected no `input_type` with parameters by name, which come as a dict; got "
                f"{input_type!r}."
            )
        bounds, f = space, NamedObjective(f, space)
    goal = parse_goal(options["direction"], options.get("constraints", 0))
    if not goal.is_plain:
        if stop_at is not None:
            raise InputDataError(
                f"Expected no `epsilon` with constraints or several objectives, for which no box "
                f"can be certified exhausted; got {stop_at}."
            )
        f = SeveralOutcomes(f, goal)
    submission = None
    if executor is not None:
        submission = Submission(executor, f, input_type, seconds, num_workers)
    if stop_at is not None:
        options["epsilon"] = stop_at
    optimizer = UnboundedOptimizer(bounds, **options)
    with Progress(budget, progress, str(optimizer.direction)) as shown:
        loop = Loop(optimizer, budget, stop_at is not None, callback, caught, shown, take_over)
        try:
            reason = loop.run(f, input_type) if submission is None else loop.run_on(submission)
        except BaseException as error:
            _attach_result(error, optimizer)
            raise
        finally:
            loop.close()
    return optimizer.result(reason)


def check_catch(catch: Any) -> Catch:
    """Exceptions as a tuple."""
    kinds = catch if isinstance(catch, tuple) else (catch,)
    if not all(isinstance(kind, type) and issubclass(kind, BaseException) for kind in kinds):
        raise InputDataError(
            f"Expected `catch` to be an exception or a tuple of exceptions; got {catch!r}."
        )
    return kinds


def _attach_result(error: BaseException, optimizer: UnboundedOptimizer) -> None:
    """Give what has been found so far to whoever catches what ended the run.

    It is raised, not swallowed: a script that is interrupted must not go on with its next line as
    if it had not been.
    """
    result = None
    if optimizer.completed:
        with suppress(Exception, KeyboardInterrupt):  # a second Ctrl-C while the model is fitted
            result = optimizer.result(f"of {type(error).__name__}")
    with suppress(AttributeError):  # an exception with slots
        error.result, error.optimizer = result, optimizer  # type: ignore[attr-defined]
    count = len(optimizer.completed)
    error.add_note(
        f"{count} evaluation(s) had come back. The exception has them: `result`, "
        "`optimizer.trials`. In a notebook: `import sys; sys.last_value.result`."
    )
