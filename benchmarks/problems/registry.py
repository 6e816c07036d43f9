"""Every problem by its name, and the suites that a user can run.

A further suite is a module of this folder with a ``Family``, and a line in ``FAMILIES`` here.
``SUITES`` has one of each family, and some that are chosen otherwise.
"""

import difflib
from collections.abc import Iterable

from benchmarks.problems import (
    families,
    far,
    highdim,
    mixed,
    mnist,
    plains,
    reference,
    stress,
    textbook,
    tuning,
)
from benchmarks.problems.problem import Family, Problem, Sources, Suite
from botorch_ubo.methods import DEFAULT_METHOD

# In the order of a report's sections.
FAMILIES: tuple[Family, ...] = (
    *textbook.FAMILIES,
    *stress.FAMILIES,
    reference.FAMILY,
    mnist.FAMILY,
    far.FAMILY,
    tuning.FAMILY,
    mixed.FAMILY,
    *families.FAMILIES,
    *highdim.FAMILIES,
    *plains.FAMILIES,
)
HEADINGS = {family.kind: family.heading for family in FAMILIES}
NAMES = tuple(name for family in FAMILIES for name in family.names)

PAPER5 = ("beale", "eggholder", "levy3", "hartmann3", "hartmann6")
HIGHDIM = ("levy10", "ackley10")
SUITES: dict[str, Suite] = {
    **{family.kind: Suite(family.heading, family.names) for family in FAMILIES},
    "paper5": Suite("the paper's five functions of 2 to 6 dimensions", PAPER5),
    "highdim": Suite("the paper's pair in 10 dimensions", HIGHDIM),
    "noisy": Suite("noise of 10 % of the range", tuple(f"{n}_noisy" for n in (*PAPER5, *HIGHDIM))),
    "families": Suite("both halves of them", tuple(families.FUNCTIONS)),
    "reference": Suite("needs --reference", reference.NAMES, methods=(reference.AUTHORS, "all")),
    "mnist": Suite("tuning of three classifiers", tuple(mnist.TASKS), seeds=tuple(range(5))),
    "mixed": Suite(
        mixed.FAMILY.heading,
        mixed.FAMILY.names,
        seeds=tuple(range(5)),
        methods=(DEFAULT_METHOD, "Optuna-GP-told-spread", "Optuna-TPE-told-spread"),
    ),
    "smoke": Suite(
        "less than a minute's worth of everything",
        ("beale", "far_smooth2_d1"),
        seeds=(0, 1),
        methods=("EI-UBO", "EI-Vanilla", "LogEI-oracle", "CMA-ES"),
        budget=3,
    ),
}


def find_problem(name: str, seed: int, sources: Sources | None = None) -> Problem:
    """The problem of that name; some are drawn with the seed."""
    return _family(name).make(name, seed, sources or Sources())


def kind_of(name: str) -> str:
    """The kind of the problem of that name."""
    return _family(name).kind


def unknown_name(what: str, name: str, known: Iterable[str]) -> KeyError:
    """An error that tells the nearest names."""
    near = difflib.get_close_matches(name, tuple(known), n=3, cutoff=0)
    return KeyError(
        f"Expected the name of a {what}; got {name!r}. The nearest are {', '.join(near)}; "
        "`python -m benchmarks run --help` lists all."
    )


def _family(name: str) -> Family:
    for family in FAMILIES:
        if name in family.names:
            return family
    raise unknown_name("problem", name, NAMES)
