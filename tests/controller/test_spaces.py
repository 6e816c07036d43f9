"""A controller in a space: what is suggested can be evaluated, and has not been."""

import pytest
import torch
from botorch.exceptions.errors import InputDataError, UnsupportedError

from botorch_ubo import (
    Categorical,
    ExpandingBounds,
    Float,
    Integer,
    Ordinal,
    SearchSettings,
    Space,
    available_methods,
)
from botorch_ubo.controller.suggestion import lattice_of

QUICK = SearchSettings(num_restarts=2, raw_samples=32)
SPACE = Space(
    {
        "lr": Float(1e-3, 1e-1, log=True, limits=(1e-6, None)),
        "n": Integer(1, 4, limits=(1, None)),
        "act": Categorical(["a", "b", "c"]),
        "size": Ordinal([8, 16, 32]),
    }
)
REFUSED = {"GPUCB-UBO", "GPUCB-UBO (as published)", "EI-UBO", "EI-VarCap"}


def data(n=12, noise=0.0):
    generator = torch.Generator().manual_seed(0)
    lower, upper = SPACE.bounds
    U = lower + (upper - lower) * torch.rand(n, 4, generator=generator, dtype=torch.double)
    X = torch.tensor([SPACE.snap(row) for row in U.tolist()], dtype=torch.double)
    Y = -X[:, :1] + X[:, 1:2] + (X[:, 2:3] == 1).double() - (X[:, 3:] - 1).abs()
    return X, Y + noise * torch.randn(n, 1, generator=generator, dtype=torch.double)


@pytest.mark.slow
@pytest.mark.parametrize("method", [m.name for m in available_methods()])
def test_every_method_suggests_points_of_the_space_or_refuses_categories(method):
    box = ExpandingBounds(SPACE, method=method, search=QUICK)
    X, Y = data()
    if method in REFUSED:
        with pytest.raises(UnsupportedError, match="CategoricalKernel"):
            box.suggest(box.fit(X, Y))
        return
    for _ in range(3):
        x = box.suggest(box.fit(X, Y))
        row = tuple(x[0].tolist())
        assert SPACE.snap(row) == row
        assert row not in {tuple(known) for known in X.tolist()}
        assert (x >= SPACE.limits[0]).all() and (x <= SPACE.limits[1]).all()
        X, Y = torch.cat([X, x]), torch.cat([Y, x[:, 1:2]])


def test_a_batch_is_of_different_points_and_keeps_off_pending_and_failed_ones():
    box = ExpandingBounds(SPACE, search=QUICK)
    X, Y = data()
    model = box.fit(X, Y)
    first = box.suggest(model, q=3)
    rows = {tuple(row) for row in first.tolist()}
    assert len(rows) == 3
    more = box.suggest(model, X_pending=first, X_failed=X[:1] + torch.tensor([0, 1, 0, 0]))
    assert tuple(more[0].tolist()) not in rows


def test_a_known_point_comes_again_only_where_the_data_told_of_noise():
    space = Space({"n": Integer(1, 3, limits=(1, 3))})
    X = torch.tensor([[1.0], [2.0]], dtype=torch.double)
    box = ExpandingBounds(space, search=QUICK)
    quiet = box.fit(X, torch.tensor([[0.0], [1.0]], dtype=torch.double))
    assert box.suggest(quiet).item() == 3.0
    every = X.new_tensor([[1.0], [2.0], [3.0]]).repeat(4, 1)
    loud = torch.tensor([0.0, 5.0, 0, 1, 9, 0, 2, -6, 1, -1, 4, 0]).double().unsqueeze(-1)
    noisy = box.fit(every, loud, torch.full_like(loud, 9.0))
    assert lattice_of(box.context(quiet), None, None).taken == {(1.0,), (2.0,)}
    assert lattice_of(box.context(noisy), None, None).taken == set()
    assert lattice_of(box.context(noisy), None, X[:1]).taken == {(1.0,)}  # it failed


def test_limits_are_with_the_parameters():
    with pytest.raises(InputDataError, match="limits with the parameters"):
        ExpandingBounds(SPACE, hard_limits={0: (0, 1)})


def test_initial_points_are_different_points_of_the_space():
    X = ExpandingBounds(SPACE).initial_points(12)
    rows = [tuple(row) for row in X.tolist()]
    assert [SPACE.snap(row) for row in rows] == rows
    assert len(set(rows)) == 12
    assert torch.equal(ExpandingBounds(SPACE).initial_points(5), X[:5])
