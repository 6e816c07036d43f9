from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.commands import results
from benchmarks.report import figures, statistics
from benchmarks.runs import steps
from benchmarks.runs.plan import Job
from benchmarks.runs.records import read_records, write_record
from benchmarks.runs.steps import STEPS, estimate_hours
from benchmarks.runs.table import tabulate, write_packed
from tests.support.made_records import METADATA, make_record

SMALL = steps.Step("small", ("--problems", "beale", "--methods", "CMA-ES", "--seeds", "0-1",
                             "--budget", "2"))  # fmt: skip


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "RESAMPLES", 99)
    monkeypatch.setattr(figures, "save_figure", lambda figure, path: path.write_text(str(figure)))
    monkeypatch.setattr(results, "STEPS", (SMALL,))


def arguments(tmp_path: Path) -> list[str]:
    pages = ["--page", str(tmp_path / "page.md"), "--readme", str(tmp_path / "README.md")]
    return ["results", "--results", str(tmp_path / "results"), *pages]


@pytest.mark.usefixtures("threads")
def test_run_pack_report_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme, page = tmp_path / "README.md", tmp_path / "page.md"
    empty = {
        name: "Words.\n\n{}\n{}\n\nMore words.\n".format(*results._marks(name))
        for name in ("front", "table")
    }
    readme.write_text(empty["front"])
    made = [*arguments(tmp_path), "--records", str(tmp_path / "records")]
    assert main(made) == 1 and "page.md has no place for the table" in capsys.readouterr().out
    assert len(list(read_records(tmp_path / "records"))) == 2
    page.write_text(empty["front"] + empty["table"])
    assert main([*arguments(tmp_path), "--check"]) == 1
    told = capsys.readouterr().out
    assert told.startswith("differs: the front in page.md\ndiffers: the table in page.md\n")
    assert main(made) == 0 and "nothing to do" in capsys.readouterr().out
    assert main([*arguments(tmp_path), "--check"]) == 0
    elsewhere = results.build(tmp_path / "results" / results.PACKED, tmp_path / "other")
    for path, text in ((readme, elsewhere.front), (page, elsewhere.table)):
        written = path.read_text()
        assert written.startswith("Words.") and written.endswith("More words.\n")
        assert text in written
        path.write_text(written.replace(text, "0.01"))
    report = tmp_path / "results" / "report.md"
    report.write_text(report.read_text().replace("beale", "beale, or so"))
    assert main([*arguments(tmp_path), "--check"]) == 1
    said = capsys.readouterr().out
    wrong = ("report.md", "the table in page.md", "the front in README.md")
    assert all(f"differs: {name}\n" in said for name in wrong)
    assert main([*arguments(tmp_path), "--write"]) == 0
    assert main([*arguments(tmp_path), "--check"]) == 0


def test_records_of_other_sources_are_refused(tmp_path: Path) -> None:
    write_record(tmp_path / "records", make_record(metadata={**METADATA, "code": "f00"}))
    with pytest.raises(SystemExit, match=r"some of f00 \(1 runs\). Use another --records"):
        main([*arguments(tmp_path), "--records", str(tmp_path / "records")])


def test_two_versions_cannot_pass_the_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [make_record(seed=s, metadata={**METADATA, "code": f"f{s}"}) for s in range(2)]
    write_packed(tabulate(records), tmp_path / "results" / results.PACKED)
    assert main([*arguments(tmp_path), "--check"]) == 1
    assert "Expected one code version" in capsys.readouterr().out


def test_hours_are_those_of_earlier_runs() -> None:
    measured = tabulate([make_record(method="A"), make_record("levy3", "B")])
    # Two evaluations of 0.6 s of thinking and 9 s of evaluating each.
    jobs = [Job("beale", "A", seed, 100, "{}") for seed in range(3)]
    assert estimate_hours(jobs, {"beale": 2}, measured) == pytest.approx(3 * 100 * 9.6 / 7200)
    unknown = [Job("hartmann3", "new", 0, 100, "{}")]
    assert estimate_hours(unknown, {"hartmann3": 3}, measured) == pytest.approx(100 * 9.6 / 7200)


def test_steps_can_be_planned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every name in them is known, and their hours are told."""
    write_packed(tabulate([make_record()]), tmp_path / "results" / results.PACKED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(results, "STEPS", STEPS)
        assert main([*arguments(tmp_path), "--list"]) == 0
    told = capsys.readouterr().out
    assert "mnist is left out: it needs --data-dir" in told
    assert all(f"  {step.name}: " in told for step in STEPS if step.needs is None)


def test_something_must_be_asked_for(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="expected --records DIR, --list, --write or"):
        main(arguments(tmp_path))
