"""Who has a trial in hand, and whether anybody will come up with its result."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from botorch_ubo.run import owner as module
from botorch_ubo.run.owner import end_work, is_elsewhere, may_be_at_work, new_owner, start_work

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="Linux")


def changed(owner: str, place: int, value: str) -> str:
    parts = owner.split("|")
    parts[place] = value
    return "|".join(parts)


def test_this_process() -> None:
    owner = new_owner()
    assert not may_be_at_work(owner)
    start_work(owner)
    assert may_be_at_work(owner)
    assert not may_be_at_work(new_owner())
    end_work(owner)
    assert not may_be_at_work(owner)


def test_another_process() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        owner = "|".join([*module._process(process.pid), "x"])
        assert may_be_at_work(owner)
        # Its number now belongs to a process that was started at another time.
        assert not may_be_at_work(changed(owner, 4, "1"))
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not may_be_at_work(owner)  # ended, though nobody has waited for it
        process.communicate()
    assert not may_be_at_work(owner)


def test_other_machines() -> None:
    here = new_owner()
    assert not may_be_at_work(changed(here, 1, "another start of this machine"))
    for place in (0, 2):  # a host, a container
        elsewhere = changed(here, place, "elsewhere")
        assert may_be_at_work(elsewhere)
        assert is_elsewhere(elsewhere)
    assert not is_elsewhere(here)


@pytest.mark.parametrize("owner", ["", "nobody", "a|b", "|" * 9])
def test_nobody(owner: str) -> None:
    assert not may_be_at_work(owner)
    assert not is_elsewhere(owner)
