from __future__ import annotations

import pytest
import torch

from benchmarks.problems import far
from benchmarks.problems.problem import make_start
from benchmarks.problems.registry import find_problem


@pytest.mark.parametrize("name", far.NAMES)
def test_far_optimum_lies_that_many_sides_beyond_the_face(name: str) -> None:
    for seed in range(3):
        problem = find_problem(name, seed)
        assert problem.optimizer is not None and problem.start_box is not None
        center = problem.start_box.mean(dim=0)
        step = problem.optimizer - center
        share_inside = float((0.5 / step.abs()).min())  # of the way, until the first face
        outside = (1 - share_inside) * float(step.norm())
        assert outside == pytest.approx(problem.distance, rel=1e-9)
        # There is something to see at the start, whatever the distance.
        values = problem(make_start(problem, seed).X)
        assert problem.optimal_value is not None
        assert values.max() - values.min() > 0.003 * (problem.optimal_value - values.max())


def test_far_depends_on_the_seed_and_widths_on_the_dimension() -> None:
    first, second = (find_problem("far_anisotropic5_d10", seed) for seed in (0, 1))
    assert first.optimizer is not None and second.optimizer is not None
    assert not torch.allclose(first.optimizer, second.optimizer)
    steps = first.optimizer + torch.eye(5, dtype=torch.double)
    widths = (-first.function(steps).log()).rsqrt()
    assert float(widths.max() / widths.min()) == pytest.approx(far.LARGEST_RATIO)
