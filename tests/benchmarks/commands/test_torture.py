"""The attacks as a user runs them, a few of each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.torture.attacks import ATTACKS


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_is_opaque(tmp_path: Path) -> None:
    output = tmp_path / "torture.json"
    status = main(["torture", "--scale", "0.004", "--output", str(output)])
    attacks = json.loads(output.read_text())["attacks"]
    assert not [text for attack in attacks for text in attack["examples"]]
    assert status == 0
    assert [attack["name"] for attack in attacks] == list(ATTACKS)
    for attack in attacks:
        assert attack["tried"] == attack["survived"] > 0
    assert "| hard limits: initial designs | 400 | 400 |" in output.with_suffix(".md").read_text()
