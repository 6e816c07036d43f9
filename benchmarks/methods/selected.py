"""The default with a model of all data, and of few by several rules, to judge the one it has.

- ``all data``: exact, however many there are;
- ``500 best``: the default's rule, with fits that begin anew each time like all of these;
- ``60 best``: the same with a limit that a run of a hundred evaluations exceeds;
- ``60 nearest``: those nearest to the best one, in sides of the first box;
- ``60 best and spread``: two thirds by outcome, the others the farthest from those and each other.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from benchmarks.methods.contender import Make
from benchmarks.methods.expanding import Fit, expanding
from botorch_ubo import default_model
from botorch_ubo.methods import DEFAULT_METHOD
from botorch_ubo.models import compress_bad_outcomes
from botorch_ubo.models.quick import QuickGP, SelectedGP, fit_quick_gp
from botorch_ubo.models.selection import MAX_EXACT, data_that_matter
from botorch_ubo.models.sight import in_sight

FEW = 60
Choose = Callable[[Tensor, Tensor, Tensor], Tensor]  # of points, values and the start box


def fitted_to(choose: Choose) -> Fit:
    """The default's model, conditioned on the data of these indices."""

    def fit(X: Tensor, Y: Tensor, bounds: Tensor) -> QuickGP:
        near = in_sight(X, bounds)
        X = X[near]
        Y = compress_bad_outcomes(X, Y[near], bounds)[0]
        chosen = choose(X, Y, bounds)
        core = fit_quick_gp(default_model(X[chosen], Y[chosen], bounds))
        return core if len(chosen) == len(X) else SelectedGP.of(core, X, Y, chosen)

    return fit


def _all(X: Tensor, Y: Tensor, bounds: Tensor) -> Tensor:
    return torch.arange(len(X))


def _best(X: Tensor, Y: Tensor, bounds: Tensor) -> Tensor:
    return data_that_matter(X, Y, bounds, True)


def _few_best(X: Tensor, Y: Tensor, bounds: Tensor) -> Tensor:
    return data_that_matter(X, Y, bounds, True, FEW)


def _nearest(X: Tensor, Y: Tensor, bounds: Tensor) -> Tensor:
    away = ((X - X[Y.argmax()]) / (bounds[1] - bounds[0])).norm(dim=-1)
    return away.argsort()[:FEW].sort().values


def _best_and_spread(X: Tensor, Y: Tensor, bounds: Tensor) -> Tensor:
    if len(X) <= FEW:
        return torch.arange(len(X))
    chosen = Y.flatten().argsort(descending=True)[: 2 * FEW // 3].tolist()
    points = X / (bounds[1] - bounds[0])
    distance = torch.cdist(points, points[chosen]).amin(dim=-1)
    while len(chosen) < FEW:
        chosen.append(int(distance.argmax()))
        distance = torch.minimum(distance, (points - points[chosen[-1]]).norm(dim=-1))
    return torch.tensor(sorted(chosen))


_RULES: dict[str, Choose] = {
    "all data": _all,
    f"{MAX_EXACT} best": _best,
    f"{FEW} best": _few_best,
    f"{FEW} nearest": _nearest,
    f"{FEW} best and spread": _best_and_spread,
}
SELECTIONS: dict[str, Make] = {
    f"{DEFAULT_METHOD} ({name})": expanding(fit=fitted_to(rule)) for name, rule in _RULES.items()
}
