"""A controller of the package in a stock loop: fit, update, suggest."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from botorch.models import SingleTaskGP
from torch import Tensor

from benchmarks.methods.contender import Clock, Make, Placed
from benchmarks.problems.problem import Problem, Start
from botorch_ubo import ExpandingBounds, Method, available_methods, fit_default_model, get_method
from botorch_ubo.methods import DEFAULT_METHOD
from botorch_ubo.strategies import FilteringBox

Fit = Callable[[Tensor, Tensor, Tensor], SingleTaskGP]  # of points, values and the start box


class ExpandingContender:
    """A controller that starts from the start box, unless told another; a model in its units."""

    def __init__(
        self,
        method: Method,
        fit: Fit,
        problem: Problem,
        start: Start,
        seed: int,
        first_box: Tensor | None = None,
    ) -> None:
        self.fit, self.start_box = fit, start.box
        self.bounds: Tensor | None = None
        if isinstance(method.strategy, FilteringBox):  # the one that plans for a budget
            method = replace(method, strategy=replace(method.strategy, budget=start.budget))
        named = problem.space is not None and first_box is None
        self.box = ExpandingBounds(
            problem.space if named else start.box if first_box is None else first_box,
            method=method,
            epsilon=problem.epsilon,
            hard_limits=None if named else problem.hard_limits,
            seed=seed,
        )
        if named:  # whose model knows of categories
            self.fit = lambda X, Y, bounds: self.box.fit(X, Y)

    def suggest(self, X: Tensor, Y: Tensor, clock: Clock) -> Tensor:
        done = ~Y.isnan().squeeze(-1)
        failed = None if done.all() else X[~done]
        with clock.phase("fit"):
            model = self.fit(X[done], Y[done], self.start_box)
        # A trigger that needs the acquisition's maximum has it computed here, and kept.
        with clock.phase("geometry"):
            self.box.update(model, X_failed=failed)
        with clock.phase("acquisition"):
            x = self.box.suggest(model, X_failed=failed)
        self.bounds = self.box.bounds
        return x


def expanding(method: str | Method = DEFAULT_METHOD, fit: Fit = fit_default_model) -> Make:
    """How to make a contender of a method and of a way to fit the model."""
    found = get_method(method)
    make = partial(ExpandingContender, found, fit)
    return make if found.initial_span == 1 else Placed(make, partial(own_start, found))


def own_start(method: Method, problem: Problem, start: Start, seed: int) -> Start:
    """As many initial points as the others have, where a method that is not content puts them."""
    named = problem.space is not None
    box = ExpandingBounds(
        problem.space if named else start.box,
        method=method,
        hard_limits=None if named else problem.hard_limits,
        seed=seed,
    )
    return replace(start, X=box.initial_points(len(start.X)))


REGISTRY: dict[str, Make] = {method.name: expanding(method) for method in available_methods()}
