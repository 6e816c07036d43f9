"""Figures take a run file, an optimizer or a result, and show its names and units."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import matplotlib
import pytest
from botorch.exceptions.errors import InputDataError

matplotlib.use("Agg")

from matplotlib import pyplot

from botorch_ubo import ExpandingBounds, UnboundedOptimizer
from botorch_ubo.plotting import (
    plot_best,
    plot_boxes,
    plot_front,
    plot_hypervolume,
    plot_intervals,
    plot_regret_bound,
)
from tests.support.plotted import drawn_boxes, drawn_points, labels
from tests.support.recorded_runs import BOX, SPACE, constrained_run, front_run, plain_result


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    pyplot.close("all")


def test_a_result_is_drawn_as_its_box_and_points_are() -> None:
    result = plain_result()
    ax, same = plot_boxes(result), plot_boxes(result.box, result.X, result.Y)
    assert len(drawn_boxes(ax)) == len(drawn_boxes(same)) == 1 + len(result.expansions)
    assert labels(ax) == labels(same) and "best" in labels(ax)
    assert len(drawn_points(plot_intervals(result, dim=1), "evaluations")) == 5
    assert len(plot_regret_bound(result).lines) == 2 + len(result.box.history)
    best = plot_best(result)
    assert best.lines[0].get_ydata().tolist() == result.Y.cummin(0).values.tolist()
    assert "initial points" in labels(best)


def test_a_run_file_and_an_optimizer(tmp_path: Path) -> None:
    optimizer = UnboundedOptimizer(SPACE, checkpoint=tmp_path / "run.db")
    for trial in optimizer.ask(3):
        optimizer.tell(trial, float(trial.id))
    for source in (optimizer, tmp_path / "run.db", str(tmp_path / "run.db")):
        ax = plot_boxes(source, dims=("lr", "layers"))
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("lr", "layers")
        assert plot_best(source).lines[0].get_ydata().tolist() == [0.0, 0.0, 0.0]


def test_ticks_are_in_the_users_units() -> None:
    optimizer = UnboundedOptimizer(SPACE)
    optimizer.tell(optimizer.ask(), 1.0)
    ax = plot_boxes(optimizer, dims=("lr", "act"))
    ax.figure.canvas.draw()
    assert {"0.0001", "0.001", "0.01"} <= {text.get_text() for text in ax.get_xticklabels()}
    shown = [text.get_text() for text in ax.get_yticklabels() if text.get_text()]
    assert shown == ["relu", "tanh", "<b>"]
    assert labels(plot_intervals(optimizer, dim="act")) == ["initial points"]  # no box, no limits
    layers = plot_intervals(optimizer, dim="layers")
    layers.figure.canvas.draw()
    assert {"1", "2", "3"} <= {text.get_text() for text in layers.get_yticklabels()}


def test_constraints_and_several_objectives() -> None:
    run = constrained_run()
    feasible = run.goal.feasible(run.Y)
    drawn = plot_best(run).lines[0].get_ydata()
    assert drawn[-1] == float(run.Y[feasible, 0].min())
    assert plot_hypervolume(run).get_ylabel() == "best feasible value"
    several = front_run()
    assert "infeasible" in labels(plot_front(several))
    assert "best" not in labels(plot_boxes(several))
    with pytest.raises(InputDataError, match="plot_hypervolume"):
        plot_best(several)


def test_refusals() -> None:
    result = plain_result()
    with pytest.raises(InputDataError, match="beside a run"):
        plot_boxes(result, result.X)
    with pytest.raises(InputDataError, match="beside a run"):
        plot_best(result, maximize=False)
    with pytest.raises(InputDataError, match="beside a controller"):
        plot_boxes(ExpandingBounds(result.initial_bounds))
    with pytest.raises(InputDataError, match="none yet"):
        plot_intervals(UnboundedOptimizer(BOX))
    with pytest.raises(InputDataError, match="none yet"):
        plot_hypervolume(UnboundedOptimizer(BOX))
    optimizer = UnboundedOptimizer(SPACE)
    optimizer.tell(optimizer.ask(), 1.0)
    with pytest.raises(InputDataError, match="'lr', 'layers'"):
        plot_boxes(optimizer, dims=("lr", "depth"))
