"""Draws of code that takes no generator: private, repeatable, in this thread alone."""

import threading
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.quasirandom import SobolEngine

from botorch_ubo.acquisition.search import PrivateDraws

WEIGHTS = torch.tensor([0.1, 0.2, 0.3, 0.4])
DRAWS: dict[str, Callable[[], Tensor]] = {
    "rand": lambda: torch.rand(2, 3, dtype=torch.double),
    "randn": lambda: torch.randn((4,), device="cpu"),
    "randint": lambda: torch.randint(1000, (4,)),
    "randperm": lambda: torch.randperm(50),
    "rand_like": lambda: torch.rand_like(torch.zeros(3, dtype=torch.double)),
    "randn_like": lambda: torch.randn_like(WEIGHTS, dtype=torch.double),
    "normal": lambda: torch.normal(torch.zeros(4), torch.ones(4)),
    "normal of numbers": lambda: torch.normal(0.0, 1.0, (4,)),
    "multinomial": lambda: torch.multinomial(WEIGHTS.repeat(8, 1), 2),
    "a method": lambda: WEIGHTS.repeat(8, 1).multinomial(2),
    "bernoulli": lambda: torch.bernoulli(torch.full((40,), 0.5)),
    "in place": lambda: torch.empty(5).uniform_(-1, 1),
    "distribution": lambda: torch.distributions.Normal(0.0, 1.0).sample((3,)),
    "scrambled Sobol": lambda: SobolEngine(3, scramble=True).draw(4),
    "generator=None": lambda: torch.rand(3, generator=None),
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws_are_private_and_repeatable(name: str) -> None:
    before = torch.get_rng_state()
    found = []
    for seed in (1, 1, 2):
        with PrivateDraws(seed):
            found.append((DRAWS[name](), DRAWS[name]()))
    assert torch.equal(torch.get_rng_state(), before)
    first, again, other = found
    assert torch.equal(first[0], again[0]) and torch.equal(first[1], again[1])
    assert not torch.equal(first[0], first[1]) and not torch.equal(first[0], other[0])


def test_numbers_are_those_of_a_seeded_generator() -> None:
    with PrivateDraws(5):
        drawn = torch.randn(4, dtype=torch.double, requires_grad=True)
    generator = torch.Generator().manual_seed(5)
    assert torch.equal(drawn, torch.randn(4, generator=generator, dtype=torch.double))
    assert drawn.requires_grad and drawn.is_leaf


def test_a_generator_that_is_given_is_taken() -> None:
    with PrivateDraws(5):
        drawn = torch.rand(4, generator=torch.Generator().manual_seed(9))
    assert torch.equal(drawn, torch.rand(4, generator=torch.Generator().manual_seed(9)))


def test_other_threads_draw_as_ever() -> None:
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    drawn: list[Tensor] = []
    with PrivateDraws(0):
        thread = threading.Thread(target=lambda: drawn.append(torch.rand(4)))
        thread.start()
        thread.join()
    assert torch.equal(drawn[0], expected)
