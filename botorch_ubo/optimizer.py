r"""``UnboundedOptimizer``: ask/tell for experiments whose right bounds nobody knows."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

import torch
from botorch.exceptions.errors import BotorchError, InputDataError
from botorch.models import SingleTaskGP
from botorch.utils.sampling import draw_sobol_samples
from torch import Tensor

from botorch_ubo.boxes import HardLimits, cast_inward, check_inside, clip
from botorch_ubo.checkpoint import CheckpointError, read_checkpoint, write_checkpoint
from botorch_ubo.expansion import OnExpand
from botorch_ubo.ledger import Ledger
from botorch_ubo.methods import get_method
from botorch_ubo.models import fit_default_model
from botorch_ubo.records import ExpansionRecord, as_box
from botorch_ubo.result import OptimizationResult, summarize_run
from botorch_ubo.trials import Trial, as_tensor

DEFAULT_METHOD = "EI-UBO"
Bounds = Tensor | Sequence[tuple[float, float]]

# Failed points keep proposals away; beyond the latest few they only cost time.
_MAX_REPELLING = 16
# So many failures beyond the successes on one side stop the box from growing there.
_FAILURES_THAT_STOP_GROWTH = 2


class UnboundedOptimizer:
    r"""Propose experiments, take their results in any order, and let the box grow.

    Trials are proposed with :meth:`ask`; results are handed in with :meth:`tell` or
    :meth:`tell_failed`, late, in any order, or never. All methods may be called from several
    threads. With ``checkpoint``, the run is on disk after every call and resumes exactly.

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
        epsilon: float = 0.05,
        max_growth: float = 10.0,
        on_expand: OnExpand | None = None,
        seed: int = 0,
        checkpoint: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> None:
        r"""Ask/tell optimisation in a box that grows.

        Args:
            bounds: A rough guess: ``d`` pairs ``(lower, upper)``, or a ``2 x d`` tensor.
            direction: ``"minimize"`` or ``"maximize"``.
            method: A name of :func:`botorch_ubo.methods.available_methods`.
            hard_limits: Limits that no proposal crosses; see :class:`ExpandingBounds`.
            num_initial: Space-filling trials in the box before the first model; ``3 d`` by
                default. Data handed in with :meth:`add_data` count.
            epsilon: Accuracy at which a box counts as exhausted, in standard deviations of the
                observed values.
            max_growth: How far a face may move in one expansion, in sides of the box.
            on_expand: May accept, shrink or refuse an expansion; see :class:`ExpandingBounds`.
            seed: Seed of all random choices.
            checkpoint: A file to keep the run in. If it exists, the run is resumed from it, and
                the arguments above must be those that it was started with.
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
            max_growth=max_growth,
            seed=seed,
            maximize=direction == "maximize",
            on_expand=self._review,
            **options,
        )
        self.num_initial = 3 * box.shape[-1] if num_initial is None else num_initial
        if self.num_initial < 1:
            raise InputDataError(f"Expected `num_initial` >= 1; got {num_initial}.")
        self._ledger = Ledger()
        self._lock = threading.RLock()
        self._model: tuple[tuple[Trial, ...], SingleTaskGP] | None = None
        self._path = None if checkpoint is None else Path(checkpoint)
        self._config = {
            "bounds": box.tolist(),
            "direction": direction,
            "method": self.method,
            "hard_limits": _jsonable(self.box.settings.hard_limits),
            "num_initial": self.num_initial,
            "epsilon": epsilon,
            "max_growth": max_growth,
            "seed": seed,
            "options": {key: repr(value) for key, value in sorted(options.items())},
        }
        if self._path is not None and self._path.exists():
            self._resume(self._path)

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
        if count < 1:
            raise InputDataError(f"Expected n >= 1; got {n}.")
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

    def tell(self, trial: Trial | int, value: float, variance: float | None = None) -> Trial:
        r"""Hand in the result of a trial.

        The same result twice is taken once. A value that is NaN or infinite is a failure. A
        result for a trial that was declared failed replaces the failure.

        Args:
            trial: The trial or its id.
            value: The outcome, in the sense of ``direction``.
            variance: The variance of its noise, if known; then all results need one.

        Returns:
            The trial as it is now.
        """
        with self._lock:
            noise = None if variance is None else float(variance)
            self._commit(self._ledger.complete(trial, float(value), noise))
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

        Args:
            X: ``n x d`` points, inside the box or not, within the hard limits.
            Y: ``n`` outcomes, in the sense of ``direction``.
            variance: ``n`` noise variances, if known.

        Returns:
            The new trials; those with a value that is NaN or infinite are failed ones.
        """
        points = torch.as_tensor(X, dtype=torch.double).reshape(-1, self.box.bounds.shape[-1])
        values = torch.as_tensor(Y, dtype=torch.double).flatten().tolist()
        noise: list[float | None] = [None] * len(points)
        if variance is not None:
            noise = torch.as_tensor(variance, dtype=torch.double).flatten().tolist()
        if not len(points) == len(values) == len(noise):
            raise InputDataError(
                f"Expected as many values and variances as points; got {len(points)} points, "
                f"{len(values)} values and {len(noise)} variances."
            )
        check_inside(points, self.box.settings.hard_limits, "the given points")
        with self._lock:
            ledger = first = self._ledger
            for point, value, var in zip(points.tolist(), values, noise, strict=True):
                ledger = ledger.propose(point).complete(len(ledger), value, var)
            self._commit(ledger)
        return list(ledger.trials[len(first) :])

    def fit(self) -> SingleTaskGP:
        """Fit the model to the completed trials; the last one again if nothing came in."""
        with self._lock:
            done = self._ledger.completed
            if self._model is None or self._model[0] != done:
                X, Y, Yvar = self._ledger.data()
                seed = self.box.settings.seed + len(X)
                self._model = done, fit_default_model(X, Y, self.box.initial_bounds, Yvar, seed)
            return self._model[1]

    def result(self, stopped_because: str = "a result was asked for") -> OptimizationResult:
        r"""Summarise the run so far.

        Args:
            stopped_because: Why the run ended, for the record.

        Returns:
            The result.
        """
        with self._lock:
            return summarize_run(self.box, self.fit(), self._ledger, stopped_because)

    def _suggest(self, ledger: Ledger, count: int) -> list[list[float]]:
        repelling = [*ledger.pending, *ledger.failed[-_MAX_REPELLING:]]
        X_pending = as_tensor(repelling) if repelling else None
        within = ledger.safe_region(_FAILURES_THAT_STOP_GROWTH)
        X = self.box.suggest(self.fit(), q=count, X_pending=X_pending, within=within)
        return X.to("cpu", torch.double).tolist()

    def _initial_point(self, index: int) -> list[float]:
        """A point of a scrambled Sobol sequence in the first box."""
        box = self.box.initial_bounds
        X = draw_sobol_samples(box, index + 1, 1, seed=self.box.settings.seed)[index, 0]
        return clip(X, cast_inward(self.box.settings.hard_limits, X)).tolist()

    def _review(self, record: ExpansionRecord) -> bool | Tensor | None:
        """Leave faces with repeated failures beyond them where they are; then ask the user."""
        old = torch.tensor(record.old_bounds, dtype=torch.double)
        new = torch.tensor(record.new_bounds, dtype=torch.double)
        held = new.clone()
        for row, dim in self._ledger.failing_sides(_FAILURES_THAT_STOP_GROWTH):
            outward = max if row == 0 else min  # the inner of the two positions
            held[row, dim] = outward(float(new[row, dim]), float(old[row, dim]))
        if not (held[0] < held[1]).all():  # a box that travels may have left the old one behind
            held = new
        answer = None if torch.equal(held, new) else held
        if self._on_expand is None:
            return answer
        decision = self._on_expand(_with_bounds(record, held))
        return answer if decision is None or decision is True else decision

    def _commit(self, ledger: Ledger) -> None:
        """Make a ledger the state of the run, on disk first."""
        if self._path is not None:
            content = {
                "config": self._config,
                "trials": ledger.to_list(),
                "box": self.box.state_dict(),
            }
            write_checkpoint(self._path, content)
        self._ledger = ledger

    def _resume(self, path: Path) -> None:
        content = read_checkpoint(path)
        config = content.get("config")
        if config != self._config:
            known = config if isinstance(config, dict) else {}
            differing = [key for key in self._config if known.get(key) != self._config[key]]
            raise CheckpointError(
                f"Expected the run in {path} to have been started with the same arguments; "
                f"{', '.join(differing) or 'its configuration'} differ(s). Pass the same ones, or "
                "another path for a new run."
            )
        try:
            ledger = Ledger.from_list(content["trials"], self.box.settings.hard_limits)
            self.box.load_state_dict(content["box"])
        except (BotorchError, TypeError, ValueError, KeyError) as error:
            raise CheckpointError(
                f"Expected {path} to hold a complete run; got {type(error).__name__}: {error} It "
                "was edited or damaged: restore a copy, or start anew with another path."
            ) from error
        self._ledger = ledger


def as_bounds(bounds: Bounds) -> Tensor:
    r"""Bring a rough guess to a ``2 x d`` double tensor.

    Args:
        bounds: ``d`` pairs ``(lower, upper)``, or a ``2 x d`` tensor.

    Returns:
        The tensor; :class:`ExpandingBounds` checks its values.
    """
    if isinstance(bounds, Tensor):
        return bounds.to("cpu", torch.double) if bounds.is_floating_point() else bounds
    try:
        return torch.tensor([(lower, upper) for lower, upper in bounds], dtype=torch.double).T
    except (TypeError, ValueError) as error:
        raise InputDataError(
            f"Expected `bounds` as (lower, upper) pairs, one per dimension; got {bounds!r}."
        ) from error


def _with_bounds(record: ExpansionRecord, bounds: Tensor) -> ExpansionRecord:
    return ExpansionRecord.from_dict({**record.to_dict(), "new_bounds": as_box(bounds)})


def _jsonable(limits: Tensor) -> list[list[float | None]]:
    """Limits with ``None`` for a free side."""
    return [[x if math.isfinite(x) else None for x in row] for row in limits.tolist()]
