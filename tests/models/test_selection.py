"""Of many data a model is conditioned on some: which ones, and what that leaves as it was."""

import pytest
import torch
from botorch.exceptions.errors import UnsupportedError

from botorch_ubo import ExpandingBounds, fit_default_model, minimize
from botorch_ubo.models import default as default_module
from botorch_ubo.models import selection
from botorch_ubo.models.quick import SelectedGP, conditioned
from botorch_ubo.models.selection import data_that_matter
from tests.support.by_hand import unit_box
from tests.support.fits import data


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> int:
    """Models of at most 20 data."""

    def choose(*args: object) -> torch.Tensor:
        return data_that_matter(*args, count=20)  # type: ignore[arg-type]

    monkeypatch.setattr(default_module, "data_that_matter", choose)
    return 20


class TestDataThatMatter:
    def test_all_of_few(self) -> None:
        X, Y = data(12, 2)
        assert data_that_matter(X, Y, unit_box(2), True, count=12).tolist() == list(range(12))

    def test_by_hand(self) -> None:
        """The best ones, and of two equal ones the newer; without a best, the farthest."""
        X = torch.tensor([[0.0], [1.0], [2.0], [5.0], [8.5], [9.0]], dtype=torch.double)
        Y = torch.tensor([[9.0], [8.0], [1.0], [1.0], [1.0], [0.0]], dtype=torch.double)
        assert data_that_matter(X, Y, unit_box(1), True, count=3).tolist() == [0, 1, 4]
        assert data_that_matter(X, -Y, unit_box(1), False, count=3).tolist() == [0, 1, 4]
        assert data_that_matter(X, Y, unit_box(1), None, count=3).tolist() == [0, 3, 5]

    def test_each_once_though_many_are_at_one_place(self) -> None:
        X = torch.zeros(30, 2, dtype=torch.double)
        Y = torch.arange(30.0, dtype=torch.double).unsqueeze(-1)
        found = data_that_matter(X, Y, unit_box(2), None, count=10).tolist()
        assert len(set(found)) == 10

    @pytest.mark.parametrize("maximize", [True, False, None])
    def test_units_do_not_matter(self, maximize: bool | None) -> None:
        X, Y = data(40, 3)
        scale = torch.tensor([1e-6, 1.0, 1e9], dtype=torch.double)
        one = data_that_matter(X, Y, unit_box(3), maximize, count=10)
        other = data_that_matter(scale * X, 7 * Y, scale * unit_box(3), maximize, count=10)
        assert torch.equal(one, other)


class TestSelectedGP:
    def test_up_to_the_limit_is_exact(self, few: int) -> None:
        X, Y = data(few, 2)
        assert not isinstance(fit_default_model(X, Y, unit_box(2)), SelectedGP)

    def test_keeps_all_data_and_has_the_posterior_of_some(self, few: int) -> None:
        X, Y = data(50, 2)
        model = fit_default_model(X, Y, unit_box(2), maximize=None)
        assert isinstance(model, SelectedGP)
        assert model.train_targets.shape == (50,) and len(model.selected) == few
        some = X[model.selected], Y[model.selected]
        alone = fit_default_model(*some, unit_box(2), maximize=None)
        points = (X + 0.03).unsqueeze(-2)
        for moment in ("mean", "variance"):
            expected = getattr(alone.posterior(points), moment)
            torch.testing.assert_close(getattr(model.posterior(points), moment), expected)
        joint, expected = (m.posterior(X[:3] + 0.03).distribution for m in (model, alone))
        torch.testing.assert_close(joint.covariance_matrix, expected.covariance_matrix)
        assert len(conditioned(model).train_targets) == few

    @pytest.mark.parametrize("known", [False, True], ids=["inferred", "known"])
    @pytest.mark.parametrize("method", ["EI-Turns", "GPUCB-UBO", "TuRBO-1"])
    def test_a_step_is_of_all_data(self, few: int, known: bool, method: str) -> None:
        X, Y = data(50, 2)
        box = ExpandingBounds(unit_box(2), method=method)
        model = box.fit(X, Y, torch.full_like(Y, 1e-4) if known else None)
        x = box.suggest(model, q=2, X_pending=X[:1] + 0.1)
        assert x.shape == (2, 2) and x.isfinite().all()
        assert box.state.num_observed == 50
        assert torch.equal(x, box.suggest(model, q=2, X_pending=X[:1] + 0.1))
        if box.history:
            assert box.history[-1].details["data_in_model"] == few

    def test_other_data_need_another_fit(self, few: int) -> None:
        model = fit_default_model(*data(50, 2), unit_box(2))
        model.set_train_data(*(t[:10] for t in (model.train_inputs[0], model.train_targets)), False)
        with pytest.raises(UnsupportedError, match="Fit a new one"):
            model.posterior(torch.zeros(1, 2, dtype=torch.double))

    def test_the_result_says_so(self, few: int) -> None:
        found = minimize(lambda x: (x[0] - 3) ** 2, [(0.0, 1.0)], budget=24, seed=0)
        assert found.num_in_model == few
        assert "of 24 evaluations the last model was conditioned on the 20" in str(found)


def test_limit_is_documented_where_the_model_is() -> None:
    assert str(selection.MAX_EXACT) in (fit_default_model.__doc__ or "")
