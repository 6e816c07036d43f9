"""The README is true and short: its code runs, its links lead somewhere, its figures exist."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.blocks import ROOT, blocks_of, run_blocks, side

PATH = ROOT / "README.md"
README = PATH.read_text(encoding="utf-8")

# What the blocks take for granted: "as ever".
BEGIN = {
    "loop": """
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood
from botorch_ubo import ExpandingBounds
bounds = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.double)
X = torch.rand(6, 2, dtype=torch.double)
objective = lambda X: -(X - 2).square().sum(dim=-1, keepdim=True)
Y = objective(X)
""",
    "hosts": """
import optuna
import scipy.optimize
from ax.api.client import Client
from ax.api.configs import RangeParameterConfig
from gest_api.vocs import VOCS
from scipy.optimize import rosen
from botorch_ubo.integrations.ax import expanding_strategy
from botorch_ubo.integrations.gest import UBOGenerator
from botorch_ubo.integrations.optuna import UBOSampler
from botorch_ubo.integrations.scipy import expanding
x0, client = [1.3, 0.7], Client()
vocs = VOCS(variables={"x": [-9, 9]}, objectives={"f": "MINIMIZE"})
wide = RangeParameterConfig(name="x", bounds=(-1e6, 1e6), parameter_type="float")
client.configure_experiment(parameters=[wide])
client.configure_optimization(objective="-loss")
""",
}


@pytest.fixture(scope="module")
def after() -> dict[str, Any]:
    """All names when every block has been run, in the order in which they stand."""
    begin: dict[str, Any] = {"__name__": "__main__"}
    for code in BEGIN.values():
        exec(code, begin)
    ran = list(run_blocks(PATH, begin))
    assert len(ran) == sum(language in ("python", "diff") for language, _ in blocks_of(PATH)) >= 3
    return ran[-1][1]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_every_block_runs_and_does_what_it_says(after: dict[str, Any]):
    assert after["result"].best_value < 0.1
    box = after["box"]
    assert box.history[0].strategy == "TurnsBox"
    assert (box.bounds[1] > box.initial_bounds[1]).all()
    assert after["res"].nfev == 9
    assert len(after["generator"].suggest(1)) == 1
    assert len(after["client"].get_next_trials(max_trials=1)) == 1
    after["study"].optimize(lambda trial: trial.suggest_float("lr", 1e-9, 1e3, log=True), 2)


def test_it_is_short():
    assert len(README.splitlines()) <= 150


def test_two_lines_change():
    ((_, diff),) = [block for block in blocks_of(PATH) if block[0] == "diff"]
    assert sum(line[0] == "+" for line in diff.splitlines()) == 2
    assert sum(line[0] == "-" for line in diff.splitlines()) == 1
    assert side(diff, "-").count("\n") == 6


def test_the_loop_of_the_shell_is_the_one_of_the_guide():
    """Which is run in bash, by the tests of the command line."""
    ((_, loop),) = [block for block in blocks_of(PATH) if block[0] == "bash"]
    assert loop.count("\n") == 5
    assert ("bash", loop) in blocks_of(ROOT / "docs" / "guides" / "command_line.md")


def test_the_commands_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"(?:`|^    )make (\w+)", README, re.MULTILINE))
    assert {"demo", "test", "docs"} <= targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_pictures_and_links_exist():
    targets = re.findall(r"\]\((?!https?://)([^)]+)\)", README)
    assert len(targets) > 20
    for target in targets:
        assert (ROOT / target).is_file(), target


def test_every_tutorial_has_its_line():
    for notebook in (ROOT / "tutorials").glob("*.ipynb"):
        assert f"(tutorials/{notebook.name})" in README, notebook.name


def test_figures_of_the_results_are_in_the_pages_that_they_link_to():
    """An interval, a ratio or a time in a line is found in a page that the line links to."""
    results = README.partition("## Results")[2].partition("\n## ")[0]
    lines = [line for line in re.split(r"^\* ", results, flags=re.MULTILINE) if "](" in line]
    assert len(lines) >= 5
    for line in lines:
        pages = [ROOT / target for target in re.findall(r"\]\((benchmarks/[^)]+)\)", line)]
        text = "\n".join(path.read_text(encoding="utf-8") for path in pages)
        for low, high in re.findall(r"\[(-?\d+\.\d+), (-?\d+\.\d+)\]", line):
            bounds = {abs(float(low)), abs(float(high))}
            found = re.findall(r"\[([-+]?\d+\.\d+), ([-+]?\d+\.\d+)\]", text)
            assert bounds in [{abs(float(a)), abs(float(b))} for a, b in found], (low, high)


def test_nothing_of_the_machine_it_was_written_on():
    assert not re.search(r"(?<![\w.])/(tmp|work|root|home)/", README)
