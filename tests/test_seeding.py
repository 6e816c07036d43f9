"""A seed for a block, and nothing left of it afterwards."""

from __future__ import annotations

import pytest
import torch

from botorch_ubo.seeding import seeded


def test_the_same_draws_and_the_state_as_before() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    with seeded(3):
        first = torch.rand(4)
    assert torch.equal(torch.get_rng_state(), before)
    with seeded(3):
        assert torch.equal(torch.rand(4), first)
    with seeded(4):
        assert not torch.equal(torch.rand(4), first)


def test_equals_the_global_seed() -> None:
    with seeded(7):
        inside = torch.randn(3)
    torch.manual_seed(7)
    assert torch.equal(torch.randn(3), inside)


def test_an_error_does_not_leave_the_seed_behind() -> None:
    before = torch.get_rng_state()
    with pytest.raises(ZeroDivisionError), seeded(3):
        torch.rand(1)
        raise ZeroDivisionError
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_on_a_gpu() -> None:
    torch.zeros(1, device="cuda")
    before = torch.cuda.get_rng_state()
    with seeded(3):
        first = torch.rand(4, device="cuda")
    assert torch.equal(torch.cuda.get_rng_state(), before)
    with seeded(3):
        assert torch.equal(torch.rand(4, device="cuda"), first)
