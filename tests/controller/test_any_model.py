"""Models of all kinds: those that the theorem does not cover are refused by those who use it."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from botorch.exceptions.errors import UnsupportedError
from botorch.models import SingleTaskGP
from botorch.models.kernels.linear_truncated_fidelity import LinearTruncatedFidelityKernel
from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP
from botorch.models.transforms import Normalize
from botorch.models.transforms.input import ChainedInputTransform, InputTransform, Round, Warp
from botorch.models.transforms.outcome import Log
from gpytorch.kernels import Kernel, LinearKernel, PeriodicKernel, RBFKernel, ScaleKernel
from gpytorch.means import LinearMean
from torch import Tensor

from botorch_ubo import ExpandingBounds
from botorch_ubo.policies import view
from tests.support.controlled import FAST, UNIT, bell, corrected, data, gp, inside
from tests.support.gps import tensor

# Points that repeat, and a kernel of rank three, are what these models make of few data.
pytestmark = [
    pytest.mark.filterwarnings("ignore:A not p.d."),
    pytest.mark.filterwarnings("ignore:Negative variance values"),
]
DEFAULT = "EI-Turns"
WITHOUT_THEOREM = (
    *(DEFAULT, "HuBO-EI", "TuRBO-1", "EI-Volx2", "EI-Vanilla"),
    *("HuBO", "HD-HuBO", "GPUCB-FBO", "GPUCB-Vanilla", "GPUCB-Volx2"),
)
WITH_THEOREM = ("GPUCB-UBO", "EI-UBO")
WIDE = tensor([[-200.0, -200.0], [200.0, 200.0]])  # what `Warp` may see: it clips beyond


def quick_for_the_default(*methods: str) -> list[Any]:
    return [
        method if method == DEFAULT else pytest.param(method, marks=pytest.mark.slow)
        for method in methods
    ]


def rbf(**kwargs: Any) -> Kernel:
    kernel = RBFKernel(**kwargs)
    kernel.lengthscale = 0.6
    return ScaleKernel(kernel)


def fidelity() -> Kernel:
    """The second input is a fidelity, without a decay that slopes could be read off."""
    return ScaleKernel(LinearTruncatedFidelityKernel([1], dimension=2))


def after_normalize(transform: InputTransform) -> ChainedInputTransform:
    return ChainedInputTransform(unit=Normalize(2, bounds=UNIT), then=transform)


BEYOND_THE_THEOREM: dict[str, Callable[[], dict[str, Any]]] = {
    "periodic": lambda: {"covar_module": rbf() + ScaleKernel(PeriodicKernel())},
    "linear": lambda: {"covar_module": ScaleKernel(LinearKernel())},
    "additive": lambda: {"covar_module": rbf(active_dims=(0,)) + rbf(active_dims=(1,))},
    "linear mean": lambda: {"mean_module": LinearMean(2)},
    "warp": lambda: {"input_transform": Warp(2, indices=[0, 1], bounds=WIDE)},
    "warp after": lambda: {"input_transform": after_normalize(Warp(2, [0, 1], bounds=WIDE))},
    "warp of the unit cube": lambda: {"input_transform": after_normalize(Warp(2, [0, 1]))},
    "round": lambda: {"input_transform": Round(integer_indices=[0])},
    "round after": lambda: {"input_transform": after_normalize(Round(integer_indices=[1]))},
    "log outcome": lambda: {"outcome_transform": Log()},
    "fidelity": lambda: {"covar_module": fidelity()},
}


def build(name: str, X: Tensor, Y: Tensor) -> SingleTaskGP:
    usual = {"input_transform": Normalize(2, bounds=UNIT)}
    return SingleTaskGP(X, Y, **{**usual, **BEYOND_THE_THEOREM[name]()}).double().eval()


@pytest.mark.parametrize("name", BEYOND_THE_THEOREM)
class TestBeyondTheTheorem:
    @pytest.mark.parametrize("method", quick_for_the_default(*WITHOUT_THEOREM))
    def test_those_without_it_take_the_model(self, name: str, method: str) -> None:
        X, Y = data()
        box = ExpandingBounds(UNIT, method=method, **FAST)
        for _ in range(2):
            x = box.suggest(build(name, X, Y))
            assert box.bounds.isfinite().all() and (box.bounds[0] < box.bounds[1]).all()
            assert x.shape == (1, 2) and inside(box.bounds, x)
            X, Y = torch.cat([X, x]), torch.cat([Y, bell(x)])
        assert len(box.trace) == 2

    @pytest.mark.slow
    def test_batches_pending_points_and_failures_too(self, name: str) -> None:
        X, Y = data()
        box = ExpandingBounds(UNIT, **FAST)
        x = box.suggest(build(name, X, Y), q=2, X_pending=X[:1] + 0.01, X_failed=X[:1] + 0.1)
        assert x.shape == (2, 2) and inside(box.bounds, x)

    @pytest.mark.parametrize("method", WITH_THEOREM)
    def test_those_with_it_refuse_and_change_nothing(self, name: str, method: str) -> None:
        X, Y = data()
        box = ExpandingBounds(UNIT, method=method, **FAST)
        before = box.state_dict()
        with pytest.raises(UnsupportedError, match="Expected"):
            box.suggest(build(name, X, Y))
        assert box.state_dict() == before
        # The same for a run under way.
        box.update(gp(X, Y))
        under_way = box.state_dict()
        more = torch.cat([X, X[:1] + 0.1])
        with pytest.raises(UnsupportedError, match="Expected"):
            box.update(build(name, more, bell(more)))
        assert box.state_dict() == under_way


@pytest.mark.parametrize("name", BEYOND_THE_THEOREM)
def test_nothing_is_certified_without_slopes_to_rely_on(name: str) -> None:
    """What is stationary has them, also if it does not decay; others are refused."""
    X, Y = data()
    box = ExpandingBounds(UNIT, epsilon=50.0, **FAST)
    model = build(name, X, Y)
    box.update(model)
    before = box.state_dict()
    if name in ("periodic", "additive"):
        assert box.certify(model) is not None
    else:
        with pytest.raises(UnsupportedError, match="Expected"):
            box.certify(model)
    assert box.state_dict() == before


@pytest.mark.parametrize("method", WITHOUT_THEOREM)
def test_a_coarse_epsilon_concerns_the_theorem_alone(method: str) -> None:
    X, Y = data()
    box = ExpandingBounds(UNIT, method=method, epsilon=100, **FAST)
    x = box.suggest(gp(X, Y))
    assert inside(box.bounds, x)


@pytest.mark.parametrize("method", WITH_THEOREM)
def test_where_the_theorems_condition_fails_the_box_stays_and_the_record_says_why(
    method: str,
) -> None:
    X, Y = data()
    box = ExpandingBounds(UNIT, method=method, epsilon=100, **FAST)
    x = box.suggest(gp(X, Y))
    assert inside(UNIT, x) and torch.equal(box.bounds, UNIT)
    (record,) = box.history
    assert not record.moved
    assert "the box stays: Expected 0 < epsilon < 4 sqrt(beta) theta (Theorem 4.1)" in str(record)


def _no_summary(*_: Any, **__: Any) -> None:
    raise AssertionError("the theorem was asked")


@pytest.mark.parametrize("method", quick_for_the_default(*WITHOUT_THEOREM))
def test_no_theorem_is_computed_by_those_who_need_none(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "summarize_posterior", _no_summary)
    X, Y = data()
    box = ExpandingBounds(UNIT, method=method, **FAST)
    extra = tensor([[0.4, 0.4], [1.3, 0.2]])
    asked: list[dict[str, Any]] = [
        {},
        {"q": 2, "X_pending": extra[:1]},
        {"X_failed": extra},
        {"q": 2, "X_pending": extra[:1], "X_failed": extra},
    ]
    for arguments in asked:
        x = box.suggest(gp(X, Y), **arguments)
        assert x.shape == (arguments.get("q", 1), 2)
        X, Y = torch.cat([X, x]), torch.cat([Y, bell(x)])


@pytest.mark.parametrize("method", WITH_THEOREM)
def test_the_watch_on_the_theorem_notices(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "summarize_posterior", _no_summary)
    with pytest.raises(AssertionError, match="the theorem was asked"):
        ExpandingBounds(UNIT, method=method, **FAST).suggest(gp(*data()))


class TestModels:
    def test_scalarised_outputs(self) -> None:
        X, Y = data(8)
        two = torch.cat([Y, X.sum(-1, keepdim=True)], dim=-1)
        model = gp(X, two)
        transform = ScalarizedPosteriorTransform(tensor([2.0, -0.3]), offset=1.0)
        box = corrected(UNIT, posterior_transform=transform)
        x = box.suggest(model)
        assert inside(box.bounds, x)
        context = box.context(model)
        objective = 2 * two[:, 0] - 0.3 * two[:, 1] + 1
        observed = [context.view.to_raw_value(value) for value in context.observed.tolist()]
        torch.testing.assert_close(tensor(observed), objective)
        far = torch.full((1, 1, 2), 1e3, dtype=torch.double)
        with torch.no_grad():
            assert float(context.confidence.ucb(far)) == pytest.approx(
                context.confidence.ucb_at_infinity
            )
        assert box.suggest(model, q=2).shape == (2, 2)

    def test_a_scalarised_single_output_is_the_plain_problem(self) -> None:
        X, Y = data(8)
        transform = ScalarizedPosteriorTransform(tensor([1.0]))
        plain, scalarised = (
            corrected(UNIT),
            corrected(UNIT, posterior_transform=transform),
        )
        x = plain.suggest(gp(X, Y))
        torch.testing.assert_close(scalarised.suggest(gp(X, Y)), x)
        torch.testing.assert_close(scalarised.bounds, plain.bounds)

    def test_ensemble(self) -> None:
        X, Y = data(8)
        model = EnsembleMapSaasSingleTaskGP(X, Y, num_taus=3).eval()
        with torch.no_grad():
            model.covar_module.base_kernel.lengthscale = tensor(
                [[[0.3, 0.4]], [[0.5, 0.6]], [[0.9, 0.8]]]
            )
        box = corrected(UNIT)
        x = box.suggest(model)
        assert x.shape == (1, 2) and inside(box.bounds, x)
        assert torch.equal(x, box.suggest(model))
        # The widest member decides how far to look.
        record = box.history[0]
        assert record.details["half_widths"][0] > 2 * 0.9

    def test_constant_outcomes(self) -> None:
        X, _ = data()
        box = corrected(UNIT, **FAST)
        x = box.suggest(gp(X, torch.full((6, 1), 3.0, dtype=torch.double)))
        assert x.isfinite().all() and box.bounds.isfinite().all()

    def test_one_observation(self) -> None:
        box = corrected(UNIT, **FAST)
        X = tensor([[0.4, 0.6]])
        x = box.suggest(gp(X, bell(X), outcome_transform=None))
        assert x.isfinite().all() and inside(box.bounds, x)

    def test_bounds_come_in_the_dtype_of_the_first(self) -> None:
        X, Y = data()
        box = corrected(UNIT.float(), **FAST)
        x = box.suggest(gp(X, Y))
        assert box.bounds.dtype == torch.float and x.dtype == torch.double
        assert box.initial_bounds.dtype == box.hard_limits.dtype == torch.float
