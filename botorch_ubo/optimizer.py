r"""``UnboundedOptimizer``: ask/tell for experiments whose right bounds nobody knows."""

from __future__ import annotations

import os
import threading
from typing import Any, overload

import torch
from botorch.exceptions.errors import InputDataError
from botorch.models import SingleTaskGP
from botorch.utils.sampling import draw_sobol_samples

from botorch_ubo.arguments import (
    Bounds,
    as_bounds,
    as_points,
    as_values,
    describe_limits,
    describe_options,
)
from botorch_ubo.boxes import HardLimits, cast_inward, check_inside, clip
from botorch_ubo.expansion import OnExpand, hold, review
from botorch_ubo.ledger import Ledger
from botorch_ubo.methods import DEFAULT_METHOD, get_method
from botorch_ubo.models import fit_default_model
from botorch_ubo.records import Certificate, ExpansionRecord
from botorch_ubo.result import OptimizationResult, summarize_run
from botorch_ubo.run_file import RunFile
from botorch_ubo.trials import Trial, as_number, as_tensor

# So many failures beyond the successes on one side stop the box from growing there.
_FAILURES_THAT_STOP_GROWTH = 2


class UnboundedOptimizer:
    r"""Propose experiments, take their results in any order, and let the box grow.

    Trials are proposed with :meth:`ask`; results are handed in with :meth:`tell` or
    :meth:`tell_failed`, late, in any order, twice, or never. Whether and where the box grows
    depends on evaluated points only: pending ones keep proposals away from themselves, failed
    ones too, and neither moves the box. All methods may be called from several threads.

    With ``checkpoint``, the run is on disk after every call that changes it, and a process that
    is started anew with the same arguments goes on as if nothing had happened. One process at a
    time: a second one that writes to the same file is stopped with an error.

    Example:
        >>> opt = UnboundedOptimizer([(-1.0, 1.0), (0.0, 3.0)], direction="minimize")
        >>> for _ in range(30):
        >>>     trial = opt.ask()
        >>>     opt.tell(trial, experiment(*trial.X))
        >>> print(opt.result())
    """

    def __init__(
        self,
        bounds: Bounds,
        *,
        direction: str = "minimize",
        method: str = DEFAULT_METHOD,
        hard_limits: HardLimits = None,
        num_initial: int | None = None,
        data: tuple[Any, ...] | None = None,
        epsilon: float = 0.05,
        max_growth: float | None = None,
        on_expand: OnExpand | None = None,
        seed: int = 0,
        checkpoint: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> None:
        r"""Ask/tell optimisation in a box that grows.

        Args:
            bounds: A rough guess: ``d`` pairs ``(lower, upper)``, or a ``2 x d`` tensor.
            direction: ``"minimize"`` or ``"maximize"``; results are handed in and given back in
                the user's own sign.
            method: A name of :func:`botorch_ubo.methods.available_methods`.
            hard_limits: Limits that no proposal crosses; see :class:`ExpandingBounds`.
            num_initial: Space-filling trials in the box before the first model; ``3 d`` by
                default. Data handed in count.
            data: ``(X, Y)`` or ``(X, Y, variance)`` to start from; see :meth:`add_data`. A
                resumed run has them already.
            epsilon: Accuracy at which a box counts as exhausted, and improvement that is worth
                noting, in standard deviations of the observed values; very bad values count as
                the model sees them (:func:`botorch_ubo.models.temper`).
            max_growth: How far a face may move in one expansion, in sides of the box; 10 unless
                the method says otherwise.
            on_expand: May accept, shrink or refuse an expansion; see :func:`expansion.review`.
            seed: Seed of all random choices.
            checkpoint: A file to keep the run in. If it exists, the run is resumed from it, and
                the arguments must be those that it was started with.
            options: Further arguments of :class:`ExpandingBounds`.
        """
        if direction not in ("minimize", "maximize"):
            raise InputDataError(f"Expected direction 'minimize' or 'maximize'; got {direction!r}.")
        box = as_bounds(bounds)
        self.direction = direction
        self.method = get_method(method).name
        self._on_expand = on_expand
        self.box = get_method(method).build(
            box,
            hard_limits=hard_limits,
            epsilon=epsilon,
            seed=seed,
            maximize=direction == "maximize",
            on_expand=self._review,
            **({} if max_growth is None else {"max_growth": max_growth}),
            **options,
        )
        self.num_initial = 3 * box.shape[-1] if num_initial is None else num_initial
        if self.num_initial < 1:
            raise InputDataError(f"Expected `num_initial` >= 1; got {num_initial}.")
        self._ledger = Ledger()
        self._lock = threading.RLock()
        self._model: tuple[tuple[Trial, ...], SingleTaskGP] | None = None
        config = {
            "bounds": box.tolist(),
            "direction": direction,
            "method": self.method,
            "hard_limits": describe_limits(self.box.settings.hard_limits),
            "num_initial": self.num_initial,
            "epsilon": self.box.settings.epsilon,
            "max_growth": self.box.settings.max_growth,
            "seed": seed,
            "options": describe_options(options),
        }
        self._file = None if checkpoint is None else RunFile(checkpoint, config)
        if self._file is not None and self._file.exists():
            self._ledger = self._file.load(self.box)
        elif data is not None:
            self.add_data(*data)

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All trials, in the order in which they were asked for or handed in."""
        return self._ledger.trials

    @property
    def pending(self) -> tuple[Trial, ...]:
        """Trials without a result: after a resume, these are the ones to evaluate first."""
        return self._ledger.pending

    @property
    def completed(self) -> tuple[Trial, ...]:
        """Trials with a value, in the order in which the values came in."""
        return self._ledger.completed

    @property
    def failed(self) -> tuple[Trial, ...]:
        """Trials that failed, in the order in which that was known."""
        return self._ledger.failed

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
        count = 1 if n is None else n
        if count < 0:
            raise InputDataError(f"Expected n >= 0; got {n}.")
        with self._lock:
            ledger = first = self._ledger
            # Without a single result there is no model: go on filling the first box.
            while len(ledger) - len(first) < count and (
                len(ledger) < self.num_initial or not first.completed
            ):
                ledger = ledger.propose(self._initial_point(len(ledger)))
            missing = count - (len(ledger) - len(first))
            if missing:
                for point in self._suggest(ledger, missing):
                    ledger = ledger.propose(point)
            self._commit(ledger)
        new = list(ledger.trials[len(first) :])
        return new[0] if n is None else new

    def tell(self, trial: Trial | int, value: Any, variance: Any = None) -> Trial:
        r"""Hand in the result of a trial.

        The same result twice is taken once. A value that is NaN, infinite or beyond 1e150 is a
        failure. A result for a trial that was declared failed replaces the failure.

        Args:
            trial: The trial or its id.
            value: The outcome, a number in the sense of ``direction``.
            variance: The variance of its noise, if known; then all results need one.

        Returns:
            The trial as it is now.
        """
        outcome = as_number(value, "the value")
        noise = None if variance is None else as_number(variance, "the variance")
        with self._lock:
            self._commit(self._ledger.complete(trial, outcome, noise))
            return self._ledger.find(trial)

    def tell_failed(self, trial: Trial | int, reason: str) -> Trial:
        r"""Declare that a trial has no value. It stays out of the model and keeps others away.

        Args:
            trial: The trial or its id.
            reason: Why, for the record.

        Returns:
            The trial as it is now.
        """
        with self._lock:
            self._commit(self._ledger.fail(trial, str(reason)))
            return self._ledger.find(trial)

    def add_data(self, X: Any, Y: Any, variance: Any = None) -> list[Trial]:
        r"""Hand in evaluations that were not asked for: a warm start, or replicates.

        A script that may be resumed from a checkpoint passes ``data`` to the constructor instead,
        or would hand them in again each time.

        Args:
            X: ``n x d`` points, inside the box or not, within the hard limits.
            Y: ``n`` outcomes, in the sense of ``direction``.
            variance: ``n`` noise variances, if known.

        Returns:
            The new trials; those with a value that is NaN or infinite are failed ones.
        """
        points = as_points(X, self.box.bounds.shape[-1])
        values = as_values(Y, len(points), "Y")
        noise: list[float | None] = [None] * len(points)
        if variance is not None:
            noise = list(as_values(variance, len(points), "variance"))
        check_inside(points, self.box.settings.hard_limits, "the given points")
        with self._lock:
            ledger = first = self._ledger
            for point, value, var in zip(points.tolist(), values, noise, strict=True):
                ledger = ledger.propose(point, asked=False).complete(len(ledger), value, var)
            self._commit(ledger)
        return list(ledger.trials[len(first) :])

    def fit(self) -> SingleTaskGP:
        """Fit the model to the completed trials; the last one again if nothing came in."""
        with self._lock:
            done = self._ledger.completed
            if self._model is None or self._model[0] != done:
                X, Y, Yvar = self._ledger.data()
                maximize = self.direction == "maximize"
                model = fit_default_model(X, Y, self.box.initial_bounds, Yvar, maximize)
                self._model = done, model
            return self._model[1]

    def certify(self) -> Certificate | None:
        """Whether the box, as it is now, is exhausted to the accuracy epsilon; changes nothing."""
        with self._lock:
            if not self._ledger.completed or len(self._ledger) < self.num_initial:
                return None
            return self.box.certify(self.fit())

    def result(self, stopped_because: str = "a result was asked for") -> OptimizationResult:
        r"""Summarise the run so far.

        Args:
            stopped_because: Why the run ended, for the record.

        Returns:
            The result.

        Raises:
            NoResultError: If no evaluation has succeeded; it tells how the others failed.
        """
        with self._lock:
            model = self.fit() if self._ledger.completed else None
            held = self._ledger.failing_sides(_FAILURES_THAT_STOP_GROWTH)
            return summarize_run(self.box, model, self._ledger, stopped_because, held)

    def _suggest(self, ledger: Ledger, count: int) -> list[list[float]]:
        failed = ledger.failed
        X = self.box.suggest(
            self.fit(),
            q=count,
            X_pending=as_tensor(ledger.pending) if ledger.pending else None,
            X_failed=as_tensor(failed) if failed else None,
        )
        return X.to("cpu", torch.double).tolist()

    def _initial_point(self, index: int) -> list[float]:
        """A point of a scrambled Sobol sequence in the first box."""
        box = self.box.initial_bounds
        X = draw_sobol_samples(box, index + 1, 1, seed=self.box.settings.seed)[index, 0]
        return clip(X, cast_inward(self.box.settings.hard_limits, X)).tolist()

    def _review(self, record: ExpansionRecord) -> ExpansionRecord:
        """Leave faces with repeated failures beyond them where they are; then ask the user."""
        plan = hold(record, self._ledger.failing_sides(_FAILURES_THAT_STOP_GROWTH))
        return plan if self._on_expand is None else review(plan, self._on_expand(plan))

    def _commit(self, ledger: Ledger) -> None:
        """Make a ledger the state of the run, on disk first."""
        if self._file is not None and ledger is not self._ledger:
            self._file.save(ledger, self.box)
        self._ledger = ledger
