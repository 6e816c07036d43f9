"""What a fitted GP tells about its data: inputs, outcomes, noise, all in raw units."""

import pytest
import torch
from botorch.acquisition.objective import (
    ExpectationPosteriorTransform,
    ScalarizedPosteriorTransform,
)
from botorch.models import (
    SingleTaskGP,
)
from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP
from botorch.models.transforms import Log, Standardize
from torch import Tensor

from botorch_ubo.models.structure import (
    member_shape,
    objective_noise,
    outcome_scale,
    spread,
)
from botorch_ubo.policies.view import ModelView
from tests.support.gps import tensor

BOX = tensor([[0.0, 0.0], [1.0, 1.0]])
WEIGHTS = tensor([2.0, -0.5])
SCALARIZED = ScalarizedPosteriorTransform(WEIGHTS, offset=7.0)


def data(n: int = 7, m: int = 1) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(n)
    X = torch.rand(n, 2, generator=generator, dtype=torch.double)
    Y = 3 + torch.rand(n, m, generator=generator, dtype=torch.double)
    return X, Y


def ensemble() -> EnsembleMapSaasSingleTaskGP:
    X, Y = data()
    model = EnsembleMapSaasSingleTaskGP(X, 10 * Y, num_taus=3)
    model.likelihood.noise = tensor([[0.1], [0.2], [0.4]])
    return model.eval()


class TestNoise:
    def noisy(self, unit: float, standardize: bool = True) -> SingleTaskGP:
        X, Y = data()
        outcome = Standardize(1) if standardize else None
        model = SingleTaskGP(X, unit * Y, outcome_transform=outcome)
        model.likelihood.noise = 0.04
        return model.eval()

    def test_is_in_raw_units(self) -> None:
        """0.04 of the outcomes' variance: a standard deviation of a fifth of theirs."""
        Y = data()[1]
        for unit in (1.0, 1000.0):
            model = self.noisy(unit)
            std = unit * float(Y.std())
            assert objective_noise(model).tolist() == pytest.approx([0.04 * std**2])
            view = ModelView(model, BOX)
            assert view.noise_std == pytest.approx(0.2)
            assert view.to_raw_difference(view.noise_std) == pytest.approx(0.2 * std)

    def test_without_standardisation_is_the_likelihoods(self) -> None:
        assert objective_noise(self.noisy(1000.0, standardize=False)).tolist() == [
            pytest.approx(0.04)
        ]

    def test_given_variances_are_averaged(self) -> None:
        X, Y = data()
        Yvar = torch.linspace(1.0, 4.0, 7, dtype=torch.double).unsqueeze(-1)
        model = SingleTaskGP(X, 100 * Y, Yvar).eval()
        assert objective_noise(model).tolist() == pytest.approx([2.5])

    def test_of_several_outputs_adds_up_with_squared_weights(self) -> None:
        X, Y = data(m=2)
        Yvar = tensor([0.5, 3.0]).expand(7, 2)
        model = SingleTaskGP(X, 100 * Y, Yvar).eval()
        expected = 4 * 0.5 + 0.25 * 3.0
        assert objective_noise(model, SCALARIZED).tolist() == pytest.approx([expected])

    def test_of_an_ensemble_is_one_per_member(self) -> None:
        model = ensemble()
        scale = float(model.outcome_transform.stdvs.flatten()[0])
        expected = [0.1 * scale**2, 0.2 * scale**2, 0.4 * scale**2]
        assert objective_noise(model).tolist() == pytest.approx(expected)

    def test_is_not_guessed_at(self) -> None:
        X, Y = data()
        logarithmic = SingleTaskGP(X, Y, outcome_transform=Log()).eval()
        assert objective_noise(logarithmic) is None
        assert objective_noise(self.noisy(1.0), ExpectationPosteriorTransform(n_w=1)) is None


def test_members_and_outputs() -> None:
    X, Y = data(m=2)
    two = SingleTaskGP(X, Y).eval()
    assert member_shape(SingleTaskGP(X, Y[:, :1])) == (1, 1)
    assert member_shape(two) == (1, 2)
    assert member_shape(ensemble()) == (3, 1)
    mean, scale = outcome_scale(two, Y)
    torch.testing.assert_close(mean, Y.mean(dim=0, keepdim=True))
    torch.testing.assert_close(scale, Y.std(dim=0, keepdim=True))
    plain = SingleTaskGP(X, Y, outcome_transform=None)
    assert [part.tolist() for part in outcome_scale(plain, Y)] == [[[0, 0]], [[1, 1]]]


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_spread(unit: float) -> None:
    Y = data()[1].flatten()
    assert spread(unit * Y) == pytest.approx(unit * float(Y.std()))
    assert spread(torch.full((4,), unit).double()) == 1.0
    assert spread(Y[:1]) == 1.0
