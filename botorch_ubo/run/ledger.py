"""All trials of a run as one frozen value: what was asked, what came back, in which order."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.boxes import check_inside
from botorch_ubo.run.goals import Numbers, as_rows
from botorch_ubo.run.trials import (
    COMPLETED,
    FAILED,
    PENDING,
    Trial,
    as_tensor,
    largest_size,
    least,
)

Rows = tuple[Tensor, Tensor, Tensor | None]
_TOO_LARGE = 1e150  # its square is infinite, and so would be the variance of the values


@dataclass(frozen=True)
class Ledger:
    """Trials in the order in which they were added; every change is a new ledger."""

    trials: tuple[Trial, ...] = ()

    def __len__(self) -> int:
        """The number of trials."""
        return len(self.trials)

    @cached_property
    def pending(self) -> tuple[Trial, ...]:
        """Trials without a result."""
        return tuple(trial for trial in self.trials if trial.status == PENDING)

    @cached_property
    def completed(self) -> tuple[Trial, ...]:
        """Trials with a value, in the order in which the values came in."""
        done = [trial for trial in self.trials if trial.status == COMPLETED]
        return tuple(sorted(done, key=lambda trial: trial.order or 0))

    @cached_property
    def failed(self) -> tuple[Trial, ...]:
        """Trials that failed, in the order in which that was known."""
        lost = [trial for trial in self.trials if trial.status == FAILED]
        return tuple(sorted(lost, key=lambda trial: trial.order or 0))

    @cached_property
    def last_order(self) -> int:
        """Of the latest outcome; -1 if there is none."""
        return max((trial.order for trial in self.trials if trial.order is not None), default=-1)

    def told_since(self, before: Ledger) -> list[Trial]:
        """Trials whose outcome has come in since an earlier ledger, in that order."""
        last, told = before.last_order, list[tuple[int, Trial]]()
        for trial in reversed(self.trials):  # mostly the newest ones
            if len(told) == self.last_order - last:  # each has a number of its own
                break
            if trial.order is not None and trial.order > last:
                told.append((trial.order, trial))
        return [trial for _, trial in sorted(told, key=lambda pair: pair[0])]

    @property
    def num_asked(self) -> int:
        """The number of trials that were asked for."""
        return sum(trial.asked for trial in self.trials)

    def propose(self, point: Sequence[float]) -> Ledger:
        """Add a pending trial."""
        return self._with(Trial(id=len(self.trials), X=tuple(map(float, point))))

    def complete(self, trial: Trial | int, value: Numbers, variance: Numbers | None) -> Ledger:
        """Give a trial its value; NaN, infinities and their like make it a failed one."""
        known = self.find(trial)
        if not largest_size(value) < _TOO_LARGE:
            return self.fail(known, _no_number(value))
        _check_variance(variance)
        self._check_same_noise(variance)
        if known.status == COMPLETED:
            if (known.value, known.variance) == (value, variance):
                return self
            raise InputDataError(
                f"Expected one result for trial {known.id}; got {value} (variance {variance}) "
                f"after {known.value} (variance {known.variance}). Hand in a replicate with "
                "`add_data`."
            )
        return self._put(known, status=COMPLETED, value=value, variance=variance, reason="")

    def add(
        self, points: Sequence[Sequence[float]], values: Sequence[Numbers], variances: Sequence[Any]
    ) -> Ledger:
        """Evaluations that were not asked for; in one change, since each copies all trials.

        Variances are given for all of them, or ``None`` for all.
        """
        trials, order, any_number = list(self.trials), self.last_order, False
        for point, value, variance in zip(points, values, variances, strict=True):
            order += 1
            made: dict[str, Any] = {"id": len(trials), "X": tuple(map(float, point))}
            if largest_size(value) < _TOO_LARGE:
                _check_variance(variance)
                any_number = True
                made |= {"status": COMPLETED, "value": value, "variance": variance}
            else:
                made |= {"status": FAILED, "reason": _no_number(value)}
            trials.append(Trial(order=order, asked=False, **made))
        if any_number:
            self._check_same_noise(variances[0])
        ledger = Ledger(tuple(trials))
        ledger.__dict__["last_order"] = order
        return ledger

    def fail(self, trial: Trial | int, reason: str) -> Ledger:
        """Declare a trial failed."""
        known = self.find(trial)
        if known.status == COMPLETED:
            raise InputDataError(
                f"Expected trial {known.id} to be pending; it is completed with {known.value}. A "
                "result, once in, stays."
            )
        return self if known.status == FAILED else self._put(known, status=FAILED, reason=reason)

    def find(self, trial: Trial | int) -> Trial:
        """The trial as it is now."""
        try:
            index = trial.id if isinstance(trial, Trial) else operator.index(trial)
        except TypeError:
            index = -1
        if isinstance(trial, bool):  # which counts as 0 or 1, but is no id
            index = -1
        known = self.trials[index] if 0 <= index < len(self.trials) else None
        if known is None or (isinstance(trial, Trial) and known.X != trial.X):
            ids = f"ids 0 to {len(self.trials) - 1}" if self.trials else "it has none yet"
            raise InputDataError(
                f"Expected a trial of this run ({ids}); got {trial!r}. Hand in other data with "
                "`add_data`."
            )
        return known

    def data(self) -> Rows:
        """``n x d`` inputs, ``n x m`` values and (if known) variances of the completed trials."""
        X, Y, variances = self._data  # which the next ledger begins with
        return X.clone(), Y.clone(), None if variances is None else variances.clone()

    def check(self, limits: Tensor) -> Ledger:
        """This ledger, if its trials can be those of one run within ``2 x d`` limits."""
        orders = [trial.order for trial in self.trials if trial.order is not None]
        if (
            [trial.id for trial in self.trials] != list(range(len(self.trials)))
            or len(set(orders)) != len(orders)
            or any(len(trial.X) != limits.shape[-1] for trial in self.trials)
            or len({trial.variance is None for trial in self.trials if trial.value is not None}) > 1
            or any(largest_size(trial.value or 0.0) >= _TOO_LARGE for trial in self.trials)
            or len({_count(trial.value) for trial in self.trials if trial.value is not None}) > 1
        ):
            raise InputDataError(
                "Expected the trials of one run; ids, orders, sizes or values disagree."
            )
        if self.trials:
            check_inside(as_tensor(self.trials), limits, "the trials")
        return self

    @cached_property
    def _data(self) -> Rows:
        if not self.completed:
            raise InputDataError("Expected a completed trial; there is none yet. Call `tell`.")
        return _rows(self.completed)

    def _put(self, known: Trial, **changes: Any) -> Ledger:
        return self._with(replace(known, order=self.last_order + 1, **changes), known)

    def _with(self, trial: Trial, before: Trial | None = None) -> Ledger:
        """One trial more, or in the place of one; what is known of the others stays known.

        A run of thousands of steps would otherwise look through all of its trials at each.
        """
        place = len(self.trials) if before is None else before.id
        ledger = Ledger((*self.trials[:place], trial, *self.trials[place + 1 :]))
        known, mine = ledger.__dict__, self.__dict__
        known["last_order"] = self.last_order if trial.order is None else trial.order
        for status in (PENDING, COMPLETED, FAILED):
            if status in mine:  # what is newest comes last, in each of them
                others = mine[status]
                if before is not None and before.status == status:
                    others = tuple(other for other in others if other.id != place)
                known[status] = (*others, trial) if trial.status == status else others
        if "_data" in mine:
            new = trial.status == COMPLETED
            known["_data"] = _joined(self._data, _rows((trial,))) if new else self._data
        return ledger

    def _check_same_noise(self, variance: Numbers | None) -> None:
        done = next((trial for trial in self.trials if trial.status == COMPLETED), None)
        if done is not None and (done.variance is None) != (variance is None):
            given = "no variance" if done.variance is None else "a variance"
            raise InputDataError(
                f"Expected {given}, as with the results so far: noise is given for all results or "
                "learned for all."
            )


def _no_number(value: Numbers) -> str:
    return f"the value is {value}"


def _check_variance(variance: Numbers | None) -> None:
    if variance is not None and not (0 <= least(variance) and largest_size(variance) < math.inf):
        raise InputDataError(f"Expected a finite variance >= 0; got {variance}.")


def _rows(done: Sequence[Trial]) -> Rows:
    """Points, values and (if known) variances of completed trials."""
    Y = as_rows([trial.value for trial in done if trial.value is not None])
    if done[0].variance is None:
        return as_tensor(done), Y, None
    return as_tensor(done), Y, as_rows([it.variance for it in done if it.variance is not None])


def _joined(rows: Rows, more: Rows) -> Rows:
    (X, Y, variances), (x, y, variance) = rows, more
    joined = None
    if variances is not None and variance is not None:
        joined = torch.cat([variances, variance])
    return torch.cat([X, x]), torch.cat([Y, y]), joined


def _count(value: Numbers) -> int:
    return len(value) if isinstance(value, tuple) else 1
