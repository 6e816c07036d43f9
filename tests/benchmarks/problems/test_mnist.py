from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks.problems.mnist import TASKS, tuning_problem
from benchmarks.problems.mnist_training import GUESSING, Preset
from benchmarks.problems.problem import Sources, start_box
from benchmarks.problems.registry import find_problem
from tests.support.mnist_files import write

SMALL = Preset(num_train=160, num_test=40, epochs=4, batch_size=16, filters=(4, 4))
GOOD = {
    "mnist_elastic_net": [-3.0, 0.1],
    "mnist_mlp": [-3.0, -5.0, -5.0],
    "mnist_cnn": [0.1, 0.1, -2.0],
}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("mnist"))


@pytest.mark.parametrize("name", TASKS)
class TestProblems:
    @pytest.mark.slow
    def test_learns_and_repeats(self, name: str, directory: Path) -> None:
        X = torch.tensor([GOOD[name]], dtype=torch.double)
        values = [tuning_problem(name, SMALL, directory, seed)(X) for seed in (3, 3)]
        assert values[0].shape == (1, 1) and values[0].dtype == torch.double
        assert float(values[0]) > 0.5
        assert torch.equal(*values)

    @pytest.mark.slow
    def test_seed_and_generator(self, name: str, directory: Path) -> None:
        """The seed of the training matters, the state of torch's generator does not."""
        X = torch.tensor([GOOD[name]], dtype=torch.double)
        short = Preset(num_train=30, num_test=40, epochs=1, batch_size=16, filters=(4, 4))
        torch.manual_seed(5)
        state = torch.get_rng_state()
        values = {float(tuning_problem(name, short, directory, seed)(X)) for seed in range(6)}
        assert len(values) > 1
        assert torch.equal(torch.get_rng_state(), state)

    def test_corners_of_the_hard_limits_have_values(self, name: str, directory: Path) -> None:
        problem = tuning_problem(name, SMALL, directory, 0)
        limits = problem.hard_limits
        assert limits is not None
        corners = torch.cartesian_prod(*limits.T)
        values = problem(corners)
        assert values.shape == (2**problem.dim, 1)
        assert ((values >= 0) & (values <= 1)).all()
        assert (values == GUESSING).any()  # something diverges there

    def test_start_box_and_optimum(self, name: str, directory: Path) -> None:
        problem = tuning_problem(name, SMALL, directory, 0)
        assert problem.optimal_value is None and problem.epsilon == 0.02
        box, limits = start_box(problem, 0), problem.hard_limits
        assert limits is not None
        sides = (box[1] - box[0]).tolist()
        expected = {"mnist_elastic_net": [0.4, 0.2], "mnist_mlp": [1.0] * 3}
        assert sides == pytest.approx(expected.get(name, [0.2, 0.2, 0.8]))
        assert (box >= problem.bounds[0]).all() and (box <= problem.bounds[1]).all()
        assert torch.equal(box, start_box(problem, 0))

    def test_presets(self, name: str, directory: Path) -> None:
        problem = find_problem(name, 0, Sources(data_dir=directory, preset="paper"))
        assert problem.notes["preset"]["num_train"] == 55_000
        problem = find_problem(name, 0, Sources(data_dir=directory))
        with pytest.raises(ValueError, match=r"at least .* training images"):
            problem(torch.tensor([GOOD[name]], dtype=torch.double))


def test_diverged_training_has_the_accuracy_of_guessing(directory: Path) -> None:
    X = torch.tensor([[30.0, -5.0, -5.0], [-3.0, 60.0, -5.0]], dtype=torch.double)
    assert tuning_problem("mnist_mlp", SMALL, directory, 0)(X).flatten().tolist() == [GUESSING] * 2


def test_unknown_preset(directory: Path) -> None:
    with pytest.raises(KeyError, match="paper"):
        find_problem("mnist_cnn", 0, Sources(data_dir=directory, preset="gpu"))
