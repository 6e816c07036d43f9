"""The point to evaluate in place of a candidate."""

import pytest
import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.models.deterministic import GenericDeterministicModel

from botorch_ubo.acquisition.search import Lattice, SpaceExhaustedError
from botorch_ubo.spaces import Categorical, Integer, Space

SPACE = Space(
    {"a": Integer(0, 4, limits=(0, 4)), "b": Categorical(["x", "y", "z"]), "c": (0.0, 1.0)}
)


class First(AcquisitionFunction):
    """The larger ``a`` and then the code of ``b``, the better."""

    def __init__(self):
        super().__init__(GenericDeterministicModel(lambda X: X))

    def forward(self, X):
        return (X * torch.tensor([10.0, 1.0, 0.0]).to(X)).sum(-1).squeeze(-1)


def settle(lattice, *point):
    return lattice.settle(First(), torch.tensor([point], dtype=torch.double))[0].tolist()


def test_a_new_point_is_rounded_and_left_alone():
    assert settle(Lattice(SPACE), 2.4, 1.0, 0.3) == [2.0, 1.0, 0.3]


def test_a_known_point_gives_way_to_the_best_new_neighbour():
    lattice = Lattice(SPACE, frozenset({(2.0, 1.0, 0.5)}))
    assert settle(lattice, 2.4, 1.0, 0.5) == [3.0, 1.0, 0.5]
    taken = {(2.0, 1.0, 0.5), (3.0, 1.0, 0.5), (1.0, 1.0, 0.5)}
    assert settle(Lattice(SPACE, frozenset(taken)), 2.0, 1.0, 0.5) == [2.0, 2.0, 0.5]


def test_two_steps_if_all_that_is_one_step_away_is_known():
    point = (4.0, 2.0, 0.5)
    lattice = Lattice(SPACE, frozenset({point, *SPACE.beside(point)}))
    assert settle(lattice, *point) == [3.0, 1.0, 0.5]


def test_an_exhausted_grid_is_told():
    space = Space({"a": Integer(0, 1, limits=(0, 1)), "b": Categorical(["x", "y"])})
    everything = frozenset((a, b) for a in (0.0, 1.0) for b in (0.0, 1.0))
    X = torch.tensor([[0.2, 1.0]], dtype=torch.double)
    with pytest.raises(SpaceExhaustedError, match="none beside these 4"):
        Lattice(space, everything).settle(None, X)


def test_without_a_grid_the_best_sample_that_is_new_takes_the_place():
    space = Space({"a": Integer(0, 4, limits=(0, 4)), "b": (0.0, 1.0), "c": (0.0, 1.0)})
    samples = torch.tensor([[4.0, 1.0, 0.0], [4.0, 0.5, 0.0], [1.0, 0.5, 0.0]], dtype=torch.double)
    grid = {(a, 1.0, 0.0) for a in (0.0, 1.0, 2.0, 3.0, 4.0)}
    lattice = Lattice(space, frozenset(grid), draw=lambda acq_function: samples)
    assert settle(lattice, 4.0, 1.0, 0.0) == [4.0, 0.5, 0.0]
    # a neighbour on the grid is as good as its value
    lattice = Lattice(space, frozenset(grid - {(3.0, 1.0, 0.0)}), draw=lambda acq_function: samples)
    assert settle(lattice, 4.0, 1.0, 0.0) == [4.0, 0.5, 0.0]
    lattice = Lattice(space, frozenset(grid - {(3.0, 1.0, 0.0)}), draw=lambda a: samples[2:])
    assert settle(lattice, 4.0, 1.0, 0.0) == [3.0, 1.0, 0.0]


def test_no_two_candidates_become_one_point():
    X = torch.tensor([[2.4, 1.0, 0.5], [1.6, 1.0, 0.5], [2.1, 1.0, 0.5]], dtype=torch.double)
    rows = Lattice(SPACE).settle_all(First(), X).tolist()
    assert rows == [[2.0, 1.0, 0.5], [3.0, 1.0, 0.5], [2.0, 2.0, 0.5]]
