from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks.__main__ import main
from benchmarks.problems.textbook import PROBLEMS
from benchmarks.runs.records import read_records
from tests.support.authors_files import write_authors_run


@pytest.mark.slow
def test_command_runs_resumes_and_starts_where_the_authors_did(
    tmp_path: Path, threads: None, capsys: pytest.CaptureFixture[str]
) -> None:
    X = torch.rand(8, 2, generator=torch.Generator().manual_seed(0), dtype=torch.double)
    Y = PROBLEMS["beale"](X).flatten().tolist()
    write_authors_run(tmp_path, seed=3, X=X.tolist(), Y=Y, num_initial=6)
    arguments = ["reference", "--reference", str(tmp_path), "--problems", "ref_beale"]
    arguments += ["--seeds", "3", "--output", str(tmp_path / "out")]
    assert main(arguments) == 0
    first = capsys.readouterr().out
    table = first[first.index("L = ") :]
    assert "| problem | GPUCB-UBO | GPUCB-UBO (as published) | authors |" in table
    assert "| problem | GPUCB-UBO | GPUCB-UBO (as published) |" in table and "–" not in table
    assert "Less the authors', paired by seed" in table and "| all |" in table
    found = {record.method: record for record in read_records(tmp_path / "out")}
    assert set(found) == {"authors", "GPUCB-UBO", "GPUCB-UBO (as published)"}
    assert all(record.X[:6] == X[:6].tolist() for record in found.values())
    assert all(len(record.X) == 8 for record in found.values())
    assert main(arguments) == 0
    again = capsys.readouterr().out
    assert "nothing to do" in again and again.endswith(table)


def test_missing_runs_are_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["reference", "--output", str(tmp_path)])
