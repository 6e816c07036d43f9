"""The method for ``scipy.optimize.minimize``."""

import math

import numpy as np
import pytest
from scipy.optimize import Bounds, OptimizeWarning, minimize

from botorch_ubo.integrations.scipy import expanding


def f(x, a=1.0):
    return float((x[0] - 7) ** 2 + a * (x[1] + 6) ** 2)


def run(fun=f, x0=(0.0, 0.0), **kwargs):
    options = {"maxfev": 8, **kwargs.pop("options", {})}
    return minimize(fun, list(x0), method=expanding, options=options, **kwargs)


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [[(None, None), (-4, None)], Bounds([-np.inf, -4], np.inf)])
def test_the_constrained_optimum_is_found_from_a_wrong_box(bounds):
    result = run(args=(2.0,), bounds=bounds, options={"maxfev": 25})
    assert result.x == pytest.approx([7, -4], abs=0.2)
    assert result.fun == pytest.approx(8, abs=0.1)
    assert (result.x_iters[:, 1] >= -4).all()


def test_the_result_has_what_scipy_users_expect():
    result = run()
    assert (result.nfev, result.nit, result.success, result.status) == (8, 8, True, 0)
    assert result.x.shape == (2,)
    assert result.fun == f(result.x) == result.func_vals.min()
    assert result.x_iters.shape == (8, 2)
    assert result.x_iters[0].tolist() == [0.0, 0.0]
    assert result.bounds.shape == (2, 2)
    assert result.nfail == 0
    assert "budget" in result.message


def test_the_first_box_is_around_the_guess_and_within_the_bounds():
    seen = []
    run(
        lambda x: seen.append(x) or float(x.sum()),
        x0=(1.0, 10.0),
        bounds=[(0.9, None), (None, None)],
        options={"scale": [0.5, 5.0], "maxfev": 6},
    )
    points = np.array(seen)
    assert (points[:, 0] >= 0.9).all() and (points[:, 0] <= 2.5).all()
    assert (np.abs(points[:, 1] - 10) <= 15).all()  # at most three times as wide
    assert all(isinstance(x, np.ndarray) and x.dtype == float for x in seen)


def test_callbacks_get_what_they_ask_for_and_stop():
    best = []

    def modern(intermediate_result):
        best.append(intermediate_result.fun)
        if len(best) == 4:
            raise StopIteration

    result = run(callback=modern)
    assert (result.nfev, result.status, result.success) == (4, 99, False)
    assert best == sorted(best, reverse=True) and best[-1] == result.fun
    points = []
    run(callback=lambda xk: points.append(xk), options={"maxfev": 3})
    assert [point.shape for point in points] == [(2,)] * 3
    best.clear()
    assert expanding(f, [0.0, 0.0], callback=modern, maxfev=6).nfev == 4  # without SciPy between


def test_failed_evaluations_are_counted_and_exceptions_are_the_users():
    result = run(lambda x: math.nan if x[0] > 0.5 else f(x))
    assert result.nfail > 0
    assert len(result.func_vals) == 8 - result.nfail
    hopeless = run(lambda x: math.inf, options={"maxfev": 3})
    assert (hopeless.success, hopeless.status, hopeless.nfail) == (False, 2, 3)
    assert math.isnan(hopeless.fun)
    with pytest.raises(ZeroDivisionError):
        run(lambda x: 1 / 0)


def test_a_box_that_is_exhausted_ends_the_run():
    result = run(
        lambda x: float(1e-3 * x[0]), x0=(0.0,), bounds=[(-1, 1)], tol=1.0, options={"maxfev": 30}
    )
    assert result.nfev <= 30
    assert result.success


def test_no_point_comes_twice_where_the_optimum_is_in_a_corner():
    result = run(lambda x: float(x.sum()), bounds=[(-1, None)] * 2, options={"maxfev": 16})
    assert result.x.tolist() == [-1.0, -1.0]
    assert len({tuple(x) for x in result.x_iters}) == 16


def test_arrays_with_one_element_and_scalars_are_values_and_guesses():
    result = run(lambda x: (x - 1) ** 2, x0=(0.5,), options={"maxfev": 4})
    assert isinstance(result.fun, float) and result.x.shape == (1,)
    assert expanding(lambda x: x[0] ** 2, np.float32(2.0), maxfev=2).nfev == 2
    with pytest.raises(ValueError, match="finite"):
        run(x0=(math.nan, 0.0))
    with pytest.raises(TypeError, match="real number"):
        run(lambda x: None)


def test_what_is_not_supported_is_said():
    with pytest.raises(ValueError, match="Constraints are not supported"):
        run(constraints={"type": "ineq", "fun": f})
    with pytest.warns(RuntimeWarning, match="derivatives"):
        run(jac=lambda x: x, options={"maxfev": 1})
    with pytest.warns(OptimizeWarning, match="Unknown solver options: gtol"):
        run(options={"gtol": 1, "maxfev": 1})
    with pytest.warns(OptimizeWarning, match="not within the specified bounds"):
        assert run(bounds=[(1, 2), (1, 2)], options={"maxfev": 1}).x.tolist() == [1, 1]
    with pytest.raises(ValueError, match="positive `scale`"):
        run(options={"scale": -1})
    with pytest.raises(ValueError, match="lower < upper"):
        run(bounds=[(0, 0), (None, None)])
