from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmarks.runs.metadata import collect_metadata
from benchmarks.runs.table import tabulate
from benchmarks.runs.versions import (
    MixedVersionsError,
    check_one_version,
    fingerprint,
    mixed_versions,
)
from tests.support.made_records import METADATA, make_record


def of(method: str, seed: int, **metadata: Any) -> Any:
    return make_record(method=method, seed=seed, metadata={**METADATA, **metadata})


def sources(directory: Path, **files: str) -> tuple[Path, ...]:
    directory.mkdir()
    for name, text in files.items():
        (directory / f"{name}.py").write_text(text)
    return (directory,)


def test_the_fingerprint_is_of_names_and_contents(tmp_path: Path) -> None:
    one = fingerprint(sources(tmp_path / "a", x="1", y="2"))
    assert one != fingerprint(sources(tmp_path / "b", x="1", y="2"))  # another folder's name
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copytree(tmp_path / "a", elsewhere / "a")
    assert one == fingerprint((elsewhere / "a",))
    (elsewhere / "a" / "notes.md").write_text("words do not count")
    fingerprint.cache_clear()
    assert one == fingerprint((elsewhere / "a",))
    (elsewhere / "a" / "x.py").write_text("12")
    fingerprint.cache_clear()
    assert one != fingerprint((elsewhere / "a",))
    (elsewhere / "a" / "x.py").write_text("1")
    (elsewhere / "a" / "x.py").rename(elsewhere / "a" / "z.py")
    fingerprint.cache_clear()
    assert one != fingerprint((elsewhere / "a",))


def test_every_record_has_it() -> None:
    assert collect_metadata()["code"] == fingerprint()


def test_one_code_at_two_commits_is_one_version() -> None:
    table = tabulate([of("A", 0, code="f1", commit="c1"), of("A", 1, code="f1", commit="c2")])
    assert mixed_versions(table) == {}
    check_one_version(table)


def test_two_codes_of_a_method_are_refused_in_words() -> None:
    table = tabulate([of("A", 0, code="f1"), of("A", 1, code="f2"), of("B", 0, code="f2")])
    assert mixed_versions(table) == {"A": {"code f1": 1, "code f2": 1}}
    with pytest.raises(MixedVersionsError, match=r"A: code f1 \(1 runs\), code f2 \(1 runs\)"):
        check_one_version(table)
    with pytest.raises(MixedVersionsError, match=r"Run them anew.*--mixed-versions"):
        check_one_version(table)


def test_methods_may_differ_from_each_other() -> None:
    check_one_version(tabulate([of("A", 0, code="f1"), of("B", 0, code="f2")]))


def test_older_records_are_told_apart_by_their_commits() -> None:
    assert mixed_versions(tabulate([of("A", 0, commit="c1"), of("A", 1, commit="c2")]))
    assert not mixed_versions(tabulate([of("A", 0, commit="c1"), of("A", 1, commit="c1")]))
    # An older and a newer record of one commit are of one code, unless something was not committed.
    both = [of("A", 0, commit="c1"), of("A", 1, commit="c1", code="f1")]
    assert not mixed_versions(tabulate(both))
    both[0].metadata["uncommitted_changes"] = True
    assert mixed_versions(tabulate(both))


def test_the_authors_runs_are_of_no_version() -> None:
    theirs = make_record(method="authors", metadata={"source": "runs of the authors' code"})
    assert not mixed_versions(tabulate([theirs, of("A", 0, code="f1")]))
