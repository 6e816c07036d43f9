"""What an objective may return or raise: a number is kept as it is, anything else is a failure."""

import decimal
import fractions
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from benchmarks.torture.small import BOX, FASTEST, bowl
from benchmarks.torture.tally import Tally, expect
from botorch_ubo import minimize

_BUDGET = 8
_AT = 3  # the evaluation at which it happens
INTERRUPTS = (KeyboardInterrupt, SystemExit, GeneratorExit)


class _MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class _TwoArgumentsError(Exception):
    def __init__(self, one: int, two: int) -> None:
        super().__init__("cannot be made again from its text")


class _Float:
    def __float__(self) -> float:
        return 1.5


class _LyingFloat:
    def __float__(self) -> Any:
        return "1.5"


class _RaisingItem:
    def item(self) -> float:
        raise ValueError("no item")


NUMBERS: tuple[Any, ...] = (
    1, True, 1.5, -0.0, 1e149, -1e149, 5e-324, 10**20, np.float32(1.5), np.float64(2), np.int8(3),
    np.array(1.5), np.array([1.5]), np.array([[1.5]]), torch.tensor(1.5), torch.tensor([1.5]),
    torch.tensor([[2]]), torch.tensor(1.5, requires_grad=True), torch.tensor(1.5).half(),
    decimal.Decimal("1.5"), fractions.Fraction(3, 2), _Float(), np.bool_(True),
)  # fmt: skip
NO_NUMBERS: tuple[Any, ...] = (
    None, "1.5", b"1.5", "", [], [1.5, 2], {}, {"y": 1}, object(), lambda: 1.5, 1 + 2j, math.nan,
    math.inf, -math.inf, 1e151, -1e300, 10**400, np.ma.masked, np.array([]), np.array([1.0, 2.0]),
    torch.tensor([]), torch.tensor([1.0, 2.0]), torch.tensor(math.nan), np.datetime64("2020-01-01"),
    _LyingFloat(), _RaisingItem(), (1.5,), (1.5, 0.1, 0.1), (1.5, -1.0), (1.5, math.nan), (), [1.5],
    range(1), bytearray(b"1"), float, decimal.Decimal("nan"), np.array("1.5"), set(),
)  # fmt: skip
ERRORS: tuple[Callable[[], BaseException], ...] = (
    *(lambda kind=kind: kind("it broke") for kind in (
        Exception, ValueError, TypeError, KeyError, IndexError, AttributeError, NameError, OSError,
        RuntimeError, ArithmeticError, ZeroDivisionError, OverflowError, FloatingPointError,
        MemoryError, RecursionError, AssertionError, NotImplementedError, StopIteration, EOFError,
        StopAsyncIteration, ImportError, SyntaxError, TimeoutError, ConnectionError, LookupError,
        UserWarning, DeprecationWarning, BufferError, torch.linalg.LinAlgError, ReferenceError,
        np.linalg.LinAlgError, SystemError, UnboundLocalError, PermissionError)),
    lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), _MuteError,
    lambda: _TwoArgumentsError(1, 2), lambda: ValueError("\ud800"), lambda: ValueError("x" * 10**6),
    lambda: ValueError("\0"), lambda: ExceptionGroup("two", [ValueError("a"), KeyError("b")]),
)  # fmt: skip


def attack_returns(count: int, seed: int) -> Tally:
    """Odd values, numbers or not, from the fourth evaluation of eight."""
    tally = Tally("odd return values")
    for value in _some(NUMBERS, count):
        with tally.attempt(f"{type(value).__name__} {value!r:.60}", may_refuse=False):
            found = _run(lambda value=value: value)[_AT]
            number = float(value.item() if hasattr(value, "item") else value)
            expect(found.value == number, f"{found}")
    for value in _some(NO_NUMBERS, count):
        with tally.attempt(f"{type(value).__name__} {_text(value)}", may_refuse=False):
            found = _run(lambda value=value: value)[_AT]
            expect(found.status == "failed" and bool(found.reason), f"{found}")
    return tally


def attack_errors(count: int, seed: int) -> Tally:
    """Odd exceptions at the fourth evaluation: a failed trial, or the end, with what there is."""
    tally = Tally("odd exceptions, interrupts")
    for make in _some(ERRORS, count):
        with tally.attempt(f"raise {type(make()).__name__}", may_refuse=False):
            found = _run(lambda make=make: _raise(make()))[_AT]
            expect(found.status == "failed" and bool(found.reason), f"{found}")
    for kind in INTERRUPTS:
        with tally.attempt(f"raise {kind.__name__}", may_refuse=False):
            try:
                _run(lambda kind=kind: _raise(kind()))
            except kind as error:
                kept = len(error.optimizer.completed)  # type: ignore[attr-defined]
                expect(kept == _AT, f"{kept} results are kept")
                expect(error.result is not None, "there is no result")  # type: ignore[attr-defined]
            else:
                expect(False, "it was swallowed")
    return tally


def _run(odd: Callable[[], Any]) -> Any:
    """The trials of a run in which one evaluation is odd; all others must be as they should."""
    calls = 0

    def objective(x: list[float]) -> Any:
        nonlocal calls
        calls += 1
        return odd() if calls == _AT + 1 else bowl(x)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trials = minimize(objective, BOX, budget=_BUDGET, num_initial=6, **FASTEST).trials
    expect(len(trials) == calls == _BUDGET, f"{calls} calls, {len(trials)} trials")
    for trial in trials[:_AT] + trials[_AT + 1 :]:
        expect(trial.value == bowl(trial.X), f"another trial is {trial}")
    return trials


def _raise(error: BaseException) -> None:
    raise error


def _text(value: Any) -> str:
    return "of 401 digits" if isinstance(value, int) else repr(value)[:60]  # too many to print


def _some(values: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    """All, or evenly spread ones of them."""
    step = max(1, round(len(values) / max(count, 1)))
    return values[::step]
