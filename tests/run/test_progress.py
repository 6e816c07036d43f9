"""Which moves of a box are news."""

from __future__ import annotations

from typing import Any

from botorch_ubo.records import Box, ExpansionRecord
from botorch_ubo.run.progress import News

FIRST: Box = ((0.0, 0.0), (1.0, 1.0))


def move(old: Box, new: Box, **changes: Any) -> ExpansionRecord:
    return ExpansionRecord(
        iteration=1, num_observations=7, strategy="A", trigger="b", regret_bound=None, epsilon=0.1,
        beta=None, old_bounds=old, new_bounds=new, **changes,
    )  # fmt: skip


def test_a_little_at_a_time_is_told_when_it_has_become_much() -> None:
    news, told, box = News(FIRST), [], FIRST
    for step in range(1, 9):
        new = ((0.0, 0.0), (1.0 + 0.3 * step, 1.0))
        told.append(news.tell(move(box, new)))
        box = new
    assert [bool(line) for line in told] == [False] * 3 + [True] + [False] * 4
    assert told[3] == ("after 7 evaluations the box is [0, 2.2] x [0, 1]; wider: x0 2.2 times")


def test_a_box_that_has_left_its_place() -> None:
    line = News(FIRST).tell(move(FIRST, ((1.5, 0.2), (2.5, 1.2))))
    assert line.endswith("elsewhere in x0")


def test_narrower() -> None:
    assert "narrower: x1 4 times" in News(FIRST).tell(move(FIRST, ((0.0, 0.0), (1.0, 0.25))))


def test_limits_and_failures_are_told_once() -> None:
    news = News(FIRST)
    record = move(FIRST, FIRST, stopped_by_limit=((0, "upper"),), held=((1, "lower"),))
    line = news.tell(record)
    assert "stopped by the hard limit on x0 upper" in line
    assert "held by failures on x1 lower" in line
    assert news.tell(record) == ""
    more = move(FIRST, FIRST, stopped_by_limit=((0, "upper"), (1, "upper")))
    assert news.tell(more).endswith("stopped by the hard limit on x1 upper")


def test_what_the_user_decided() -> None:
    assert news_of(decision="refused").endswith("refused by on_expand")


def news_of(**changes: Any) -> str:
    return News(FIRST).tell(move(FIRST, FIRST, **changes))
