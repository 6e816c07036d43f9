"""What each extra is for: the modules that an environment with nothing but it can import.

Run as a program, it builds such an environment for each of them, and imports them there::

    python -m tests.support.extras            # all of them: some minutes
    python -m tests.support.extras plot dask  # some; "-" is the package without extras
"""

from __future__ import annotations

import pkgutil
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from pathlib import Path

import botorch_ubo
from tests.support.requirements import ROOT, files_in, imports_of

NONE = "-"


def _imported_in(folder: str) -> list[str]:
    return sorted(set().union(*map(imports_of, files_in(folder))) - {"tests"})


PLAIN = [
    name
    for _, name, _ in pkgutil.walk_packages(botorch_ubo.__path__, "botorch_ubo.")
    # hosts and figures are for those who have them
    if not name.startswith(("botorch_ubo.testing", "botorch_ubo.plotting", "botorch_ubo.__main__"))
    and name != "botorch_ubo.cli.demo_picture"
    and not name.startswith("botorch_ubo.integrations.")
]
MODULES: dict[str, list[str]] = {
    NONE: PLAIN,
    "plot": ["botorch_ubo.plotting", "botorch_ubo.cli.demo_picture"],
    "report": ["plotly.offline", "botorch_ubo.run.page"],
    "dask": ["distributed", "botorch_ubo.run.dask_tasks"],
    "scipy": ["botorch_ubo.integrations.scipy"],
    "gest": ["botorch_ubo.integrations.gest"],
    "optuna": ["botorch_ubo.integrations.optuna"],
    "ax": ["botorch_ubo.integrations.ax"],
    "docs": ["myst_nb", "furo", "botorch_ubo.plotting", "botorch_ubo.testing", *PLAIN],
    "tutorials": _imported_in("tutorials"),
    "benchmarks": ["benchmarks.commands", "benchmarks.report.figures", "benchmarks.methods"],
    "test": _imported_in("tests"),
    "dev": ["ruff", "mypy", "importlinter"],
    "fully-bayesian": ["botorch.models.fully_bayesian", "numpyro"],
}


def declared_extras() -> list[str]:
    """All extras of the project."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return list(project["optional-dependencies"])


def import_in_fresh_environment(extra: str) -> str:
    """Build an environment, import the modules there; what went wrong, if anything."""
    wanted = str(ROOT) if extra == NONE else f"{ROOT}[{extra}]"
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        install = [python, "-m", "pip", "install", "-q", "-c", "constraints.txt", wanted]
        imports = "\n".join(f"import {name}" for name in MODULES[extra])
        for command in (install, [python, "-c", imports]):
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            if done.returncode:
                return done.stderr
    return ""


def main(extras: list[str]) -> int:
    """Try each; 1 if one does not install or import what it is for."""
    bad = 0
    for extra in extras or list(MODULES):
        began = time.monotonic()
        problem = import_in_fresh_environment(extra)
        bad += bool(problem)
        count, seconds = len(MODULES[extra]), time.monotonic() - began
        print(f"{extra:15} {count:3} modules {seconds:5.0f} s  {problem or 'ok'}", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
