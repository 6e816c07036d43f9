r"""Maximise an acquisition function of every run in the run's box.

As :mod:`botorch_ubo.acquisition.search`: samples near the data, on the shell where they cease to
matter and space-filling ones, the best of them that are well apart, and a climb from each; all in
length-scales, and all runs at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from botorch_ubo.models.batched import (
    BatchedFormula,
    BatchedGP,
    Stopping,
    begin_descent,
    descend,
    follow,
)
from botorch_ubo.models.batched.draws import filling, normal, uniform
from botorch_ubo.models.batched.groups import rows_at_once

if TYPE_CHECKING:  # a search comes here, too
    from botorch_ubo.acquisition.search.settings import SearchSettings

_SEPARATION = 0.2  # length-scales between two starts: closer ones climb the same hill
_NEAREST = 16  # data, and samples, with the best values, around which samples are drawn
_SHELL = math.sqrt(-2 * math.log(1e-3))  # length-scales to where a datum tells next to nothing
_STOPPING = Stopping(evaluations=24, ftol=1e-4, longest=2.0)
_RESTARTS = 8  # times the restarts of one run: a few steps cost less than the samples
_FINALISTS = 4  # climbs of each run that go on, at least
_TOGETHER = 8  # evaluations before most climbs are given up
_SAMPLES_IN_CACHE = 2  # times what fits are given room for: samples are looked at once
_PEAKS = 64  # best samples among which those are sought that have no better one nearby


@dataclass(frozen=True)
class Found:
    """The best point of each run, and its value."""

    points: Tensor
    """``B x d``, in length-scales."""
    values: Tensor
    """``B``."""


@dataclass(frozen=True)
class _Downhill:
    """A formula as :func:`minimize_rows` wants it: a row for each start of each run."""

    formula: BatchedFormula
    restarts: int

    def take(self, groups: Tensor) -> _Downhill:
        return _Downhill(self.formula.take(groups), self.restarts)

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor]:
        values, slopes = self.formula(x.reshape(-1, self.restarts, x.shape[-1]))
        return -values.reshape(-1), -slopes.reshape(x.shape)


def maximize_batched(
    formula: BatchedFormula, gp: BatchedGP, boxes: Tensor, seeds: Tensor, search: SearchSettings
) -> Found:
    r"""Maximise in boxes.

    Args:
        formula: The acquisition function of every run.
        gp: The models, for their data.
        boxes: ``B x 2 x d``, in length-scales.
        seeds: ``B`` whole numbers.
        search: Numbers of restarts and samples.

    Returns:
        The best points.
    """
    B, n, _ = gp.X.shape
    rows = rows_at_once(B, search.raw_samples * n // _SAMPLES_IN_CACHE, gp.X.device)
    if rows == B:
        return _maximize_together(formula, gp, boxes, seeds, search)
    parts = [
        _maximize_together(formula.take(i), gp.take(i), boxes[i], seeds[i], search)
        for i in torch.arange(B, device=seeds.device).split(rows)
    ]
    points, values = zip(*((part.points, part.values) for part in parts), strict=True)
    return Found(torch.cat(points), torch.cat(values))


def _maximize_together(
    formula: BatchedFormula, gp: BatchedGP, boxes: Tensor, seeds: Tensor, search: SearchSettings
) -> Found:
    restarts = _RESTARTS * search.num_restarts
    random = _Random.of(seeds, search.raw_samples // 4, gp.X)
    samples, num_filling = _samples(formula, gp, boxes, random)
    values = formula(samples, False)[0].nan_to_num(nan=-torch.inf)
    # Where a ripple is much narrower than a length-scale, the best sample is on the wrong one.
    best = values.topk(min(_NEAREST, values.shape[-1]), dim=-1).indices
    again = _around(_rows(samples, best), random.sizes[2], random.steps[2] / 2)
    again = torch.clamp(again, boxes[:, :1], boxes[:, 1:])
    values = torch.cat([values, formula(again, False)[0].nan_to_num(nan=-torch.inf)], dim=-1)
    starts = _best_apart(values, torch.cat([samples, again], dim=1), num_filling, restarts)
    return climb_batched(formula, boxes, starts, max(_FINALISTS, search.num_restarts))


def climb_batched(
    formula: BatchedFormula, boxes: Tensor, starts: Tensor, finalists: int = _FINALISTS
) -> Found:
    r"""The best point that is reached from some starts.

    Args:
        formula: The acquisition function of every run.
        boxes: ``B x 2 x d``, in length-scales.
        starts: ``B x r x d`` points in them.
        finalists: How many climbs of each run go on after a few steps.

    Returns:
        The best points.
    """
    B, restarts, d = starts.shape
    lower, upper = (side.repeat_interleave(restarts, dim=0) for side in boxes.unbind(dim=1))
    function = _Downhill(formula, restarts)
    descent = begin_descent(function, starts.reshape(-1, d), lower, upper, _STOPPING)
    done = 1
    if restarts > finalists:
        descent = follow(function, descent, range(2, _TOGETHER + 1), _STOPPING)
        best = descent.value.reshape(B, restarts).topk(finalists, largest=False).indices
        first = restarts * torch.arange(B, device=best.device).unsqueeze(-1)
        descent = descent.take((first + best).flatten())
        function, restarts, done = _Downhill(formula, finalists), finalists, _TOGETHER
    x, f = descend(function, descent, done, _STOPPING, restarts)
    value, best = f.reshape(B, restarts).min(dim=-1)
    index = best[:, None, None].expand(-1, 1, d)
    return Found(x.reshape(B, restarts, d).gather(1, index).squeeze(1), -value)


@dataclass(frozen=True)
class _Random:
    """What samples are drawn by."""

    shift: Tensor
    """``B x 1 x d``: of the space-filling ones, in boxes."""
    sizes: tuple[Tensor, ...]
    """Three times ``B x m x 1``: of steps, uniform."""
    steps: tuple[Tensor, ...]
    """Three times ``B x m x d``: normal."""

    @classmethod
    def of(cls, seeds: Tensor, count: int, like: Tensor) -> _Random:
        B, d = len(seeds), like.shape[-1]
        random = uniform(seeds, d + 3 * count * (1 + d), like)
        shift, sizes, steps = random.split([d, 3 * count, 3 * count * d], dim=-1)
        steps = normal(steps).reshape(B, 3 * count, d)
        return cls(shift.unsqueeze(-2), sizes.unsqueeze(-1).chunk(3, dim=1), steps.chunk(3, dim=1))


def _samples(
    formula: BatchedFormula, gp: BatchedGP, boxes: Tensor, random: _Random
) -> tuple[Tensor, int]:
    """``B x m x d`` samples, of which the first are space-filling, and how many those are."""
    _, n, d = gp.X.shape
    part = random.sizes[0].shape[1]
    lower, upper = boxes[:, :1], boxes[:, 1:]
    cube = (filling(2 * part, d, gp.X) + random.shift) % 1.0
    data = torch.clamp(gp.X, lower, upper)
    at_data = formula(data, False)[0].nan_to_num(nan=-torch.inf)
    at_data = torch.where(gp.present, at_data, -torch.inf)
    best = at_data.topk(min(_NEAREST, n), dim=-1).indices
    # A run with fewer data than others: what is not there gives way to its best.
    best = torch.where(gp.present.gather(-1, best), best, best[:, :1])
    tops = _rows(gp.X, best)
    jittered = _around(tops, random.sizes[0], random.steps[0])
    ranks = gp.present.sum(dim=-1, keepdim=True)
    order = gp.present.to(torch.int8).argsort(dim=-1, descending=True, stable=True)
    index = torch.arange(part, device=ranks.device)
    centers = _rows(gp.X, order.gather(-1, index % ranks))
    far, steps = 0.3 + 0.7 * random.sizes[1], random.steps[1]
    shell = centers + far * _SHELL * steps / steps.norm(dim=-1, keepdim=True)
    around_data = torch.cat([tops, jittered, shell], dim=1)
    return (
        torch.cat([lower + cube * (upper - lower), torch.clamp(around_data, lower, upper)], dim=1),
        cube.shape[1],
    )


def _around(centers: Tensor, sizes: Tensor, steps: Tensor) -> Tensor:
    """Steps of 0.01 to 1 times those given: a hill may be much narrower than a length-scale."""
    index = torch.arange(sizes.shape[1], device=centers.device) % centers.shape[1]
    return centers[:, index] + 0.01**sizes * steps


def _best_apart(values: Tensor, samples: Tensor, num_filling: int, restarts: int) -> Tensor:
    """``B x r x d``: the best samples that are well apart, where possible.

    A quarter of them are space-filling: far hills that the data do not suggest.
    """
    reserved = restarts // 4
    best = _peaks(values, samples, restarts - reserved)
    others = values.scatter(-1, best, -torch.inf)[:, :num_filling]
    far = _peaks(others, samples[:, :num_filling], reserved)
    return _rows(samples, torch.cat([best, far], dim=-1))


def _peaks(values: Tensor, samples: Tensor, count: int) -> Tensor:
    """``B x count`` indices, or as many as there are samples.

    Those without a better one nearby, the best first, then others.
    """
    among = min(max(_PEAKS, count), values.shape[-1])
    count = min(count, among)
    best = values.topk(among, dim=-1).indices
    points = _rows(samples, best)
    # Differences, not products: single precision would lose the small distances of far points.
    apart = torch.cdist(points, points, compute_mode="donot_use_mm_for_euclid_dist")
    covered = (apart < _SEPARATION).tril(-1).any(dim=-1)
    order = torch.arange(among, device=values.device) + among * covered
    return best.gather(-1, order.topk(count, dim=-1, largest=False, sorted=True).indices)


def _rows(X: Tensor, index: Tensor) -> Tensor:
    """Rows of ``B x n x d`` by ``B x m`` indices."""
    return X.gather(1, index.unsqueeze(-1).expand(-1, -1, X.shape[-1]))
