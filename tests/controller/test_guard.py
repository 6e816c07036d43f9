"""Without structure in the outcomes no box is wider than its limit, and the record says why."""

from __future__ import annotations

import math

import pytest
import torch
from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo import ExpandingBounds, UnboundedOptimizer, available_methods, fit_default_model
from botorch_ubo.acquisition.search import SearchSettings
from botorch_ubo.policies.evidence import evidence_of_structure, why_blind
from botorch_ubo.policies.view import ModelView
from tests.support.by_hand import unit_box
from tests.support.controlled import build
from tests.support.gps import tensor

METHODS = [method.name for method in available_methods()]
CHEAP = SearchSettings(num_restarts=2, raw_samples=32)
BOX = [(-1.0, 1.0), (0.0, 1.0)]
SIDES = tensor([2.0, 1.0])


def points(n: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(n, 2, generator=generator, dtype=torch.double)


def view(X: Tensor, Y: Tensor) -> ModelView:
    return ModelView(fit_default_model(X, Y, unit_box(2)), unit_box(2))


class TestEvidence:
    @pytest.mark.parametrize("value", [0.0, 3.0, -1e140, 1e-200])
    def test_equal_outcomes(self, value: float) -> None:
        X = points(8)
        assert why_blind(view(X, torch.full((8, 1), value, dtype=torch.double))) is not None
        assert "equal" in str(why_blind(view(X, torch.full((8, 1), value, dtype=torch.double))))

    @pytest.mark.parametrize(("n", "d"), [(6, 2), (12, 2), (40, 2), (25, 5)])
    def test_noise(self, n: int, d: int) -> None:
        blind = 0
        for seed in range(10):
            generator = torch.Generator().manual_seed(seed)
            X = torch.rand(n, d, generator=generator, dtype=torch.double)
            Y = torch.randn(n, 1, generator=generator, dtype=torch.double)
            model = fit_default_model(X, Y, unit_box(d))
            blind += why_blind(ModelView(model, unit_box(d))) is not None
        assert blind >= 9

    @pytest.mark.parametrize("unit", [1e-200, 1.0, 1e140])
    def test_a_slope(self, unit: float) -> None:
        X = points(10)
        assert why_blind(view(X, unit * X.sum(dim=-1, keepdim=True))) is None

    def test_by_hand(self) -> None:
        """Normal densities of the model and of the noise."""
        X, Y = points(6), points(6, seed=1)[:, :1]
        seen = view(X, Y)
        covariance = seen.model.likelihood(seen.model.forward(seen.model.train_inputs[0]))
        y = seen.model.train_targets
        expected = float(covariance.log_prob(y).detach())
        noise = torch.distributions.Normal(y.mean(), y.std(correction=0))
        expected -= float(noise.log_prob(y).sum())
        assert evidence_of_structure(seen) == pytest.approx(expected, abs=1e-6)


def flat_model(n: int = 8) -> tuple[Tensor, Tensor]:
    return points(n), torch.full((n, 1), 2.0, dtype=torch.double)


class TestGuard:
    def test_the_record_says_why(self) -> None:
        box = ExpandingBounds(unit_box(2), method="EI-UBO", search=CHEAP)
        record = box.update(box.fit(*flat_model()))
        assert record is not None
        torch.testing.assert_close(box.bounds, tensor([[-9.5, -9.5], [10.5, 10.5]]))
        assert "held at 20 sides of the first box, for all outcomes are equal" in str(record)

    @pytest.mark.parametrize("limit", [3.0, 15.0])
    def test_the_users_limit(self, limit: float) -> None:
        box = build("EI-UBO", unit_box(2), blind_limit=limit)
        box.update(box.fit(*flat_model()))
        torch.testing.assert_close(box.bounds[1] - box.bounds[0], tensor([limit, limit]))

    def test_lifted(self) -> None:
        box = build("EI-UBO", unit_box(2), blind_limit=math.inf)
        record = box.update(box.fit(*flat_model()))
        assert record is not None and "guard" not in record.details
        assert (box.bounds[1] - box.bounds[0] > 20).all()

    def test_a_box_that_has_grown_is_not_cut(self) -> None:
        box = build("EI-UBO", unit_box(2), blind_limit=2.0)
        state = {**box.state_dict(), "bounds": [[-5.0, -5.0], [5.0, 5.0]]}
        box.load_state_dict(state)
        box.update(box.fit(*flat_model()))
        torch.testing.assert_close(box.bounds, tensor([[-5.0, -5.0], [5.0, 5.0]]))

    @pytest.mark.parametrize("limit", [0.5, -1.0, math.nan])
    def test_a_bad_limit(self, limit: float) -> None:
        with pytest.raises(InputDataError, match="blind_limit"):
            build("EI-UBO", unit_box(2), blind_limit=limit)

    def test_no_box_is_out_of_sight_of_the_data(self) -> None:
        """What was evaluated there would be left out of the next model."""
        X = points(12)
        box = build("EI-UBO", unit_box(2), max_growth=math.inf, blind_limit=math.inf)
        model = box.fit(X, X.sum(dim=-1, keepdim=True))
        model.covar_module.base_kernel.lengthscale = 1e8
        model.train(), model.eval()
        record = box.update(model)
        assert record is not None and record.details["guard"] == "held within sight of the data"
        assert (box.bounds.abs() <= 1.1e5).all() and (box.bounds.abs() > 1e4).all()


def test_equal_outcomes_certify_nothing() -> None:
    box = ExpandingBounds(unit_box(2), method="EI-Vanilla")
    X, Y = flat_model(30)
    box.update(box.fit(X[:5], Y[:5]))
    assert box.certify(box.fit(X, Y)) is None


def widest(method: str, noisy: bool, seed: int) -> float:
    """Sides of the last box after 50 evaluations."""
    generator = torch.Generator().manual_seed(seed)
    optimizer = UnboundedOptimizer(BOX, method=method, search=CHEAP, seed=seed)
    for _ in range(50):
        noise = float(torch.randn(1, generator=generator))
        optimizer.tell(optimizer.ask(), noise if noisy else 3.0)
    optimizer.ask()
    box = optimizer.box.bounds
    return float(((box[1] - box[0]) / SIDES).max())


@pytest.mark.slow
@pytest.mark.parametrize("noisy", [False, True], ids=["flat", "noise"])
@pytest.mark.parametrize("method", METHODS)
def test_no_method_runs_away(method: str, noisy: bool) -> None:
    assert widest(method, noisy, seed=0) <= (8.001 if method == "EI-Roaming" else 20.001)


@pytest.mark.slow
def test_a_linear_objective_keeps_doubling() -> None:
    optimizer = UnboundedOptimizer(BOX, search=CHEAP)
    for _ in range(30):
        trial = optimizer.ask()
        optimizer.tell(trial, trial.X[0] + trial.X[1])
    box = optimizer.box.bounds
    assert float(((box[1] - box[0]) / SIDES).max()) > 1000


PLATEAUS = {
    "a cliff": lambda x: 0.0 if x[0] < 5 else 5 - x[0],
    "a dent": lambda x: 1.0 if abs(x[0]) + abs(x[1]) > 0.4 else 0.999,
    "an offset": lambda x: 1 + 1e-9 * x[0] ** 2,
    "a small part": lambda x: 1e6 + 1e-3 * (x[0] - 3) ** 2,
}


@pytest.mark.slow
@pytest.mark.parametrize("plateau", PLATEAUS)
@pytest.mark.parametrize("method", ["EI-UBO", "GPUCB-UBO", "GPUCB-UBO (as published)", "EI-VarCap"])
def test_no_method_ends_a_run(method: str, plateau: str) -> None:
    optimizer = UnboundedOptimizer(BOX, method=method, search=CHEAP)
    for _ in range(26):
        trial = optimizer.ask()
        optimizer.tell(trial, PLATEAUS[plateau](trial.X))
    assert optimizer.result().best_value <= 1e6 + 1e-3
