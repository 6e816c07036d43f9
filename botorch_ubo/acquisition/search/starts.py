r"""Where to start the search of an acquisition function that is mostly plateau.

In a box much wider than the data, an acquisition function is constant (to machine precision)
almost everywhere, and space-filling starts have no gradient to follow. Starts are therefore
drawn from three sources: near the data, on the shell at which the data cease to matter, and
space-filling. For that the data's length-scales and reach must be known, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.exceptions.errors import UnsupportedError
from botorch.models.model import Model
from botorch.utils.sampling import draw_sobol_samples
from scipy.spatial.distance import cdist
from torch import Tensor

from botorch_ubo.acquisition.search.categories import (
    Categories,
    draw_categories,
    without_categories,
)
from botorch_ubo.acquisition.search.input_space import InputSpace
from botorch_ubo.boxes import clip
from botorch_ubo.models.quick import Array, to_array
from botorch_ubo.models.space import from_model_space, to_model_space

_FREE = InputSpace()
_POOL = 256  # samples among which starts are sought at a time
_ROWS = 32  # of them, whose distances are taken at once
_SEPARATION = 0.2  # length-scales between two starts: closer ones climb the same hill


@dataclass(frozen=True)
class Neighborhood:
    """Where the data are and how far they matter, in the model's space."""

    model: Model
    X: Tensor
    """``n x d`` training inputs."""
    lengthscales: Tensor
    """``d``-dim."""
    reach: Tensor
    """``d``-dim: half-widths of the ball around a datum beyond which it does not matter."""
    categories: Categories = ()
    """Columns that hold codes of categories, which no step leads out of."""


@dataclass(frozen=True)
class StartsAroundData:
    r"""Initial conditions for ``optimize_acqf``, as its ``ic_generator``.

    Example:
        >>> optimize_acqf(
        >>>     acqf, box.bounds, q=1, num_restarts=4, raw_samples=512,
        >>>     ic_generator=box.starts(model),
        >>> )

    Args:
        neighborhood: The data and their reach.
        seed: Seed of the samples, which are of private generators.
        space: Constraints that the starts satisfy; ``optimize_acqf`` passes its own.
    """

    neighborhood: Neighborhood
    seed: int = 0
    space: InputSpace = _FREE

    def __call__(
        self,
        acq_function: AcquisitionFunction,
        bounds: Tensor,
        q: int,
        num_restarts: int,
        raw_samples: int,
        fixed_features: Any = None,
        options: Any = None,
        inequality_constraints: Any = None,
        equality_constraints: Any = None,
        **kwargs: Any,
    ) -> Tensor:
        r"""Draw raw samples from the three sources and keep the most promising, well apart.

        Args:
            acq_function: The acquisition function.
            bounds: A ``2 x d`` box in raw units, in the model's dtype.
            q: The number of candidates; 1.
            num_restarts: The number of starts.
            raw_samples: The number of samples.
            fixed_features: ``{index: value}`` that the starts have.
            options: Options of BoTorch's own generators, which this one does without.
            inequality_constraints: Those of ``optimize_acqf``, which the starts satisfy.
            equality_constraints: See above.
            kwargs: Further arguments of ``optimize_acqf``, which are not supported.

        Returns:
            A ``num_restarts x 1 x d`` tensor.
        """
        if q != 1 or any(value is not None for value in kwargs.values()):
            raise UnsupportedError(
                f"Expected q = 1 and no arguments but constraints and fixed features; got {q=}, "
                f"{kwargs}. Use BoTorch's gen_batch_initial_conditions, or `sequential=True` for "
                "several candidates."
            )
        given = {
            "fixed_features": fixed_features,
            "inequality_constraints": inequality_constraints,
            "equality_constraints": equality_constraints,
        }
        given = {name: value for name, value in given.items() if value is not None}
        if given:
            return replace(self, space=replace(self.space, **given))(
                acq_function, bounds, q, num_restarts, raw_samples
            )
        return self._draw(acq_function, bounds, num_restarts, raw_samples)

    def _draw(
        self, acq_function: AcquisitionFunction, box: Tensor, num_restarts: int, raw_samples: int
    ) -> Tensor:
        near_by = self.neighborhood
        filling = draw_sobol_samples(box, raw_samples // 2, 1, seed=self.seed).squeeze(-2)
        generator = torch.Generator().manual_seed(self.seed)
        sizes = [_shuffled_fractions(raw_samples // 4, near_by.X, generator) for _ in range(2)]
        near = _near_data(acq_function, box, near_by, sizes[0], self.seed)
        shell = _on_shell(box, near_by, sizes[1], self.seed)
        raw = torch.cat([filling, near, shell])
        of_data = torch.arange(len(raw), device=raw.device) >= len(filling)
        raw = draw_categories(raw, of_data, near_by.categories, self.seed + 3)
        if not self.space.is_free:
            raw = filling = self.space.satisfy(raw, box, self.seed)
        with torch.no_grad():
            values = acq_function(raw.unsqueeze(-2)).nan_to_num(nan=-torch.inf)
        scaled = to_model_space(near_by.model, raw) / near_by.lengthscales.to(raw)
        for column, _ in near_by.categories:  # others are always well apart
            scaled[:, column] = raw[:, column]
        # A quarter of the restarts stays with the space-filling part: far hills that the data do
        # not suggest. The rest goes wherever the values are best.
        reserved = num_restarts // 4
        # One by one, each choice depending on those before: in main memory.
        known, places = to_array(values), to_array(scaled)
        best = best_apart(known, places, num_restarts - reserved)
        own = known.copy()
        own[filling.shape[0] :] = -np.inf
        own[best] = -np.inf
        return raw[best + best_apart(own, places, reserved)].unsqueeze(-2)


def best_apart(values: Array, scaled: Array, count: int) -> list[int]:
    """Indices of the ``count`` best values that are ``_SEPARATION`` apart where possible."""
    chosen: list[int] = []
    left = values > -np.inf
    while len(chosen) < count and left.any():
        pool = np.flatnonzero(left)
        if len(pool) > _POOL:  # the best of them have enough, as a rule
            pool = pool[values[pool] >= np.partition(values[pool], -_POOL)[-_POOL]]
        pool = pool[np.argsort(-values[pool], kind="stable")][:_POOL]  # of ties the first
        left[pool] = False
        if chosen:
            pool = pool[(cdist(scaled[pool], scaled[chosen]) >= _SEPARATION).all(axis=-1)]
        chosen += pool[_first_apart(scaled[pool], count - len(chosen))].tolist()
    return chosen


def _first_apart(places: Array, count: int) -> list[int]:
    """Indices of the first ``count`` of some places that are apart from those before."""
    chosen: list[int] = []
    left = np.ones(len(places), dtype=bool)
    for begin in range(0, len(places), _ROWS):
        # Distances of many rows at once cost as much as those of one.
        apart = cdist(places[begin : begin + _ROWS], places) >= _SEPARATION
        for index, row in enumerate(apart, start=begin):
            if left[index]:
                if len(chosen) == count:
                    return chosen
                chosen.append(index)
                left &= row
    return chosen


def _near_data(
    acq_function: AcquisitionFunction,
    box: Tensor,
    neighborhood: Neighborhood,
    fractions: Tensor,
    seed: int,
) -> Tensor:
    """Samples within a length-scale of the data with the best acquisition values."""
    X, count = neighborhood.X, len(fractions)
    raw = clip(_to_raw(neighborhood.model, X, box), box)
    with torch.no_grad():
        at_data = acq_function(raw.unsqueeze(-2)).nan_to_num(nan=-torch.inf)
    top = at_data.topk(min(16, X.shape[0])).indices
    centers = X[top.repeat(count // len(top) + 1)[:count]]
    normal = _normal(count, X, seed + 1)
    # Steps of 0.01 to 1 length-scale: the hill at the incumbent may be much narrower than one.
    size = 10 ** (-2 * fractions)
    lengths = without_categories(neighborhood.lengthscales, neighborhood.categories)
    steps = size.unsqueeze(-1) * normal * lengths.to(X)
    jittered = clip(_to_raw(neighborhood.model, centers + steps, box), box)
    return torch.cat([raw[top], jittered])


def _on_shell(box: Tensor, neighborhood: Neighborhood, fractions: Tensor, seed: int) -> Tensor:
    """Samples between 0.3 and 1 times the reach around the data."""
    X, count = neighborhood.X, len(fractions)
    index = torch.arange(count, device=X.device) % X.shape[0]
    normal = _normal(count, X, seed + 2)
    direction = normal / normal.norm(dim=-1, keepdim=True)
    size = 0.3 + 0.7 * fractions
    reach = without_categories(neighborhood.reach, neighborhood.categories)
    steps = size.unsqueeze(-1) * direction * reach.to(X)
    return clip(_to_raw(neighborhood.model, X[index] + steps, box), box)


def _shuffled_fractions(count: int, like: Tensor, generator: torch.Generator) -> Tensor:
    fractions = torch.linspace(0, 1, count, dtype=torch.double)
    return fractions[torch.randperm(count, generator=generator)].to(like)


def _normal(count: int, like: Tensor, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(count, like.shape[-1], generator=generator, dtype=torch.double).to(like)


def _to_raw(model: Model, X: Tensor, box: Tensor) -> Tensor:
    return from_model_space(model, X).to(box)
