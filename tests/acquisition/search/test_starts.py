"""Starts around the data: where they are drawn, which are kept, and BoTorch's use of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from botorch.acquisition import UpperConfidenceBound
from botorch.exceptions.errors import UnsupportedError
from botorch.models import SingleTaskGP
from botorch.models.transforms.input import Log10
from botorch.optim import optimize_acqf
from botorch.utils.sampling import draw_sobol_samples
from torch import Tensor

from botorch_ubo import StartsAroundData
from botorch_ubo.acquisition.search import Neighborhood
from botorch_ubo.acquisition.search.starts import best_apart
from botorch_ubo.boxes import contains
from tests.support.gps import tensor
from tests.support.plateau import BETA, cube, fitted, neighborhood, ucb

SAMPLES = 512


class Recorded(UpperConfidenceBound):
    """Keeps what it was asked for."""

    def forward(self, X: Tensor) -> Tensor:
        self.asked.append(X.detach().squeeze(-2))
        return super().forward(X)


def recorded(model: SingleTaskGP) -> Recorded:
    acqf = Recorded(model, beta=tensor(BETA))
    acqf.asked = []
    return acqf


def drawn(near: Neighborhood, box: Tensor, samples: int = SAMPLES) -> tuple[Tensor, Tensor, Tensor]:
    """All samples in the model's space: space-filling, near the data, on the shell."""
    acqf = recorded(near.model)
    StartsAroundData(near, seed=3)(acqf, box, 1, 4, samples)
    at_data, raw = acqf.asked
    assert len(at_data) == len(near.X)
    inner = near.model.input_transform.transform(raw)
    return inner[: samples // 2], inner[samples // 2 : -samples // 4], inner[-samples // 4 :]


class TestSources:
    @pytest.mark.parametrize("d", [3, 6])
    def test_the_shell_is_within_the_reach(self, d: int) -> None:
        """Ellipsoids around the data: directions have length one, whatever the dimension."""
        near = neighborhood(fitted(d, 0))
        near = Neighborhood(
            near.model, near.X, near.lengthscales, near.reach * torch.arange(1, d + 1)
        )
        shell = drawn(near, cube(d, 1e3))[2]
        own = near.X[torch.arange(len(shell)) % len(near.X)]
        distance = ((shell - own) / near.reach).norm(dim=-1)
        assert float(distance.max()) <= 1 + 1e-9
        assert float(distance.min()) >= 0.3 - 1e-9
        assert float(distance.max()) > 0.95 and float(distance.min()) < 0.35
        # in all directions
        assert ((shell - own).mean(dim=0).abs() < 0.2 * near.reach).all()

    def test_near_the_data_are_the_best_of_them_and_small_steps(self) -> None:
        near = neighborhood(fitted(3, 0))
        samples = drawn(near, cube(3, 1e3))[1]
        data, jittered = samples[: len(samples) - SAMPLES // 4], samples[-SAMPLES // 4 :]
        assert len(data) == min(16, len(near.X))
        torch.testing.assert_close(torch.cdist(data, near.X).amin(dim=-1), torch.zeros(15).double())
        steps = (jittered.unsqueeze(1) - near.X) / near.lengthscales
        sizes = steps.norm(dim=-1).amin(dim=-1)
        assert float(sizes.max()) < 5 and float(sizes.median()) < 0.3 and float(sizes.min()) > 1e-3

    def test_the_rest_fills_the_box(self) -> None:
        near = neighborhood(fitted(3, 0))
        box = cube(3, 20.0)
        filling = near.model.input_transform.untransform(drawn(near, box)[0])
        torch.testing.assert_close(filling, draw_sobol_samples(box, 256, 1, seed=3).squeeze(-2))

    def test_all_are_in_the_box(self) -> None:
        near = neighborhood(fitted(3, 0))
        box = cube(3, 0.2, center=1.0)  # beside the data
        acqf = recorded(near.model)
        StartsAroundData(near)(acqf, box, 1, 4, SAMPLES)
        assert all(contains(box, asked).all() for asked in acqf.asked)

    def test_distances_are_those_of_the_models_space(self) -> None:
        X = 10 ** (4 * torch.linspace(0, 1, 5, dtype=torch.double).unsqueeze(-1))
        model = SingleTaskGP(X, X.log(), input_transform=Log10([0])).eval()
        near = Neighborhood(model, X.log10(), tensor([0.1]), tensor([0.2]))
        box = tensor([[1e-9], [1e9]])
        shell = drawn(near, box)[2]
        distance = (shell - X.log10()[torch.arange(len(shell)) % 5]).abs()
        assert float(distance.max()) <= 0.2 + 1e-9 and float(distance.min()) >= 0.06 - 1e-9


class TestChosen:
    def test_are_apart_inside_and_as_many_as_asked_for(self) -> None:
        model = fitted(3, 0)
        near = neighborhood(model)
        box = cube(3, 20.0)
        starts = StartsAroundData(near)(ucb(model), box, 1, 10, SAMPLES)
        assert starts.shape == (10, 1, 3)
        assert contains(box, starts).all()
        scaled = model.input_transform.transform(starts.squeeze(-2)) / near.lengthscales
        distance = torch.cdist(scaled, scaled) + torch.eye(10)
        assert distance.min() >= 0.2
        # A quarter of them is kept for the space-filling samples, which no datum suggested.
        filling = draw_sobol_samples(box, 256, 1, seed=0)
        assert (starts == filling.reshape(1, -1, 3)).all(dim=-1).any(dim=-1).sum() >= 2

    def test_include_the_best_sample(self) -> None:
        near = neighborhood(fitted(3, 0))
        acqf = recorded(near.model)
        starts = StartsAroundData(near)(acqf, cube(3, 20.0), 1, 4, SAMPLES)
        best = acqf(acqf.asked[-1].unsqueeze(-2)).max()
        assert float(acqf(starts).max().detach()) == pytest.approx(float(best.detach()), rel=1e-9)

    def test_are_not_where_values_are_no_numbers(self) -> None:
        class HalfNan(UpperConfidenceBound):
            def forward(self, X: Tensor) -> Tensor:
                return torch.where(X[..., 0, 0] < 0.5, super().forward(X), torch.nan)

        model = fitted(3, 2)
        starts = StartsAroundData(neighborhood(model))(
            HalfNan(model, beta=BETA), cube(3, 1.0), 1, 10, SAMPLES
        )
        assert len(starts) == 10 and (starts[..., 0] < 0.5).all()

    def test_repeat_by_seed_and_leave_the_random_state_alone(self) -> None:
        model = fitted(3, 2)
        acqf, box, near = ucb(model), cube(3, 20.0), neighborhood(model)
        before = torch.get_rng_state()
        first = StartsAroundData(near, 3)(acqf, box, 1, 4, 64)
        assert torch.equal(torch.get_rng_state(), before)
        torch.manual_seed(99)
        assert torch.equal(StartsAroundData(near, 3)(acqf, box, 1, 4, 64), first)
        assert not torch.equal(StartsAroundData(near, 4)(acqf, box, 1, 4, 64), first)


class TestAsGenerator:
    """``optimize_acqf(..., ic_generator=StartsAroundData(...))``."""

    @pytest.mark.filterwarnings("ignore::botorch.exceptions.warnings.BotorchWarning")
    @pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
    def test_finds_the_hill_on_a_plateau(self, seed: int) -> None:
        model = fitted(6, seed)
        acqf, box = ucb(model), cube(6, 100.0)
        values = []
        for generator in ({}, {"ic_generator": StartsAroundData(neighborhood(model))}):
            torch.manual_seed(seed)
            X, value = optimize_acqf(acqf, box, q=1, num_restarts=4, raw_samples=256, **generator)
            assert X.shape == (1, 6) and contains(box, X).all()
            values.append(float(value))
        assert values[1] >= values[0] - 1e-6
        plateau = float(acqf(torch.full((1, 1, 6), 50.0).double()).detach())
        assert values[1] > plateau + 1e-2

    def test_options_of_botorchs_generators_are_no_obstacle(self) -> None:
        model = fitted(3, 0)
        starts = StartsAroundData(neighborhood(model))
        options = {"maxiter": 2, "nonnegative": False, "batch_limit": 5}
        X, _ = optimize_acqf(
            ucb(model), cube(3, 1.0), 1, 2, raw_samples=32, options=options, ic_generator=starts
        )
        assert X.shape == (1, 3)

    def test_several_candidates_at_once_are_refused_in_words(self) -> None:
        model = fitted(3, 0)
        starts = StartsAroundData(neighborhood(model))
        with pytest.raises(UnsupportedError, match=r"Expected q = 1.*q=2.*Use BoTorch's"):
            optimize_acqf(ucb(model), cube(3, 1.0), 2, 2, raw_samples=32, ic_generator=starts)

    def test_constraints_and_fixed_features_of_the_search_are_satisfied(self) -> None:
        model = fitted(3, 0)
        starts = StartsAroundData(neighborhood(model))
        fixed = starts(ucb(model), cube(3, 1.0), 1, 3, 64, fixed_features={0: 0.5})
        assert fixed.shape == (3, 1, 3) and (fixed[..., 0] == 0.5).all()
        plane = [(torch.tensor([0, 1]), tensor([1.0, 1.0]), 0.5)]
        on_it = starts(ucb(model), cube(3, 1.0), 1, 3, 64, equality_constraints=plane)
        torch.testing.assert_close(on_it[..., :2].sum(-1), torch.full_like(on_it[..., 0], 0.5))
        beyond = starts(ucb(model), cube(3, 1.0), 1, 3, 64, inequality_constraints=plane)
        assert (beyond[..., :2].sum(-1) >= 0.5 - 1e-9).all()
        # As the generator of BoTorch's own call, which passes its constraints on.
        X, _ = optimize_acqf(
            *(ucb(model), cube(3, 1.0), 1, 2),
            raw_samples=32,
            equality_constraints=plane,
            ic_generator=starts,
        )
        assert float(X[0, :2].sum()) == pytest.approx(0.5)


@pytest.mark.parametrize("seed", range(20))
def test_the_best_apart_are_those_of_a_plain_greedy_choice(seed):
    generator = np.random.default_rng(seed)
    n, d, count = (int(generator.integers(*ends)) for ends in ((1, 1500), (1, 7), (1, 60)))
    values = generator.standard_normal(n).round(seed % 3)  # some are equal
    values[generator.random(n) < 0.1] = -np.inf
    places = 10 ** generator.uniform(-2, 1) * generator.standard_normal((n, d))
    left, expected = values.copy(), []
    while len(expected) < count and left.max() > -np.inf:
        expected.append(int(left.argmax()))
        left[np.linalg.norm(places - places[expected[-1]], axis=-1) < 0.2] = -np.inf
    assert best_apart(values, places, count) == expected
