r"""The search where some columns are categories: codes of which only equality matters.

An acquisition function has no slope along such a column, so that a climb leaves it alone. Starts
are drawn in all categories, whatever the box says of codes, and a climb alternates with a look at
the other categories of the place it has reached: all of their combinations where those are few.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from torch import Tensor

Categories = tuple[tuple[int, int], ...]
"""Column and number of values of each categorical parameter."""

_MAX_COMBINATIONS = 256  # more than that are visited one category at a time
_ROUNDS = 5
_KEPT = 0.5  # of the starts around data keep the category of the datum


def open_categories(boxes: Tensor, categories: Categories) -> Tensor:
    """Boxes (``b x 2 x d``) with all categories in them: a strategy's box says nothing of codes."""
    if not categories:
        return boxes
    boxes = boxes.clone()
    for column, count in categories:
        boxes[:, 0, column], boxes[:, 1, column] = 0.0, float(count - 1)
    return boxes


def without_categories(lengths: Tensor, categories: Categories) -> Tensor:
    """``d`` lengths with zeros for categories: a small step does not lead to another one."""
    if not categories:
        return lengths
    lengths = lengths.clone()
    lengths[[column for column, _ in categories]] = 0.0
    return lengths


def draw_categories(X: Tensor, keep: Tensor, categories: Categories, seed: int) -> Tensor:
    r"""Draw the categories of some samples.

    Args:
        X: ``n x d`` samples.
        keep: ``n`` booleans: whose categories are those of a datum, and half of which stay.
        categories: Column and number of values each.
        seed: Seed of the draws.

    Returns:
        The samples with categories in all their columns.
    """
    if not categories:
        return X
    X = X.clone()
    generator = torch.Generator().manual_seed(seed)
    stay = torch.rand(len(X), generator=generator) < _KEPT
    stay = stay.to(keep.device) & keep
    for column, count in categories:
        drawn = torch.randint(count, (len(X),), generator=generator).to(X)
        X[:, column] = torch.where(stay, X[:, column].round(), drawn)
    return X


def alternate(
    acq_function: AcquisitionFunction,
    X: Tensor,
    value: Tensor,
    categories: Categories,
    climb: Callable[[Tensor], tuple[Tensor, Tensor]],
) -> tuple[Tensor, Tensor]:
    r"""Look at the other categories of a place, climb in the best of them, and look again.

    Args:
        acq_function: The acquisition function.
        X: The ``1 x d`` place that a climb has reached.
        value: Its acquisition value.
        categories: Column and number of values each.
        climb: From ``r x 1 x d`` starts to the best ``1 x d`` point and its value.

    Returns:
        The best ``1 x d`` point and its value.
    """
    for _ in range(_ROUNDS if categories else 0):
        others = _other_categories(X, categories)
        with torch.no_grad():
            values = acq_function(others.unsqueeze(-2)).nan_to_num(nan=-torch.inf)
        best = values.argmax()
        if not values[best] > value:
            break
        X, value = climb(others[best].reshape(1, 1, -1))
    return X, value


def _other_categories(X: Tensor, categories: Categories) -> Tensor:
    """``m x d``: a ``1 x d`` point with other categories."""
    combinations = 1
    for _, count in categories:
        combinations *= count
    columns = [column for column, _ in categories]
    if combinations <= _MAX_COMBINATIONS:
        codes = torch.tensor([*product(*(range(count) for _, count in categories))]).to(X)
        others = X.repeat(len(codes), 1)
        others[:, columns] = codes
        return others
    rows = []
    for column, count in categories:
        changed = X.repeat(count, 1)
        changed[:, column] = torch.arange(count).to(X)
        rows.append(changed)
    return torch.cat(rows)
