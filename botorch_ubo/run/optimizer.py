r"""``UnboundedOptimizer``: ask/tell for experiments whose right bounds nobody knows."""

from __future__ import annotations

import os
import threading
from typing import Any, overload

from botorch.models import SingleTaskGP
from torch import Tensor

from botorch_ubo.acquisition.search import SearchSettings
from botorch_ubo.boxes import HardLimits, parse_hard_limits
from botorch_ubo.controller import DEFAULT_METHOD, ExpandingBounds, Method
from botorch_ubo.controller.arguments import Epsilon
from botorch_ubo.controller.initial import usual_num_initial
from botorch_ubo.controller.review import OnExpand
from botorch_ubo.records import Certificate
from botorch_ubo.records.display import as_table
from botorch_ubo.run.arguments import Bounds, as_bounds, as_count
from botorch_ubo.run.config import arguments_in, check_same, describe, first_limits, versions
from botorch_ubo.run.goal_result import GoalResult, summarize_goal
from botorch_ubo.run.goals import Directions, parse_goal
from botorch_ubo.run.journal import Journal, describe_run, warn_of_versions
from botorch_ubo.run.ledger import Ledger
from botorch_ubo.run.named import check_no_limits, encode_rows, with_params
from botorch_ubo.run.planning import add_evaluations, plan_points
from botorch_ubo.run.result import OptimizationResult, summarize_run
from botorch_ubo.run.storage import RunFile
from botorch_ubo.run.trials import Trial, as_text
from botorch_ubo.spaces import Named, as_space

Result = OptimizationResult | GoalResult


class UnboundedOptimizer:
    r"""Propose experiments, take their results in any order, and let the box grow.

    Trials are proposed with :meth:`ask`; results are handed in with :meth:`tell` or
    :meth:`tell_failed`, late, in any order, twice, or never. Whether and where the box grows
    depends on evaluated points only: pending ones keep proposals away from themselves, failed
    ones too, and neither moves the box. All methods may be called from several threads.

    With ``checkpoint``, the run is on disk after every call that changes it, and a process that
    is started anew with the same arguments goes on as if nothing had happened. Several processes
    may share one file: each asks and tells, and what one does the others see when they ask.

    Example:
        >>> opt = UnboundedOptimizer([(-1.0, 1.0), (0.0, 3.0)], direction="minimize")
        >>> for _ in range(30):
        >>>     trial = opt.ask()
        >>>     opt.tell(trial, experiment(*trial.X))
        >>> print(opt.result())
    """

    def __init__(
        self,
        bounds: Bounds | Named,
        *,
        direction: Directions = "minimize",
        constraints: int = 0,
        method: str | Method = DEFAULT_METHOD,
        hard_limits: HardLimits = None,
        num_initial: int | None = None,
        data: tuple[Any, ...] | None = None,
        epsilon: Epsilon = 0.05,
        max_growth: float | None = None,
        on_expand: OnExpand | None = None,
        seed: int = 0,
        checkpoint: str | os.PathLike[str] | None = None,
        search: SearchSettings | None = None,
    ) -> None:
        r"""Ask/tell optimisation in a box that grows.

        Args:
            bounds: A rough guess: ``d`` pairs ``(lower, upper)``, or a ``2 x d`` tensor; or
                parameters by name (:class:`botorch_ubo.Space` or the mapping that makes one), which
                have limits of their own. Trials then have ``params``, and ``X`` are coordinates.
            direction: ``"minimize"`` or ``"maximize"``; results are handed in and given back in
                the user's own sign. A list of them for several objectives.
            constraints: How many constraints an evaluation has: its result is then a sequence of
                the objectives and the constraints, which are met where they are not positive.
            method: A name of :func:`botorch_ubo.available_methods`, or a method of one's own.
            hard_limits: Limits that no proposal crosses; see :class:`ExpandingBounds`.
            num_initial: Space-filling trials in the box before the first model; ``3 d``, but no
                more than 30, by default. Data handed in count.
            data: ``(X, Y)`` or ``(X, Y, variance)`` to start from; see :meth:`add_data`. A
                resumed run has them already.
            epsilon: Accuracy at which a box counts as exhausted, and improvement that is worth
                noting, in standard deviations of the observed values; very bad values count as
                the model sees them (:func:`botorch_ubo.models.compress_bad_outcomes`).
            max_growth: How far a face may move in one expansion, in sides of the box; 10 unless
                the method says otherwise.
            on_expand: May accept, shrink or refuse an expansion; see :class:`ExpandingBounds`.
            seed: Seed of all random choices.
            checkpoint: A file to keep the run in. If it exists, the run is resumed from it, and
                the arguments must be those that it was started with.
            search: How hard to search for the maximum of an acquisition function.
        """
        file = None if checkpoint is None else RunFile(checkpoint)
        self._set_up(
            file,
            data,
            on_expand,
            bounds=bounds,
            direction=direction,
            constraints=constraints,
            method=method,
            hard_limits=hard_limits,
            num_initial=num_initial,
            epsilon=epsilon,
            max_growth=max_growth,
            seed=seed,
            search=search,
        )

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        writable: bool = False,
        on_expand: OnExpand | None = None,
    ) -> UnboundedOptimizer:
        r"""A run from its file alone, with the arguments that it was started with.

        Args:
            path: The file.
            writable: Whether to take part in the run. Without, it is looked at and nobody is
                disturbed; :meth:`refresh` brings what has been added since.
            on_expand: The one argument that a file cannot hold.

        Returns:
            The optimizer. A method of one's own must have been registered under its name.
        """
        file = RunFile(path, read_only=not writable)
        optimizer = cls.__new__(cls)
        optimizer._set_up(file, None, on_expand, **arguments_in(file))
        return optimizer

    def _set_up(
        self,
        file: RunFile | None,
        data: tuple[Any, ...] | None,
        on_expand: OnExpand | None,
        *,
        bounds: Bounds | Named,
        direction: Directions,
        hard_limits: HardLimits,
        num_initial: int | None,
        constraints: int = 0,
        **options: Any,
    ) -> None:
        """Begin a run, or take over what a file holds of it."""
        self.goal = parse_goal(direction, constraints)
        self.space = as_space(bounds)
        first_box = as_bounds(bounds) if self.space is None else self.space.bounds
        self.direction = self.goal.direction
        self.num_initial = usual_num_initial(first_box.shape[-1])
        if num_initial is not None:
            self.num_initial = as_count(num_initial, "num_initial")
        given = parse_hard_limits(hard_limits, first_box.shape[-1])
        if self.space is not None:
            check_no_limits(hard_limits)
            given = self.space.limits
        events = [] if file is None else file.load()
        self.box = ExpandingBounds(
            first_box if self.space is None else self.space,
            # The limits of the beginning; a file knows how they have changed since.
            hard_limits=first_limits(events, given) if self.space is None else None,
            **self.goal.box_arguments(),
            on_expand=on_expand,
            **options,
        )
        self.method = self.box.method.name
        self._lock = threading.RLock()
        self._model: tuple[tuple[Trial, ...], SingleTaskGP] | None = None
        config = describe(self.box, self.num_initial, given, self.goal)
        if file is not None and events:
            check_same(events, config, file.path)
            config = events[0].body
        read_only = file is not None and file.read_only
        self.journal = Journal(self.box, file, config, versions(), read_only)
        if events:
            self.journal.resume(events)
            warn_of_versions(self.journal)
        elif not self.journal.start(self._with_data(Ledger(), data)):
            # Another process has begun the run in the meantime.
            self._set_up(
                file,
                None,
                on_expand,
                bounds=bounds,
                direction=direction,
                hard_limits=hard_limits,
                num_initial=num_initial,
                constraints=constraints,
                **options,
            )

    @property
    def hard_limits(self) -> Tensor:
        """``2 x d`` limits in force, infinite on free sides."""
        return self.box.hard_limits

    @hard_limits.setter
    def hard_limits(self, hard_limits: Any) -> None:
        self.box.hard_limits = hard_limits  # which says how to

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All trials, in the order in which they were asked for or handed in."""
        return with_params(self.space, self.journal.ledger.trials)

    @property
    def pending(self) -> tuple[Trial, ...]:
        """Trials without a result: after a resume, these are the ones to evaluate first."""
        return with_params(self.space, self.journal.ledger.pending)

    @property
    def completed(self) -> tuple[Trial, ...]:
        """Trials with a value, in the order in which the values came in."""
        return with_params(self.space, self.journal.ledger.completed)

    @property
    def failed(self) -> tuple[Trial, ...]:
        """Trials that failed, in the order in which that was known."""
        return with_params(self.space, self.journal.ledger.failed)

    @overload
    def ask(self) -> Trial: ...

    @overload
    def ask(self, n: int) -> list[Trial]: ...

    def ask(self, n: int | None = None) -> Trial | list[Trial]:
        r"""Propose trials.

        Args:
            n: How many; one trial, not in a list, if omitted.

        Returns:
            New pending trials, away from those that are pending already or have failed.
        """
        count = 1 if n is None else as_count(n, "n", 0)
        with self._lock:
            planned = self.journal.propose(lambda ledger: self._plan(ledger, count))
        new = list(with_params(self.space, planned))
        return new[0] if n is None else new

    def ask_within(self, budget: int) -> Trial | None:
        r"""Propose a trial unless so many have been asked for, by this process or others.

        Args:
            budget: The number of trials of the whole run; data handed in do not count.

        Returns:
            The trial, or ``None`` if the budget is used up.
        """
        with self._lock:
            new = self.journal.propose(
                lambda ledger: self._plan(ledger, int(ledger.num_asked < budget))
            )
        return with_params(self.space, new)[0] if new else None

    def tell(self, trial: Trial | int, value: Any, variance: Any = None) -> Trial:
        r"""Hand in the result of a trial.

        The same result twice is taken once. A value that is NaN, infinite or beyond 1e150 is a
        failure. A result for a trial that was declared failed replaces the failure.

        Args:
            trial: The trial or its id.
            value: The outcome, a number in the sense of ``direction``; several objectives and
                constraints in a sequence.
            variance: The variance of its noise, if known; then all results need one. As many as
                there are outcomes.

        Returns:
            The trial as it is now.
        """
        outcome = self.goal.read(value, "the value")
        noise = None if variance is None else self.goal.read(variance, "the variance")
        with self._lock:
            self.journal.change(lambda ledger: ledger.complete(trial, outcome, noise))
            return with_params(self.space, [self.journal.ledger.find(trial)])[0]

    def tell_failed(self, trial: Trial | int, reason: str) -> Trial:
        r"""Declare that a trial has no value. It stays out of the model and keeps others away.

        Args:
            trial: The trial or its id.
            reason: Why, for the record.

        Returns:
            The trial as it is now.
        """
        text = as_text(reason)
        with self._lock:
            self.journal.change(lambda ledger: ledger.fail(trial, text))
            return with_params(self.space, [self.journal.ledger.find(trial)])[0]

    def add_data(self, X: Any, Y: Any, variance: Any = None) -> list[Trial]:
        r"""Hand in evaluations that were not asked for: a warm start, or replicates.

        A script that may be resumed from a checkpoint passes ``data`` to the constructor instead,
        or would hand them in again each time.

        Args:
            X: ``n x d`` points, inside the box or not, within the hard limits; dicts or a data
                frame if parameters have names.
            Y: ``n`` outcomes, in the sense of ``direction``.
            variance: ``n`` noise variances, if known.

        Returns:
            The new trials; those with a value that is NaN or infinite are failed ones.
        """
        with self._lock:
            count = len(self.journal.ledger)
            data = (X, Y, variance)
            self.journal.change(lambda ledger: self._with_data(ledger, data), keep=False)
            return [trial for trial in self.trials[count:] if not trial.asked]

    def set_hard_limits(self, hard_limits: HardLimits) -> None:
        r"""Change the hard limits, wider or narrower, from the next proposal on.

        Data beyond narrower limits stay data; the box is cut to them. The change is in the file
        too, for all processes that share it, and whoever resumes the run passes the new limits.

        Args:
            hard_limits: All limits, not only those that change, in any form that the constructor
                takes.
        """
        if self.space is not None:
            check_no_limits(hard_limits)
        with self._lock:
            self.journal.set_hard_limits(hard_limits)

    def refresh(self) -> None:
        """Take in what other processes have added to the run's file; :meth:`ask` does so too."""
        with self._lock:
            self.journal.refresh()

    def save(self) -> None:
        """Write results that could not be written when they were told; normally there are none."""
        with self._lock:
            self.journal.save()

    def fit(self) -> SingleTaskGP:
        """Fit the model to the completed trials; the last one again if nothing came in."""
        with self._lock:
            done = self.journal.ledger.completed
            if self._model is None or self._model[0] != done:
                self._model = done, self.box.fit(*self.journal.ledger.data())
            return self._model[1]

    def certify(self) -> Certificate | None:
        """Whether the box, as it is now, is exhausted to the accuracy epsilon; changes nothing."""
        with self._lock:
            if not self.journal.ledger.completed or len(self.journal.ledger) < self.num_initial:
                return None
            return self.box.certify(self.fit())

    def result(self, stopped_because: str = "a result was asked for") -> Result:
        r"""Summarise the run so far.

        Args:
            stopped_because: Why the run ended, for the record.

        Returns:
            The result: with constraints or several objectives a :class:`GoalResult`.

        Raises:
            NoResultError: If no evaluation has succeeded; it tells how the others failed.
        """
        with self._lock:
            model = self.fit() if self.journal.ledger.completed else None
            ledger = self.journal.ledger
            if model is None or self.goal.is_plain:
                return summarize_run(self.box, model, ledger, stopped_because)
            return summarize_goal(self.box, model, ledger, self.goal, stopped_because)

    def __repr__(self) -> str:
        """One line."""
        rows = describe_run(self.journal, self.method, self.goal)
        return f"UnboundedOptimizer({'; '.join(value for _, value in rows)})"

    def _repr_html_(self) -> str:
        """A small table for a notebook."""
        return as_table("UnboundedOptimizer", describe_run(self.journal, self.method, self.goal))

    def _plan(self, ledger: Ledger, count: int) -> list[list[float]]:
        return plan_points(self.box, ledger, count, self.num_initial, self.fit)

    def _with_data(self, ledger: Ledger, data: tuple[Any, ...] | None) -> Ledger:
        if data is None:
            return ledger
        if self.space is not None:
            data = encode_rows(self.space, data[0]), *data[1:]
        return add_evaluations(ledger, data, self.hard_limits, self.goal.num_outcomes)
