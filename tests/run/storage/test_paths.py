"""Where a run can be kept is found out at the start."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from botorch_ubo.run.optimizer import UnboundedOptimizer
from botorch_ubo.run.storage.errors import CheckpointError
from tests.support.trouble import unprivileged


def start(path: Path) -> UnboundedOptimizer:
    return UnboundedOptimizer([(0, 1)], checkpoint=path)


class TestRefusals:
    def test_no_folder_and_a_folder(self, tmp_path: Path) -> None:
        with pytest.raises(CheckpointError, match="directory that does not exist"):
            start(tmp_path / "nowhere" / "run.db")
        with pytest.raises(CheckpointError, match="is a directory"):
            start(tmp_path)

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX")
    def test_a_pipe_does_not_hang(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        for path in (tmp_path / "pipe", Path("/dev/null")):
            with pytest.raises(CheckpointError, match="a pipe, a device"):
                start(path)

    @pytest.mark.parametrize("length", [250, 256, 5000])
    def test_a_name_that_is_too_long(self, tmp_path: Path, length: int) -> None:
        """At 250 the file fits, but not the journal beside it."""
        with pytest.raises(CheckpointError, match=r"Expected.* name.*another path"):
            start(tmp_path / ("r" * length))
        assert not list(tmp_path.iterdir())

    def test_what_is_no_path(self) -> None:
        for path in (5, None.__class__, [], ("a",)):
            with pytest.raises(CheckpointError, match="Expected `checkpoint` to name a file"):
                start(path)  # type: ignore[arg-type]

    def test_a_path_of_bytes(self, tmp_path: Path) -> None:
        start(os.fsencode(tmp_path / "run.db"))  # type: ignore[arg-type]
        assert (tmp_path / "run.db").is_file()

    def test_the_longest_name(self, tmp_path: Path) -> None:
        start(tmp_path / ("r" * 247)).ask()

    def test_a_loop_of_links_and_a_null_byte(self, tmp_path: Path) -> None:
        (tmp_path / "a").symlink_to(tmp_path / "a")
        for path in (tmp_path / "a", tmp_path / "r\0n"):
            with pytest.raises(CheckpointError, match="Expected"):
                start(path)

    @pytest.mark.slow
    @pytest.mark.skipif(not hasattr(os, "setuid"), reason="POSIX")
    def test_a_folder_that_may_not_be_written_to(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o555)
        words = unprivileged(tmp_path, "UnboundedOptimizer([(0, 1)], checkpoint=folder / 'run.db')")
        tmp_path.chmod(0o755)
        assert "CheckpointError: Expected to use" in words
        assert "write permission" in words


class TestPermissionsAndLinks:
    def test_permissions_are_those_of_any_new_file(self, tmp_path: Path) -> None:
        start(tmp_path / "run.db")
        (tmp_path / "other").touch()
        modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("run.db", "other")]
        assert modes[0] == modes[1]

    def test_permissions_stay(self, tmp_path: Path) -> None:
        path = tmp_path / "run.db"
        start(path)
        path.chmod(0o600)
        optimizer = start(path)
        optimizer.tell(optimizer.ask(), 1.0)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_a_link_stays_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "folder").mkdir()
        (tmp_path / "link.db").symlink_to(tmp_path / "folder" / "run.db")
        start(tmp_path / "link.db").ask()
        assert (tmp_path / "link.db").is_symlink()
        assert len(start(tmp_path / "folder" / "run.db").pending) == 1

    def test_a_planted_link_is_not_followed(self, tmp_path: Path) -> None:
        """Beside the file there is nothing whose name could be guessed but SQLite's journal."""
        victim = tmp_path / "victim"
        victim.write_text("precious")
        (tmp_path / "run.db-journal").symlink_to(victim)
        start(tmp_path / "run.db").ask()
        assert victim.read_text() == "precious"
