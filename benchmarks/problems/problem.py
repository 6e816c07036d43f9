"""What a problem is, how problems are grouped, and the start that all methods of a seed share."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.stats.qmc import LatinHypercube
from torch import Tensor

from botorch_ubo.spaces import Space

INITIAL_PER_DIM = 3
EVALUATIONS_PER_DIM = 10
_INITIAL_STREAM, _NOISE_STREAM = 72, 73  # keep draws with the same seed apart


@dataclass(frozen=True)
class Problem:
    """A function to maximise, where to start, and what is known of its optimum.

    Attributes:
        name: As a user writes it.
        function: ``n x d`` points to ``n`` values without noise, for maximisation.
        bounds: ``2 x d``: the nominal domain, if there is one; else there is a ``start_box``.
        optimal_value: The maximum over the domain, and over R^d unless ``unbounded``; ``None`` if
            not known.
        optimizer: ``d``-dim: a point at which it is attained.
        unbounded: Whether larger values exist outside the domain, so that regret can be negative.
        start_box: ``2 x d``, where the problem says; else a share of the domain, placed by the
            seed.
        start_points: ``n x d`` initial points, where the problem says; else drawn in the start
            box.
        start_value: From which gains count, where the problem says; else from the best initial
            value.
        hard_limits: ``2 x d``, infinite on free sides: limits that no method may cross.
        distance: From the start box to the optimum, in sides of the start box.
        target_share: The share of the best initial point's regret at which a run ends.
        num_evaluations: After the initial points; 10 per dimension if ``None``.
        epsilon: The accuracy that methods are told to look for, the paper's.
        noise_std: Standard deviation of the Gaussian noise on what a method sees.
        sample: A ``1 x d`` point and a generator to what a method sees, where noise is another.
        may_fail: Whether a value that is not finite is a failed evaluation, not a mistake.
        space: Parameters by name that the points are coordinates of, from the start box; if any.
        domain: The same, told the domain.
        notes: What else a record should keep, as JSON values.
    """

    name: str
    function: Callable[[Tensor], Tensor]
    bounds: Tensor | None
    optimal_value: float | None
    optimizer: Tensor | None
    unbounded: bool = False
    start_box: Tensor | None = None
    start_points: Tensor | None = None
    start_value: float | None = None
    hard_limits: Tensor | None = None
    distance: float | None = None
    target_share: float | None = None
    num_evaluations: int | None = None
    epsilon: float = 0.05
    noise_std: float = 0.0
    sample: Callable[[Tensor, np.random.Generator], float] | None = None
    may_fail: bool = False
    space: Space | None = None
    domain: Space | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.bounds is None and self.start_box is None:
            raise ValueError(f"Expected `bounds` or a `start_box`; problem {self.name} has neither")

    @property
    def dim(self) -> int:
        box = self.start_box if self.bounds is None else self.bounds
        return box.shape[-1]

    @property
    def is_noisy(self) -> bool:
        return self.noise_std > 0 or self.sample is not None

    def contains(self, X: Tensor) -> list[bool]:
        """Whether each of ``n x d`` points is in the domain; all are where there is none."""
        if self.bounds is None:
            return [True] * len(X)
        return ((X >= self.bounds[0]) & (X <= self.bounds[1])).all(dim=-1).tolist()

    def __call__(self, X: Tensor) -> Tensor:
        """``n x 1`` values of ``n x d`` points, without noise."""
        return self.function(X).unsqueeze(-1)


@dataclass(frozen=True)
class Sources:
    """Where problems and methods that need files find them.

    Attributes:
        reference: A directory of the authors' runs.
        data_dir: A directory of MNIST's files.
        preset: The size of the MNIST problems.
        plugins: Python files that register methods.
    """

    reference: Path | None = None
    data_dir: Path | None = None
    preset: str = "cpu"
    plugins: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Suite:
    """Problems to run together.

    Attributes:
        description: For ``run --help``.
        problems: Their names.
        seeds: Those to run if none are asked for.
        methods: Names or groups to run if none are asked for.
        budget: Evaluations after the initial points; the problems' own if ``None``.
    """

    description: str
    problems: tuple[str, ...]
    seeds: tuple[int, ...] = tuple(range(10))
    methods: tuple[str, ...] = ("all",)
    budget: int | None = None


@dataclass(frozen=True)
class Family:
    """Problems of one kind, whose results are not averaged with those of other kinds.

    Attributes:
        kind: A word for ``run --suite`` and for names of figures.
        heading: Of its section in a report, and in ``run --help``.
        names: Of its problems.
        make: Name, seed and sources to the problem.
    """

    kind: str
    heading: str
    names: tuple[str, ...]
    make: Callable[[str, int, Sources], Problem]


@dataclass(frozen=True)
class Start:
    """Where every method of a seed begins.

    Attributes:
        box: ``2 x d``.
        X: ``n x d`` initial points.
        budget: Evaluations after the initial points.
    """

    box: Tensor
    X: Tensor
    budget: int


def distance_in_sides(x: Tensor, box: Tensor) -> float:
    """How far outside a ``2 x d`` box a ``d``-dim point lies, in sides, in the worst dimension."""
    return float((torch.maximum(box[0] - x, x - box[1]) / (box[1] - box[0])).max().clamp(min=0))


def start_box(problem: Problem, seed: int, share: float = 0.2) -> Tensor:
    """A ``2 x d`` box of ``share`` of each side of the domain, placed at random inside it."""
    if problem.start_box is not None:
        return problem.start_box
    generator = torch.Generator().manual_seed(seed)
    lower, upper = problem.bounds
    side = share * (upper - lower)
    unit = torch.rand(problem.dim, generator=generator, dtype=torch.double)
    corner = lower + unit * (upper - lower - side)
    return torch.stack([corner, corner + side])


def make_start(problem: Problem, seed: int, budget: int | None = None) -> Start:
    """The paper's start: a box of a fifth of each side, and a Latin hypercube in it.

    What the problem itself says of its start box, initial points and budget counts first.
    """
    box = start_box(problem, seed)
    X = problem.start_points
    if X is None:
        rng = np.random.default_rng([_INITIAL_STREAM, seed])
        unit = LatinHypercube(problem.dim, rng=rng).random(INITIAL_PER_DIM * problem.dim)
        X = box[0] + torch.from_numpy(unit) * (box[1] - box[0])
    if budget is None:
        budget = problem.num_evaluations or EVALUATIONS_PER_DIM * problem.dim
    return Start(box, X, budget)


def observe(problem: Problem, x: Tensor, value: float, seed: int, index: int) -> float:
    """What a method sees of a value; the noise of an ``index`` is the same for every method."""
    rng = np.random.default_rng([_NOISE_STREAM, seed, index])
    if problem.sample is not None:
        return problem.sample(x, rng)
    return value + problem.noise_std * float(rng.standard_normal())
