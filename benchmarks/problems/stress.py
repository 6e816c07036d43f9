"""Problems that are awkward for a box that grows, made from the textbook's.

- ``beale_noisy``: Gaussian noise of 10 % of the range of the function over its domain;
- ``near_beale``: the start box is the whole domain, so it holds the optimum already;
- ``useless_beale``: one more dimension, the last, which does not matter;
- ``plateau_bell2``: all initial values are equal to within 1e-6. A bump lies elsewhere in the
  domain; start boxes with more than 1e-6 in them are drawn again.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import torch
from botorch.utils.sampling import draw_sobol_samples
from torch import Tensor

from benchmarks.problems.problem import Family, Problem, Sources, start_box
from benchmarks.problems.textbook import PROBLEMS

NOISY_SUFFIX = "_noisy"
NOISE_SHARE = 0.1
RANGE_SAMPLES = 16384
FLAT = 1e-6
BELL_WIDTH = 0.1  # sides of the domain
PLATEAU_DRAWS = 1000
_STREAM = 71  # keeps these draws apart from others with the same seed


def make_noisy(name: str, seed: int, sources: Sources) -> Problem:
    """A textbook problem with noise; the noise itself is the loop's to add."""
    problem = PROBLEMS[name.removesuffix(NOISY_SUFFIX)]
    span = sampled_range(problem.name)
    return replace(
        problem,
        name=name,
        noise_std=NOISE_SHARE * span,
        notes={"noise_std": NOISE_SHARE * span, "range": span, "range_samples": RANGE_SAMPLES},
    )


def make_near(name: str, seed: int, sources: Sources) -> Problem:
    """A textbook problem that starts in its whole domain."""
    problem = PROBLEMS[name.removeprefix("near_")]
    return replace(problem, name=name, start_box=problem.bounds)


def make_useless(name: str, seed: int, sources: Sources) -> Problem:
    """A textbook problem with a last dimension, as wide as the first, that does not matter."""
    problem = PROBLEMS[name.removeprefix("useless_")]
    return replace(
        problem,
        name=name,
        function=lambda X: problem.function(X[..., :-1]),
        bounds=torch.cat([problem.bounds, problem.bounds[:, :1]], dim=-1),
        optimizer=torch.cat([problem.optimizer, problem.bounds[:, 0].mean().reshape(1)]),
    )


def _bell(dim: int, seed: int) -> Problem:
    rng = np.random.default_rng([_STREAM, seed, dim])
    optimizer = torch.from_numpy(rng.uniform(size=dim))
    return Problem(
        name=f"bell{dim}",
        function=lambda X: torch.exp(-(X - optimizer).square().sum(dim=-1) / (2 * BELL_WIDTH**2)),
        bounds=torch.tensor([[0.0] * dim, [1.0] * dim], dtype=torch.double),
        optimal_value=1.0,
        optimizer=optimizer,
    )


def _hartmann3(seed: int) -> Problem:
    """Hartmann3, whose bumps lie in the unit cube, in a domain of three times its side."""
    problem = PROBLEMS["hartmann3"]
    return replace(problem, bounds=3 * problem.bounds - 1)


_PLATEAUS: dict[str, Callable[[int], Problem]] = {
    "plateau_bell2": lambda seed: _bell(2, seed),
    "plateau_bell3": lambda seed: _bell(3, seed),
    "plateau_hartmann3": _hartmann3,
}


def make_plateau(name: str, seed: int, sources: Sources) -> Problem:
    """A problem with a start box in which nothing is to be seen."""
    for draw in range(PLATEAU_DRAWS):
        # Some places of a bell leave no room for a flat start box, so both are drawn again.
        entropy = np.random.SeedSequence([_STREAM, seed, draw]).generate_state(1)
        problem = _PLATEAUS[name](int(entropy[0]))
        box = start_box(problem, int(entropy[0]))
        if float(problem.function(_samples(box, 4096)).max()) <= FLAT:
            return replace(problem, name=name, start_box=box, notes={"draws": draw + 1})
    raise RuntimeError(f"Expected a flat start box of {name} in {PLATEAU_DRAWS} draws; seed {seed}")


@cache
def sampled_range(name: str) -> float:
    """The range of a textbook problem's values over a fixed sample of its domain."""
    problem = PROBLEMS[name]
    values = problem.function(_samples(problem.bounds, RANGE_SAMPLES))
    return float(values.max() - values.min())


def _samples(box: Tensor, count: int) -> Tensor:
    """``count x d`` space-filling points, always the same."""
    return draw_sobol_samples(box, count, 1, seed=0).squeeze(-2)


_NOISY = tuple(f"{name}{NOISY_SUFFIX}" for name in PROBLEMS)
_NEAR = ("near_beale", "near_hartmann3", "near_levy3", "near_hartmann6")
_USELESS = ("useless_beale", "useless_hartmann3")

FAMILIES = (
    Family("noisy", "With noise", _NOISY, make_noisy),
    Family("near", "Start box that holds the optimum", _NEAR, make_near),
    Family("useless", "A dimension that does not matter", _USELESS, make_useless),
    Family("plateau", "All initial values equal", tuple(_PLATEAUS), make_plateau),
)
