"""Very bad outcomes are brought nearer, all others left as they are."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from botorch_ubo.models import compress_bad_outcomes
from tests.support.gps import tensor
from tests.support.outcomes import BOX, COMPRESSED, VALUES, column, spread

PLACE = 0.05 * 10  # two evaluations within this of each other are of one place


def compressed(Y: Tensor, X: Tensor | None = None, **kwargs: object) -> Tensor:
    values, variance = compress_bad_outcomes(spread(len(Y)) if X is None else X, Y, BOX, **kwargs)
    assert variance is None
    return values


class TestValues:
    def test_by_hand(self) -> None:
        torch.testing.assert_close(compressed(VALUES), COMPRESSED)

    def test_all_but_very_bad_ones_are_left_alone(self) -> None:
        found = compressed(VALUES)
        assert torch.equal(found[:4], VALUES[:4])  # to the last digit

    def test_minimising_is_the_mirror_image(self) -> None:
        assert torch.equal(compressed(-VALUES, maximize=False), -compressed(VALUES))
        # What is good one way is bad the other: nothing is further from 4 than twice the median.
        assert torch.equal(compressed(column(0, 1, 4, 8), maximize=True), column(0, 1, 4, 8))

    def test_shift_and_scale_of_the_outcomes(self) -> None:
        torch.testing.assert_close(compressed(50 + 3 * VALUES), 50 + 3 * compressed(VALUES))

    @pytest.mark.parametrize("maximize", [True, False])
    def test_order_is_kept(self, maximize: bool) -> None:
        generator = torch.Generator().manual_seed(0)
        Y = torch.randn(50, 1, generator=generator, dtype=torch.double).sinh()
        Y[:2] = column(-500.0, 500.0) if maximize else column(500.0, -500.0)
        Y[2] = 2000.0 if not maximize else -2000.0
        found = compressed(Y, maximize=maximize)
        assert not torch.equal(found, Y)
        assert torch.equal(found.argsort(dim=0), Y.argsort(dim=0))
        best = Y.argmax() if maximize else Y.argmin()
        assert torch.equal(found[best], Y[best])

    def test_value_and_slope_are_continuous(self) -> None:
        step = 1e-5
        for edge, slope in ((-8.0, 1.0), (-8.0 - 4 * (math.e - 1), math.exp(-1))):
            at = [
                float(compressed(column(0.0, -1.0, -4.0, -8.0, edge + shift))[-1])
                for shift in (-step, 0.0, step)
            ]
            assert (at[1] - at[0]) / step == pytest.approx(slope, abs=1e-4)
            assert (at[2] - at[1]) / step == pytest.approx(slope, abs=1e-4)

    def test_growth_is_logarithmic(self) -> None:
        far = [float(compressed(column(0, -1, -4, -8, -(10.0**k)))[-1]) for k in (3, 4)]
        assert far[0] - far[1] == pytest.approx(4 * math.log(10), rel=1e-2)

    def test_growth_comes_to_a_limit(self) -> None:
        """What is beyond 10,000 scales is absurd, and 1e149 not more so than 1e12."""
        far = [float(compressed(column(0, -1, -4, -8, -(10.0**k)))[-1]) for k in (5, 6, 25, 149)]
        assert far == sorted(far, reverse=True) and len(set(far)) == 4  # the order is kept
        limit = -4 - 4 * (1 + math.log1p(1e4) + 0.1)
        assert limit < far[-1] < limit + 1e-3
        assert far[0] - far[-1] < 0.4  # a tenth of a scale

    def test_slope_is_continuous_where_the_absurd_begins(self) -> None:
        edge, step = -8 - 4e4, 1.0
        at = [
            float(compressed(column(0.0, -1.0, -4.0, -8.0, edge + shift))[-1])
            for shift in (-step, 0.0, step)
        ]
        assert at[1] - at[0] == pytest.approx(1e-4, rel=1e-2)
        assert at[2] - at[1] == pytest.approx(1e-4, rel=1e-2)

    @pytest.mark.parametrize("unit", [1e-200, 1e-150, 1e140])
    def test_any_unit_of_the_outcomes(self, unit: float) -> None:
        torch.testing.assert_close(compressed(unit * VALUES) / unit, compressed(VALUES))

    def test_an_outlier_beyond_floating_point_in_units_of_the_others(self) -> None:
        Y = torch.cat([1e-200 * VALUES, column(-1e149)])
        values, variance = compress_bad_outcomes(spread(6), Y, BOX, torch.ones_like(Y))
        assert variance is not None and variance.isfinite().all()
        assert 10 < float(values.min()) / -8e-200 < 15 and values.isfinite().all()

    def test_variances_go_with_the_square_of_the_slope(self) -> None:
        Yvar = column(1.0, 2.0, 3.0, 4.0, 5.0)
        values, variance = compress_bad_outcomes(spread(5), VALUES, BOX, Yvar)
        torch.testing.assert_close(values, compressed(VALUES))
        assert variance is not None
        torch.testing.assert_close(variance, column(1.0, 2.0, 3.0, 4.0, 5.0 * math.exp(-2)))

    def test_numpy_may_be_told_to_raise(self) -> None:
        Y = column(0.0, -1.0, -2.0, -3.0, -1e150)
        with np.errstate(all="raise"):
            _, variance = compress_bad_outcomes(spread(5), Y, BOX, torch.ones_like(Y))
        assert variance is not None and variance.isfinite().all()

    def test_an_even_number_takes_the_worse_of_the_middle_ones(self) -> None:
        # The median is -4, as it would be with one more value below.
        torch.testing.assert_close(
            compressed(column(0.0, -1.0, -4.0, -8.0 - 4 * (math.e - 1))),
            column(0.0, -1.0, -4.0, -12.0),
        )

    @pytest.mark.parametrize("maximize", [True, False])
    def test_nothing_to_compare_with(self, maximize: bool) -> None:
        for Y in (column(3.0), column(2.0, 2.0, 2.0), column(1.0, 5.0)):
            assert torch.equal(compressed(Y, maximize=maximize), Y)

    def test_most_values_equal_to_the_best(self) -> None:
        """A plateau gives no scale; nothing is divided by zero."""
        Y = column(0.0, 0.0, 0.0, -1.0, -1e9)
        Yvar = torch.ones_like(Y)
        values, variance = compress_bad_outcomes(spread(5), Y, BOX, Yvar)
        assert torch.equal(values, Y) and variance is not None and torch.equal(variance, Yvar)

    def test_inputs_are_not_changed(self) -> None:
        X, Y, Yvar = spread(5), VALUES.clone(), torch.ones_like(VALUES)
        compress_bad_outcomes(X, Y, BOX, Yvar)
        assert torch.equal(Y, VALUES) and torch.equal(X, spread(5)) and (Yvar == 1).all()

    def test_dtype_is_kept(self) -> None:
        values, variance = compress_bad_outcomes(
            spread(5).float(), VALUES.float(), BOX, torch.ones_like(VALUES).float()
        )
        assert values.dtype == torch.float
        assert variance is not None and variance.dtype == torch.float
        torch.testing.assert_close(values, compressed(VALUES).float())


class TestPlaces:
    """The median counts places, not evaluations."""

    def test_a_search_that_converged(self) -> None:
        """Thirty evaluations at the optimum do not make all else very bad."""
        X = torch.cat([spread(5), 1e-3 * torch.arange(30.0).double().unsqueeze(-1)])
        Y = torch.cat([VALUES, -1e-3 * torch.arange(1, 31.0).double().unsqueeze(-1)])
        found = compressed(Y, X)
        torch.testing.assert_close(found[:5], compressed(VALUES))
        assert torch.equal(found[5:], Y[5:])

    def test_of_one_place_the_best_counts(self) -> None:
        # Places 0, 1, 2 with values 0, -4, -20; the others are close to a better one.
        X = column(0.0, 1.0, 2.0, 1.0 + 0.9 * PLACE, 2.0 - 0.9 * PLACE)
        Y = column(0.0, -4.0, -20.0, -5.0, -100.0)
        found = compressed(Y, X)
        assert torch.equal(found[[0, 1, 3]], Y[[0, 1, 3]])
        excess = (torch.tensor([20.0, 100.0]).double() - 8) / 4
        torch.testing.assert_close(found[[2, 4], 0], -4 - 4 * (1 + excess.log1p()))

    @pytest.mark.parametrize(("distance", "one_place"), [(0.99, True), (1.01, False)])
    def test_how_far_one_place_reaches(self, distance: float, one_place: bool) -> None:
        # If the second is a place of its own, the median is -1 and -4 is very bad.
        X = column(0.0, distance * PLACE, 5.0)
        found = compressed(column(0.0, -1.0, -4.0), X)
        assert (float(found[-1]) == -4.0) == one_place

    def test_distance_is_in_sides_of_the_first_box(self) -> None:
        box = tensor([[0.0, 0.0], [10.0, 1000.0]])
        X = tensor([[0.0, 0.0], [0.0, 30.0], [5.0, 500.0]])  # the second at 0.03 of a side
        Y = column(0.0, -1.0, -4.0)
        assert torch.equal(compress_bad_outcomes(X, Y, box)[0], Y)
        assert not torch.equal(compress_bad_outcomes(X * tensor([1.0, 2.0]), Y, box)[0], Y)

    def test_any_dimension_makes_a_difference(self) -> None:
        X = torch.zeros(3, 4).double()
        X[1, 2], X[2, 0] = 1.0, 5.0
        box = torch.stack([torch.zeros(4), torch.full((4,), 10.0)]).double()
        assert float(compress_bad_outcomes(X, column(0.0, -1.0, -4.0), box)[0][-1]) > -4.0

    def test_everything_in_one_place(self) -> None:
        Y = column(0.0, -1.0, -1e6)
        assert torch.equal(compressed(Y, torch.zeros(3, 1).double()), Y)
