from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.__main__ import main


@pytest.mark.slow
@pytest.mark.parametrize("batched", [False, True])
def test_losses_of_fits_and_searches(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], batched: bool
) -> None:
    output = tmp_path / "quality.json"
    arguments = ["--problems", "beale", "--seeds", "0", "--budget", "4", "--every", "2"]
    arguments += ["--batched"] * batched
    assert main(["quality", *arguments, "--output", str(output)]) == 0
    assert "fits within 0.05" in capsys.readouterr().out
    measured = json.loads(output.read_text())["measured"]
    assert [row["n"] for row in measured] == [7, 9]
    assert all(row["fit"] >= 0 and row["search"] >= 0 for row in measured)
    assert max(row["fit"] for row in measured) < 5  # the same data, in the same units
    assert max(row["search"] for row in measured) < 0.5
