"""One evaluation: an objective is called, and what it returns or raises becomes an outcome."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import torch
from botorch.exceptions.errors import BotorchError, InputDataError
from botorch.exceptions.warnings import BotorchWarning

from botorch_ubo.run.arguments import InputType
from botorch_ubo.run.goals import Numbers, Outcomes
from botorch_ubo.run.trials import as_number, as_text

Objective = Callable[[Any], Any]
Outcome = tuple[Numbers, float | None]
"""The value, and the variance of its noise if the objective told one."""

BUGS = (
    TypeError,
    NameError,
    AttributeError,
    ImportError,
    LookupError,
    NotImplementedError,
    SyntaxError,
)
"""What a programming error looks like, more often than an evaluation that fails."""


class ObjectiveWarning(BotorchWarning):
    """An objective raised an exception."""


class EvaluationError(BotorchError):
    """What an objective raised, as text: the exception itself may not survive being sent."""

    def __init__(
        self, reason: str, kinds: Sequence[str] = (), trace: str = "", is_bug: bool = False
    ) -> None:
        r"""What an objective raised.

        Args:
            reason: Kind and message, for the record.
            kinds: Full names of the exception's class and its bases.
            trace: The traceback.
            is_bug: Whether it looks like a programming error.
        """
        super().__init__(reason, tuple(kinds), trace, is_bug)
        self.reason, self.kinds, self.trace, self.is_bug = reason, tuple(kinds), trace, is_bug

    def __str__(self) -> str:
        """The reason."""
        return self.reason


class EvaluationTimeoutError(EvaluationError):
    """An evaluation took too long and was ended."""


class WorkerDiedError(BotorchError):
    """The process in which an evaluation ran has died."""

    def __init__(self, reason: str, times: int = 1) -> None:
        r"""The process has died.

        Args:
            reason: What is known of it.
            times: How often it has happened with this trial since it was submitted.
        """
        super().__init__(reason, times)
        self.reason, self.times = reason, times

    def __str__(self) -> str:
        """The reason."""
        return self.reason


def evaluate(f: Objective, input_type: InputType, X: Sequence[float]) -> Outcome:
    r"""Call an objective; at module level, so that it can be sent to another process.

    Args:
        f: The objective.
        input_type: ``"floats"`` or ``"tensor"``.
        X: The point.

    Returns:
        The value and the variance of its noise, if the objective told one.

    Raises:
        EvaluationError: If the objective raised, or returned something that is not a number.
    """
    point = torch.tensor(X, dtype=torch.double) if input_type == "tensor" else list(X)
    returned = False
    try:
        outcome = f(point)
        returned = True
        return _as_outcome(outcome)
    except Exception as error:
        failure = EvaluationError(
            f"{type(error).__name__}: {as_text(error)}",
            kinds=[full_name(kind) for kind in type(error).__mro__],
            trace=_trace(error),
            is_bug=returned or isinstance(error, BUGS),
        )
    # Not from the exception itself: Dask would send it along, and it may not survive that.
    raise failure


def full_name(kind: type) -> str:
    """The name by which an exception's class is known in every process."""
    return f"{kind.__module__}.{kind.__qualname__}"


def _as_outcome(outcome: Any) -> Outcome:
    if isinstance(outcome, Outcomes):
        return outcome.values, None
    if not isinstance(outcome, tuple):
        return as_number(outcome, "the value"), None
    if len(outcome) != 2:
        raise InputDataError(
            f"Expected a number, or a pair of a number and its variance; got {len(outcome)} "
            "things in a tuple."
        )
    value, variance = as_number(outcome[0], "the value"), as_number(outcome[1], "the variance")
    if not 0 <= variance < math.inf:
        raise InputDataError(f"Expected a finite variance >= 0; got {variance}.")
    return value, variance


def _trace(error: BaseException) -> str:
    """The traceback from the objective on."""
    try:
        return "".join(traceback.format_exception(error)).rstrip()
    except Exception:  # an exception that cannot say what it is
        return "".join(traceback.format_tb(error.__traceback__)) + type(error).__name__
