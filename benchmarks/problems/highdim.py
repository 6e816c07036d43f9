"""The generated families in 50 and 100 dimensions: half to look at, half to judge by.

Kinds and forms are those of ``families.py``, and so are the halves; but for the heavy-tailed ones,
a product of whose hundred factors is no number. 30 initial points, as many as the package draws
itself in ten or more dimensions, and 150 evaluations.
"""

from dataclasses import replace

import numpy as np
import torch
from scipy.stats.qmc import LatinHypercube

from benchmarks.problems.families import KINDS, half_of, make_instance
from benchmarks.problems.problem import Family, Problem, Sources

LOOK, JUDGE = "highdim-look", "highdim-judge"
DIMS = (50, 100)
NUM_INITIAL, NUM_EVALUATIONS = 30, 150
_STREAM = 76

_KINDS = {name: replace(kind, dims=DIMS) for name, kind in KINDS.items()}
HALVES = {
    suite: {
        name: function
        for name, function in half_of(_KINDS, look=suite == LOOK).items()
        if function[0] != _KINDS["heavy-tailed"]
    }
    for suite in (LOOK, JUDGE)
}
FUNCTIONS = {**HALVES[LOOK], **HALVES[JUDGE]}


def make_function(name: str, seed: int, sources: Sources) -> Problem:
    """The instance of that seed, with its initial points."""
    problem = make_instance(name, FUNCTIONS[name], seed)
    assert problem.start_box is not None
    lower, upper = problem.start_box
    unit = LatinHypercube(problem.dim, rng=np.random.default_rng([_STREAM, seed]))
    X = lower + torch.from_numpy(unit.random(NUM_INITIAL)) * (upper - lower)
    return replace(problem, start_points=X, num_evaluations=NUM_EVALUATIONS)


FAMILIES = (
    Family(LOOK, "High dimension, to look at", tuple(HALVES[LOOK]), make_function),
    Family(JUDGE, "High dimension, to judge by", tuple(HALVES[JUDGE]), make_function),
)
