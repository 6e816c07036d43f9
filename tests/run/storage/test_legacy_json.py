"""Runs of version 0.1.0, which were JSON files."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest

from benchmarks.torture.kept_run import start
from botorch_ubo import UnboundedOptimizer
from botorch_ubo.run.storage import CheckpointError

DATA = Path(__file__).parents[2] / "data" / "run_schema_1.json"
pytestmark = pytest.mark.filterwarnings("ignore:The run in")  # was written with other versions


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Written once, by 0.1.0, and kept."""
    return Path(shutil.copy(DATA, tmp_path / "run.json"))


def encode(run: Any, **changes: Any) -> str:
    body = json.dumps(run, sort_keys=True)
    digest = hashlib.sha256(body.encode()).hexdigest()
    head = {"kind": "botorch_ubo run", "schema": 1, "sha256": digest, **changes}
    return json.dumps(head)[:-1] + f', "run": {body}}}'


def test_a_file_of_0_1_0_is_converted_and_goes_on(path: Path) -> None:
    run = json.loads(DATA.read_text())["run"]
    path.chmod(0o640)
    optimizer = start(path)
    assert len(optimizer.completed) == 6
    assert len(optimizer.pending) == 2
    assert [trial.order for trial in optimizer.trials] == [it["order"] for it in run["trials"]]
    first = optimizer.box.history
    assert first[0].beta == 3.839540010134023  # which a first step no longer tells
    assert optimizer.box.state_dict() == run["box"]
    optimizer.tell(optimizer.pending[0], 1.0)
    trial = optimizer.ask()
    again = start(path)
    assert again.trials == optimizer.trials
    assert trial in again.pending
    assert again.box.history[: len(first)] == first
    assert path.read_bytes().startswith(b"SQLite format 3")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(os.listdir(path.parent)) == ["run.json", "run.json.0.1.0.json"]
    assert (path.parent / "run.json.0.1.0.json").read_text() == DATA.read_text()


def test_looking_at_it_converts_nothing(path: Path) -> None:
    optimizer = UnboundedOptimizer.open(path)
    optimizer.refresh()
    assert len(optimizer.completed) == 6
    assert path.read_text() == DATA.read_text()
    assert os.listdir(path.parent) == ["run.json"]


def test_defaults_that_were_spelled_out_do_not_prevent_it(path: Path) -> None:
    """0.1.0 wrote down whatever it was given."""
    run = json.loads(DATA.read_text())["run"]
    run["config"]["options"] = {**run["config"]["options"], "options": "None"}
    path.write_text(encode(run))
    assert len(start(path).completed) == 6


TEXT = DATA.read_text()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (TEXT[:-1], "truncated"),
        (TEXT[: len(TEXT) // 2], "truncated"),
        (TEXT.replace("0.05", "NaN"), "NaN is not a number"),
        (TEXT.replace("0.05", "1e400"), "sha256"),
        (TEXT.replace("0.05", "0.06"), "sha256"),
        (TEXT.replace('"schema": 1', '"schema": 0', 1), "got 0"),
        (TEXT.replace('"schema": 1', '"schema": 2', 1), "got 2"),
        (TEXT.replace('"schema": 1', '"schema": true', 1), "got True"),
        (TEXT.replace('"schema": 1, ', "", 1), "got None"),
        ("{}", "some other JSON file"),
        ("[]", "some other JSON file"),
        (encode(None), "sha256"),
        (encode({}), "complete run of 0.1.0"),
        (encode({"config": {}, "box": {}, "trials": 3}), "complete run of 0.1.0"),
    ],
)
def test_a_bad_file_is_named_and_left_alone(path: Path, content: str, message: str) -> None:
    path.write_text(content)
    with pytest.raises(CheckpointError, match=f"(?s){message}") as error:
        start(path)
    assert str(path) in str(error.value)
    assert path.read_text() == content
    assert os.listdir(path.parent) == ["run.json"]
