"""Fair oracles: the default method, whatever it is, told the true domain.

- ``same-told``: the default's model in its units, acquisition, search and initial points; only the
  box is the domain, and stays;
- ``same-told-spread``: the same with initial points over the domain, where whoever knew it would
  have put them. Its regret counts relative to the initial points that the others have.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import torch
from scipy.stats.qmc import LatinHypercube
from torch import Tensor

from benchmarks.methods.contender import Make, Placed
from benchmarks.methods.expanding import ExpandingContender, own_start
from benchmarks.problems.problem import Problem, Start
from botorch_ubo import fit_default_model, get_method
from botorch_ubo.controller.initial_in_space import initial_point_of
from botorch_ubo.methods import DEFAULT_METHOD
from botorch_ubo.policies.triggers import Never
from botorch_ubo.strategies import FixedBox

_STREAM = 75  # keeps these draws apart from others with the same seed


def true_domain(problem: Problem) -> Tensor:
    """The nominal domain, which methods of a problem without one cannot be told."""
    if problem.bounds is None:
        raise ValueError(
            "Expected a problem with a nominal domain for a method that is told it; "
            f"{problem.name} has none. Leave the method out."
        )
    return problem.bounds


def spread_start(problem: Problem, start: Start, seed: int) -> Start:
    """As many initial points as the others have, over the whole domain."""
    if problem.domain is not None:
        rows = [initial_point_of(problem.domain, i, 1.0, seed) for i in range(len(start.X))]
        return replace(start, X=torch.tensor(rows, dtype=torch.double))
    lower, upper = true_domain(problem)
    rng = np.random.default_rng([_STREAM, seed])
    unit = LatinHypercube(problem.dim, rng=rng).random(len(start.X))
    return replace(start, X=lower + torch.from_numpy(unit) * (upper - lower))


def same_told(problem: Problem, start: Start, seed: int) -> ExpandingContender:
    """The default method in the true domain."""
    method = replace(get_method(DEFAULT_METHOD), strategy=FixedBox(), trigger=Never())
    domain = true_domain(problem)
    return ExpandingContender(method, fit_default_model, problem, start, seed, first_box=domain)


SAME: dict[str, Make] = {
    "same-told": Placed(same_told, partial(own_start, get_method(DEFAULT_METHOD))),
    "same-told-spread": Placed(same_told, spread_start),
}
