"""Starts of a search of a formula."""

from __future__ import annotations

import numpy as np
import torch

from botorch_ubo import ExpandingBounds
from botorch_ubo.acquisition.search.quick_starts import quick_starts
from botorch_ubo.models.quick import QuickLogExpectedImprovement

BOUNDS = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.double)


def test_starts_are_in_the_box_well_apart_repeatable_and_better_than_space_filling_ones() -> None:
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(12, 2, generator=generator, dtype=torch.double)
    Y = -(X - 0.3).square().sum(dim=-1, keepdim=True)
    box = ExpandingBounds(BOUNDS)
    model = box.fit(X, Y)
    acqf = QuickLogExpectedImprovement(model, best_f=float(Y.max()))  # type: ignore[arg-type]
    form = acqf.closed_form()
    assert form is not None
    sides = np.sort(form.to_points(20 * BOUNDS - 10), axis=0)
    near = box.context(model).view.neighborhood
    starts, again, others = (quick_starts(form, sides, near, seed, 8, 256) for seed in (3, 3, 4))
    assert (starts >= sides[0]).all() and (starts <= sides[1]).all()
    assert len(starts) == 8 and (starts == again).all() and not (starts == others).all()
    distance = np.linalg.norm(starts[:6, None] - starts[None, :6], axis=-1)
    assert (distance[~np.eye(6, dtype=bool)] >= 0.2).all()
    filling = sides[0] + np.random.default_rng(0).random((256, 2)) * (sides[1] - sides[0])
    values, best = form.formula(starts)[0], form.formula(filling)[0].max()
    assert values.max() > best + 1.0
