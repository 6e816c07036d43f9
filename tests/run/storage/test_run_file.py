"""A run in a file: resumed exactly, or refused; never guessed at, never half taken over."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from botorch.exceptions.warnings import BotorchWarning

from benchmarks.torture.kept_run import start, write_run
from botorch_ubo import ConstantBeta, SearchSettings, UnboundedOptimizer, get_method
from botorch_ubo.run.storage import CheckpointError, export_lines, import_lines
from botorch_ubo.run.storage.database import Database
from botorch_ubo.run.storage.events import Event, Mark
from botorch_ubo.run.storage.run_file import RunFile
from tests.support.optimizing import FAST


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run") / "run.db"
    write_run(path)
    return path


@pytest.fixture
def path(kept: Path, tmp_path: Path) -> Path:
    """A copy of the run, to do with as one likes."""
    return Path(shutil.copy(kept, tmp_path / "run.db"))


class TestResume:
    def test_everything_is_back(self, path: Path) -> None:
        before = path.read_bytes()
        optimizer = start(path)
        assert len(optimizer.trials) == 9
        assert len(optimizer.completed) == 6
        assert [trial.reason for trial in optimizer.failed] == ["it broke"]
        assert len(optimizer.pending) == 2
        assert [trial.asked for trial in optimizer.trials] == [False] + [True] * 8
        assert optimizer.box.history
        assert path.read_bytes() == before

    def test_data_are_not_handed_in_twice(self, path: Path) -> None:
        assert len(start(path, data=([[3.0, 0.5]], [2.0])).trials) == 9

    @pytest.mark.parametrize(
        ("change", "named"),
        [
            ({"seed": 4}, "seed was 3, is 4"),
            ({"direction": "maximize"}, "direction was 'minimize', is 'maximize'"),
            (
                {"hard_limits": {0: (-5, 6)}},
                r"hard_limits was {0: \(-5.0, 5.0\)}, is {0: \(-5.0, 6.0\)}.*"
                r"set_hard_limits\({0: \(-5.0, 6.0\)}\)` once",
            ),
            ({"method": "EI-UBO"}, "method was 'GPUCB-UBO', is 'EI-UBO'"),
            ({"num_initial": 5}, "num_initial was 4, is 5"),
            ({"epsilon": 0.1}, "epsilon was 0.05, is 0.1"),
            ({"max_growth": 2.0}, "max_growth was 10.0, is 2.0"),
            ({"epsilon": (0.05, "raw")}, r"epsilon was 0.05, is \(0.05, 'raw'\)"),
            (
                {"search": SearchSettings(2, 64)},
                r"search was SearchSettings\(num_restarts=2, raw_samples=32\), is "
                r"SearchSettings\(num_restarts=2, raw_samples=64\)",
            ),
        ],
    )
    def test_other_arguments_are_refused_in_the_users_form(
        self, path: Path, change: dict[str, Any], named: str
    ) -> None:
        before = path.read_bytes()
        with pytest.raises(CheckpointError, match=f"(?s)same arguments; {named}"):
            start(path, **change)
        assert path.read_bytes() == before

    def test_other_bounds_are_told_as_pairs(self, path: Path) -> None:
        with pytest.raises(CheckpointError, match=r"bounds was \[\(0.0, 1.0\), \(0.0, 2.0\)\], is"):
            UnboundedOptimizer([(0, 1), (0, 3)], checkpoint=path)
        with pytest.raises(CheckpointError, match=r"is \[\(0.0, 1.0\)\]"):
            UnboundedOptimizer([(0, 1)], checkpoint=path)

    def test_functions_among_the_arguments_do_not_prevent_it(self, tmp_path: Path) -> None:
        path = tmp_path / "run.db"
        for _ in range(2):  # a new function object, at another address, each time
            method = replace(
                get_method("GPUCB-UBO"),
                acquisition=lambda context: context.confidence.ucb,
                beta=ConstantBeta(2.0),
            )
            assert start(path, method=method).ask().status == "pending"
        assert len(start(path, method=method).trials) == 2

    def test_other_versions_are_told_and_noted(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("botorch.__version__", "99.0")
        with pytest.warns(BotorchWarning, match=r"99\.0.*may differ"):
            optimizer = start(path)
        optimizer.tell(optimizer.pending[0], 1.0)
        start(path)  # which would warn, were they not noted

    def test_a_deleted_file_is_written_again(self, path: Path) -> None:
        optimizer = start(path)
        path.unlink()
        optimizer.tell(optimizer.pending[0], 1.0)
        again = start(path)
        assert again.trials == optimizer.trials
        assert again.box.state_dict() == optimizer.box.state_dict()

    def test_a_file_that_was_exchanged_is_told(self, path: Path, tmp_path: Path) -> None:
        optimizer = start(path)
        path.unlink()
        start(path, data=([[1.0, 1.0]], [9.0]))
        with pytest.raises(CheckpointError, match=r"another file now.*kept in memory \(trial 7: 1"):
            optimizer.tell(optimizer.pending[0], 1.0)
        assert len(start(path).trials) == 1
        shutil.copy(path, tmp_path / "other.db")


class TestOpen:
    """From the file alone."""

    def test_to_look_at(self, path: Path) -> None:
        before = path.read_bytes()
        optimizer = UnboundedOptimizer.open(path)
        assert len(optimizer.trials) == 9
        assert optimizer.result().best_value == start(path).result().best_value
        for attempt in (
            optimizer.ask,
            lambda: optimizer.tell(optimizer.pending[0], 1.0),
            lambda: optimizer.set_hard_limits(None),
        ):
            with pytest.raises(CheckpointError, match="writable=True"):
                attempt()
        assert len(optimizer.pending) == 2
        assert path.read_bytes() == before

    def test_to_take_part(self, path: Path) -> None:
        copy = Path(shutil.copy(path, path.with_name("copy.db")))
        trial = UnboundedOptimizer.open(path, writable=True).ask()
        assert trial.X == start(copy).ask().X
        assert start(path).trials[9] == trial

    def test_arguments_that_json_cannot_say_as_they_are(self, tmp_path: Path) -> None:
        path = tmp_path / "run.db"
        search = SearchSettings(3, 64, {"maxiter": 20})
        UnboundedOptimizer(
            [(0, 1)],
            direction="maximize",
            epsilon=(0.1, "raw"),
            max_growth=float("inf"),
            search=search,
            checkpoint=path,
            hard_limits={0: (-3, None)},
        )
        optimizer = UnboundedOptimizer.open(path)
        assert optimizer.box.settings.search == search
        assert (optimizer.box.settings.epsilon, optimizer.box.settings.epsilon_unit) == (0.1, "raw")
        assert optimizer.box.settings.max_growth == float("inf")
        assert optimizer.direction == "maximize"
        assert optimizer.hard_limits.tolist() == [[-3.0], [float("inf")]]

    def test_nothing_there(self, tmp_path: Path) -> None:
        with pytest.raises(CheckpointError, match="there is none"):
            UnboundedOptimizer.open(tmp_path / "run.db")
        assert not list(tmp_path.iterdir())


def forged(path: Path, kind: str, number: int, change: Any) -> None:
    """Replace the body of the so-many-th event of a kind; checksums are made to fit."""
    events = RunFile(path).load()
    place = [index for index, event in enumerate(events) if event.kind == kind][number]
    events[place] = Event(kind, change(events[place].body))
    path.unlink()
    database = Database(path)
    with database.writing() as connection:
        database.create(connection)
        database.append(connection, events, Mark())


@pytest.mark.parametrize(
    ("kind", "number", "change"),
    [
        ("outcome", 0, lambda body: {**body, "status": "done"}),
        ("outcome", 1, lambda body: {**body, "trial": 99}),
        ("outcome", 1, lambda body: {**body, "order": 0}),
        ("trial", 1, lambda body: {**body, "id": 0}),
        ("trial", 2, lambda body: {**body, "X": [9.0, 0.0]}),  # beyond a hard limit
        ("trial", 2, lambda body: None),
        ("trial", 2, lambda body: {**body, "owner": 3}),
        ("box", -1, lambda body: {**body, "bounds": [[0.0, 0.0], [9.0, 2.0]]}),
        ("box", -1, lambda body: {**body, "schema": 2}),
        ("box", -1, lambda body: {}),
        ("box", -1, lambda body: None),
        ("box", -1, lambda body: {**body, "limits": [3]}),
        ("move", 0, lambda body: {**body, "beta": "much"}),
        ("step", 0, lambda body: [1]),
    ],
)
def test_a_value_that_cannot_be_is_refused_though_the_checksums_fit(
    path: Path, kind: str, number: int, change: Any
) -> None:
    forged(path, kind, number, change)
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match="to hold a complete run"):
        start(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("body", [None, [], {}, {"seed": 3}, {"hard_limits": [[1]]}, 10**400])
def test_arguments_that_cannot_be(path: Path, body: Any) -> None:
    forged(path, "run", 0, lambda _: body)
    with pytest.raises(CheckpointError, match="Expected"):
        start(path)
    with pytest.raises(CheckpointError, match="Expected"):
        UnboundedOptimizer.open(path)


class TestExport:
    def test_round_trip(self, path: Path, tmp_path: Path) -> None:
        lines = list(export_lines(path))
        count = import_lines([line + "\n" for line in lines], tmp_path / "again.db")
        assert count == len(lines) - 1
        again, first = start(tmp_path / "again.db"), start(path)
        assert again.trials == first.trials
        assert again.box.state_dict() == first.box.state_dict()
        assert list(export_lines(tmp_path / "again.db")) == lines

    def test_refusals(self, path: Path, tmp_path: Path) -> None:
        header, *lines = export_lines(path)
        with pytest.raises(CheckpointError, match="exists"):
            import_lines([header, *lines], path)
        new = tmp_path / "new.db"
        for bad in ([], lines, [header, "{"], [header, '{"event": "x", "body": 1}'], ["[]"]):
            with pytest.raises(CheckpointError, match="Expected"):
                import_lines(bad, new)
            assert not new.exists()
        with pytest.raises(CheckpointError, match="there is none"):
            list(export_lines(new))


def test_bytes_per_step_do_not_grow(tmp_path: Path) -> None:
    """2,000 trials: what a step writes, and the rows it reads, is the same at the end as before."""
    path = tmp_path / "run.db"
    optimizer = UnboundedOptimizer([(0, 1), (0, 1)], num_initial=3000, checkpoint=path, **FAST)
    read = 0
    original = optimizer.journal.file.database.read

    def counted(*arguments: Any) -> Any:
        nonlocal read
        events, mark = original(*arguments)
        read += len(events)
        return events, mark

    optimizer.journal.file.database.read = counted
    sizes = []
    for _ in range(10):
        before = written_bytes()
        for _ in range(10):
            optimizer.tell(optimizer.ask(), 0.5)
        sizes.append(written_bytes() - before)
        trials = optimizer.ask(190)
        for trial in trials[:3]:
            optimizer.tell(trial, 0.25)
    assert len(optimizer.trials) == 2000
    assert read == 0  # nobody else writes
    assert max(sizes[1:]) <= 1.3 * sizes[0]
    assert sizes[-1] / 20 < 40_000


def written_bytes() -> int:
    """What this process has written by system calls."""
    fields = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(fields["wchar"])
