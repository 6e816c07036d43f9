"""Figures of fronts hold the points that they say."""

import matplotlib
import pytest
from botorch.exceptions.errors import InputDataError

matplotlib.use("Agg")

from botorch_ubo import UnboundedOptimizer
from botorch_ubo.plotting.front import plot_front, plot_hypervolume

BOX = [(0.0, 1.0), (0.0, 1.0)]
X = [[0.1, 0.1], [0.2, 0.2], [0.3, 0.9], [0.7, 0.4]]


def test_the_front_and_all_points_are_drawn() -> None:
    optimizer = UnboundedOptimizer(BOX, direction=["maximize", "minimize"], constraints=1)
    Y = [[2.0, -1.0, -1], [1.0, -2.0, -1], [0.0, 0.0, -1], [9.0, -9.0, 1.0]]
    optimizer.add_data(X, Y)
    ax = plot_front(optimizer)
    (front,) = ax.get_lines()
    assert front.get_xydata().tolist() == [[1.0, -2.0], [2.0, -1.0]]
    feasible, infeasible = (points.get_offsets().tolist() for points in ax.collections[:2])
    assert len(feasible) == 3 and infeasible == [[9.0, -9.0]]
    assert ax.get_xlabel() == "objective 0 (maximize)"
    volumes = plot_hypervolume(optimizer.result()).get_lines()[0].get_ydata()
    assert len(volumes) == 4 and volumes[-1] == max(volumes)


def test_one_objective_has_no_front_but_a_best_value() -> None:
    optimizer = UnboundedOptimizer(BOX, constraints=1)
    optimizer.add_data(X, [[3.0, -1.0], [1.0, 1.0], [2.0, -1.0], [4.0, -1.0]])
    result = optimizer.result()
    with pytest.raises(InputDataError, match="plot_best"):
        plot_front(result)
    ax = plot_hypervolume(result)
    assert ax.get_lines()[0].get_ydata().tolist() == [3.0, 3.0, 2.0, 2.0]
    assert ax.get_ylabel() == "best feasible value"
