"""``python -m botorch_ubo COMMAND`` hands over to the command's module."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from botorch_ubo import __main__ as entry
from botorch_ubo.cli import demo


@pytest.mark.parametrize("command", entry.COMMANDS)
def test_every_command_has_a_module_with_main(command):
    module = importlib.import_module(f"botorch_ubo.cli.{entry.MODULES[command]}")
    assert callable(module.main)


def test_arguments_after_the_command_are_the_commands(monkeypatch):
    taken = []
    monkeypatch.setattr(demo, "main", taken.append)
    entry.main(["demo", "--budget", "3"])
    monkeypatch.setattr(sys, "argv", ["botorch_ubo", "demo", "--seed", "4"])
    entry.main()
    assert taken == [["--budget", "3"], ["--seed", "4"]]


@pytest.mark.parametrize("arguments", [[], ["dmeo"], ["--seed", "4"]])
def test_without_a_known_command_it_says_what_there_is(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        entry.main(arguments)
    assert stop.value.code == 2
    assert "demo" in capsys.readouterr().err


def test_help_names_the_commands(capsys):
    with pytest.raises(SystemExit) as stop:
        entry.main(["--help"])
    assert stop.value.code == 0
    assert "demo: minimise Branin's function" in capsys.readouterr().out


def test_help_of_a_command_is_the_commands(capsys):
    with pytest.raises(SystemExit):
        entry.main(["demo", "--help"])
    assert "--budget" in capsys.readouterr().out


@pytest.mark.slow
def test_as_a_process(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "botorch_ubo", "demo", "--budget", "1"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "demo.png").exists()
