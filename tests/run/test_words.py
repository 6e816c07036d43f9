"""A run in words: found, advice, moves with their reasons, in names and the user's units."""

from __future__ import annotations

from dataclasses import replace

from botorch_ubo import ExpansionRecord
from botorch_ubo.run.recorded import as_run
from botorch_ubo.run.words import (
    advice_of,
    describe_found,
    describe_moves,
    how_moved,
    what_stopped,
    why_moved,
)
from tests.support.recorded_runs import RUNS, named_run, plain_result

LOW, HIGH = (-9.210340371976182, 1.0, 0.0, 0.0, -1.0), (-4.605170185988091, 3.0, 2.0, 2.0, 1.0)
MOVE = ExpansionRecord(
    iteration=3,
    num_observations=12,
    strategy="TurnsBox",
    trigger="every step",
    regret_bound=None,
    epsilon=0.1,
    beta=None,
    old_bounds=(LOW, HIGH),
    new_bounds=((-11.512925464970229, *LOW[1:]), (*HIGH[:4], 3.0)),
    stopped_by_limit=((1, "lower"), (2, "upper")),
    held=((4, "lower"),),
    details={"why": "as far again as the data reach in x0, x4"},
)


def test_moves_are_told_in_names_and_units() -> None:
    run = named_run()
    assert why_moved(run, MOVE) == "Every step; as far again as the data reach in lr, x & y"
    assert how_moved(run, MOVE) == [
        "lr 1e-05 to 0.01, 1.5 times as wide as before",
        "x & y -1 to 3, 2 times as wide as before",
    ]
    # a list has no side that could be stopped
    assert what_stopped(run, MOVE) == [
        "a hard limit: layers (lower)", "failures beyond: x & y (lower)",
    ]  # fmt: skip
    refused = replace(MOVE, decision="refused", stopped_by_limit=(), held=())
    assert what_stopped(run, refused) == ["refused by on_expand"]
    bound = replace(MOVE, trigger="regret bound at or below epsilon", regret_bound=0.05)
    assert "better by more than 0.05 (epsilon 0.1)" in why_moved(run, bound)


def test_what_was_found_and_advised() -> None:
    told = {kind: (describe_found(make()), advice_of(make())) for kind, make in RUNS.items()}
    assert told["plain"][0].startswith("best ") and "x0 = " in told["plain"][0]
    assert told["empty"] == ("nothing yet", "nothing has been evaluated yet")
    assert told["infeasible"][0] == "nothing feasible yet"
    assert "no evaluation has met all constraints" in told["infeasible"][1]
    assert "every evaluation has failed" in told["failures only"][1]
    assert "the objective is flat" in told["flat"][1]
    assert "a front of" in told["front"][0] and "points of the front lie in it" in told["front"][1]
    assert "your box was too small" in told["plain"][1]
    assert advice_of(as_run(plain_result())) == plain_result().advice.replace(
        "dimension(s) [0, 1]", "x0, x1"
    )


def test_moves_are_counted() -> None:
    moved = sum(record.moved for record in plain_result().box.history)
    assert describe_moves(as_run(plain_result())).startswith(f"the box has moved {moved} times")
    assert describe_moves(RUNS["empty"]()) == "the box has not moved"
