"""A fit starts from the last one, searches everywhere now and then, and can be repeated."""

import json
from unittest import mock

import pytest
import torch
from botorch.exceptions.errors import InputDataError
from botorch.models import SingleTaskGP

from botorch_ubo import ExpandingBounds, fit_default_model
from botorch_ubo.models.last_fit import LastFit, remember_fit
from botorch_ubo.models.quick import LogDensity, hyperparameters_of
from tests.support.by_hand import unit_box

BOUNDS = unit_box(2)


def data(n: int, noise: float = 0.0) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    X = 3 * torch.rand(n, 2, generator=generator, dtype=torch.double) - 1
    Y = torch.sin(3 * X[:, :1]) - X[:, 1:] ** 2
    return X, Y + noise * torch.randn(Y.shape, generator=generator, dtype=torch.double)


def test_where_the_next_fit_starts_by_hand() -> None:
    last = LastFit(num=42, num_searched=40, found=(1.0,), start=(2.0,))
    assert last.next_start(42) == ((2.0,), False)  # the same again
    assert last.next_start(43) == ((1.0,), False)
    assert last.next_start(44) == ((1.0,), True)  # 44 = 1.1 * 40
    assert last.next_start(41) == ((1.0,), True)  # other data
    assert LastFit(40, 40, (1.0,), (2.0,)).next_start(40) == ((2.0,), True)


def test_what_is_remembered() -> None:
    models = {n: fit_default_model(*data(n), BOUNDS) for n in (20, 21, 30)}
    first = remember_fit(models[20], 20, None)
    assert first == LastFit(20, 20, hyperparameters_of(models[20]) or (), None)
    second = remember_fit(models[21], 21, first)
    assert second is not None
    assert (second.num, second.num_searched, second.start) == (21, 20, first.found)
    assert remember_fit(models[21], 21, second) == second
    third = remember_fit(models[30], 30, second)
    assert third is not None
    assert third.num_searched == 30


def test_models_that_are_fitted_otherwise_are_not_remembered() -> None:
    X, Y = data(12)
    assert remember_fit(SingleTaskGP(X, Y), 12, None) is None


def fit_and_count(n: int, noise: float, last: LastFit | None) -> tuple[int, float, int]:
    """Calls of the density's gradient, the density at the fit, and how many parameters it has."""
    X, Y = data(n, noise)
    call = LogDensity.__call__
    with mock.patch.object(LogDensity, "__call__", autospec=True, side_effect=call) as counted:
        model = fit_default_model(X, Y, BOUNDS, last=last)
    found = hyperparameters_of(model)
    assert found is not None
    density = LogDensity(model.train(), 1e-6 if len(found) == 3 else None)
    value = density.value(torch.tensor(found).double().numpy())
    return counted.call_count, value, len(found)


def test_a_start_saves_steps_and_loses_nothing() -> None:
    cold, warm, compared = 0, 0, 0
    for noise in (0.0, 0.05, 0.2):
        for n in (21, 31, 41):
            X, Y = data(n - 1, noise)
            last = remember_fit(fit_default_model(X, Y, BOUNDS), n - 1, None)
            without, with_start = fit_and_count(n, noise, None), fit_and_count(n, noise, last)
            cold, warm = cold + without[0], warm + with_start[0]
            if with_start[2] == without[2]:  # else these are densities of different things
                compared += 1
                assert with_start[1] <= without[1] + 0.05
    assert warm <= cold
    assert compared >= 6


def test_noise_that_appears_is_seen_at_once() -> None:
    """The first fit has exact observations; then the same place has two outcomes."""
    X, Y = data(40)
    last = remember_fit(fit_default_model(X, Y, BOUNDS), 40, None)
    assert last is not None
    assert len(last.found) == 3
    X, Y = torch.cat([X, X[:2]]), torch.cat([Y, Y[:2] + 0.5])
    model = fit_default_model(X, Y, BOUNDS, last=last)
    assert float(model.likelihood.noise.detach()) > 1e-3


class TestInARun:
    def run(self, box: ExpandingBounds, first: int, end: int) -> torch.Tensor:
        X, Y = data(30)
        for n in range(first, end):
            x = box.suggest(box.fit(X[:n], Y[:n]))
        return x

    def test_a_fit_can_be_repeated_before_and_after_its_step(self) -> None:
        box = ExpandingBounds(BOUNDS)
        self.run(box, 10, 14)
        X, Y = data(14)
        before = box.fit(X, Y)
        x = box.suggest(before)
        after = box.fit(X, Y)
        assert hyperparameters_of(before) == hyperparameters_of(after)
        assert torch.equal(box.suggest(after), x)

    def test_a_saved_state_goes_on_to_the_last_digit(self) -> None:
        box, other = ExpandingBounds(BOUNDS), ExpandingBounds(BOUNDS)
        self.run(box, 10, 20)
        other.load_state_dict(json.loads(json.dumps(box.state_dict())))
        assert torch.equal(self.run(box, 20, 24), self.run(other, 20, 24))

    def test_a_malformed_one_is_refused(self) -> None:
        box = ExpandingBounds(BOUNDS)
        self.run(box, 10, 12)
        state = box.state_dict()
        state["fits"][0]["num"] = -1
        with pytest.raises(InputDataError, match="number of data"):
            ExpandingBounds(BOUNDS).load_state_dict(state)
