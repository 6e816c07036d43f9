"""The search of many runs at once."""

import pytest
import torch

from botorch_ubo import BatchedRuns, SearchSettings
from botorch_ubo.acquisition.batched import maximize_batched
from botorch_ubo.models.batched import (
    BatchedFit,
    BatchedGP,
    BatchedLogEI,
    groups,
    standardize_outcomes,
)
from tests.support.batches import data

SIZES = (14, 9, 12, 14, 10)


def _search(gp: BatchedGP, y: torch.Tensor):
    boxes = gp.to_points(torch.tensor([[0.0] * 2, [1.0] * 2]).double().repeat(len(y), 1, 1))
    formula = BatchedLogEI(gp, y.amax(dim=-1))
    return maximize_batched(formula, gp, boxes, torch.arange(len(y)), SearchSettings())


def test_groups_that_fit_a_cache_come_to_the_same(monkeypatch):
    X, Y, present = data(sizes=SIZES)
    y = standardize_outcomes(X / 2, Y, present).y
    p = torch.log(torch.tensor([0.3, 0.4, 1.0], dtype=torch.double)).repeat(len(SIZES), 1)
    noise = torch.full_like(p[:, 0], 1e-3)
    gp = BatchedGP.of(0.5 + X / 6, y, present, BatchedFit(p, noise, noise, noise > 1))
    together = _search(gp, y)
    sizes = []
    covariance = BatchedGP.prior_covariance

    def watched(self, points):
        sizes.append(len(points))
        return covariance(self, points)

    monkeypatch.setattr(BatchedGP, "prior_covariance", watched)
    monkeypatch.setattr(groups, "NUMBERS_IN_CACHE", 0)
    monkeypatch.setattr(groups, "FEWEST", 2)
    apart = _search(gp, y)
    assert max(sizes) == 2
    torch.testing.assert_close(apart.values, together.values, atol=1e-6, rtol=0)
    torch.testing.assert_close(apart.points, together.points, atol=1e-3, rtol=0)


@pytest.mark.parametrize(("restarts", "samples"), [(1, 4), (4, 8), (16, 32), (20, 64)])
def test_few_samples_are_all_starts(restarts, samples):
    bounds, sizes = [(-1.0, 1.0)] * 2, (3, 7)
    X, Y, present = data(sizes=sizes)
    own = [(x[there], y[there]) for x, y, there in zip(X, Y, present, strict=True)]
    search = SearchSettings(restarts, samples)
    candidates = BatchedRuns(bounds, 2, data=own, num_initial=1, search=search).ask()
    assert candidates.shape == (2, 2) and candidates.isfinite().all()
