"""BoTorch's private names do what the package expects of them, in the version that is pinned."""

from __future__ import annotations

import importlib
import math
from importlib.metadata import version
from pathlib import Path

import botorch.acquisition.analytic
import numpy as np
import pytest
import torch
from botorch.acquisition import LogExpectedImprovement, UpperConfidenceBound
from botorch.acquisition.logei import qLogExpectedImprovement
from botorch.acquisition.monte_carlo import SampleReducingMCAcquisitionFunction
from botorch.models import SingleTaskGP
from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP
from botorch.models.transforms import Normalize
from botorch.test_functions import Beale

from botorch_ubo.compat import botorch_private
from botorch_ubo.models.quick import QuickLogExpectedImprovement
from tests.support.gps import tensor
from tests.support.quick_models import make

CONSTRAINTS = Path(__file__).parents[2] / "constraints.txt"


def test_the_pinned_version_is_the_one_that_is_tested() -> None:
    pinned = [
        line.removeprefix("botorch==")
        for line in CONSTRAINTS.read_text().splitlines()
        if line.startswith("botorch==")
    ]
    assert len(pinned) == 1
    if version("botorch") != pinned[0]:
        pytest.skip(f"BoTorch {version('botorch')} is installed, {pinned[0]} is pinned")


def test_everything_is_listed_and_there() -> None:
    for name in botorch_private.__all__:
        assert callable(getattr(botorch_private, name)), name


@pytest.mark.parametrize("u", [-3.0, -1.0, 0.0, 0.7, 4.0])
def test_log_ei_helper_is_the_logarithm_of_h(u: float) -> None:
    """``phi(u) + u Phi(u)``."""
    density = math.exp(-(u**2) / 2) / math.sqrt(2 * math.pi)
    h = density + u * 0.5 * math.erfc(-u / math.sqrt(2))
    assert float(botorch_private.log_ei_helper(tensor([u]))) == pytest.approx(math.log(h))


def test_log_ei_helper_does_not_underflow() -> None:
    """Far down, h(u) is phi(u) / u^2."""
    u = tensor([-1e4])
    expected = -0.5 * 1e8 - 0.5 * math.log(2 * math.pi) - 2 * math.log(1e4)
    assert float(botorch_private.log_ei_helper(u)) == pytest.approx(expected)


def test_scaled_improvement_has_the_sign_of_what_is_better() -> None:
    mean, sigma, best = tensor([5.0, 1.0]), tensor([2.0, 4.0]), tensor(3.0)
    up = botorch_private.scaled_improvement(mean, sigma, best, True)
    down = botorch_private.scaled_improvement(mean, sigma, best, False)
    assert up.tolist() == [1.0, -0.5] and down.tolist() == [-1.0, 0.5]


@pytest.mark.parametrize("fat", [True, False])
def test_log_improvement_is_a_soft_logarithm_of_the_positive_part(fat: bool) -> None:
    Y, best = tensor([3.0, 1.5, 0.0]), tensor(1.0)
    value = botorch_private.log_improvement(Y, best, 1e-6, fat)
    assert value[:2].tolist() == pytest.approx([math.log(2.0), math.log(0.5)], abs=1e-5)
    assert float(value[2]) < math.log(1e-5) and value.isfinite().all()


def test_batched_lbfgs_minimises_every_row_within_its_bounds() -> None:
    def parabolas(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        gap = X - np.array([0.3, 2.0])
        return (gap**2).sum(axis=-1), 2 * gap

    X, values, _ = botorch_private.fmin_l_bfgs_b_batched(
        parabolas, np.array([[0.0, 0.0], [0.9, 0.1]]), bounds=np.array([[0.0, 1.0], [0.0, 1.0]])
    )
    np.testing.assert_allclose(X, [[0.3, 1.0]] * 2, atol=1e-5)
    np.testing.assert_allclose(values, [1.0] * 2, atol=1e-5)


def test_original_train_inputs_are_as_given() -> None:
    X = tensor([[1.0, 20.0], [3.0, 60.0], [2.0, 30.0]])
    Y = X.sum(dim=-1, keepdim=True)
    transformed = SingleTaskGP(X, Y, input_transform=Normalize(2)).eval()
    assert not torch.equal(transformed.train_inputs[0], X)
    torch.testing.assert_close(botorch_private.original_train_inputs(transformed), X)
    assert torch.equal(botorch_private.original_train_inputs(SingleTaskGP(X, Y).eval()), X)


def test_ensembles_are_told_from_batches() -> None:
    X = torch.rand(4, 2, generator=torch.Generator().manual_seed(0)).double()
    Y = X.sum(dim=-1, keepdim=True)
    assert botorch_private.is_ensemble(EnsembleMapSaasSingleTaskGP(X, Y, num_taus=2))
    assert not botorch_private.is_ensemble(SingleTaskGP(X, Y))
    assert not botorch_private.is_ensemble(SingleTaskGP(X.expand(2, 4, 2), Y.expand(2, 4, 1)))


def test_logarithmic_acquisition_functions_are_told_from_others() -> None:
    model = make()
    for acqf in (LogExpectedImprovement(model, 0.0), qLogExpectedImprovement(model, 0.0)):
        assert botorch_private.has_log_values(acqf)
    assert botorch_private.has_log_values(QuickLogExpectedImprovement(model, 0.0))
    assert not botorch_private.has_log_values(UpperConfidenceBound(model, 4.0))


def test_mean_and_sigma_are_the_posteriors() -> None:
    model = make()
    X = model.train_inputs[0][:3].unsqueeze(-2) + 0.1
    mean, sigma = botorch_private.mean_and_sigma(UpperConfidenceBound(model, 4.0), X)
    posterior = model.posterior(X)
    assert torch.allclose(mean, posterior.mean[..., 0])
    assert torch.allclose(sigma, posterior.variance[..., 0].sqrt())


def test_the_improvement_of_samples_is_asked_for() -> None:
    """BoTorch calls what the base class overrides, with pending points last."""

    class Constant(botorch_private.SampledLogImprovement):
        def log_improvement(self, samples: torch.Tensor, fat: bool) -> torch.Tensor:
            assert samples.shape[-1] == 3 and fat is True
            return torch.full_like(samples[..., :1], -1.5)

    model = make()
    X = model.train_inputs[0]
    acqf = Constant(model, 0.0, X_pending=X[:2] + 0.1)
    assert acqf(X[2:6].unsqueeze(-2)).tolist() == pytest.approx([-1.5] * 4)


def test_a_test_problem_is_evaluated_outside_of_its_domain() -> None:
    """Beale's function at (5, 0): 3.5^2 + 2.75^2 + 2.375^2 with x = 5, y = 0."""
    value = (1.5 - 5) ** 2 + (2.25 - 5) ** 2 + (2.625 - 5) ** 2
    X = tensor([[5.0, 0.0]])
    with pytest.raises(ValueError, match="within the bounds"):
        Beale()(X)
    assert float(botorch_private.evaluate_anywhere(Beale(), X)) == pytest.approx(value)


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (botorch.acquisition.analytic, "_log_ei_helper"),
        (botorch.acquisition.analytic.AnalyticAcquisitionFunction, "_mean_and_sigma"),
        (SampleReducingMCAcquisitionFunction, "_sample_forward"),
    ],
)
def test_a_name_that_is_gone_is_an_error_that_says_what_to_do(
    owner: object, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.delattr(owner, name)
        with pytest.raises(
            ImportError, match=rf"(?s){name}.*constraints\.txt.*adapt.*botorch_private\.py"
        ):
            importlib.reload(botorch_private)
    importlib.reload(botorch_private)
    assert float(botorch_private.log_ei_helper(tensor([0.0]))) < 0


def test_without_batched_lbfgs_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with versions of scipy that BoTorch does not know."""
    with monkeypatch.context() as patch:
        patch.delattr("botorch.generation.gen.fmin_l_bfgs_b_batched")
        assert importlib.reload(botorch_private).fmin_l_bfgs_b_batched is None
    assert importlib.reload(botorch_private).fmin_l_bfgs_b_batched is not None
