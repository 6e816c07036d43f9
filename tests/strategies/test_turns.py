"""The default: a trust region and a box that grows take turns."""

import math

import pytest
import torch

from botorch_ubo import ExpandingBounds, SearchSettings, UnboundedOptimizer
from botorch_ubo.boxes import contains
from botorch_ubo.methods import DEFAULT_METHOD, get_method
from botorch_ubo.strategies import TurnsBox
from botorch_ubo.strategies.hyperharmonic import hyperharmonic_factor
from botorch_ubo.strategies.turns import home_among_equals
from botorch_ubo.testing import StrategyConformance
from tests.support.by_hand import feed, random_data, rbf_model, unit_box
from tests.support.controlled import build

CHEAP = SearchSettings(num_restarts=2, raw_samples=32)


class TestConformance(StrategyConformance):
    method = DEFAULT_METHOD


def path(n, step=1.0, d=2):
    """Points on the diagonal, each better than those before by more than is notable."""
    X = step * torch.arange(n, dtype=torch.double).unsqueeze(-1).expand(n, d)
    return X, torch.arange(n, dtype=torch.double)


def reach(box):
    return box.history[-1].details["reach"]


def parts(box):
    """The trust region and the wide box of the last step."""
    return box.context(rbf_model(*random_data(3))).state.boxes


def test_it_is_the_default():
    assert get_method(DEFAULT_METHOD).strategy == TurnsBox()


def test_grows_like_hubo_around_a_centre_amid_the_data():
    X, Y = random_data(10)
    Y[4:] = 0.5  # of no use
    X[4], Y[4] = torch.tensor([0.5, 0.5]), 2.0  # the best, and more than is notable
    box = ExpandingBounds(unit_box())
    feed(box, X, Y, start=4)
    for t, record in enumerate(box.history[1:], start=2):
        assert record.details["reach"] == pytest.approx([hyperharmonic_factor(t, -1.0) / 2] * 2)
        assert record.details["center"] == pytest.approx([0.5, 0.5])


def test_goes_on_as_far_again_as_it_has_come():
    X, Y = path(7, step=0.5)
    box = build(DEFAULT_METHOD, unit_box(), blind_limit=math.inf)  # the model was not fitted
    feed(box, X, Y, start=3)
    assert reach(box) == pytest.approx([3.0, 3.0])
    assert parts(box)[1].tolist() == [pytest.approx([0.0, 0.0]), pytest.approx([6.0, 6.0])]
    assert "as far again as the data reach in x0, x1" in str(box.history[-1])


def test_widens_while_nothing_is_found_to_eight_sides_and_no_further():
    X, Y = random_data(20)
    Y[:] = 0.5
    Y[0] = 1.0
    box = ExpandingBounds(unit_box())
    feed(box, X, Y, start=4)
    factors = [record.details["hyperharmonic_half_widths"][0] for record in box.history]
    series = [hyperharmonic_factor(t, -1.0) / 2 for t in range(1, len(factors) + 1)]
    expected = [min(h * 2 ** (i / 2), 4.0) for i, h in enumerate(series)]
    assert factors == pytest.approx(expected)
    assert factors[-1] == 4.0


def test_the_region_is_on_the_incumbent_and_in_the_box():
    X, Y = path(6)
    box = build(DEFAULT_METHOD, unit_box(), blind_limit=math.inf)
    feed(box, X, Y, start=3)
    region, wide = parts(box)
    assert region.mean(dim=0).tolist() == pytest.approx([5.0, 5.0])
    assert contains(box.bounds, region).all() and contains(box.bounds, wide).all()
    # three successes: doubled once after two of them
    assert (region[1] - region[0]).tolist() == pytest.approx([1.6, 1.6])


def test_data_far_from_a_centre_that_has_not_moved_do_not_widen_the_box():
    X, Y = random_data(12)
    X[0], Y[0] = torch.tensor([0.5, 0.5]), 5.0
    X[8:, 0] = 40.0 + torch.arange(4)  # far, and of no use
    box = ExpandingBounds(unit_box())
    feed(box, X, Y, start=4)
    assert max(reach(box)) <= 4.0  # eight sides


def test_the_region_does_not_leave_the_box():
    X, Y = path(6)
    box = build(DEFAULT_METHOD, unit_box(), blind_limit=math.inf)
    for n in range(3, 7):
        model = rbf_model(X[:n], Y[:n])
        model.covar_module.lengthscale = torch.tensor([[1e3, 1e-3]])
        box.update(model)
    region, wide = parts(box)
    assert contains(wide, region).all()


class TestPlateau:
    """Equal values in many places, and one that is worse."""

    def box(self, X, Y, start=4, **arguments):
        box = ExpandingBounds(unit_box(), **arguments)
        feed(box, X, Y, start=start)
        return box

    def plateau(self, n=12):
        X, Y = random_data(n)
        X = 4 * X - 1.5
        Y[:] = 1.0
        Y[2] = 0.0
        return X, Y

    def test_both_candidates_are_of_the_emptiest_place(self):
        X, Y = self.plateau()
        X[4:, 0] = X[4:, 0].clamp_max(0.0)  # so that the right is empty
        box = self.box(X, Y)
        first, second = parts(box)
        assert torch.equal(first, second)
        assert (first[1] - first[0]).tolist() == pytest.approx([1.0, 1.0])
        assert not contains(first, X).all(dim=-1).any() and first[0, 0] > 1.0
        assert "the data are a plateau" in str(box.history[-1])

    def test_it_is_within_the_limits(self):
        limits = torch.tensor([[-1.0, -math.inf], [1.0, math.inf]], dtype=torch.double)
        X, Y = self.plateau()
        X[:, 0] = X[:, 0].clamp(-1, 1)
        box = self.box(X, Y, hard_limits=limits)
        assert contains(box.bounds, parts(box)).all()
        assert parts(box)[0, 0, 0] >= -1 and parts(box)[0, 1, 0] <= 1

    def test_something_notable_ends_it(self):
        X, Y = self.plateau()
        Y[-1] = 2.0
        assert "plateau" not in str(self.box(X, Y).history[-1])

    def test_one_place_is_none(self):
        X, Y = self.plateau()
        X[4:] = 0.5 + 0.01 * X[4:]  # a search that has converged
        Y[:4] = torch.tensor([0.1, -0.5, 0.0, 0.3])
        assert "plateau" not in str(self.box(X, Y).history[-1])

    def test_values_over_decades_are_none(self):
        X, _ = self.plateau(20)
        Y = -torch.expm1((X - 3).square().sum(dim=-1).sqrt())
        box = ExpandingBounds(unit_box())
        for n in range(8, 21):
            box.update(box.fit(X[:n], Y[:n].unsqueeze(-1)))
            assert "plateau" not in str(box.history[-1])

    def test_rounding_is_no_structure(self):
        """A plateau to the digits that a solver gives, with worse values beside it."""
        X, Y = self.plateau(20)
        noise = 1e-9 * torch.randn(20, generator=torch.Generator().manual_seed(0)).double()
        box = ExpandingBounds(unit_box())
        for n in range(8, 21):
            box.update(box.fit(X[:n], (Y + noise)[:n].unsqueeze(-1)))
        assert "plateau" in str(box.history[-1])


class TestHome:
    def context(self, X, Y, **arguments):
        return ExpandingBounds(unit_box(), **arguments).context(rbf_model(X, Y))

    def test_of_equals_the_nearest_to_the_first_box(self):
        X = torch.tensor([[0.5, 0.9], [6.0, 0.5], [-4.0, 0.5], [9.0, 9.0]], dtype=torch.double)
        Y = torch.tensor([0.0, 1.0, 1.0, 1.0], dtype=torch.double)
        assert home_among_equals(self.context(X, Y)).tolist() == [-4.0, 0.5]

    def test_a_better_one_leads_however_far(self):
        X = torch.tensor([[0.5, 0.9], [6.0, 0.5], [-4.0, 0.5], [9.0, 9.0]], dtype=torch.double)
        Y = torch.tensor([0.0, 1.0, 1.0, 2.0], dtype=torch.double)
        assert home_among_equals(self.context(X, Y)).tolist() == [9.0, 9.0]

    def test_epsilon_says_what_is_equal(self):
        X = torch.tensor([[0.5, 0.5], [9.0, 9.0], [20.0, 0.0]], dtype=torch.double)
        Y = torch.tensor([1.0, 1.2, 0.0], dtype=torch.double)
        near = self.context(X, Y, epsilon=(0.3, "raw"))
        far = self.context(X, Y, epsilon=(0.1, "raw"))
        assert home_among_equals(near).tolist() == [0.5, 0.5]
        assert home_among_equals(far).tolist() == [9.0, 9.0]


class TestTurns:
    def boxes_of_candidates(self, pending, q=1):
        """Which of region and box each candidate lies in; the region is small and far from it."""
        X, Y = path(6)
        box = ExpandingBounds(unit_box(), search=CHEAP)
        model = rbf_model(X, Y)
        X_pending = None if not pending else 20 + torch.rand(pending, 2, dtype=torch.double)
        candidates = box.suggest(model, q=q, X_pending=X_pending)
        region, wide = box.context(model).state.boxes
        assert contains(wide, candidates).all()
        return [bool(contains(region, x.unsqueeze(0)).all()) for x in candidates]

    def test_the_first_candidate_is_of_the_region(self):
        assert self.boxes_of_candidates(0) == [True]

    def test_a_pending_point_has_had_its_turn(self):
        assert self.boxes_of_candidates(2) == [True]

    def test_a_batch_takes_turns_too(self):
        found = self.boxes_of_candidates(0, q=4)
        assert found[0] and found[2]

    def test_in_batches_of_an_even_number_the_wide_box_is_searched(self):
        """The parity of the data alone would leave all candidates to the region."""
        optimizer = UnboundedOptimizer([(0.0, 1.0)] * 2, search=CHEAP, num_initial=4)
        outside = 0
        for _ in range(3):
            trials = optimizer.ask(4)
            for trial in trials:
                optimizer.tell(trial, sum((x - 0.5) ** 2 for x in trial.X))
            state = optimizer.box.context(optimizer.fit()).state
            if state.boxes is not None:
                points = torch.tensor([trial.X for trial in trials], dtype=torch.double)
                outside += int((~contains(state.boxes[0], points)).any(dim=-1).sum())
        assert outside >= 2


@pytest.mark.parametrize("kind", ["flat", "noise", "linear"])
def test_flat_stays_and_a_slope_leads_on(kind):
    optimizer = UnboundedOptimizer([(-1.0, 1.0)] * 2, search=CHEAP, direction="maximize")
    generator = torch.Generator().manual_seed(0)
    values = {
        "flat": lambda x: 1.0,
        "noise": lambda x: float(torch.randn(1, generator=generator)),
        "linear": sum,
    }
    for _ in range(25 if kind == "linear" else 50):
        trial = optimizer.ask()
        optimizer.tell(trial, values[kind](trial.X))
    sides = (optimizer.box.bounds[1] - optimizer.box.bounds[0]) / 2
    assert (sides > 30).all() if kind == "linear" else (sides <= 8).all()
    assert ("flat" in optimizer.result().advice) == (kind != "linear")
