"""Boxes of many runs are those that each run would have alone."""

import pytest
import torch

from botorch_ubo import ExpandingBounds
from botorch_ubo.models.batched import BatchedFit
from botorch_ubo.models.own_units import in_own_units
from botorch_ubo.policies.batched import BatchedContext
from botorch_ubo.run.batched import step as stepping
from botorch_ubo.strategies.batched.trust_region import lengths
from botorch_ubo.strategies.trust_region import TrustRegionBox
from tests.support.batches import data, problem, state, unit_box

METHODS = ["EI-Turns", "HuBO-EI", "EI-UBO", "GPUCB-UBO"]
SIZES = (14, 9, 12, 17)


def _with_fits_of_one(monkeypatch, method, sizes, num_initial):
    """A batched step whose hyper-parameters are those of single fits, and the single boxes."""
    X, Y, present = data(sizes=sizes)
    Y[-1] = torch.where(present[-1], 1.0, 0.0)  # a run that has seen nothing but equal values
    boxes, rows = [], []
    for i, row in enumerate(present):
        box = ExpandingBounds(unit_box(2), method=method, seed=i)
        if num_initial > 0:
            first = row & (torch.arange(len(row)) < num_initial)
            box.update(box.fit(X[i, first], Y[i, first].unsqueeze(-1)))
        model = box.fit(X[i, row], Y[i, row].unsqueeze(-1))
        own = in_own_units(model)[0]
        parts = own.covar_module.base_kernel.lengthscale[0], own.covar_module.outputscale[None]
        rows.append((torch.cat(parts).detach().log(), model.likelihood.noise.detach()[0]))
        before = box.bounds
        box.update(model)
        boxes.append((before, box.bounds, box.state.boxes))
    p, noise = (torch.stack(part) for part in zip(*rows, strict=True))
    fit = BatchedFit(p, noise, noise, noise < 2e-6)
    monkeypatch.setattr(stepping, "fit_batched", lambda *_: fit)
    runs = state(X, Y, present, num_initial)
    runs.bounds.copy_(torch.stack([before for before, _, _ in boxes]))
    return problem(method, len(sizes), 2), runs, boxes


@pytest.mark.parametrize("num_initial", [-1, 6])
@pytest.mark.parametrize("method", METHODS)
def test_they_are_those_of_single_runs(monkeypatch, method, num_initial):
    given, runs, boxes = _with_fits_of_one(monkeypatch, method, SIZES, num_initial)
    found = stepping.suggest_batched(given, runs)
    for i, (_, after, _) in enumerate(boxes):
        torch.testing.assert_close(found.bounds[i], after, atol=2e-5, rtol=0)
    assert found.X.shape == (4, 1, 2) and found.X.isfinite().all()
    assert ((found.X >= found.bounds[:, :1]) & (found.X <= found.bounds[:, 1:])).all()


def test_local_and_global_steps_take_turns(monkeypatch):
    given, runs, boxes = _with_fits_of_one(monkeypatch, "EI-Turns", SIZES, 6)
    found = stepping.suggest_batched(given, runs)
    for i, (n, (_, _, parts)) in enumerate(zip(SIZES, boxes, strict=True)):
        box = parts[(n - 6) % 2]
        inside = (found.X[i, 0] >= box[0] - 1e-5) & (found.X[i, 0] <= box[1] + 1e-5)
        assert inside.all()


def test_on_a_plateau_all_search_the_same_empty_place_as_a_run_alone(monkeypatch):
    given, runs, boxes = _with_fits_of_one(monkeypatch, "EI-Turns", SIZES, 6)
    found = []
    propose = stepping._propose
    monkeypatch.setattr(
        stepping, "_propose", lambda *given: found.append(propose(*given)) or found[-1]
    )
    stepping.suggest_batched(given, runs)
    (proposal,) = found
    equal = [torch.equal(*parts) for _, _, parts in boxes]
    assert equal == [False, False, False, True]  # the last has seen nothing but equal values
    for mine, alone in zip(proposal.boxes, boxes[-1][2], strict=True):
        torch.testing.assert_close(given.to_raw(mine)[-1], alone, atol=2e-5, rtol=0)


@pytest.mark.parametrize("d", [1, 2, 6])
def test_the_length_of_a_trust_region_is_the_fold_over_its_observations(d):
    generator = torch.Generator().manual_seed(d)
    R, n = 60, 70
    # Long rows of successes and of failures, so that every limit of the length is met.
    steps = torch.randn(R, n, generator=generator, dtype=torch.double)
    drift = torch.linspace(-2, 2, R, dtype=torch.double).unsqueeze(-1)
    y = (steps + drift).cumsum(dim=-1)
    present = torch.arange(n) < torch.randint(20, n, (R, 1), generator=generator)
    outcomes = stepping.standardize_outcomes(torch.zeros(R, n, d).double(), y, present)
    outcomes = type(outcomes)(torch.where(present, y, 0.0), *list(vars(outcomes).values())[1:])
    num_initial = torch.randint(1, 12, (R,), generator=generator)
    gp = type("Data", (), {"present": present})
    context = BatchedContext(
        torch.zeros(R, n, d).double(), gp, outcomes, None, None, num_initial, num_initial
    )
    strategy = TrustRegionBox()
    expected = [
        strategy.fold(y[i, present[i]].tolist(), int(num_initial[i]), d).length for i in range(R)
    ]
    assert lengths(strategy, context).tolist() == expected
    assert min(expected) < 0.1 and max(expected) == 16.0
