from __future__ import annotations

import pytest

from benchmarks.methods.registry import resolve_methods
from benchmarks.problems.registry import FAMILIES, HEADINGS, NAMES, SUITES, find_problem, kind_of


def test_every_problem_has_one_name_and_one_kind() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert len(HEADINGS) == len(FAMILIES)
    assert {kind_of(name) for name in NAMES} == set(HEADINGS)


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        ("beale", "paper"),
        ("other_powell8", "others"),
        ("levy3_noisy", "noisy"),
        ("ref_levy3_authors", "reference"),
        ("near_beale", "near"),
        ("useless_beale", "useless"),
        ("plateau_bell2", "plateau"),
        ("mnist_cnn", "mnist"),
        ("fam_ellipsoid5", "families-look"),
        ("fam_discus5", "families-judge"),
        ("far_smooth2_d30", "far"),
    ],
)
def test_kinds(problem: str, kind: str) -> None:
    assert kind_of(problem) == kind


def test_unknown_name_tells_the_nearest() -> None:
    with pytest.raises(KeyError, match="far_smooth2_d3"):
        find_problem("far_smoth2_d3", 0)


@pytest.mark.parametrize("name", SUITES)
def test_suites_name_problems_and_methods_that_exist(name: str) -> None:
    suite = SUITES[name]
    assert suite.problems and set(suite.problems) <= set(NAMES)
    assert resolve_methods(suite.methods)
