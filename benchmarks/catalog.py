"""Every problem by its name, and the start that all methods of a seed share."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from scipy.stats.qmc import LatinHypercube
from torch import Tensor

from benchmarks import far, problems, stress
from benchmarks.problems import PROBLEMS, Problem
from benchmarks.reference import PROBLEM_OF, ReferenceRun, read_reference

INITIAL_PER_DIM = 3
EVALUATIONS_PER_DIM = 10
_INITIAL_STREAM, _NOISE_STREAM = 72, 73  # keep draws with the same seed apart

REFERENCE_PREFIX = "ref_"
_AUTHORS_NAME = {f"{REFERENCE_PREFIX}{ours}": theirs for theirs, ours in PROBLEM_OF.items()}
REFERENCE = tuple(_AUTHORS_NAME)
MNIST_PREFIX = "mnist_"

_FAMILIES: tuple[tuple[tuple[str, ...], Callable[[str, int], Problem]], ...] = (
    (tuple(PROBLEMS), lambda name, seed: problems.get_problem(name)),
    (stress.NOISY, stress.make_noisy),
    (far.NAMES, far.make_far),
    (stress.NEAR, stress.make_near),
    (stress.USELESS, stress.make_useless),
    (stress.PLATEAU, stress.make_plateau),
)
NAMES = tuple(name for names, _ in _FAMILIES for name in names)
"""All names that need nothing but themselves: neither data nor the authors' runs."""


@dataclass(frozen=True)
class Sources:
    """Where problems that need files find them."""

    reference: Path | None = None
    """A directory of the authors' runs."""
    data_dir: Path | None = None
    """A directory of MNIST's files."""
    preset: str = "cpu"
    """The size of the MNIST problems."""


@dataclass(frozen=True)
class Start:
    """Where every method of a seed begins."""

    box: Tensor
    """``2 x d``."""
    X: Tensor
    """``n x d`` initial points."""
    budget: int
    """Evaluations after the initial points."""


def find_problem(name: str, seed: int, sources: Sources | None = None) -> Problem:
    """The problem of that name; some are drawn with the seed."""
    sources = sources or Sources()
    for names, make in _FAMILIES:
        if name in names:
            return make(name, seed)
    if name in REFERENCE:
        return _reference_problem(name, seed, sources)
    if name.startswith(MNIST_PREFIX):
        from benchmarks import mnist  # scikit-learn and data, for these problems alone

        return mnist.get_problem(name, preset=sources.preset, data_dir=sources.data_dir, seed=seed)
    near = difflib.get_close_matches(name, (*NAMES, *REFERENCE), n=3, cutoff=0)
    raise KeyError(
        f"Expected the name of a problem; got {name!r}. The nearest are {', '.join(near)}; "
        "`python -m benchmarks run --help` lists all."
    )


def make_start(problem: Problem, seed: int, budget: int | None = None) -> Start:
    """The paper's start: a box of a fifth of each side, and a Latin hypercube in it.

    What the problem itself says of its start box, initial points and budget counts first.
    """
    box = problems.start_box(problem, seed)
    X = problem.start_points
    if X is None:
        rng = np.random.default_rng([_INITIAL_STREAM, seed])
        unit = LatinHypercube(problem.dim, rng=rng).random(INITIAL_PER_DIM * problem.dim)
        X = box[0] + torch.from_numpy(unit) * (box[1] - box[0])
    evaluations = problem.num_evaluations or EVALUATIONS_PER_DIM * problem.dim
    return Start(box=box, X=X, budget=evaluations if budget is None else budget)


def draw_noise(problem: Problem, seed: int, index: int) -> float:
    """The noise of evaluation ``index`` of a run: the same for every method."""
    if problem.noise_std == 0:
        return 0.0
    rng = np.random.default_rng([_NOISE_STREAM, seed, index])
    return problem.noise_std * float(rng.standard_normal())


def reference_path(name: str, seed: int, sources: Sources) -> Path:
    """The file of the authors' run of that number behind a problem ``ref_...``."""
    if sources.reference is None:
        raise ValueError(f"Expected --reference DIR with the authors' runs for problem {name}.")
    path = sources.reference / f"{_AUTHORS_NAME[name]}_{seed}.json"
    if not path.is_file():
        raise FileNotFoundError(f"Expected the authors' run {seed} of {name} in {path}.")
    return path


def read_reference_run(name: str, seed: int, sources: Sources) -> ReferenceRun:
    """The authors' run of that number behind a problem ``ref_...``."""
    return read_reference(reference_path(name, seed, sources))


def reference_seeds(name: str, sources: Sources) -> list[int]:
    """The numbers of the authors' runs that there are of a problem ``ref_...``."""
    if sources.reference is None:
        return []
    paths = sources.reference.glob(f"{_AUTHORS_NAME[name]}_*.json")
    return sorted(int(path.stem.rpartition("_")[2]) for path in paths)


def _reference_problem(name: str, seed: int, sources: Sources) -> Problem:
    """A textbook problem, or the authors' variant, from the start of one of the authors' runs."""
    run = read_reference_run(name, seed, sources)
    return replace(
        problems.get_problem(name.removeprefix(REFERENCE_PREFIX)),
        name=name,
        start_box=run.initial_box,
        start_points=run.X[: run.num_initial],
        num_evaluations=len(run.X) - run.num_initial,
    )
