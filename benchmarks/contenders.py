"""Every method that a benchmark compares, by name.

The methods of the registry start from the problem's start box and use the default model, in units
of that box; beside them are those of :mod:`benchmarks.outside`.
"""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from benchmarks.ablation import ABLATIONS, Ablation
from benchmarks.catalog import Start
from benchmarks.contender import Clock, Contender
from benchmarks.outside import OUTSIDE
from benchmarks.problems import Problem
from botorch_ubo.methods import available_methods, get_method
from botorch_ubo.strategies import FilteringBox

AUTHORS = "authors"
"""The name under which the authors' own runs are kept; they are converted, not run."""


class RegistryContender:
    """A method of :mod:`botorch_ubo.methods`, or the default without one of its ingredients."""

    def __init__(self, name: str, problem: Problem, start: Start, seed: int) -> None:
        method = ABLATIONS[name] if name in ABLATIONS else Ablation(get_method(name).build)
        self.fit = method.fit
        self.box = method.build(
            start.box, epsilon=problem.epsilon, seed=seed, hard_limits=problem.hard_limits
        )
        if isinstance(self.box.strategy, FilteringBox):  # the one that plans for a budget
            self.box.strategy = replace(self.box.strategy, budget=start.budget)
        self.start_box = start.box
        self.bounds: Tensor | None = None

    def suggest(self, X: Tensor, Y: Tensor, clock: Clock) -> Tensor:
        with clock.phase("fit"):
            model = self.fit(X, Y, self.start_box)
        # A trigger that needs the acquisition's maximum has it computed here, and kept.
        with clock.phase("geometry"):
            self.box.update(model)
        with clock.phase("acquisition"):
            x = self.box.suggest(model)
        self.bounds = self.box.bounds
        return x


def contender_names() -> tuple[str, ...]:
    """All names: the registry's in its order, then those from outside."""
    return (*(method.name for method in available_methods()), *OUTSIDE)


def make_contender(name: str, problem: Problem, start: Start, seed: int) -> Contender:
    """A method, ready to begin on a problem."""
    if name in OUTSIDE:
        return OUTSIDE[name](problem, start, seed)
    return RegistryContender(name, problem, start, seed)
