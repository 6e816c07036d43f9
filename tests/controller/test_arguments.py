"""The arguments of ExpandingBounds: what they mean, and what is refused in words."""

import math
from typing import Any

import pytest
import torch
from botorch.exceptions.errors import InputDataError

from botorch_ubo import ExpandingBounds, SearchSettings
from botorch_ubo.acquisition.search import SearchSettings as Search
from botorch_ubo.controller.arguments import parse_epsilon
from tests.support.controlled import FAST, UNIT, data, gp
from tests.support.gps import tensor


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        (tensor([[0.0, math.nan], [1.0, 1.0]]), r"finite.*got.*nan"),
        (tensor([[-math.inf, 0.0], [1.0, 1.0]]), r"finite.*hard_limits"),
        (tensor([[0.0, 1.0], [1.0, 1.0]]), r"lower < upper.*\[1\]"),
        (tensor([[1.0, 0.0], [0.0, 1.0]]), r"lower < upper.*Swap"),
        (tensor([[0.0, 1.0]]), r"2 x d.*\(1, 2\)"),
        (tensor([[0.0, 1.0]] * 3), r"2 x d.*\(3, 2\).*\.T"),
        (tensor([0.0, 1.0]), r"2 x d.*\(2,\)"),
        (torch.zeros(2, 0), r"2 x d.*\(2, 0\)"),
        (torch.tensor([[0, 0], [1, 1]]), r"floating point.*int64.*double"),
        ([(0.0, 1.0), (0.0, 1.0)], r"tensor; got list"),
    ],
)
def test_bad_bounds_are_refused(bounds: Any, message: str) -> None:
    with pytest.raises(InputDataError, match=r"Expected.*" + message):
        ExpandingBounds(bounds)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"epsilon": 0.0}, "positive finite `epsilon`; got 0"),
        ({"epsilon": -1.0}, "got -1"),
        ({"epsilon": math.nan}, "got nan"),
        ({"epsilon": math.inf}, "got inf"),
        ({"epsilon": (0.1, "sigma")}, r"one of \('std', 'range', 'raw'\); got 'sigma'"),
        ({"epsilon": (0.0, "raw")}, "positive finite `epsilon`; got 0"),
        ({"max_growth": 0.0}, "`max_growth`; got 0"),
        ({"max_growth": math.nan}, "got nan"),
        ({"max_growth": "x"}, "`max_growth`; got 'x'"),
        ({"max_growth": []}, r"`max_growth`; got \[\]"),
        ({"epsilon": None}, "`epsilon`; got None"),
        ({"epsilon": "x"}, "`epsilon`; got 'x'"),
        ({"epsilon": 1j}, "`epsilon`; got 1j"),
        ({"epsilon": (1, 2, 3)}, r"number or \(number, unit\); got \(1, 2, 3\)"),
        ({"hard_limits": {0: (0.5, None)}}, r"`bounds`.*within the hard limits"),
        ({"hard_limits": {0: (3, 2)}}, "lower < upper in `hard_limits`"),
        ({"hard_limits": {2: (0, 1)}}, "dimensions 0 to 1.*got 2"),
        ({"hard_limits": [(0, 1)]}, r"per dimension \(2\); got 1"),
        ({"hard_limits": torch.zeros(3, 2)}, r"2 x 2; got \(3, 2\)"),
        ({"search": {"num_restarts": 2}}, r"`search` to be SearchSettings.*num_restarts=10"),
        ({"method": "EI-Romaing"}, r"got 'EI-Romaing'.*nearest are 'EI-Roaming'"),
    ],
)
def test_bad_settings_are_refused(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(InputDataError, match=r"(?s)Expected.*" + message):
        ExpandingBounds(UNIT, **kwargs)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"num_restarts": 0}, "`num_restarts` of at least 1.*got 0 and 512"),
        ({"raw_samples": 3}, "`raw_samples` of at least 4; got 4 and 3"),
    ],
)
def test_bad_searches_are_refused(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(InputDataError, match=message):
        SearchSettings(**kwargs)


class TestEpsilon:
    def test_a_number_is_in_the_methods_unit_and_a_pair_has_its_own(self) -> None:
        assert parse_epsilon(0.2, "range") == (0.2, "range")
        assert parse_epsilon((0.2, "raw"), "range") == (0.2, "raw")
        assert parse_epsilon([1, "std"], "range") == (1.0, "std")  # as from JSON

    @pytest.mark.parametrize("unit", ["std", "range", "raw"])
    def test_in_raw_units(self, unit: str) -> None:
        X, Y = data()
        context = ExpandingBounds(UNIT, epsilon=(0.2, unit)).context(gp(X, 1000 * Y))
        values = 1000 * Y.squeeze(-1)
        size = {"std": values.std(), "range": values.max() - values.min(), "raw": 1.0}[unit]
        raw = context.view.to_raw_difference(context.epsilon)
        assert raw == pytest.approx(0.2 * float(size))


def test_what_is_not_said_is_the_methods_or_the_default() -> None:
    plain = ExpandingBounds(UNIT, method="GPUCB-UBO (as published)").settings
    assert (plain.epsilon, plain.epsilon_unit, plain.max_growth) == (0.05, "range", math.inf)
    said = ExpandingBounds(UNIT, method="GPUCB-UBO (as published)", max_growth=3).settings
    assert said.max_growth == 3.0
    assert plain.search == Search(4, 512) and plain.seed == 0 and plain.maximize
    assert plain.hard_limits.tolist() == [[-math.inf] * 2, [math.inf] * 2]


class TestSuggest:
    """What is no argument is refused in words before anything changes."""

    @pytest.mark.parametrize("q", [0, -1, 1.5, "1", None])
    def test_number(self, q: Any) -> None:
        with pytest.raises(InputDataError, match="a whole number q >= 1"):
            ExpandingBounds(UNIT, **FAST).suggest(gp(*data()), q=q)

    @pytest.mark.parametrize("name", ["X_pending", "X_failed"])
    @pytest.mark.parametrize(
        "points",
        [
            torch.zeros(2),
            torch.zeros(1, 3),
            torch.full((1, 2), math.nan),
            torch.full((1, 2), math.inf),
            torch.full((1, 2), 1e300, dtype=torch.double),
            [[0.0, 0.0]],
        ],
    )
    def test_points(self, name: str, points: Any) -> None:
        box = ExpandingBounds(UNIT, **FAST)
        with pytest.raises(InputDataError, match=f"Expected `{name}`"):
            box.suggest(gp(*data()), **{name: points})
        assert not box.trace

    @pytest.mark.parametrize("acq_function", ["EI", 5, lambda model: None, lambda model: model])
    def test_acquisition_functions(self, acq_function: Any) -> None:
        box = ExpandingBounds(UNIT, **FAST)
        with pytest.raises(InputDataError, match="Expected an AcquisitionFunction"):
            box.suggest(gp(*data()), acq_function)

    @pytest.mark.parametrize("kind", [torch.half, torch.long, torch.complex64, None])
    def test_data(self, kind: Any) -> None:
        X, Y = data()
        bad = X.numpy() if kind is None else X.to(kind)
        with pytest.raises(InputDataError, match=r"Expected `X` as a tensor of torch\.double"):
            ExpandingBounds(UNIT).fit(bad, Y)
