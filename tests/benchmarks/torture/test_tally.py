"""What counts as survived, refused in words, lost and opaque."""

from __future__ import annotations

import time

import pytest
from botorch.exceptions.errors import InputDataError

from benchmarks.report.measured import format_torture
from benchmarks.torture import tally as module
from benchmarks.torture.tally import Tally, expect
from botorch_ubo import UnboundedOptimizer


def test_every_end_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = Tally("any")
    with tally.attempt("right"):
        expect(True, "never")
    with tally.attempt("refused"):
        UnboundedOptimizer([(1.0, 0.0)])
    with tally.attempt("refused where none is due", may_refuse=False):
        UnboundedOptimizer([(1.0, 0.0)])
    with tally.attempt("not the package's own"):
        raise InputDataError("a text that is long enough to say something")
    with tally.attempt("lost"):
        expect(False, "a trial is gone")
    with tally.attempt("interrupted"):
        raise KeyboardInterrupt
    monkeypatch.setattr(module, "PATIENCE", 1)
    with tally.attempt("hangs"):
        time.sleep(20)
    counts = tally.tried, tally.survived, tally.refused, tally.losses, tally.opaque
    assert counts == (7, 2, 1, 1, 4)
    assert "lost: lost: a trial is gone" in tally.examples
    assert "HungError" in tally.examples[-1]
    text = format_torture([{"name": "any", **tally.to_dict()}])
    assert "| any | 7 | 2 | 1 | 1 | 4 | 0 |" in text and "- any: opaque: interrupted" in text


def test_many_at_once() -> None:
    tally = Tally("bulk")
    tally.add(1000, 0, "crossed")
    tally.add(1000, 3, "crossed")
    assert (tally.tried, tally.survived, tally.losses) == (2000, 1997, 3)
    assert tally.examples == ["lost: crossed: 3 times"]
