"""Commands on a run file: what they print, what they write, and what they refuse with code 2."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from botorch_ubo import UnboundedOptimizer
from botorch_ubo.__main__ import main
from botorch_ubo.run.journal import Journal
from botorch_ubo.run.storage import CheckpointError

PARAMS = ["--param", "lr=1e-4:1e-2,log", "--param", "layers=1:3,int,limits=1:", "--param", "a=p|q"]


class Shell:
    """Calls commands on one file, and keeps what they say."""

    def __init__(self, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.path, self.capsys = path, capsys

    def __call__(self, command: str, *arguments: object) -> str:
        main([command, str(self.path), *map(str, arguments)])
        return self.capsys.readouterr().out

    def json(self, command: str, *arguments: object) -> Any:
        return [json.loads(line) for line in self(command, *arguments, "--json").splitlines()]

    def refused(self, command: str, *arguments: object, code: int = 2) -> str:
        before = self.path.read_bytes() if self.path.exists() else None
        with pytest.raises(SystemExit) as stop:
            main([command, str(self.path), *map(str, arguments)])
        assert stop.value.code == code
        assert (self.path.read_bytes() if self.path.exists() else None) == before
        said = self.capsys.readouterr()
        assert said.out == ""
        return said.err


@pytest.fixture
def empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path / "run.db", capsys)


@pytest.fixture
def shell(empty: Shell) -> Shell:
    empty("init", *PARAMS)
    return empty


def test_init_begins_a_run_once(empty: Shell) -> None:
    assert "ready" in empty("init", *PARAMS, "--direction", "maximize", "--seed", "3")
    run = UnboundedOptimizer.open(empty.path)
    assert run.space is not None and run.space.names == ("lr", "layers", "a")
    assert (run.direction, run.box.settings.seed, run.num_initial) == ("maximize", 3, 9)
    empty("ask")
    same = [*PARAMS, "--direction", "maximize", "--seed", "3"]
    assert "with 1 trials" in empty("init", *same)
    assert "--direction, --seed differ" in empty.refused("init", *PARAMS)
    assert "--param, --num-initial differ" in empty.refused("init", "--param", "x=0:1", *same[6:])


def test_init_takes_objectives_and_constraints(empty: Shell) -> None:
    goals = ["--direction", "minimize", "--direction", "maximize", "--constraints", "1"]
    assert empty.json("init", "--param", "x=-1:-0.5", *goals) == [
        {"path": str(empty.path), "trials": 0}
    ]
    empty("ask")
    assert "3 numbers" in empty.refused("tell", 0, 1)
    assert empty.json("tell", 0, 1, -2e-3, -0.5)[0]["value"] == [1.0, -0.002, -0.5]
    assert empty.json("status")[0]["found"] == "a front of 1 points"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--param", "x=1:0"], "low < high"),
        (["--param", "x=0:1", "--method", "magic"], "magic"),
        (["--param", "x=0:1", "--direction", "up"], "invalid choice"),
        (["--param", "x=0:1", "--num-initial", "0"], "num_initial"),
        ([], "--param"),
    ],
)
def test_init_refuses(empty: Shell, arguments: list[str], words: str) -> None:
    assert words in empty.refused("init", *arguments)
    assert not empty.path.exists()


def test_a_folder_or_another_file_is_no_run(empty: Shell) -> None:
    empty.path.write_text("something else")
    for command in (["init", *PARAMS], ["ask"], ["tell", 0, 1], ["status"], ["export"], ["report"]):
        assert "error: Expected" in empty.refused(*command)
    assert empty.path.read_text() == "something else"


def test_ask_and_tell(shell: Shell) -> None:
    line = shell("ask")
    trial_id, *pairs = line.split()
    assert trial_id == "0" and [it.partition("=")[0] for it in pairs] == ["lr", "layers", "a"]
    (asked,) = shell.json("ask")
    assert asked["id"] == 1 and asked["params"]["a"] in ("p", "q")
    assert shell("ask", "-n", 2, "--format=--{name}={value}").count("--lr=") == 2
    assert shell("ask", "--pending").splitlines()[0] == line.strip()
    assert shell("tell", 0, "-1e-5").strip() == "trial 0: -1e-05"
    assert shell("tell", 1, "nan").startswith("trial 1 failed: the value is nan")
    assert shell("tell-failed", 2, "exit code 1").strip() == "trial 2 failed: exit code 1"
    run = UnboundedOptimizer.open(shell.path)
    assert [trial.status for trial in run.trials] == ["completed", "failed", "failed", "pending"]
    assert run.trials[0].value == -1e-5


def test_a_budget_counts_all_shells(shell: Shell) -> None:
    assert len(shell("ask", "-n", 5, "--budget", 3).splitlines()) == 3
    assert "budget of 3 trials is used up" in shell.refused("ask", "--budget", 3, code=3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["tell", 0, "abc"], "still pending"),
        (["tell", 0], "required: value"),
        (["tell", "zero", 1], "invalid int"),
        (["tell", 7, 1], "ids 0 to 0"),
        (["tell", 0, 1, 2], "one number"),
        (["tell", 0, 1, "--variance", "-1"], "variance >= 0"),
        (["tell-failed", 7], "ids 0 to 0"),
        (["ask", "-n", "-1"], "whole number"),
        (["ask", "--format", "{value"], "--format"),
        (["report", "--watch", "0"], "positive"),
        (["report", "--output", "no/such/folder.html"], "folder that exists"),
    ],
)
def test_bad_input_is_told_and_nothing_is_lost(
    shell: Shell, arguments: list[Any], words: str
) -> None:
    shell("ask")
    assert words in shell.refused(*arguments)
    assert shell.json("status")[0]["trials"] == {"completed": 0, "pending": 1, "failed": 0}


def test_a_result_is_not_overwritten(shell: Shell) -> None:
    shell("ask")
    shell("tell", 0, 1)
    shell("tell", 0, 1)
    assert "Expected one result" in shell.refused("tell", 0, 2)
    assert "stays" in shell.refused("tell-failed", 0)


def test_a_file_that_cannot_be_written_says_what_to_repeat(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell("ask")

    def refuse(self: Journal, changes: list[Any]) -> None:
        raise CheckpointError("Expected to use it; the disk is full. Make room, and call again.")

    monkeypatch.setattr(Journal, "_write", refuse)
    said = shell.refused("tell", 0, 0.5)
    assert "the disk is full" in said and "in memory" not in said
    assert said.strip().endswith(f"botorch-ubo tell {shell.path} 0 0.5")


def test_a_locked_file_is_read_all_the_same(shell: Shell) -> None:
    shell("ask")
    with sqlite3.connect(shell.path) as connection:
        connection.execute("BEGIN IMMEDIATE")  # somebody is about to write
        assert "1 pending" in shell("status")
        connection.rollback()


def test_status(shell: Shell) -> None:
    text = shell("status")
    assert "0 completed, 0 pending, 0 failed" in text and "nothing has been evaluated" in text
    shell("ask", "-n", 2)
    shell("tell", 0, 0.25)
    text = shell("status")
    assert "best 0.25 at lr = " in text and "lr 0.0001 to 0.01, layers 1 to 3" in text
    assert "pending  1 lr=" in text
    (status,) = shell.json("status")
    assert status["best"]["value"] == 0.25 and status["pending"][0]["id"] == 1
    assert status["box"]["layers"] == [1, 3] and status["box"]["a"] == ["p", "q"]
    assert status["box"]["lr"] == pytest.approx([1e-4, 1e-2])


def test_runs_without_names_have_numbered_ones(empty: Shell) -> None:
    UnboundedOptimizer([(0, 1), (2, 3)], checkpoint=empty.path)
    assert [it.partition("=")[0] for it in empty("ask").split()[1:]] == ["x0", "x1"]
    assert "x0 0 to 1, x1 2 to 3" in empty("status")


def test_export_of_trials(shell: Shell) -> None:
    shell("ask", "-n", 2)
    shell("tell", 0, 0.25)
    shell("tell-failed", 1, "out of memory, again")
    rows = list(csv.DictReader(io.StringIO(shell("export", "--csv"))))
    assert [row["status"] for row in rows] == ["completed", "failed"]
    assert float(rows[0]["value"]) == 0.25 and rows[1]["reason"] == "out of memory, again"
    (trials,) = shell.json("export")
    assert trials[0]["params"]["lr"] == float(rows[0]["lr"])


def test_report(shell: Shell) -> None:
    page = shell.path.with_suffix(".html")
    assert shell("report").strip() == str(page)
    assert "<!DOCTYPE html>" in page.read_text()[:20]
    other = page.with_name("other.html")
    assert shell.json("report", "--output", other) == [{"page": str(other)}]
