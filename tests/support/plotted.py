"""A short run to draw, and what was drawn of it."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from botorch_ubo import Always, ExpandingBounds, Method, default_model, get_method

LIMITS = {0: (-0.5, None), 1: (None, 1.5)}
METHOD = get_method("GPUCB-UBO")
ALWAYS = replace(METHOD, trigger=Always())


def objective(X: Tensor) -> Tensor:
    return (X - 0.8).square().sum(dim=-1)


def first_bounds(d: int) -> Tensor:
    return torch.stack([torch.zeros(d), torch.ones(d)]).double()


def make_run(
    d: int = 2, steps: int = 4, initial: int = 5, method: Method = ALWAYS, **options: object
) -> tuple[ExpandingBounds, Tensor, Tensor]:
    """A short run on models that are not fitted, so that it takes no time."""
    bounds = first_bounds(d)
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(initial, d, generator=generator, dtype=torch.double)
    options = {"max_growth": 0.5, "maximize": False, **options}
    box = ExpandingBounds(bounds, method=method, **options)
    for _ in range(steps):
        model = default_model(X, objective(X).unsqueeze(-1), bounds)
        model.likelihood.noise = math.exp(-5)  # with which every step's box is larger
        box.update(model.eval())
        lower, upper = box.bounds
        x = lower + (upper - lower) * torch.rand(1, d, generator=generator, dtype=torch.double)
        X = torch.cat([X, x])
    return box, X, objective(X)


def drawn_boxes(ax: Axes) -> list[Tensor]:
    patches = [p for p in ax.patches if isinstance(p, Rectangle) and p.get_gid() == "box"]
    corners = [p.get_bbox().get_points() for p in patches]
    return [torch.tensor(points, dtype=torch.double) for points in corners]


def drawn_points(ax: Axes, label: str) -> Tensor:
    (found,) = [c for c in ax.collections if c.get_label() == label]
    return torch.tensor(found.get_offsets().tolist(), dtype=torch.double)


def labels(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]
