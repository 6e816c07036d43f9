from __future__ import annotations

import argparse

import pytest

from benchmarks.__main__ import COMMANDS, build_parser
from benchmarks.commands.options import json_file, parse_seeds

WORDS = {
    "run": "--retry-failed",
    "report": "summary.csv",
    "speed": "timed in turn",
    "quality": "ten long descents",
    "gpu": "Memory",
    "reference": "log10",
    "endurance": "Targets",
    "compare": "--baseline",
    "known": "space-filling",
    "outcomes": "--report-only",
    "hosts": "wrong start",
    "torture": "SIGKILL",
    "agree": "paired by problem and seed",
    "results": "at one code version",
    "calibration": "a sweep of levels",
    "stopping": "In hindsight",
    "targets": "What the default is to reach",
}


def test_seeds() -> None:
    assert parse_seeds("0-2,5") == [0, 1, 2, 5]
    with pytest.raises(argparse.ArgumentTypeError, match="0-5"):
        parse_seeds("one")


def test_results_have_a_table_beside_them() -> None:
    assert json_file("a/b.json").with_suffix(".md").name == "b.md"
    with pytest.raises(argparse.ArgumentTypeError, match=r"FILE\.json"):
        json_file("gpu.md")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_what_a_command_does(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        build_parser().parse_args([command, "--help"])
    assert stop.value.code == 0
    assert WORDS[command] in capsys.readouterr().out
