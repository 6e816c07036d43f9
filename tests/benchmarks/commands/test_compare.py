from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.methods.registry import GROUPS
from botorch_ubo.controller import method

PLUGIN = """
from dataclasses import dataclass, replace

from benchmarks.methods.outside import CMAContender
from benchmarks.methods.registry import register
from botorch_ubo import get_method, register_method
from botorch_ubo.strategies import FixedBox


@dataclass(frozen=True)
class Mine(FixedBox):
    pass


register_method(replace(get_method("EI-Vanilla"), name="Mine", strategy=Mine()))
register("My CMA-ES", CMAContender)
"""


@pytest.fixture
def registries(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a plugin registers is gone after the test."""
    monkeypatch.setattr(method, "_METHODS", dict(method._METHODS))
    monkeypatch.setitem(GROUPS, "plugin", {})


def test_plugin_methods_against_a_baseline(
    tmp_path: Path, threads: None, registries: None, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = tmp_path / "mine.py"
    plugin.write_text(PLUGIN)
    arguments = ["compare", "--problems", "beale", "fam_mesa2", "--plugin", str(plugin)]
    arguments += ["--methods", "plugin", "--baseline", "CMA-ES", "--seeds", "0", "--budget", "1"]
    assert main([*arguments, "--output", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    assert "6 runs finished, 0 failed" in out
    assert "## The paper's protocol" in out and "## Families to look at" in out
    rows = [line for line in out.splitlines() if line.startswith("| My CMA-ES")]
    assert rows and "| Mine |" in out
    # The same optimiser under another name: no difference to tell.
    assert all("–" in row for row in rows if row.count("|") > 6)

    others = ["--methods", "Mine", "EI-Vanilla", "--dry-run", "--output", str(tmp_path / "out")]
    assert main([*arguments, *others]) == 0
    out = capsys.readouterr().out
    assert "2 of 6 runs are missing" in out and "| Mine |" in out and "My CMA-ES" not in out


def test_a_plugin_that_is_not_there(tmp_path: Path) -> None:
    arguments = ["--problems", "beale", "--plugin", "nowhere.py", "--output", str(tmp_path)]
    with pytest.raises(SystemExit, match=r"nowhere\.py"):
        main(["compare", *arguments])
