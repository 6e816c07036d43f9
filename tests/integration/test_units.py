"""The answer does not depend on units: outcomes times a plus b, inputs per dimension, sign, order.

On fixed data, for every method, over three steps.
"""

from __future__ import annotations

from functools import cache

import pytest
import torch
from torch import Tensor

from botorch_ubo import ExpandingBounds, available_methods
from botorch_ubo.acquisition.search import SearchSettings
from tests.support.gps import tensor

METHODS = [method.name for method in available_methods()]
CHEAP = SearchSettings(num_restarts=2, raw_samples=64)
BOX = tensor([[-1.0, 0.0], [1.0, 3.0]])


def objective(X: Tensor) -> Tensor:
    """To be maximised; ``n x 1``."""
    return torch.sin(2 * X).sum(-1, keepdim=True) - 0.2 * (X - 1.5).square().sum(-1, keepdim=True)


@cache
def inputs() -> Tensor:
    """Twelve points in a box of unequal sides."""
    generator = torch.Generator().manual_seed(3)
    return BOX[0] + (BOX[1] - BOX[0]) * torch.rand(12, 2, generator=generator, dtype=torch.double)


class Answer:
    """Three steps of a method in some units, told without them."""

    def __init__(
        self,
        method: str,
        scale: float = 1.0,
        offset: float = 0.0,
        units: tuple[float, float] = (1.0, 1.0),
        sign: float = 1.0,
        swap: bool = False,
        search: SearchSettings = CHEAP,
    ) -> None:
        unit = tensor(units)
        order = [1, 0] if swap else [0, 1]
        X = inputs()
        self.bounds = ExpandingBounds(
            (BOX * unit)[:, order], method=method, maximize=sign > 0, search=search
        )
        self.points, self.boxes = [], []
        for _ in range(1 if swap else 3):
            Y = scale * (sign * objective(X) + offset)
            self.model = self.bounds.fit((X * unit)[:, order], Y)
            x = self.bounds.suggest(self.model)[:, order] / unit
            X = torch.cat([X, x])
            self.points.append(x)
            self.boxes.append(self.bounds.bounds[:, order] / unit)
        self.epsilons = [step.epsilon / scale for step in self.bounds.trace]
        found = self.bounds.certify(self.model)
        self.certified = None if found is None else found.regret_bound / scale
        context = self.bounds.context(self.model)
        bound = context.view.to_raw_difference(context.confidence.regret_bound)
        self.regret_bound = bound / scale

        self.order, self.unit = order, unit

    def reached(self) -> float:
        """The acquisition value of the first proposal, in the model's units or their logarithm."""
        X = inputs()
        bounds = ExpandingBounds(
            (BOX * self.unit)[:, self.order], method=self.bounds.method, search=CHEAP
        )
        model = bounds.fit((X * self.unit)[:, self.order], objective(X))
        bounds.update(model)
        acqf = bounds.method.acquisition(bounds.context(model))
        with torch.no_grad():
            return float(acqf((self.points[0] * self.unit)[:, self.order].unsqueeze(-2)))

    def assert_close(self, other: Answer, sides: float) -> None:
        side = BOX[1] - BOX[0]
        for one, another in zip(self.boxes, other.boxes, strict=True):
            torch.testing.assert_close(one / side, another / side, rtol=sides, atol=sides)
        for one, another in zip(self.points, other.points, strict=True):
            torch.testing.assert_close(one / side, another / side, rtol=0, atol=sides)
        assert self.epsilons == pytest.approx(other.epsilons, rel=sides)
        assert self.regret_bound == pytest.approx(other.regret_bound, rel=1e-3)
        assert (self.certified is None) == (other.certified is None)


@cache
def plain(method: str) -> Answer:
    return Answer(method)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
class TestEveryMethod:
    @pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e140])
    def test_unit_of_the_outcomes(self, method: str, scale: float) -> None:
        Answer(method, scale).assert_close(plain(method), sides=1e-6)

    @pytest.mark.parametrize(("scale", "offset"), [(1e-9, 1e6), (1e100, -1e6)])
    def test_offset_of_the_outcomes(self, method: str, scale: float, offset: float) -> None:
        Answer(method, scale, offset).assert_close(plain(method), sides=1e-3)

    def test_an_offset_that_takes_most_digits(self, method: str) -> None:
        answer = Answer(method, 1.0, 1e9)
        assert all(found.isfinite().all() for found in (*answer.points, *answer.boxes))
        assert answer.epsilons[0] == pytest.approx(plain(method).epsilons[0], rel=1e-3)

    @pytest.mark.parametrize("units", [(1e-150, 1e150), (1e-6, 1e3)])
    def test_units_of_the_inputs(self, method: str, units: tuple[float, float]) -> None:
        Answer(method, units=units).assert_close(plain(method), sides=1e-6)

    def test_sign(self, method: str) -> None:
        Answer(method, sign=-1.0).assert_close(plain(method), sides=1e-6)

    def test_order_of_the_dimensions(self, method: str) -> None:
        """The box is the same, and the proposal as good: samples differ with the dimension.

        HD-HuBO draws its cubes by dimension, so only its whole box is compared; FBO looks at its
        box by samples.
        """
        plainly = Answer(method, search=SearchSettings())
        swapped = Answer(method, swap=True, search=SearchSettings())
        sides = 0.05 if "FBO" in method else 1e-6
        side = BOX[1] - BOX[0]
        torch.testing.assert_close(
            plainly.boxes[0] / side, swapped.boxes[0] / side, rtol=sides, atol=sides
        )
        if not method.startswith("HD-"):
            assert swapped.reached() == pytest.approx(plainly.reached(), abs=1e-3)
