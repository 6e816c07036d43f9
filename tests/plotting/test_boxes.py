"""Figures hold what they say: as many boxes as there were, at their places, in the right sign."""

from __future__ import annotations

import builtins
import json
from dataclasses import replace

import matplotlib
import pytest
import torch
from botorch.acquisition import UpperConfidenceBound
from botorch.exceptions.errors import InputDataError
from torch import Tensor

matplotlib.use("Agg")

from matplotlib import pyplot

from botorch_ubo import (
    Always,
    ConstantBeta,
    ExpandingBounds,
    Float,
    RegretBound,
    Space,
    default_model,
)
from botorch_ubo.plotting import plot_best, plot_boxes, plot_intervals, plot_regret_bound
from tests.support.plotted import (
    LIMITS,
    METHOD,
    drawn_boxes,
    drawn_points,
    first_bounds,
    labels,
    make_run,
    objective,
)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


class TestPlotBoxes:
    def test_every_box_is_drawn_at_its_place(self):
        box, X, Y = make_run()
        ax = plot_boxes(box, X, Y)
        expected = [box.initial_bounds]
        expected += [torch.tensor(record.new_bounds).double() for record in box.history]
        drawn = drawn_boxes(ax)
        assert len(drawn) == len(expected) == 5
        for bounds in expected:
            assert any(torch.allclose(bounds, other) for other in drawn)
        lower, upper = torch.tensor([ax.get_xlim(), ax.get_ylim()]).double().T
        assert (lower < box.bounds[0]).all() and (upper > box.bounds[1]).all()

    def test_initial_and_later_points_are_apart(self):
        box, X, _ = make_run()
        ax = plot_boxes(box, X)
        assert torch.allclose(drawn_points(ax, "initial points"), X[:5])
        assert torch.allclose(drawn_points(ax, "evaluations"), X[5:])
        assert "best" not in labels(ax)

    @pytest.mark.parametrize("maximize", [False, True])
    def test_the_best_point_follows_the_direction(self, maximize):
        box, X, Y = make_run(maximize=maximize)
        for outcomes in (Y, Y.unsqueeze(-1)):
            ax = plot_boxes(box, X, outcomes)
            (star,) = [line for line in ax.lines if line.get_label() == "best"]
            best = X[Y.argmax() if maximize else Y.argmin()]
            assert star.get_xydata()[0].tolist() == pytest.approx(best.tolist())

    def test_two_of_three_dimensions(self):
        box, X, Y = make_run(d=3)
        asked = []

        def recorded(points: Tensor) -> Tensor:
            asked.append(points)
            return objective(points)

        ax = plot_boxes(box, X, Y, objective=recorded, dims=(2, 0))
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("$x_{2}$", "$x_{0}$")
        assert torch.allclose(drawn_points(ax, "evaluations"), X[5:][:, [2, 0]])
        assert any(torch.allclose(box.bounds[:, [2, 0]], drawn) for drawn in drawn_boxes(ax))
        grid = torch.cat(asked)
        assert (grid[:, 1] == X[Y.argmin(), 1]).all()
        assert grid[:, 2].min() == pytest.approx(ax.get_xlim()[0])
        assert grid[:, 0].max() == pytest.approx(ax.get_ylim()[1])

    def test_contours_are_logarithmic_for_wide_positive_values_only(self):
        box, X, Y = make_run()
        wide = plot_boxes(box, X, Y, objective=lambda x: objective(x).exp() ** 5).collections[0]
        assert isinstance(wide.norm, matplotlib.colors.LogNorm)
        signed = plot_boxes(box, X, Y, objective=lambda x: x[..., 0]).collections[0]
        assert not isinstance(signed.norm, matplotlib.colors.LogNorm)

    def test_lighter_is_better(self):
        box, X, Y = make_run()
        model = default_model(X, Y.unsqueeze(-1), first_bounds(2)).eval()
        cost = plot_boxes(box, X, Y, objective=objective).collections[0]
        gain = plot_boxes(box, X, Y, objective=UpperConfidenceBound(model, 2.0)).collections[0]
        assert (cost.get_cmap().name, gain.get_cmap().name) == ("Greys", "Greys_r")

    def test_hard_limits_are_hatched(self):
        box, X, Y = make_run(hard_limits=LIMITS)
        ax = plot_boxes(box, X, Y)
        spans = [p for p in ax.patches if p.get_gid() == "limit"]
        assert len(spans) == 2 and all(span.get_hatch() for span in spans)
        assert labels(ax).count("hard limit") == 1
        assert not [p for p in plot_boxes(*make_run()).patches if p.get_gid() == "limit"]

    def test_draws_into_given_axes(self):
        box, X, Y = make_run()
        _, ax = pyplot.subplots()
        figures = pyplot.get_fignums()
        assert plot_boxes(box, X, Y, ax=ax) is ax
        assert pyplot.get_fignums() == figures

    def test_after_a_restart(self):
        box, X, Y = make_run(hard_limits=LIMITS)
        restored = ExpandingBounds(
            first_bounds(2), method=METHOD, maximize=False, hard_limits=LIMITS
        )
        restored.load_state_dict(json.loads(json.dumps(box.state_dict())))
        before, after = (drawn_boxes(plot_boxes(b, X, Y)) for b in (box, restored))
        assert len(before) == 5 and torch.equal(torch.stack(before), torch.stack(after))

    def test_before_the_first_update(self):
        box = ExpandingBounds(first_bounds(2), method=METHOD)
        X = torch.rand(3, 2, dtype=torch.double)
        ax = plot_boxes(box, X)
        assert len(drawn_boxes(ax)) == 1
        assert torch.allclose(drawn_points(ax, "initial points"), X)

    def test_a_refused_move_is_not_a_box(self):
        box, X, _ = make_run(on_expand=lambda record: False)
        assert len(box.history) == 4
        assert len(drawn_boxes(plot_boxes(box, X))) == 1

    def test_single_precision(self):
        bounds = first_bounds(2).float()
        X = torch.rand(4, 2)
        ax = plot_boxes(
            ExpandingBounds(bounds, method=METHOD), X, objective(X), objective=objective
        )
        assert len(drawn_boxes(ax)) == 1

    def test_refuses_what_does_not_fit(self):
        box, X, Y = make_run()
        with pytest.raises(InputDataError, match="shape n x 2"):
            plot_boxes(box, X[:, :1])
        with pytest.raises(InputDataError, match="from 0 to 1"):
            plot_boxes(box, X, dims=(0, 2))
        with pytest.raises(InputDataError, match="different"):
            plot_boxes(box, X, dims=(1, 1))
        with pytest.raises(InputDataError, match="8 and 9"):
            plot_boxes(box, X, Y[:-1])
        with pytest.raises(InputDataError, match="one objective"):
            plot_boxes(box, X, torch.stack([Y, Y], dim=-1))


class TestPlotIntervals:
    def test_the_interval_steps_after_the_data_that_moved_it(self):
        box, X, _ = make_run(d=3)
        ax = plot_intervals(box, X, dim=1)
        band, lower, upper = ax.patches[:3]
        heights, edges, baseline = band.get_data()
        assert edges.tolist() == [0.5, 5.5, 6.5, 7.5, 8.5, 9.5]
        boxes = [box.initial_bounds.tolist(), *(record.new_bounds for record in box.history)]
        assert baseline.tolist() == pytest.approx([low[1] for low, _ in boxes])
        assert heights.tolist() == pytest.approx([high[1] for _, high in boxes])
        assert lower.get_data().values.tolist() == baseline.tolist()
        assert upper.get_data().values.tolist() == heights.tolist()
        assert torch.allclose(drawn_points(ax, "evaluations")[:, 1], X[5:, 1])

    def test_hard_limits_are_in_view(self):
        box, X, _ = make_run(hard_limits=LIMITS)
        ax = plot_intervals(box, X, dim=1)
        (span,) = [p for p in ax.patches if p.get_gid() == "limit"]
        assert span.get_y() == pytest.approx(1.5)
        assert ax.get_ylim()[1] > 1.5


class TestPlotRegretBound:
    def test_bound_epsilon_and_moves(self):
        method = replace(METHOD, trigger=RegretBound() | Always(), beta=ConstantBeta(4.0))
        box, _, _ = make_run(method=method, epsilon=2.0)
        ax = plot_regret_bound(box)
        lines = {line.get_label(): line for line in ax.lines}
        bounds = [step.regret_bound for step in box.trace]
        assert None not in bounds
        assert lines["regret bound"].get_ydata().tolist() == pytest.approx(bounds)
        assert lines["regret bound"].get_xdata().tolist() == [5, 6, 7, 8]
        epsilons = [step.epsilon for step in box.trace]
        assert lines[r"$\varepsilon$"].get_ydata().tolist() == pytest.approx(epsilons)
        assert len(ax.lines) == 2 + len(box.history)
        assert ax.get_yscale() == "log"

    def test_unknown_bounds_are_gaps(self):
        box, _, _ = make_run()
        ax = plot_regret_bound(box)
        assert all(y != y for y in ax.lines[0].get_ydata())


class TestPlotBest:
    @pytest.mark.parametrize(
        ("maximize", "expected"), [(True, [1.0, 3.0, 3.0, 4.0]), (False, [1.0, 1.0, 0.5, 0.5])]
    )
    def test_best_so_far(self, maximize, expected):
        ax = plot_best(torch.tensor([[1.0], [3.0], [0.5], [4.0]]), maximize, num_initial=2)
        (line,) = ax.lines
        assert line.get_ydata().tolist() == expected
        assert ax.get_yscale() == "linear"
        (initial,) = [p for p in ax.patches if p.get_label() == "initial points"]
        assert initial.get_x() + initial.get_width() == 2.5

    @pytest.mark.parametrize("sign", [1.0, -1.0])
    def test_regret_on_a_logarithmic_axis(self, sign):
        ax = plot_best(sign * torch.tensor([1.0, 3.0, 2.0, 4.0]), sign > 0, optimum=sign * 5)
        lines = {line.get_label(): line.get_ydata().tolist() for line in ax.lines}
        assert lines["evaluations"] == [4.0, 2.0, 3.0, 1.0]
        assert lines["best so far"] == [4.0, 2.0, 2.0, 1.0]
        assert ax.get_yscale() == "log" and ax.get_ylabel() == "regret"

    def test_reaching_the_optimum(self):
        ax = plot_best(torch.tensor([1.0, 0.0]), maximize=False, optimum=0.0)
        ax.figure.canvas.draw()
        assert min(ax.lines[0].get_ydata()) > 0


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"botorch-ubo\[plot\]"):
        plot_best(torch.tensor([1.0, 2.0]))


class TestNames:
    def test_axes_speak_of_names_and_of_the_users_units(self):
        space = Space({"lr": Float(1e-3, 1e-1, log=True), "x": (0.0, 1.0)})
        X = torch.tensor([space.encode({"lr": 1e-2, "x": 0.5})] * 3, dtype=torch.double)
        box = ExpandingBounds(space)
        ax = plot_boxes(box, X)
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("lr", "x")
        assert ax.xaxis.get_major_formatter()(float(X[0, 0]), None) == "0.01"
        assert plot_intervals(box, X, dim=1).get_ylabel() == "x"
