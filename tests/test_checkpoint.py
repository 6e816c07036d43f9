from __future__ import annotations

import json
import math
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botorch.exceptions.warnings import BotorchWarning
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from botorch_ubo import checkpoint as checkpoint_module
from botorch_ubo.checkpoint import CheckpointError, encode, read_checkpoint, write_checkpoint
from botorch_ubo.optimizer import UnboundedOptimizer

RUN = {"config": {"seed": 0}, "numbers": [0.1, 1e-320, -0.0, 2**60], "text": "caf\u00e9 \ud800"}


class TestFile:
    def test_round_trip(self, tmp_path: Path) -> None:
        path = tmp_path / "run.json"
        text, digest = encode(RUN)
        write_checkpoint(path, text, ())
        assert read_checkpoint(path) == (RUN, digest)
        assert os.listdir(tmp_path) == ["run.json"]

    def test_what_json_cannot_say_becomes_text(self, tmp_path: Path) -> None:
        path = tmp_path / "run.json"
        text, _ = encode({"a": (math.inf, -math.inf, math.nan), 3: {"b": None}})
        write_checkpoint(path, text, ())
        assert read_checkpoint(path)[0] == {"a": ["inf", "-inf", "nan"], "3": {"b": None}}

    def test_reformatting_is_not_an_edit(self, tmp_path: Path) -> None:
        path = tmp_path / "run.json"
        path.write_text(json.dumps(json.loads(encode(RUN)[0]), indent=2))
        assert read_checkpoint(path)[0] == RUN

    def test_permissions_are_those_of_any_new_file(self, tmp_path: Path) -> None:
        write_checkpoint(tmp_path / "run.json", encode(RUN)[0], ())
        (tmp_path / "other").touch()
        modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("run.json", "other")]
        assert modes[0] == modes[1]

    @pytest.mark.parametrize("stage", ["fsync", "replace"])
    def test_a_failure_while_writing_leaves_the_old_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
    ) -> None:
        path = tmp_path / "run.json"
        text, digest = encode(RUN)
        write_checkpoint(path, text, ())

        def full(*_: object) -> None:
            raise OSError("no space left on device")

        monkeypatch.setattr(checkpoint_module.os, stage, full)
        with pytest.raises(OSError, match="no space"):
            write_checkpoint(path, encode({})[0], (digest,))
        monkeypatch.undo()
        assert read_checkpoint(path) == (RUN, digest)
        assert os.listdir(tmp_path) == ["run.json"]

    def test_somebody_elses_file_is_not_overwritten(self, tmp_path: Path) -> None:
        path = tmp_path / "run.json"
        text, digest = encode(RUN)
        for found in (encode({"another": "run"})[0], "", "my notes", "\xff\x00", "[1, 2]"):
            path.write_text(found)
            with pytest.raises(CheckpointError, match="another process has written"):
                write_checkpoint(path, text, (digest,))
            assert path.read_text() == found


class TestRefusals:
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("", "complete JSON"),
            ("not json", "complete JSON"),
            ("\x00", "complete JSON"),
            ("[" * 100_000, "complete JSON"),
            (encode(RUN)[0][:-1], "truncated"),
            (encode(RUN)[0][: len(encode(RUN)[0]) // 2], "truncated"),
            (encode(RUN)[0].replace("0.1", "NaN"), "NaN is not a number"),
            (encode(RUN)[0].replace("0.1", "9" * 5000), "complete JSON"),
            (encode(RUN)[0].replace("0.1", "0.2"), "sha256"),
            (encode(RUN)[0].replace('"seed": 0', '"seed": 1'), "sha256"),
            (encode(RUN)[0].replace('"schema": 1', '"schema": 0'), "got 0.*older version"),
            (encode(RUN)[0].replace('"schema": 1', '"schema": 2'), "got 2.*newer version"),
            (encode(RUN)[0].replace('"schema": 1', '"schema": true'), "got True"),
            (encode(RUN)[0].replace('"schema": 1', '"schema": 1.0'), "got 1.0"),
            (encode(RUN)[0].replace('"schema": 1, ', ""), "got None"),
            ("{}", "some other JSON file"),
            ("[]", "some other JSON file"),
            ("null", "some other JSON file"),
            ('{"kind": "botorch_ubo run", "schema": 1, "sha256": "", "run": null}', "sha256"),
            ('{"kind": "botorch_ubo run", "schema": 1, "run": {}}', "sha256"),
        ],
    )
    def test_a_bad_file_is_named_and_left_alone(
        self, tmp_path: Path, content: str, message: str
    ) -> None:
        path = tmp_path / "run.json"
        path.write_text(content)
        with pytest.raises(CheckpointError, match=f"(?s){message}") as error:
            UnboundedOptimizer([(0, 1)], checkpoint=path)
        assert str(path) in str(error.value)
        assert path.read_text() == content

    def test_bytes_that_are_not_text(self, tmp_path: Path) -> None:
        path = tmp_path / "run.json"
        path.write_bytes(b"\xff\xfe{}")
        with pytest.raises(CheckpointError, match="complete JSON"):
            UnboundedOptimizer([(0, 1)], checkpoint=path)

    def test_a_path_that_cannot_be_written_is_refused_at_once(self, tmp_path: Path) -> None:
        with pytest.raises(CheckpointError, match="directory that does not exist"):
            UnboundedOptimizer([(0, 1)], checkpoint=tmp_path / "nowhere" / "run.json")
        with pytest.raises(CheckpointError, match="is a directory"):
            UnboundedOptimizer([(0, 1)], checkpoint=tmp_path)


ARGUMENTS: dict[str, Any] = {
    "hard_limits": {0: (-5, 5)},
    "seed": 3,
    "num_initial": 4,
    "method": "GPUCB-UBO",
    "num_restarts": 2,
    "raw_samples": 32,
}


def start(path: Path, **changes: Any) -> UnboundedOptimizer:
    return UnboundedOptimizer([(0, 1), (0, 2)], checkpoint=path, **{**ARGUMENTS, **changes})


@pytest.fixture(scope="module")
def run_text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run with completed, failed, pending and given trials, and moves of the box."""
    path = tmp_path_factory.mktemp("run") / "run.json"
    optimizer = start(path, data=([[3.0, 0.5]], [2.0]))
    for _ in range(5):
        trial = optimizer.ask()
        optimizer.tell(trial, sum((x - 0.5) ** 2 for x in trial.X))
    optimizer.tell_failed(optimizer.ask(), "it broke")
    optimizer.ask(2)
    assert optimizer.box.history
    return path.read_text()


@pytest.mark.filterwarnings("ignore:The run in")  # was written with other versions
def test_a_file_of_this_schema_can_be_read_for_ever(tmp_path: Path) -> None:
    """Written once and kept. If this fails, the format has changed: raise ``SCHEMA``."""
    path = tmp_path / "run.json"
    shutil.copy(Path(__file__).parent / "data" / "run_schema_1.json", path)
    optimizer = start(path)
    assert len(optimizer.completed) == 6
    assert len(optimizer.pending) == 2
    assert optimizer.box.history
    optimizer.tell(optimizer.pending[0], 1.0)
    optimizer.ask()


class TestResume:
    def test_everything_is_back(self, run_text: str, tmp_path: Path) -> None:
        path = tmp_path / "run.json"
        path.write_text(run_text)
        optimizer = start(path)
        assert len(optimizer.trials) == 9
        assert len(optimizer.completed) == 6
        assert [trial.reason for trial in optimizer.failed] == ["it broke"]
        assert len(optimizer.pending) == 2
        assert [trial.asked for trial in optimizer.trials] == [False] + [True] * 8
        assert path.read_text() == run_text

    def test_data_are_not_handed_in_twice(self, run_text: str, tmp_path: Path) -> None:
        path = tmp_path / "run.json"
        path.write_text(run_text)
        assert len(start(path, data=([[3.0, 0.5]], [2.0])).trials) == 9

    @pytest.mark.parametrize(
        ("change", "named"),
        [
            ({"seed": 4}, "seed was 3, is 4"),
            ({"direction": "maximize"}, "direction"),
            ({"hard_limits": {0: (-5, 6)}}, "hard_limits"),
            ({"method": "EI-UBO"}, "method"),
            ({"num_initial": 5}, "num_initial"),
            ({"epsilon": 0.1}, "epsilon"),
            ({"max_growth": 2.0}, "max_growth"),
            ({"raw_samples": 64}, "options"),
        ],
    )
    def test_other_arguments_are_refused(
        self, run_text: str, tmp_path: Path, change: dict[str, Any], named: str
    ) -> None:
        path = tmp_path / "run.json"
        path.write_text(run_text)
        with pytest.raises(CheckpointError, match=f"same arguments; {named}"):
            start(path, **change)
        assert path.read_text() == run_text

    def test_functions_among_the_arguments_do_not_prevent_it(self, tmp_path: Path) -> None:
        path = tmp_path / "run.json"
        for _ in range(2):  # a new function object, at another address, each time
            start(path, acquisition=lambda context: context.ucb, beta=2.0).ask()

    def test_other_versions_are_told(
        self, run_text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "run.json"
        path.write_text(run_text)
        monkeypatch.setattr("botorch.__version__", "99.0")
        with pytest.warns(BotorchWarning, match=r"99\.0.*may differ"):
            start(path)

    def test_what_killed_processes_left_is_removed(self, run_text: str, tmp_path: Path) -> None:
        path = tmp_path / "run[1].json"
        path.write_text(run_text)
        (tmp_path / ".run[1].json.4711.tmp").write_text("half a che")
        start(path)
        assert os.listdir(tmp_path) == ["run[1].json"]

    def test_a_second_process_is_stopped(self, run_text: str, tmp_path: Path) -> None:
        path = tmp_path / "run.json"
        path.write_text(run_text)
        first, second = start(path), start(path)
        first.tell(first.pending[0], 1.0)
        written = path.read_text()
        with pytest.raises(CheckpointError, match="another process has written"):
            second.tell(second.pending[1], 2.0)
        assert len(second.pending) == 2
        assert path.read_text() == written
        first.tell(first.pending[0], 1.5)

    def test_a_deleted_file_is_written_again(self, run_text: str, tmp_path: Path) -> None:
        path = tmp_path / "run.json"
        path.write_text(run_text)
        optimizer = start(path)
        path.unlink()
        optimizer.tell(optimizer.pending[0], 1.0)
        assert len(start(path).pending) == 1

    def test_a_link_stays_a_link(self, run_text: str, tmp_path: Path) -> None:
        (tmp_path / "run.json").write_text(run_text)
        (tmp_path / "link.json").symlink_to(tmp_path / "run.json")
        optimizer = start(tmp_path / "link.json")
        optimizer.tell(optimizer.pending[0], 1.0)
        assert (tmp_path / "link.json").is_symlink()
        assert len(start(tmp_path / "run.json").pending) == 1


def _resumes_or_refuses(path: Path) -> UnboundedOptimizer | None:
    before = path.read_bytes()
    try:
        optimizer = start(path)
    except CheckpointError:
        optimizer = None
    assert path.read_bytes() == before
    return optimizer


@given(st.data())
@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_fuzz_bytes(run_text: str, tmp_path: Path, data: st.DataObject) -> None:
    """However a file is damaged, it is refused, or it says the same as before."""
    content = run_text.encode()
    for _ in range(data.draw(st.integers(1, 3))):
        first = data.draw(st.integers(0, len(content)))
        last = data.draw(st.integers(first, min(len(content), first + 40)))
        content = content[:first] + data.draw(st.binary(max_size=8)) + content[last:]
    path = tmp_path / "run.json"
    path.write_bytes(content)
    optimizer = _resumes_or_refuses(path)
    if optimizer is not None:
        assert json.loads(content) == json.loads(run_text)


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**400), 10**400)
    | st.integers(-2, 12)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "inf", "nan", "pending", "completed", "failed", "lower", "upper"])
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


def _places(tree: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        yield (*place, key)
        if isinstance(value, dict | list):
            yield from _places(value, (*place, key))


@pytest.mark.filterwarnings("ignore:The run in")  # was started with other versions
@given(st.data())
@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_fuzz_values_with_a_forged_digest(
    run_text: str, tmp_path: Path, data: st.DataObject
) -> None:
    """Whatever passes the reader can be used; whatever cannot is refused by a CheckpointError."""
    run = json.loads(run_text)["run"]
    for _ in range(data.draw(st.integers(1, 2))):
        places = [place for place in _places(run) if place[0] != "config"]
        *parents, key = data.draw(st.sampled_from(places))
        target: Any = run
        for parent in parents:
            target = target[parent]
        action = data.draw(st.sampled_from(["replace", "remove", "add"]))
        try:
            if action == "replace":
                target[key] = data.draw(JSON_VALUES)
            elif action == "remove":
                del target[key]
            else:
                target["extra"] = 0
        except (TypeError, IndexError, KeyError):
            pass  # an earlier change has removed this place
    path = tmp_path / "run.json"
    path.write_text(encode(run)[0])
    optimizer = _resumes_or_refuses(path)
    if optimizer is not None:
        trials = (*optimizer.completed, *optimizer.failed, *optimizer.pending)
        assert sorted(trial.id for trial in trials) == list(range(len(trials)))
        assert all(map(str, (*optimizer.box.history, optimizer.box.certificate)))
        encode(optimizer.box.state_dict())
