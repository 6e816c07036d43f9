"""``botorch-ubo report --watch`` as a process: it follows a run, and Ctrl-C ends it in peace."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from botorch_ubo import UnboundedOptimizer


@pytest.mark.slow
def test_watching_a_run_until_ctrl_c(tmp_path: Path) -> None:
    path, page = tmp_path / "run.db", tmp_path / "run.html"
    optimizer = UnboundedOptimizer([(0.0, 1.0)], checkpoint=path)
    optimizer.tell(optimizer.ask(), 3.25)
    command = [sys.executable, "-m", "botorch_ubo", "report", str(path), "--watch", "0.2"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(page, "<b>3.25</b>")
        assert "data-refresh" in page.read_text().partition("<main>")[0]
        optimizer.tell(optimizer.ask(), 1.75)
        wait_for(page, "<b>1.75</b>")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 0, err
    assert out.splitlines()[-1] == str(page)
    assert "data-refresh" not in page.read_text().partition("<main>")[0]


def wait_for(page: Path, text: str) -> None:
    end = time.monotonic() + 240
    while not page.exists() or text not in page.read_text():
        assert time.monotonic() < end, f"{text} did not come up"
        time.sleep(0.1)
