"""Named sets of problems, with the methods and seeds that go with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks import catalog, far, stress
from benchmarks.ablation import ABLATIONS
from benchmarks.contenders import AUTHORS, contender_names
from benchmarks.outside import OUTSIDE
from benchmarks.problems import PROBLEMS
from botorch_ubo.methods import available_methods, get_method

MNIST = ("mnist_elastic_net", "mnist_mlp", "mnist_cnn")
PAPER5 = ("beale", "eggholder", "levy3", "hartmann3", "hartmann6")
HIGHDIM = ("levy10", "ackley10")
OTHERS = tuple(name for name in PROBLEMS if name.startswith("other_"))


@dataclass(frozen=True)
class Suite:
    """Problems to run together."""

    description: str
    problems: tuple[str, ...]
    seeds: tuple[int, ...] = tuple(range(10))
    methods: tuple[str, ...] | None = None
    """All if ``None``."""
    budget: int | None = None
    """Evaluations after the initial points; the problems' own if ``None``."""


_NOISY = tuple(f"{name}{stress.NOISY_SUFFIX}" for name in (*PAPER5, *HIGHDIM))

SUITES: dict[str, Suite] = {
    "paper5": Suite("the paper's five functions of 2 to 6 dimensions", PAPER5),
    "highdim": Suite("the paper's pair in 10 dimensions", HIGHDIM),
    "others": Suite("functions of 2 to 8 dimensions that are not the paper's", OTHERS),
    "variants": Suite(
        "Levy and Hartmann6 as the authors' code has them",
        ("levy3_authors", "hartmann6_authors", "levy10_authors"),
    ),
    "far": Suite("optimum 1 to 100 sides of the start box away", far.NAMES),
    "near": Suite("the start box is the domain and holds the optimum", stress.NEAR),
    "noisy": Suite("noise of 10 % of the range", _NOISY),
    "useless": Suite("one more dimension, which does not matter", stress.USELESS),
    "plateau": Suite("nothing to be seen in the start box", stress.PLATEAU),
    "stress": Suite(
        "near, noisy, useless and plateau",
        (*stress.NEAR, *_NOISY, *stress.USELESS, *stress.PLATEAU),
    ),
    "reference": Suite(
        "from the starts of the authors' runs, with these runs beside (needs --reference)",
        catalog.REFERENCE,
        methods=(AUTHORS, *contender_names()),
    ),
    "mnist": Suite("tuning of three classifiers", MNIST, seeds=tuple(range(5))),
    "smoke": Suite(
        "less than a minute's worth of everything",
        ("beale", "far_smooth2_d1"),
        seeds=(0, 1),
        methods=("EI-UBO", "EI-Vanilla", "LogEI-oracle", "CMA-ES"),
        budget=3,
    ),
}


def resolve_methods(names: Sequence[str]) -> tuple[str, ...]:
    """Names and groups (``all``, ``registry``, ``outside``, ``ablation``) to names, each once."""
    groups = {
        "all": contender_names(),
        "registry": tuple(method.name for method in available_methods()),
        "outside": tuple(OUTSIDE),
        "ablation": tuple(ABLATIONS),
    }
    given = {name.casefold(): name for name in (*OUTSIDE, *ABLATIONS, AUTHORS)}
    found: dict[str, None] = {}
    for name in names:
        key = name.casefold()
        members = groups.get(key) or (given.get(key) or get_method(name).name,)
        found.update(dict.fromkeys(members))
    return tuple(found)
