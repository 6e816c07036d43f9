"""What is imported is declared, and every extra installs all that its files import."""

from __future__ import annotations

import pkgutil

import pytest

import botorch_ubo
from tests.support.requirements import (
    directly,
    distributions_of,
    files_in,
    hidden_with,
    import_alone,
    imports_of,
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
        ("fully-bayesian", "pyro"),
    ],
)
def test_an_extra_brings(extra: str, module: str) -> None:
    if module == "pyro":
        assert "botorch" in directly(extra)
    else:
        assert distributions_of([module]) <= directly(extra)


PLAIN = [
    name
    for _, name, _ in pkgutil.walk_packages(botorch_ubo.__path__, "botorch_ubo.")
    # hosts and figures are for those who have them
    if not name.startswith(("botorch_ubo.testing", "botorch_ubo.plotting", "botorch_ubo.__main__"))
    and name != "botorch_ubo.cli.demo_picture"
    and not name.startswith("botorch_ubo.integrations.")
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("extra", "modules"),
    [
        ("", PLAIN),
        ("plot", ["botorch_ubo.plotting"]),
        ("report", ["plotly.offline", "botorch_ubo.run.page"]),
        ("dask", ["distributed", "botorch_ubo.run.dask_tasks"]),
        ("docs", ["myst_nb", "furo", "botorch_ubo.plotting", "botorch_ubo.testing", *PLAIN]),
        ("tutorials", sorted(set().union(*map(imports_of, files_in("tutorials"))))),
        ("benchmarks", ["benchmarks.commands", "benchmarks.report.figures", "benchmarks.methods"]),
        ("test", sorted(set().union(*map(imports_of, files_in("tests"))) - {"tests"})),
    ],
)
def test_each_extra_alone_can_import_its_modules(extra: str, modules: list[str]) -> None:
    """All that is installed here and does not come with the extra is hidden."""
    assert import_alone(modules, *([extra] if extra else [])) == ""


def test_hiding_works() -> None:
    assert "matplotlib" in hidden_with({"numpy"})
    assert "numpy" not in hidden_with({"numpy"})
    assert "matplotlib is not among the requirements" in import_alone(["matplotlib"])
