"""A run as JSON Lines and back, from the command line."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from botorch_ubo import UnboundedOptimizer
from botorch_ubo.__main__ import main


@pytest.fixture
def path(tmp_path: Path) -> Path:
    optimizer = UnboundedOptimizer([(0, 1)], checkpoint=tmp_path / "run.db")
    first, _ = optimizer.ask(2)
    optimizer.tell(first, 1.5)
    return tmp_path / "run.db"


def test_there_and_back(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["export", str(path)])
    text = capsys.readouterr().out
    events = [json.loads(line) for line in text.splitlines()]
    assert events[0] == {"kind": "botorch_ubo run", "schema": 2}
    assert [event["event"] for event in events[1:]] == [
        "run", "versions", "trial", "trial", "outcome",
    ]  # fmt: skip
    assert events[-1]["body"]["value"] == 1.5
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    main(["import", str(path.with_name("again.db"))])
    assert "5 events" in capsys.readouterr().out
    again = UnboundedOptimizer.open(path.with_name("again.db"))
    assert again.trials == UnboundedOptimizer.open(path).trials


def test_in_words(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("{}"))
    for command, name, words in (
        ("export", "nothing.db", "there is none"),
        ("import", path.name, "exists"),
        ("import", "new.db", "line 1"),
    ):
        with pytest.raises(SystemExit) as stop:
            main([command, str(path.with_name(name))])
        assert stop.value.code == 2
        assert words in capsys.readouterr().err
