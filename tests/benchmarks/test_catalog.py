from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch

from benchmarks import catalog, far, mnist, stress
from benchmarks.catalog import Sources, draw_noise, find_problem, make_start
from benchmarks.problems import PROBLEMS
from benchmarks.suites import MNIST, SUITES, resolve_methods
from botorch_ubo import available_methods


@pytest.mark.parametrize("name", catalog.NAMES)
def test_optimum_and_start(name: str) -> None:
    problem = find_problem(name, seed=3)
    assert problem.name == name
    assert problem.bounds is not None and problem.optimizer is not None
    assert problem.optimal_value is not None
    optimum = problem(problem.optimizer.unsqueeze(0))
    assert float(optimum) == pytest.approx(problem.optimal_value, abs=1e-4)
    assert (problem.optimizer >= problem.bounds[0]).all()
    assert (problem.optimizer <= problem.bounds[1]).all()
    start = make_start(problem, seed=3)
    assert start.X.shape == (3 * problem.dim, problem.dim)
    assert (start.X >= start.box[0]).all() and (start.X <= start.box[1]).all()
    # Latin: one point in each of the equal parts of each coordinate.
    unit = (start.X - start.box[0]) / (start.box[1] - start.box[0])
    strata = (unit * len(unit)).floor().sort(dim=0).values
    expected = torch.arange(len(unit), dtype=torch.double).unsqueeze(-1).expand_as(strata)
    torch.testing.assert_close(strata, expected)
    assert torch.equal(start.X, make_start(find_problem(name, seed=3), seed=3).X)
    assert not torch.equal(start.X, make_start(find_problem(name, seed=4), seed=4).X)


def test_budget_is_the_papers() -> None:
    assert make_start(find_problem("hartmann6", 0), 0).budget == 60
    assert make_start(find_problem("far_smooth2_d3", 0), 0).budget == 40
    assert make_start(find_problem("hartmann6", 0), 0, budget=2).budget == 2


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


@pytest.mark.parametrize("name", stress.PLATEAU)
@pytest.mark.parametrize("seed", range(5))
def test_plateau_is_flat_at_the_start(name: str, seed: int) -> None:
    problem = find_problem(name, seed)
    values = problem(make_start(problem, seed).X)
    assert float(values.max() - values.min()) <= 1e-6
    assert problem.optimal_value is not None and problem.optimal_value >= 1


def test_useless_dimension_does_not_matter() -> None:
    problem, textbook = find_problem("useless_hartmann3", 0), PROBLEMS["hartmann3"]
    X = torch.rand(10, 4, generator=torch.Generator().manual_seed(0), dtype=torch.double)
    torch.testing.assert_close(problem(X), textbook(X[:, :3]))
    assert problem.dim == 4


def test_near_starts_in_the_whole_domain() -> None:
    problem = find_problem("near_levy3", 0)
    assert torch.equal(make_start(problem, 0).box, PROBLEMS["levy3"].bounds)


def test_noise_is_a_tenth_of_the_range_and_the_same_for_all() -> None:
    problem = find_problem("levy3_noisy", 0)
    assert problem.notes["range"] == pytest.approx(160, rel=0.1)
    draws = torch.tensor([draw_noise(problem, 0, index) for index in range(2000)])
    assert float(draws.std()) == pytest.approx(0.1 * problem.notes["range"], rel=0.05)
    assert abs(float(draws.mean())) < 4 * problem.noise_std / math.sqrt(len(draws))
    assert draw_noise(problem, 0, 7) == draw_noise(problem, 0, 7) != draw_noise(problem, 1, 7)
    assert draw_noise(find_problem("levy3", 0), 0, 7) == 0


def test_reference_problem_starts_where_the_authors_did(tmp_path: Path) -> None:
    X = [[0.0, 0.5], [1.0, 1.0], [2.0, 0.0]]
    content = {
        "function": "Beale", "seed": 4, "initial_box": [[0.0, 1.0], [0.0, 2.0]], "X": X,
        "Y": [-1.0, -2.0, -3.0], "num_initial": 2, "boxes": [],
    }  # fmt: skip
    (tmp_path / "Beale_4.json").write_text(json.dumps(content))
    sources = Sources(reference=tmp_path)
    start = make_start(find_problem("ref_beale", 4, sources), 4)
    assert start.X.tolist() == X[:2] and start.budget == 1
    assert start.box.tolist() == [[0.0, 0.0], [1.0, 2.0]]
    assert catalog.reference_seeds("ref_beale", sources) == [4]
    with pytest.raises(FileNotFoundError, match="Beale_5"):
        find_problem("ref_beale", 5, sources)
    with pytest.raises(ValueError, match="--reference"):
        find_problem("ref_beale", 4)


def test_unknown_name_tells_the_nearest() -> None:
    with pytest.raises(KeyError, match="far_smooth2_d3"):
        find_problem("far_smoth2_d3", 0)


def test_suites_name_problems_and_methods_that_exist() -> None:
    known = {*catalog.NAMES, *catalog.REFERENCE, *MNIST}
    for suite in SUITES.values():
        assert set(suite.problems) <= known
        resolve_methods(suite.methods or ("all",))


def test_methods_by_group_and_name() -> None:
    registry = tuple(method.name for method in available_methods())
    assert resolve_methods(["registry"]) == registry
    assert resolve_methods(["ei-ubo", "CMA-es", "EI-UBO"]) == ("EI-UBO", "CMA-ES")
    assert set(resolve_methods(["all"])) == {*registry, *resolve_methods(["outside"])}


def test_mnist_problems_are_found(tmp_path: Path) -> None:
    assert set(mnist.TASKS) == set(MNIST)
    problem = find_problem("mnist_mlp", 0, Sources(data_dir=tmp_path))
    assert problem.hard_limits is not None and problem.epsilon == mnist.EPSILON
