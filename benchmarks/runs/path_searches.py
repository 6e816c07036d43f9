"""Searches of many GP sample paths at once with the upper confidence bound, in a box that stays.

As the package's controller with ``GPUCB-UBO`` does it in a box that hard limits keep as it is, but
without appendix B's refinement of candidates: ``beta`` is that of the package's schedules, the
search that of its many runs, and a path is left at its first certificate.
"""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch
from scipy.stats.qmc import LatinHypercube
from torch import Tensor

from benchmarks.problems.sample_paths import NOISE, Paths
from benchmarks.problems.stationary import KERNELS
from benchmarks.runs.known_gp import KnownGP
from botorch_ubo import BetaSchedule, SearchSettings
from botorch_ubo.acquisition.batched.maximize import maximize_batched
from botorch_ubo.models.batched import (
    BatchedConfidenceBound,
    BatchedFormula,
    BatchedGP,
    fit_batched,
    standardize_outcomes,
)

INITIAL_PER_DIM = 3


@dataclass(frozen=True)
class Task:
    """Paths in a box of ``side`` length-scales, and what the searcher knows.

    Attributes:
        paths: The functions.
        places: ``B x d``, of their maxima over the box.
        tops: ``B`` maxima.
        kernel: Of the paths, and of the model unless that is fitted.
        side: Of the box.
        noise: Standard deviation of an observation.
        fitted: Whether the default's model is fitted at every step.
    """

    paths: Paths
    places: Tensor
    tops: Tensor
    kernel: str
    side: float
    noise: float
    fitted: bool

    @property
    def box(self) -> Tensor:
        """``2 x d``, in length-scales."""
        d = self.places.shape[-1]
        return torch.stack([torch.zeros(d), torch.full((d,), self.side)]).double()


@dataclass(frozen=True)
class _Look:
    """A posterior of every path, in its own units of values."""

    gp: KnownGP | BatchedGP
    scale: Tensor
    """``B``: units of the paths per one of the model's."""
    location: Tensor
    """``B``: the paths' value where the model's is zero."""
    spread: Tensor
    """``B``: standard deviation of the observations, in the model's units."""
    slopes: Tensor
    """``B x d``: of the model, per unit of its space and in its prior's standard deviations."""
    deviation: Tensor
    """``B``: of the prior."""
    stretch: float
    """Units of the model's space per length-scale of the paths."""
    origin: float
    """Of the box, in that space."""

    def bound(self, root: Tensor) -> BatchedFormula:
        if isinstance(self.gp, KnownGP):
            return self.gp.bound(root)
        return BatchedConfidenceBound(self.gp, root)

    def points(self, X: Tensor) -> Tensor:
        """Points of the paths' in those of formulas."""
        return self.gp.to_points(self.origin + self.stretch * X)

    def back(self, points: Tensor) -> Tensor:
        """The inverse."""
        return (self.gp.from_points(points.unsqueeze(-2)).squeeze(-2) - self.origin) / self.stretch

    def betas(self, schedule: BetaSchedule, t: int, side: float) -> Tensor:
        """``B`` values of a schedule of the package."""
        sides = torch.full((self.slopes.shape[-1],), side * self.stretch, dtype=torch.double)
        rows = zip(self.slopes, self.deviation.tolist(), self.spread.tolist(), strict=True)
        found = []
        for relative, deviation, spread in rows:
            view: Any = SimpleNamespace(
                relative_slopes=relative, slopes=deviation * relative, spread=spread
            )
            found.append(schedule(t, sides, view))
        return torch.tensor(found, dtype=torch.double)


@torch.no_grad()
def search_together(
    task: Task, seeds: list[int], schedule: BetaSchedule, settings: dict[str, Any]
) -> list[dict[str, Any]]:
    r"""Search paths until each has a certificate, or for as many evaluations as are allowed.

    Args:
        task: The paths and the box.
        seeds: Of initial points, noise and searches.
        schedule: Of ``beta``.
        settings: ``epsilon`` in standard deviations of the values seen, ``max_evaluations``.

    Returns:
        A search for each path: ``evaluations``, initial ones included; ``regret`` of the certified
        point and ``epsilon``, both ``None`` without a certificate; ``held``, whether the upper
        bound covered the maximum at every step; and ``root``, ``sqrt(beta)`` at the end.
    """
    d = task.places.shape[-1]
    unit = [LatinHypercube(d, rng=seed).random(INITIAL_PER_DIM * d) for seed in seeds]
    X = task.side * torch.stack([torch.from_numpy(own) for own in unit])
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    found: list[dict[str, Any]] = [{} for _ in seeds]
    rows, held = torch.arange(len(seeds)), torch.ones(len(seeds), dtype=torch.bool)
    paths, numbers = task.paths, torch.tensor(seeds)
    values = paths(X, False)[0]
    Y = values + _noise(task, generators, rows, X.shape[1])
    while True:
        n = X.shape[1]
        t = n - INITIAL_PER_DIM * d + 1
        look = _look(task, X, Y)
        beta = look.betas(schedule, t, task.side)
        upper, lower = look.bound(beta.sqrt()), look.bound(-beta.sqrt())
        boxes = look.points(task.box.expand(len(rows), 2, d))
        # In a finite box of the model the search takes its starts around the data.
        best = maximize_batched(upper, look.gp, boxes, numbers + 1009 * n, SearchSettings())  # type: ignore[arg-type]
        at_data = look.points(X)
        highest = torch.maximum(best.values, upper(at_data, False)[0].amax(dim=-1))
        largest, sure = lower(at_data, False)[0].max(dim=-1)
        slack = look.spread / t**2
        place = look.points(task.places[rows].unsqueeze(-2))
        covering = upper(place, False)[0].squeeze(-1) + slack
        held &= look.location + look.scale * covering >= task.tops[rows]
        epsilon = settings["epsilon"] * look.spread
        done = highest - largest + slack <= epsilon
        for i in range(len(rows)):
            regret = float((task.tops[rows[i]] - values[i, sure[i]]).clamp_min(0))
            found[int(rows[i])] = {
                "evaluations": n,
                "regret": regret if done[i] else None,
                "epsilon": float(look.scale[i] * epsilon[i]) if done[i] else None,
                "held": bool(held[i]),
                "root": float(beta[i]) ** 0.5,
            }
        keep = (~done).nonzero().squeeze(-1)
        if not len(keep) or n >= settings["max_evaluations"]:
            return found
        X = torch.cat([X, look.back(best.points).unsqueeze(1)], dim=1)[keep]
        rows, held, numbers, paths = rows[keep], held[keep], numbers[keep], paths.take(keep)
        new = paths(X[:, -1:], False)[0]
        values = torch.cat([values[keep], new], dim=1)
        Y = torch.cat([Y[keep], new + _noise(task, generators, rows, 1)], dim=1)


def _noise(task: Task, generators: list[torch.Generator], rows: Tensor, count: int) -> Tensor:
    drawn = [torch.randn(count, generator=generators[i], dtype=torch.double) for i in rows.tolist()]
    return task.noise * torch.stack(drawn)


def _look(task: Task, X: Tensor, Y: Tensor) -> _Look:
    one = torch.ones(len(X), dtype=torch.double)
    if not task.fitted:
        kernel = KERNELS[task.kernel]
        gp = KnownGP.of(kernel.correlation, X, Y, max(task.noise**2, NOISE))
        slopes = torch.full((len(X), X.shape[-1]), kernel.slope, dtype=torch.double)
        return _Look(gp, one, 0 * one, Y.std(dim=-1), slopes, one, 1.0, 0.0)
    # The model's units: the first box is from 1/3 to 2/3.
    stretch, origin = 1 / (3 * task.side), 1 / 3
    inputs = origin + stretch * X
    present = torch.ones(X.shape[:2], dtype=torch.bool)
    outcomes = standardize_outcomes(3 * (inputs - 0.5), Y, present)
    fitted = BatchedGP.of(inputs, outcomes.y, present, fit_batched(inputs, outcomes.y, present))
    return _Look(
        fitted,
        outcomes.scale,
        outcomes.location,
        outcomes.y.std(dim=-1),
        1 / fitted.lengthscales.squeeze(-2),
        fitted.variance.sqrt(),
        stretch,
        origin,
    )
