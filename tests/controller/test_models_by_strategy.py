"""Every class of models with every method: it works, or is refused in words and changes nothing."""

import re
from typing import Any

import pytest
import torch
from botorch.exceptions.errors import UnsupportedError

from botorch_ubo import ExpandingBounds, available_methods
from tests.support.all_models import CASES, Case
from tests.support.controlled import FAST, UNIT, bell, data, inside

pytestmark = [
    # What these models make of few data, unscaled.
    pytest.mark.filterwarnings("ignore:A not p.d."),
    pytest.mark.filterwarnings("ignore:Negative variance values"),
    pytest.mark.filterwarnings("ignore::botorch.exceptions.warnings.BotorchWarning"),
    pytest.mark.filterwarnings("ignore:.*added jitter"),
]
DEFAULT = "EI-Turns"
THEOREM = (*("GPUCB-UBO", "GPUCB-UBO (as published)", "EI-UBO", "EI-VarCap", "EI-H", "EI-Q"),)
WITHOUT = tuple(method.name for method in available_methods() if method.name not in THEOREM)


def pairs(methods: tuple[str, ...], quick: str) -> list[Any]:
    return [
        pytest.param(
            *(name, method),
            marks=[pytest.mark.slow] if case.slow or method != quick else [],
        )
        for name, case in CASES.items()
        for method in methods
    ]


def step(box: ExpandingBounds, case: Case, n: int) -> tuple[torch.Tensor, dict[str, Any]]:
    X = case.points(data(n)[0])
    model = case.build(X, bell(X)).eval()
    asked = case.asked(X)
    return box.suggest(model, **asked), asked


@pytest.mark.parametrize(("name", "method"), pairs(WITHOUT, DEFAULT))
def test_methods_without_the_theorem_take_every_model(name: str, method: str) -> None:
    case = CASES[name]
    bounds = case.points(UNIT) if name == "Log10" else UNIT
    box = ExpandingBounds(bounds, method=method, **FAST, **case.box)
    if case.by_samples and box.method.constrained_acquisition is None:
        before = box.state_dict()
        with pytest.raises(UnsupportedError, match=r"(?s)Expected.*Use.*EI-Turns"):
            step(box, case, 8)
        assert box.state_dict() == before
        return
    for n in (8, 9):
        x, asked = step(box, case, n)
        assert x.shape == (1, 2) and x.isfinite().all()
        assert box.bounds.isfinite().all() and (box.bounds[0] < box.bounds[1]).all()
        free = [
            i
            for i in (0, 1)
            if i not in {*asked.get("fixed_features", ()), *asked.get("cat_dims", ())}
        ]
        assert inside(box.bounds[:, free], x[:, free])
        for i, value in asked.get("fixed_features", {}).items():
            assert float(x[0, i]) == value
        for i, values in asked.get("cat_dims", {}).items():
            assert float(x[0, i]) in values
    assert len(box.trace) == 2


@pytest.mark.parametrize(("name", "method"), pairs(THEOREM, "EI-UBO"))
def test_methods_with_the_theorem_take_those_that_it_covers(name: str, method: str) -> None:
    case = CASES[name]
    bounds = case.points(UNIT) if name == "Log10" else UNIT
    box = ExpandingBounds(bounds, method=method, **FAST, **case.box)
    before = box.state_dict()
    try:
        x, _ = step(box, case, 8)
    except UnsupportedError as error:
        assert re.search(r"(?s)Expected.*(Use|Transform|Remove)", str(error))
        assert box.state_dict() == before
        # As published: of one output and one set of hyper-parameters.
        assert not case.in_theorem or method == "GPUCB-UBO (as published)"
    else:
        assert x.shape == (1, 2) and inside(box.bounds, x)
        # Those with a penalty need no more than a prior variance.
        assert case.in_theorem or method in ("EI-H", "EI-Q")


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_batches_pending_and_failed_points(name: str) -> None:
    case = CASES[name]
    bounds = case.points(UNIT) if name == "Log10" else UNIT
    box = ExpandingBounds(bounds, **FAST, **case.box)
    X = case.points(data(8)[0])
    model = case.build(X, bell(X)).eval()
    near = case.points((X[:1] + 0.05).clamp(0.02, 1.0))
    if name in ("SaasFullyBayesianSingleTaskGP", "EnsembleMapSaasSingleTaskGP"):
        near = X[:1] + 0.05
    x = box.suggest(model, q=2, X_pending=near, X_failed=near, **case.asked(X))
    assert x.shape == (2, 2) and x.isfinite().all()
    assert not torch.equal(x[0], x[1])
