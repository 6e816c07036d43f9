"""What the project declares that it needs, what that brings along, and what its files import."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import (
    PackageNotFoundError,
    distribution,
    packages_distributions,
    requires,
)
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
OWN = "botorch-ubo"

# Import the modules named on the command line with everything else hidden.
_IMPORTER = """
import importlib, sys
hidden, names = set(sys.argv[1].split(",")), sys.argv[2].split(",")

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"{name} is not among the requirements", name=name)

sys.meta_path.insert(0, Blocker())
for name in names:
    importlib.import_module(name)
"""


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def declared(extra: str = "") -> tuple[Requirement, ...]:
    """Requirements of the package, or of an extra alone."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    texts = project["optional-dependencies"][extra] if extra else project["dependencies"]
    return tuple(map(Requirement, texts))


def directly(*extras: str) -> set[str]:
    """Names that the package and some extras declare, extras of itself followed."""
    names = set()
    for extra in ("", *extras):
        for requirement in declared(extra):
            if canonical(requirement.name) == OWN:
                names |= directly(*requirement.extras)
            else:
                names |= {canonical(requirement.name), *_extras_of(requirement)}
    return names


def installed_with(*extras: str) -> set[str]:
    """All distributions that an environment with these extras has, and no other."""
    found: set[str] = set()
    waiting = [Requirement(name) for name in directly(*extras)]
    for extra in ("", *extras):
        waiting += [it for it in declared(extra) if canonical(it.name) != OWN]
    seen = set()
    while waiting:
        requirement = waiting.pop()
        key = (canonical(requirement.name), frozenset(requirement.extras))
        if key in seen:
            continue
        seen.add(key)
        found.add(key[0])
        waiting += _requirements(requirement)
    return found


def not_installed(*extras: str) -> set[str]:
    """What some extras declare, and this environment lacks."""
    missing = set()
    for name in directly(*extras):
        try:
            distribution(name)
        except PackageNotFoundError:
            missing.add(name)
    return missing


def hidden_with(distributions: set[str]) -> set[str]:
    """Top-level modules that are installed here, but come with none of some distributions."""
    owners = packages_distributions()
    theirs = {name for name, own in owners.items() if not distributions & set(map(canonical, own))}
    return theirs - {"botorch_ubo", "benchmarks", "tests"}


def import_alone(modules: Iterable[str], *extras: str) -> str:
    """Import in an environment that has nothing but some extras; what went wrong, if anything."""
    hidden = ",".join(sorted(hidden_with(installed_with(*extras))))
    done = subprocess.run(
        [sys.executable, "-c", _IMPORTER, hidden, ",".join(modules)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        # Hypothesis imports the plugins of all that is installed, hidden or not.
        env={**os.environ, "HYPOTHESIS_NO_PLUGINS": "1"},
    )
    return done.stderr if done.returncode else ""


def imports_of(code: str) -> set[str]:
    """Top-level modules that some code imports, in functions too."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names)


def files_in(folder: str) -> Iterator[str]:
    """The code of all modules and notebooks in a folder."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        yield path.read_text()
    for path in sorted((ROOT / folder).rglob("*.ipynb")):
        for cell in json.loads(path.read_text())["cells"]:
            if cell["cell_type"] == "code":
                lines = [line for line in cell["source"] if line.lstrip()[:1] not in ("%", "!")]
                yield "".join(lines)


def distributions_of(modules: Iterable[str]) -> set[str]:
    """Distributions that provide some modules; a module of nobody stands for itself."""
    owners = packages_distributions()
    return {canonical(owners.get(name, [name])[0]) for name in modules}


def _extras_of(requirement: Requirement) -> set[str]:
    """What ``name[extra]`` declares directly: ``dask[distributed]`` is distributed."""
    names = set()
    for extra in requirement.extras:
        for text in _metadata(requirement.name):
            inner = Requirement(text)
            if inner.marker and not inner.marker.evaluate({"extra": ""}):
                if inner.marker.evaluate({"extra": extra}):
                    names.add(canonical(inner.name))
    return names


def _requirements(requirement: Requirement) -> list[Requirement]:
    wanted = ["", *requirement.extras]
    parsed = [Requirement(text) for text in _metadata(requirement.name)]
    return [
        it
        for it in parsed
        if it.marker is None or any(it.marker.evaluate({"extra": extra}) for extra in wanted)
    ]


@cache
def _metadata(name: str) -> tuple[str, ...]:
    try:
        return tuple(requires(name) or ())
    except PackageNotFoundError:
        return ()
