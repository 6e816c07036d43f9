from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from benchmarks.commands import run


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs in this process: a new one takes seconds to start."""
    monkeypatch.setattr(run, "open_executor", lambda jobs, scheduler: ThreadPoolExecutor(1))
