from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import main
from benchmarks.runs import quality


def _noting(used: list[str], name: str, original: Callable[..., Any], *args: Any) -> Any:
    used.append(name)
    return original(*args)


@pytest.mark.slow
@pytest.mark.parametrize("batched", [False, True])
def test_losses_of_fits_and_searches(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    batched: bool,
) -> None:
    used = []
    for name in ("fit_batched", "maximize_batched"):
        original = getattr(quality, name)
        noting = partial(_noting, used, name, original)
        monkeypatch.setattr(quality, name, noting)
    output = tmp_path / "quality.json"
    arguments = ["--problems", "beale", "--seeds", "0", "--budget", "4", "--every", "2"]
    arguments += ["--batched"] * batched
    assert main(["quality", *arguments, "--output", str(output)]) == 0
    assert "fits within 0.05" in capsys.readouterr().out
    measured = json.loads(output.read_text())["measured"]
    assert [row["n"] for row in measured] == [7, 9]
    assert all(row["fit"] >= 0 and row["search"] >= 0 for row in measured)
    # Of two steps each, and of none where the default's own are measured.
    assert sorted(used) == ["fit_batched"] * 2 * batched + ["maximize_batched"] * 2 * batched
    assert max(row["fit"] for row in measured) < 5  # the same data, in the same units
    assert max(row["search"] for row in measured) < 0.5
