from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.problems.problem import Sources, make_start
from benchmarks.problems.reference import authors_seeds
from benchmarks.problems.registry import find_problem
from tests.support.authors_files import write_authors_run


def test_reference_problem_starts_where_the_authors_did(tmp_path: Path) -> None:
    write_authors_run(tmp_path, seed=4)
    sources = Sources(reference=tmp_path)
    start = make_start(find_problem("ref_beale", 4, sources), 4)
    assert start.X.tolist() == [[0.0, 0.5], [1.0, 1.0]] and start.budget == 1
    assert start.box.tolist() == [[0.0, 0.0], [1.0, 2.0]]
    assert authors_seeds("ref_beale", sources) == [4]
    with pytest.raises(FileNotFoundError, match="Beale_5"):
        find_problem("ref_beale", 5, sources)
    with pytest.raises(ValueError, match="--reference"):
        find_problem("ref_beale", 4)


def test_malformed_reference_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Beale_0.json").write_text(json.dumps({"function": "Beale", "X": []}))
    with pytest.raises(ValueError, match="num_initial"):
        find_problem("ref_beale", 0, Sources(reference=tmp_path))
