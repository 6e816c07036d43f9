"""The points of a run as a page draws them: which ones, with which text, in which units."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

import torch
from torch import Tensor

from botorch_ubo.run.recorded import RecordedRun
from botorch_ubo.run.trials import Trial
from botorch_ubo.spaces import Float, Integer, Ordinal, Parameter
from botorch_ubo.spaces.values import Categorical

MOST_POINTS = 2000
"""Evaluations that a figure draws; a browser moves about so many with ease."""
MOST_FAILED = 500


@dataclass(frozen=True)
class ShownPoints:
    """A run and the evaluations of it that are drawn, the same in all figures."""

    run: RecordedRun

    @cached_property
    def index(self) -> list[int]:
        """Of completed evaluations: all, or evenly spread ones with all that were ever best."""
        n = len(self.run.completed)
        if n <= MOST_POINTS:
            return list(range(n))
        leaders = self.run.front + self.improvements[-MOST_POINTS // 4 :]
        even = torch.linspace(0, n - 1, MOST_POINTS - min(len(leaders), MOST_POINTS // 2))
        kept = {*even.round().long().tolist(), *leaders[: MOST_POINTS // 2]}
        return sorted(int(i) for i in kept)

    @cached_property
    def improvements(self) -> list[int]:
        """Evaluations that were the best feasible one when they came in, by the first objective."""
        if self.run.best is None:
            return []
        goal, Y = self.run.goal, self.run.Y
        values = goal.objectives(Y)[:, 0].where(goal.feasible(Y), -torch.inf)
        before = torch.cat([values.new_full((1,), -torch.inf), values.cummax(dim=0).values[:-1]])
        return [int(i) for i in (values > before).nonzero().flatten().tolist()]

    @cached_property
    def failed(self) -> tuple[Trial, ...]:
        """Failed trials that are drawn: the latest."""
        return self.run.failed[-MOST_FAILED:]

    @property
    def note(self) -> str:
        """What is left out; empty if nothing is."""
        n, failed = len(self.run.completed), len(self.run.failed)
        told = []
        if len(self.index) < n:
            told.append(f"{len(self.index):,} of {n:,} evaluations are drawn, the best among them")
        if len(self.failed) < failed:
            told.append(f"the latest {len(self.failed):,} of {failed:,} failures are drawn")
        return "; ".join(told)

    @cached_property
    def initial(self) -> list[int]:
        """Drawn evaluations from before the first step of the box."""
        return [i for i in self.index if i < self.run.num_initial]

    @cached_property
    def later(self) -> list[int]:
        """The other ones."""
        return [i for i in self.index if i >= self.run.num_initial]

    def texts(self, index: Iterable[int]) -> list[str]:
        """What is shown beside the mouse."""
        return [hover_text(self.run.completed[i]) for i in index]

    def failed_at(self, trial: Trial) -> float:
        """Where a failure lies on an axis that counts completed evaluations."""
        order = trial.order or 0
        return float(torch.searchsorted(self._orders, order)) + 0.5

    @cached_property
    def _orders(self) -> Tensor:
        return torch.tensor([trial.order or 0 for trial in self.run.completed])

    def coordinates(self, dim: int, points: Sequence[Sequence[float]] | Tensor) -> list[Any]:
        """One parameter of some points in the units of its axis."""
        parameter = list(self.run.space.parameters.values())[dim]
        return [on_axis(parameter, float(point[dim])) for point in points]


def hover_text(trial: Trial) -> str:
    """A trial in a few lines."""
    lines = [f"trial {trial.id}"]
    if trial.value is not None:
        values = trial.value if isinstance(trial.value, tuple) else (trial.value,)
        lines[0] += ": " + ", ".join(f"{value:.6g}" for value in values)
    elif trial.reason:
        reason = trial.reason if len(trial.reason) <= 100 else trial.reason[:100] + " ..."
        lines[0] += f" failed: {reason}"
    most = 12
    items = list((trial.params or {}).items())
    lines += [f"{name} = {show(value)}" for name, value in items[:most]]
    lines += [f"and {len(items) - most} more"] if len(items) > most else []
    return "<br>".join(escape(line, quote=False) for line in lines)


def show(value: Any) -> str:
    """A value for a person."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def is_log(parameter: Parameter) -> bool:
    """Whether an axis of the parameter is logarithmic."""
    return isinstance(parameter, Float | Integer) and parameter.log


def on_axis(parameter: Parameter, u: float) -> float:
    """A coordinate as its axis counts: in the user's unit, or as the index of a listed value."""
    return math.exp(min(max(u, -690.0), 690.0)) if is_log(parameter) else u


def axis_of(parameter: Parameter) -> dict[str, Any]:
    """Type and ticks of a parameter's axis."""
    if isinstance(parameter, Ordinal | Categorical):
        count = len(parameter.values)
        return {
            "tickvals": list(range(count)),
            "ticktext": [label(show(value)) for value in parameter.values],
            "range": [-0.5, count - 0.5],
        }
    if is_log(parameter):
        return {"type": "log", "exponentformat": "power", "dtick": None}
    return {}


def label(text: str) -> str:
    """A user's text where Plotly would read markup, and not too long."""
    return escape(text if len(text) <= 24 else text[:23] + "…", quote=False)


def finite(values: Iterable[float]) -> list[float | None]:
    """Numbers that JSON has; others are gaps."""
    return [value if math.isfinite(value) else None for value in values]
