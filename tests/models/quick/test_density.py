"""``LogDensity`` is gpytorch's, its gradient is right, and it says which models it covers."""

import numpy as np
import pytest
from scipy.optimize import check_grad

from botorch_ubo.models import default_model
from botorch_ubo.models.quick.density import LogDensity, Vector
from tests.support.by_hand import unit_box
from tests.support.fits import data, density_of, gpytorchs, make, set_parameters, without_scale


def vectors(density: LogDensity, count: int = 6) -> list[Vector]:
    generator = np.random.default_rng(0)
    return [
        np.maximum(density.modes + generator.normal(size=density.modes.shape), np.log(0.03))
        for _ in range(count)
    ]


CASES = {
    "inferred": lambda: make(),
    "one_dimension": lambda: make(d=1),
    "six_dimensions": lambda: make(d=6, n=30),
    "noisy": lambda: make(noise=0.3),
    "fixed": lambda: make(noise=0.1, Yvar=0.1),
    "two_data": lambda: make(n=2),
    "without_scale": without_scale,
}


@pytest.mark.parametrize("case", sorted(CASES))
class TestLogDensity:
    def test_equal_to_gpytorchs(self, case: str) -> None:
        """Up to a constant."""
        model = CASES[case]()
        density = density_of(model)
        found, expected = [], []
        for p in vectors(density):
            set_parameters(model, density, p)
            found.append(density(p)[0])
            expected.append(gpytorchs(model))
        differences = np.array(found) - np.array(expected)
        assert np.ptp(found) > 1
        np.testing.assert_allclose(
            differences, differences[0], rtol=0, atol=1e-5
        )  # priors are single

    def test_mean_is_the_maximiser(self, case: str) -> None:
        model = CASES[case]()
        density = density_of(model)
        for p in vectors(density, 2):
            set_parameters(model, density, p)
            best, constant = gpytorchs(model), float(density.mean(p))
            for shift in (-0.1, 0.1):
                model.mean_module.constant = constant + shift
                assert gpytorchs(model) > best

    def test_gradient(self, case: str) -> None:
        density = density_of(CASES[case]())
        for p in vectors(density):
            error = check_grad(lambda p: density(p)[0], lambda p: density(p)[1], p)
            assert error < 1e-4 * (1 + np.linalg.norm(density(p)[1]))

    def test_value_alone(self, case: str) -> None:
        density = density_of(CASES[case]())
        for p in vectors(density):
            assert density.value(p) == density(p)[0]

    def test_kernels_along_a_line_are_those_of_its_points(self, case: str) -> None:
        density = density_of(CASES[case]())
        d = density.X.shape[-1]
        line = np.tile(vectors(density, 1)[0], (3, 1))
        line[:, :d] += np.array([[0.0], [-0.7], [1.3]])
        found = density.kernels_along(line)
        assert found.shape == (3, len(density.X), len(density.X))
        for p, kernel in zip(line, found, strict=True):
            scale = np.exp(p[d]) if density.scaled else 1.0
            away = (density.X[:, None] - density.X) / np.exp(p[:d])
            expected = scale * np.exp(-0.5 * (away**2).sum(axis=-1))
            np.testing.assert_allclose(kernel, expected, rtol=1e-12)
            assert density.value(p, kernel) == pytest.approx(density.value(p), rel=1e-10)

    def test_modes_are_those_of_the_priors(self, case: str) -> None:
        """The derivative of the priors alone is zero there."""
        density = density_of(CASES[case]())
        np.testing.assert_allclose(1 + (density.modes - density.loc) / density.scale**2, 0)


def test_one_datum_far_away_leaves_the_others_their_digits() -> None:
    X, Y = data()
    density = density_of(default_model(X, Y, unit_box(2)).train())
    X[-1] = 1e14
    far = density_of(default_model(X, Y, unit_box(2)).train())
    p = density.modes
    kernels = [part.kernels_along(p[None])[0] for part in (density, far)]
    np.testing.assert_allclose(kernels[1][:-1, :-1], kernels[0][:-1, :-1], rtol=1e-12)
    assert (kernels[1][-1, :-1] == 0).all()
    value, gradient = far(p)
    assert np.isfinite(value) and np.isfinite(gradient).all()


def test_argument_is_left_alone() -> None:
    density = density_of(make())
    p = density.modes
    before = p.copy()
    density(p)
    np.testing.assert_array_equal(p, before)


def test_a_matrix_that_is_not_positive_definite_is_very_unlikely() -> None:
    X, Y = data()
    model = default_model(X.repeat(2, 1), Y.repeat(2, 1), unit_box(2))
    value, gradient = LogDensity(model, -1e-3)(np.zeros(3))
    assert value == 1e10
    assert not gradient.any()


def test_with_noise_is_the_density_of_known_noise() -> None:
    model = make()
    p = LogDensity(model, 0.02).modes
    other, expected = LogDensity(model, None).with_noise(0.02), LogDensity(model, 0.02)
    assert other(p)[0] == expected(p)[0]
    np.testing.assert_array_equal(other(p)[1], expected(p)[1])
    np.testing.assert_array_equal(other.bounds, expected.bounds)
