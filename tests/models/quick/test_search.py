"""The quick local search ends where BoTorch's does, and inside the box."""

from __future__ import annotations

from unittest import mock

import pytest
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.exceptions.errors import UnsupportedError
from botorch.generation.gen import gen_candidates_scipy
from botorch.models.transforms import Normalize
from botorch.models.transforms.input import ChainedInputTransform, Log10
from botorch.optim import optimize_acqf
from botorch.utils.sampling import draw_sobol_samples

from botorch_ubo import ExpandingBounds, SearchSettings
from botorch_ubo.models import fit_default_model
from botorch_ubo.models.quick.ascent import ascend
from botorch_ubo.models.quick.gp import QuickGP
from botorch_ubo.models.quick.log_ei import QuickLogExpectedImprovement
from botorch_ubo.models.quick.search import gen_candidates_quick, has_quick_search

BOUNDS = torch.tensor([[0.0, -1.0], [1.0, 3.0]], dtype=torch.double)


def make_acquisition(seed: int, unit: float = 1.0) -> QuickLogExpectedImprovement:
    X = draw_sobol_samples(BOUNDS, 10, 1, seed=seed).squeeze(-2)
    Y = (3 * X[:, :1]).sin() - (X[:, 1:] - 0.7).square()
    return QuickLogExpectedImprovement(fit_default_model(unit * X, Y, unit * BOUNDS), Y.max())


@pytest.mark.parametrize("seed", range(4))
def test_ends_where_botorch_does(seed: int) -> None:
    acqf = make_acquisition(seed)
    starts = draw_sobol_samples(BOUNDS, 6, 1, seed=seed)
    before = acqf(starts).detach()
    X, values = gen_candidates_quick(starts, acqf, BOUNDS[0], BOUNDS[1])
    stock = LogExpectedImprovement(acqf.model, acqf.best_f)
    _, expected = gen_candidates_scipy(starts, stock, BOUNDS[0], BOUNDS[1])
    assert X.shape == starts.shape and values.shape == (6,)
    torch.testing.assert_close(values, acqf(X), rtol=0, atol=1e-12)
    assert (values >= before - 1e-9).all()
    torch.testing.assert_close(values.max(), expected.max(), rtol=0, atol=1e-3)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 3e3, 1e9])
def test_box_is_kept_and_units_do_not_matter(unit: float) -> None:
    acqf = make_acquisition(0, unit)
    box = unit * torch.tensor([[0.1, 0.3], [0.4, 0.6]], dtype=torch.double)
    starts = draw_sobol_samples(box, 5, 1, seed=1)
    X, values = gen_candidates_quick(starts, acqf, box[0], box[1])
    assert (X >= box[0]).all() and (X <= box[1]).all()
    one = make_acquisition(0)
    _, expected = gen_candidates_quick(starts / unit, one, box[0] / unit, box[1] / unit)
    torch.testing.assert_close(values.max(), expected.max(), rtol=0, atol=1e-3)


def test_float32_stays_float32_and_inside() -> None:
    acqf = make_acquisition(1)
    acqf.model.float()
    box = BOUNDS.float() / 3
    X, values = gen_candidates_quick(draw_sobol_samples(box, 3, 1, seed=0), acqf, box[0], box[1])
    assert X.dtype == values.dtype == torch.float
    assert (X >= box[0]).all() and (X <= box[1]).all()


def test_optimize_acqf_takes_it() -> None:
    acqf = make_acquisition(2)
    starts = draw_sobol_samples(BOUNDS, 4, 1, seed=0)
    X, value = optimize_acqf(
        acqf, BOUNDS, q=1, num_restarts=4, batch_initial_conditions=starts,
        gen_candidates=gen_candidates_quick,
    )  # fmt: skip
    assert X.shape == (1, 2)
    torch.testing.assert_close(value, acqf(X.unsqueeze(0)).squeeze(0), rtol=1e-9, atol=1e-12)


class Shifted(QuickLogExpectedImprovement):
    """A subclass, whose values may be others."""


def test_what_it_cannot_do_is_refused() -> None:
    acqf = make_acquisition(0)
    starts = draw_sobol_samples(BOUNDS, 2, 1, seed=0)
    with pytest.raises(UnsupportedError, match="fixed_features"):
        gen_candidates_quick(starts, acqf, BOUNDS[0], BOUNDS[1], fixed_features={0: 0.5})
    with pytest.raises(UnsupportedError, match=r"timeout_sec=0\.0"):
        gen_candidates_quick(starts, acqf, BOUNDS[0], BOUNDS[1], timeout_sec=0.0)
    with pytest.raises(UnsupportedError, match="finite bounds"):
        gen_candidates_quick(starts, acqf, None, None)  # type: ignore[arg-type]  # on purpose
    assert has_quick_search(acqf)
    others = (
        LogExpectedImprovement(acqf.model, acqf.best_f),
        Shifted(acqf.model, acqf.best_f),
        QuickLogExpectedImprovement(logarithmic_model(), 0.0),
    )
    for other in others:
        assert not has_quick_search(other)
        with pytest.raises(UnsupportedError, match="affine input transform"):
            gen_candidates_quick(starts, other, BOUNDS[0], BOUNDS[1])


def test_bounds_in_another_precision() -> None:
    acqf = make_acquisition(0)
    acqf.model.float()
    starts = draw_sobol_samples(BOUNDS, 2, 1, seed=0).float()
    X, values = gen_candidates_quick(starts, acqf, BOUNDS[0], BOUNDS[1])
    assert X.dtype == values.dtype == torch.float


def test_a_model_without_transform_is_searched() -> None:
    acqf = make_acquisition(0)
    X = acqf.model.train_inputs[0]
    plain = QuickLogExpectedImprovement(QuickGP(X, X.sum(dim=-1, keepdim=True)).eval(), 0.5)
    assert has_quick_search(plain)


def test_without_botorchs_batched_search_it_is_left_to_botorch() -> None:
    """BoTorch has it for some versions of scipy only."""
    X = draw_sobol_samples(BOUNDS, 8, 1, seed=0).squeeze(-2)
    model = fit_default_model(X, X.sum(dim=-1, keepdim=True).sin(), BOUNDS)
    with mock.patch("botorch_ubo.models.quick.search.fmin_l_bfgs_b_batched", None):
        assert not has_quick_search(QuickLogExpectedImprovement(model, 0.0))
        x = ExpandingBounds(BOUNDS).suggest(model)
    assert x.shape == (1, 2) and x.isfinite().all()


def test_values_that_are_no_numbers_do_not_win() -> None:
    acqf = make_acquisition(0)
    huge = torch.finfo(torch.double).max / 4
    box = torch.tensor([[-huge, -huge], [huge, huge]], dtype=torch.double)
    starts = torch.cat([draw_sobol_samples(BOUNDS, 2, 1, seed=0), box[1:].unsqueeze(-2) / 2])
    _, values = gen_candidates_quick(starts, acqf, box[0], box[1])
    assert values.max().isfinite()


def logarithmic_model() -> QuickGP:
    X = draw_sobol_samples(BOUNDS + 2, 8, 1, seed=0).squeeze(-2)
    transform = ChainedInputTransform(
        log=Log10(indices=[0, 1]), unit=Normalize(2, bounds=(BOUNDS + 2).log10())
    )
    return QuickGP(X, X.sum(dim=-1, keepdim=True).sin(), input_transform=transform).eval()


def test_a_transform_that_is_not_affine_leaves_the_search_to_botorch() -> None:
    box = ExpandingBounds(BOUNDS + 2, hard_limits=torch.tensor([[0.1, 0.1], [99.0, 99.0]]))
    assert box.suggest(logarithmic_model()).shape == (1, 2)


@pytest.mark.parametrize("options", [None, {"maxiter": 5}])
def test_the_controller_uses_it_unless_given_options(options: dict[str, int] | None) -> None:
    X = draw_sobol_samples(BOUNDS, 8, 1, seed=0).squeeze(-2)
    model = fit_default_model(X, X.sum(dim=-1, keepdim=True).sin(), BOUNDS)
    box = ExpandingBounds(BOUNDS, search=SearchSettings(options=options))
    name = "botorch_ubo.acquisition.search.maximize.ascend"
    with mock.patch(name, wraps=ascend) as spy:
        box.suggest(model)
    assert spy.called == (options is None)
