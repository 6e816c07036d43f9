"""The state of a run from its data alone."""

import math
from dataclasses import replace

import pytest
import torch
from botorch.exceptions.errors import InputDataError, UnsupportedError

from botorch_ubo import Always, EveryEvaluations, ExpandingBounds, Never, get_method

BOUNDS = torch.tensor([[0.0], [1.0]], dtype=torch.double)
X = torch.tensor([[0.2], [0.7], [3.0]], dtype=torch.double)


def test_a_box_that_moves_at_every_step_has_its_data_and_its_counters():
    box = ExpandingBounds(BOUNDS, max_growth=math.inf)
    box.rebuild(X, 2)
    assert box.bounds.tolist() == [[0.0], [3.0]]
    assert (box.state.num_initial, box.state.num_at_expansion) == (2, 2)


def test_a_box_that_stays_counts_from_its_beginning():
    box = ExpandingBounds(BOUNDS, method="EI-Vanilla")
    box.rebuild(X, 1)
    assert torch.equal(box.bounds, BOUNDS)
    assert box.state.num_at_expansion == 1


def test_which_methods_can_be_rebuilt():
    method = get_method("HuBO-EI")
    assert method.rebuildable
    assert not replace(method, trigger=EveryEvaluations(3)).rebuildable
    assert not replace(get_method("EI-UBO"), trigger=Always()).rebuildable
    assert replace(get_method("EI-UBO"), trigger=Never()).rebuildable


def test_refusals():
    with pytest.raises(UnsupportedError, match="'EI-UBO' depends on the boxes before it"):
        ExpandingBounds(BOUNDS, method="EI-UBO").rebuild(X, 1)
    for wrong in (0, 4):
        with pytest.raises(InputDataError, match="1 <= num_initial <= 3"):
            ExpandingBounds(BOUNDS).rebuild(X, wrong)
