"""What is imported is declared, and every extra installs all that its files import."""

from __future__ import annotations

import pytest

from tests.support.extras import MODULES, NONE, declared_extras
from tests.support.requirements import (
    directly,
    distributions_of,
    files_in,
    hidden_with,
    import_alone,
    imports_of,
    not_installed,
)

# Imported where they are used: what they are for is in an extra of its own.
OPTIONAL = {"matplotlib", "plotly", "pytest", "distributed", "cloudpickle"}
OPTIONAL |= {"optuna", "ax", "gest_api", "PIL"}
OURS = {"botorch_ubo", "benchmarks", "tests"}

FOLDERS = [
    ("benchmarks", "benchmarks"),
    ("tutorials", "tutorials"),
    ("tests", "test"),
]


def test_the_package_declares_what_it_imports() -> None:
    imported = set().union(*map(imports_of, files_in("botorch_ubo"))) - OPTIONAL - OURS
    assert {"torch", "numpy", "scipy", "linear_operator"} <= imported
    assert distributions_of(imported) <= directly()


@pytest.mark.parametrize(("folder", "extra"), FOLDERS)
def test_an_extra_declares_what_its_files_import(folder: str, extra: str) -> None:
    imported = set().union(*map(imports_of, files_in(folder))) - OURS
    missing = distributions_of(imported) - directly(extra)
    assert missing <= ({"packaging"} if folder == "tests" else set())  # which pytest brings


@pytest.mark.parametrize(
    ("extra", "module"),
    [
        ("plot", "matplotlib"),
        ("report", "plotly"),
        ("dask", "distributed"),
        ("tutorials", "ipywidgets"),
        ("tutorials", "pytest"),
        ("docs", "pytest"),
        ("docs", "sphinx"),
        ("fully-bayesian", "numpyro"),
    ],
)
def test_an_extra_brings(extra: str, module: str) -> None:
    assert distributions_of([module]) <= directly(extra)


def test_every_extra_is_tried() -> None:
    assert set(MODULES) == {NONE, *declared_extras()}


@pytest.mark.slow
@pytest.mark.parametrize("extra", MODULES)
def test_each_extra_alone_can_import_its_modules(extra: str) -> None:
    """All that is installed here and does not come with the extra is hidden.

    ``make extras`` builds an environment for each instead.
    """
    extras = [] if extra == NONE else [extra]
    missing = not_installed(*extras)
    if missing:
        pytest.skip(f"the extra is not installed here: {', '.join(sorted(missing))}")
    assert import_alone(MODULES[extra], *extras) == ""


def test_hiding_works() -> None:
    assert "matplotlib" in hidden_with({"numpy"})
    assert "numpy" not in hidden_with({"numpy"})
    assert "matplotlib is not among the requirements" in import_alone(["matplotlib"])
