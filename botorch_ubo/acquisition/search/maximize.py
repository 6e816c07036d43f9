r"""Maximise an acquisition function in a box that is mostly plateau.

BoTorch's ``optimize_acqf`` (:mod:`botorch_ubo.acquisition.search.climbing`) goes from the best of
the starts around the data (:mod:`botorch_ubo.acquisition.search.starts`). As many samples and
restarts as in a stock call cost the same; fewer restarts do, since they are well apart. All random
choices are of private generators. An acquisition function with a formula for a device
(:mod:`botorch_ubo.acquisition.batched.single`) is searched there.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.exceptions.errors import InputDataError
from botorch.utils.sampling import draw_sobol_samples
from torch import Tensor

from botorch_ubo.acquisition.batched import batched_form, maximize_on_device
from botorch_ubo.acquisition.search.categories import alternate, open_categories
from botorch_ubo.acquisition.search.climbing import climb
from botorch_ubo.acquisition.search.in_space import check_pending
from botorch_ubo.acquisition.search.lattice import Lattice
from botorch_ubo.acquisition.search.quick_starts import quick_starts
from botorch_ubo.acquisition.search.rescaled import RescaledAcquisition
from botorch_ubo.acquisition.search.settings import Options, SearchSettings
from botorch_ubo.acquisition.search.starts import Neighborhood, StartsAroundData
from botorch_ubo.boxes import clip, hull
from botorch_ubo.models.quick import ClosedForm, ascend, closed_form, has_quick_search

_STARTS_ON_GRID, _ROUNDS_ON_GRID = 16, 5
# With a formula restarts cost little, and so do samples of few data.
_ALL_AT_ONCE = 10  # times as many restarts, most of which are soon given up
_ONE_BY_ONE = 4  # the same where each is climbed to its end
_MORE_SAMPLES, _FEW_DATA = 3, 300  # times as many samples, of a hundred data or fewer
_MAX_DIM = 30  # up to which that is so, and a matrix for every restart costs less than its memory
_MAX_SEARCHED = 5  # boxes of a union that are worth a local search


def maximize_acquisition(
    acq_function: AcquisitionFunction,
    boxes: Tensor,
    neighborhood: Neighborhood,
    q: int = 1,
    seed: int = 0,
    settings: SearchSettings | None = None,
    lattice: Lattice | None = None,
) -> tuple[Tensor, Tensor]:
    r"""Maximise an acquisition function over a box or a union of boxes.

    Args:
        acq_function: The acquisition function. For ``q > 1`` it must support ``X_pending``;
            points are then chosen one after another, as with ``sequential=True``.
        boxes: A ``2 x d`` or ``b x 2 x d`` tensor in raw units, in the model's dtype.
        neighborhood: The data and their reach.
        q: The number of candidates.
        seed: Seed of the starts; the global random state is left alone.
        settings: Numbers of restarts and samples, and options of ``optimize_acqf``.
        lattice: Where candidates are to be points that can be evaluated, and have not been.

    Returns:
        A ``q x d`` tensor of candidates and a ``q``-dim tensor of their acquisition values.
    """
    settings = settings or SearchSettings()
    boxes = boxes if boxes.dim() == 3 else boxes.unsqueeze(0)
    if boxes.shape[-2:] != (2, neighborhood.X.shape[-1]):
        raise InputDataError(
            f"Expected boxes of shape 2 x {neighborhood.X.shape[-1]} or b x 2 x "
            f"{neighborhood.X.shape[-1]}; got {tuple(boxes.shape)}."
        )
    boxes = open_categories(boxes, neighborhood.categories)
    if q == 1:
        X, value = _maximize_one(acq_function, boxes, neighborhood, seed, settings)
        if lattice is None:
            return X, value.reshape(1)
        X = _settle(acq_function, X, boxes, lattice, neighborhood, settings, seed)
        with torch.no_grad():
            return X, acq_function(X.unsqueeze(-2)).reshape(1)
    check_pending(acq_function, q)
    base_pending = acq_function.X_pending
    chosen, values = [], []
    try:
        for i in range(q):
            X, value = _maximize_one(acq_function, boxes, neighborhood, seed + i, settings)
            if lattice is not None:
                X = _settle(acq_function, X, boxes, lattice, neighborhood, settings, seed + i)
                lattice = lattice.taking(X)
            chosen.append(X)
            values.append(value.reshape(1))
            pending = chosen if base_pending is None else [base_pending, *chosen]
            acq_function.set_X_pending(torch.cat(pending))
    finally:
        acq_function.set_X_pending(base_pending)
    return torch.cat(chosen), torch.cat(values)


def _maximize_one(
    acq_function: AcquisitionFunction,
    boxes: Tensor,
    neighborhood: Neighborhood,
    seed: int,
    settings: SearchSettings,
) -> tuple[Tensor, Tensor]:
    """The best ``1 x d`` candidate over all boxes, with its value."""
    form = batched_form(acq_function)
    if form is not None and settings.options is None and not neighborhood.categories:
        boxes = _most_promising(acq_function, boxes, seed, settings.raw_samples)
        return maximize_on_device(form, boxes, seed, settings)
    best: tuple[Tensor, Tensor] | None = None
    quick = closed_form(acq_function) if settings.options is None else None
    if quick is not None and boxes.shape[-1] <= _MAX_DIM:
        more = min(_MORE_SAMPLES, max(1, _FEW_DATA // len(neighborhood.X)))
        restarts = _ONE_BY_ONE if neighborhood.categories else _ALL_AT_ONCE
        settings = replace(
            settings,
            num_restarts=restarts * settings.num_restarts,
            raw_samples=more * settings.raw_samples,
        )
    share = settings
    if len(boxes) > 1:  # a union of boxes, however many, costs about two searches
        boxes = _most_promising(acq_function, boxes, seed, settings.raw_samples)
        share = replace(
            settings,
            num_restarts=max(2, 2 * settings.num_restarts // len(boxes)),
            raw_samples=max(32, settings.raw_samples // len(boxes)),
        )
    for i, box in enumerate(boxes):
        if quick is not None and not neighborhood.categories and box.shape[-1] <= _MAX_DIM:
            X, value = _maximize_formula(quick, box, neighborhood, seed + 7919 * i, share)
            if best is None or value > best[1]:
                best = X, value
            continue
        draw = StartsAroundData(neighborhood, seed + 7919 * i)
        starts = draw(acq_function, box, 1, share.num_restarts, share.raw_samples)
        again = partial(_climb, acq_function, box, neighborhood=neighborhood, options=share.options)
        X, value = again(starts)
        X, value = alternate(acq_function, X, value, neighborhood.categories, again)
        if best is None or value > best[1]:
            best = X, value
    assert best is not None
    return best


def _maximize_formula(
    form: ClosedForm, box: Tensor, neighborhood: Neighborhood, seed: int, settings: SearchSettings
) -> tuple[Tensor, Tensor]:
    """The best ``1 x d`` point of a formula in a box, without tensors on the way."""
    # a transform may turn a dimension round
    sides = np.sort(form.to_points(box), axis=0)
    with np.errstate(all="ignore"):  # whatever the caller has numpy do about underflow
        starts = quick_starts(
            form, sides, neighborhood, seed, settings.num_restarts, settings.raw_samples
        )
        point, value = ascend(form.formula, starts, *sides)
    # Back and forth between units may leave the box by a rounding.
    return clip(form.to_raw(point[None]).to(box), box), box.new_tensor(value)


def _settle(
    acq_function: AcquisitionFunction,
    X: Tensor,
    boxes: Tensor,
    lattice: Lattice,
    neighborhood: Neighborhood,
    settings: SearchSettings,
    seed: int,
) -> Tensor:
    """The ``1 x d`` point to evaluate in place of a candidate.

    Between the values of a grid nothing is ever known, and a maximiser among real numbers likes to
    be there; rounded, it may be worth nothing. So the search goes on from value to value.
    """
    box = hull(*boxes)
    if not lattice.space.grid:
        return lattice.settle(acq_function, X)
    draw = StartsAroundData(neighborhood, seed)
    starts = draw(acq_function, box, 1, _STARTS_ON_GRID, settings.raw_samples).squeeze(-2)
    X = lattice.best_of(acq_function, torch.cat([X, starts]))
    X, value = _climb_between(acq_function, X, box, lattice, neighborhood, settings)
    for _ in range(_ROUNDS_ON_GRID):
        beside = lattice.beside(X)
        other = lattice.best_of(acq_function, beside) if len(beside) else X
        other, better = _climb_between(acq_function, other, box, lattice, neighborhood, settings)
        if not better > value:
            break
        X, value = other, better
    return lattice.settle(acq_function, X)


def _climb_between(
    acq_function: AcquisitionFunction,
    X: Tensor,
    box: Tensor,
    lattice: Lattice,
    neighborhood: Neighborhood,
    settings: SearchSettings,
) -> tuple[Tensor, Tensor]:
    """What is not on a grid makes the best of the values of what is."""
    grid = list(lattice.space.grid)
    if len(grid) == X.shape[-1]:
        with torch.no_grad():
            return X, acq_function(X.unsqueeze(-2)).reshape(())
    fixed = box.clone()
    fixed[:, grid] = X[:, grid]
    start = clip(X, fixed).unsqueeze(0)
    X, value = _climb(acq_function, fixed, start, neighborhood, settings.options)
    return X, value.reshape(())


def _climb(
    acq_function: AcquisitionFunction,
    box: Tensor,
    starts: Tensor,
    neighborhood: Neighborhood,
    options: Options | None,
) -> tuple[Tensor, Tensor]:
    """The best ``1 x d`` point that is reached from ``r x 1 x d`` starts, with its value."""
    if len(neighborhood.categories) == starts.shape[-1]:  # there is no slope to climb
        with torch.no_grad():
            values = acq_function(starts).nan_to_num(nan=-torch.inf)
        return starts[values.argmax()], values.max()
    if options is None and has_quick_search(acq_function):  # which has units of its own
        X, value = climb(acq_function, box, starts)
        return clip(X, box), value
    scaled = RescaledAcquisition(acq_function, box, neighborhood)
    X, value = climb(scaled, scaled.from_raw(box), scaled.from_raw(starts), options)
    return clip(scaled.to_raw(X), box), value


def _most_promising(
    acq_function: AcquisitionFunction, boxes: Tensor, seed: int, raw_samples: int
) -> Tensor:
    """The few boxes of a union in which samples found the best values."""
    if len(boxes) <= _MAX_SEARCHED:
        return boxes
    count = max(4, raw_samples // len(boxes))
    samples = torch.stack([draw_sobol_samples(box, count, 1, seed=seed) for box in boxes])
    with torch.no_grad():
        values = acq_function(samples.flatten(0, 1)).reshape(len(boxes), count)
    return boxes[values.amax(dim=-1).topk(_MAX_SEARCHED).indices]
