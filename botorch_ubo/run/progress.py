"""What is shown while a run goes on: a bar with the best value and the box, and what is news."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from tqdm.auto import tqdm

from botorch_ubo.records import Box, ExpansionRecord, Side
from botorch_ubo.records.display import format_box
from botorch_ubo.run.optimizer import UnboundedOptimizer
from botorch_ubo.spaces import Space

_NEWS = 2.0  # times as wide or as narrow as when it was last told, a box is news


class News:
    """Which moves of the box are worth a line: a box may move with every evaluation."""

    def __init__(self, box: Box, space: Space | None = None) -> None:
        r"""Tell moves from a box on.

        Args:
            box: The one that is known.
            space: Parameters whose coordinates it has, if they have names.
        """
        self.box, self.space = box, space
        self.sides: set[tuple[str, Side]] = set()

    def tell(self, record: ExpansionRecord) -> str:
        """A line, or nothing if a move is no news."""
        reasons = [] if record.decision == "accepted" else [f"{record.decision} by on_expand"]
        for label, sides in (
            ("stopped by the hard limit", record.stopped_by_limit),
            ("held by failures", record.held),
        ):
            new = [side for side in sides if (label, side) not in self.sides]
            if new:
                told = ", ".join(f"{record.names[dim]} {side}" for dim, side in new)
                reasons.append(f"{label} on {told}")
            self.sides |= {(label, side) for side in new}
        changed = self._changed(record.new_bounds, record.names)
        if not reasons and not changed:
            return ""
        self.box = record.new_bounds
        told = format_box(self.box) if self.space is None else self.space.show_box(self.box)
        text = f"after {record.num_observations} evaluations the box is {told}"
        return "; ".join([text, *changed, *reasons])

    def _changed(self, box: Box, names: Sequence[str]) -> list[str]:
        """Sides that are much wider or narrower, and whether the box has left its place."""
        widths = [
            (name, (b - a) / (q - p))
            for name, p, q, a, b in zip(names, *self.box, *box, strict=True)
        ]
        wider = [f"{name} {ratio:.2g}" for name, ratio in widths if ratio >= _NEWS]
        narrower = [f"{name} {1 / ratio:.2g}" for name, ratio in widths if ratio <= 1 / _NEWS]
        apart = [
            name
            for name, p, q, a, b in zip(names, *self.box, *box, strict=True)
            if a >= q or b <= p
        ]
        words = (
            (wider, "wider: {} times"),
            (narrower, "narrower: {} times"),
            (apart, "elsewhere in {}"),
        )
        return [text.format(_few(dims)) for dims, text in words if dims]


class Progress:
    """A progress bar of tqdm, or nothing at all."""

    def __init__(self, budget: int, show: bool, direction: str) -> None:
        r"""A progress bar.

        Args:
            budget: Its length.
            show: Whether to show anything.
            direction: What it is called.
        """
        self.bar: Any = tqdm(total=budget, disable=not show, desc=direction, unit="evaluation")
        self.shown = 0
        self.news: News | None = None

    def __enter__(self) -> Progress:
        """The bar is there."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """The bar stays as it is."""
        self.bar.close()

    def start(self, optimizer: UnboundedOptimizer, num_todo: int) -> None:
        """Begin with what earlier sessions have done."""
        lower, upper = optimizer.box.bounds.tolist()
        self.news = News((tuple(lower), tuple(upper)), optimizer.space)
        self.shown = len(optimizer.box.history)
        self.bar.update(optimizer.journal.ledger.num_asked - num_todo)

    def asked(self, optimizer: UnboundedOptimizer) -> None:
        """Tell moves of the box, above the bar."""
        if self.bar.disable or self.news is None:
            return
        for record in optimizer.box.history[self.shown :]:
            line = self.news.tell(record) if record.notable else ""
            if line:
                self.bar.write(line)
        self.shown = len(optimizer.box.history)

    def told(self, optimizer: UnboundedOptimizer) -> None:
        """Count, and show the best value and the box."""
        if self.bar.disable:
            return
        found = _best(optimizer)
        if found:
            bounds = optimizer.box.bounds.tolist()
            box = format_box(bounds, digits=3, most=3)
            if optimizer.space is not None:
                box = optimizer.space.show_box(bounds, most=3)
            self.bar.set_postfix_str(f"{found}, box={box}", refresh=False)
        self.bar.update(1)


def _best(optimizer: UnboundedOptimizer) -> str:
    """What has been found so far, in a few words; nothing before there is anything."""
    if not optimizer.completed:
        return ""
    _, Y, _ = optimizer.journal.ledger.data()
    return optimizer.goal.describe_best(Y).replace("best ", "best=")


def _few(words: list[str], most: int = 5) -> str:
    more = len(words) - most
    return ", ".join(words[:most]) + (f" and {more} more" if more > 0 else "")
