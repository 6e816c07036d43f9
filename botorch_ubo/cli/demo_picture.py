"""The picture of the demonstration, at its end or step by step."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from botorch_ubo.boxes import hull
from botorch_ubo.cli.demo import NUM_INITIAL, OPTIMIZERS, PROBLEM, Run, objective

try:
    from matplotlib.colors import LogNorm, to_rgb
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle
except ImportError as error:
    raise ImportError(
        "Expected matplotlib, which the demonstration draws with; it is not installed. Use "
        "`pip install 'botorch-ubo[plot]'`."
    ) from error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours: apart to every eye
_OURS, _FIXED, _OPTIMUM = "#0072B2", "#D55E00", "#CC79A7"
_FIRST = "0.1"
_GRID = 120
_COLORS = 128  # of an animation: enough for flat tints, and small
_MILLISECONDS = 350


def draw(result: Run, fixed: Run, path: Path) -> None:
    """Write the picture of both runs at their end."""
    _figure(result, fixed, len(result.Y)).savefig(path, dpi=110, pil_kwargs={"optimize": True})


def animate(result: Run, fixed: Run, path: Path) -> None:
    """Write a GIF with a picture for every evaluation after the initial ones."""
    from PIL import Image  # which comes with matplotlib

    frames = []
    for n in range(NUM_INITIAL, len(result.Y) + 1):
        with io.BytesIO() as buffer:
            _figure(result, fixed, n).savefig(buffer, format="png", dpi=84)
            with Image.open(buffer) as image:
                frames.append(image.convert("RGB"))
    # One palette for all, of the last frame, which has everything: what stands still stays so.
    palette = frames[-1].quantize(_COLORS)
    pictures = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    pictures[0].save(
        path,
        save_all=True,
        append_images=pictures[1:],
        duration=[1200, *[_MILLISECONDS] * (len(pictures) - 2), 4000][: len(pictures)],
        loop=0,
        optimize=True,
    )


def _figure(result: Run, fixed: Run, n: int) -> Figure:
    """Both boxes, and the regret, after ``n`` evaluations."""
    figure = Figure(figsize=(11, 4.4), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=[1, 1, 0.9])
    view = _view(result, fixed)
    _draw_map(left, result, n, view, _OURS)
    _draw_map(middle, fixed, n, view, _FIXED)
    left.set_title(f"{result.method}: the box moves", color=_OURS)
    middle.set_title("the first box stays", color=_FIXED)
    middle.tick_params(labelleft=False)
    labels = ((fixed, _FIXED, "first box", 6), (result, _OURS, result.method, -14))
    for run, color, words, above in labels:
        regret = run.regret.clamp_min(1e-4)
        right.semilogy(range(1, n + 1), regret[:n], color=color, lw=2, drawstyle="steps-post")
        right.annotate(
            words, (n, float(regret[n - 1])), xytext=(0, above), textcoords="offset points",
            ha="right", color=color,
        )  # fmt: skip
    lowest = min(float(run.regret.min()) for run in (result, fixed))
    highest = max(float(run.regret.max()) for run in (result, fixed))
    right.set(xlim=(0.5, len(result.Y) + 0.5), ylim=(max(lowest, 1e-4) / 6, 3 * highest))
    right.axvspan(0.5, NUM_INITIAL + 0.5, color="0.93", zorder=0)
    right.annotate("initial points", (0.8, max(lowest, 1e-4) / 4.5), color="0.4", fontsize="small")
    right.set_xlabel("evaluations")
    right.set_title("best so far, above the optimum")
    for side in ("top", "right"):
        right.spines[side].set_visible(False)
    figure.legend(handles=_legend(result), loc="outside lower center", ncols=6, frameon=False)
    return figure


def _legend(result: Run) -> list[Any]:
    plain: dict[str, Any] = {"fc": "none", "ec": _OURS}
    handles: list[Any] = [
        Line2D([], [], marker="*", ms=13, mfc=_OPTIMUM, mec="white", ls="", label="optimum"),
        Rectangle((0, 0), 1, 1, fc="none", ec=_FIRST, lw=1.6, ls=(0, (4, 2)), label="first box"),
        Rectangle((0, 0), 1, 1, lw=2.2, label="box now", **plain),
    ]
    if result.steps[-1].region is not None:
        tint = Rectangle((0, 0), 1, 1, fc=(*to_rgb(_OURS), 0.25), ec=_OURS, label="trust region")
        handles.append(tint)
    if result.box.certificate:
        dots: dict[str, Any] = {"lw": 1.6, "ls": (0, (1, 1.5)), **plain}
        handles.append(Rectangle((0, 0), 1, 1, label="exhausted box", **dots))
    dot: dict[str, Any] = {"marker": "o", "ls": "", "mec": _OURS}
    handles.append(Line2D([], [], ms=5, mfc=_OURS, label="evaluations", **dot))
    handles.append(Line2D([], [], ms=8, mfc="none", mew=1.5, label="the latest", **dot))
    return handles


def _view(result: Run, fixed: Run) -> Tensor:
    """The ``2 x 2`` window that shows all boxes, points and optima, with a margin."""
    window = hull(hull(result.box.initial_bounds, OPTIMIZERS), torch.cat([result.X, fixed.X]))
    for step in result.steps:
        window = hull(window, step.bounds)
    return window + 0.04 * (window[1] - window[0]) * torch.tensor([[-1.0], [1.0]])


def _draw_map(ax: Axes, run: Run, n: int, view: Tensor, color: str) -> None:
    """Contours, optima, the first box, the box after ``n`` evaluations, and these."""
    x, y = (torch.linspace(float(a), float(b), _GRID, dtype=torch.double) for a, b in view.T)
    grid = torch.stack(torch.meshgrid(x, y, indexing="xy"), dim=-1)
    values = objective(grid.reshape(-1, 2)).reshape(_GRID, _GRID)
    levels = torch.logspace(-0.3, 3.6, 14).tolist()
    values = values.clamp(PROBLEM.optimal_value, levels[-1])
    arrays: tuple[Any, ...] = (x.numpy(), y.numpy(), values.numpy())
    ax.contourf(
        *arrays, levels=levels, norm=LogNorm(0.3, 1e6), cmap="Greys", extend="both", zorder=0
    )
    step = run.steps[n - NUM_INITIAL]
    _rectangle(ax, run.box.initial_bounds, ec=_FIRST, lw=1.6, ls=(0, (4, 2)), zorder=4)
    if not torch.equal(step.bounds, run.box.initial_bounds):
        _rectangle(ax, step.bounds, ec=color, lw=2.2, zorder=3)
    if run.box.certificate and n >= run.box.certificate.num_observations:
        exhausted = torch.tensor(run.box.certificate.bounds)
        _rectangle(ax, exhausted, ec=color, lw=1.6, ls=(0, (1, 1.5)), zorder=3)
    if step.region is not None:
        _rectangle(ax, step.region, ec=color, fc=color, alpha=0.25, lw=0, zorder=2)
        _rectangle(ax, step.region, ec=color, lw=1.2, zorder=3)
    ax.plot(*run.X[:n].T, "o", ms=4.5, mfc=color, mec="white", mew=0.6, ls="", zorder=5)
    ax.plot(*run.X[n - 1], "o", ms=8, mfc="none", mec=color, mew=1.5, zorder=6)
    ax.plot(*OPTIMIZERS.T, "*", ms=13, mfc=_OPTIMUM, mec="white", mew=0.8, ls="", zorder=7)
    (left, right), (bottom, top) = view.T.tolist()
    ax.set(xlim=(left, right), ylim=(bottom, top))


def _rectangle(ax: Axes, bounds: Tensor, **style: Any) -> None:
    (left, bottom), (width, height) = bounds[0].tolist(), (bounds[1] - bounds[0]).tolist()
    style.setdefault("fc", "none")
    ax.add_patch(Rectangle((left, bottom), width, height, **style))
