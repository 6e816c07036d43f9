from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.__main__ import main
from benchmarks.report import figures, statistics
from benchmarks.report.study import load_study
from benchmarks.runs.records import Record, write_record
from benchmarks.runs.table import tabulate, write_packed
from tests.support.made_records import make_record

# Whole reports, with their figures.
pytestmark = pytest.mark.slow

ORACLE, DEFAULT = "LogEI-oracle", "EI-UBO"
FACTORS = {ORACLE: 0.1, DEFAULT: 0.05, "HuBO-EI": 0.2, "GPUCB-UBO": 0.5}
SEEDS = range(3)


def final(problem: str, factor: float, **values: object) -> list[Record]:
    """Runs that end at a share of the initial regret, a little different by seed."""
    return [
        make_record(problem, seed=s, regrets=(10, 20, 8, 10 * factor * (1 + 0.1 * s)), **values)
        for s in SEEDS
    ]


def far(method: str, distance: int, evaluations: int, budget: int = 6) -> list[Record]:
    """Runs that reach 1 % of the initial regret at an evaluation, if their budget allows."""
    regrets = [10.0, 20.0, *[5.0] * (evaluations - 1), 0.05][: 2 + budget]
    return [
        make_record(
            f"far_smooth2_d{distance}", method, seed, regrets, budget=budget,
            distance=float(distance), target=2.9,
        )
        for seed in SEEDS
    ]  # fmt: skip


def everything() -> list[Record]:
    records = []
    for method, factor in FACTORS.items():
        for problem in ("beale", "hartmann3", "beale_noisy", "near_beale"):
            records += final(problem, factor, method=method)
        records += final("ref_beale", factor, method=method)
        records += final("mnist_cnn", factor, method=method, optimal_value=None)
    records += final("ref_beale", 0.3, method="authors", boxes=[])
    records += final("beale", 0.5, method=f"{DEFAULT} (no cap)")
    for distance, oracle, default in ((1, 2, 2), (10, 3, 3), (100, 4, 5)):
        records += far(ORACLE, distance, oracle) + far(DEFAULT, distance, default)
        records += far("EI-Vanilla", distance, 99)
        records += far(f"{DEFAULT} (no cap)", distance, 2 * default)
    failed = make_record("beale", "CMA-ES", 0, (10, 20), budget=2, status="failed", error="a\nboom")
    return [*records, failed]


def report(records: Sequence[Record], directory: Path, *arguments: str) -> str:
    path = directory / "records.json.xz"
    write_packed(tabulate(records), path)
    output = directory / "report"
    given = ["--records", str(path), "--output", str(output), "--default", DEFAULT]
    assert main(["report", *given, *arguments]) == 0
    text = (output / "report.md").read_text()
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert (output / link).stat().st_size > 0, link
    figures = {path.name for path in output.glob("*.png")}
    assert figures == {name for name in re.findall(r"\]\(([^)]+\.png)\)", text)}
    assert "nan" not in re.sub(r"\w*nan\w+|\w+nan\w*", "", text.lower())
    return text


def section(text: str, heading: str) -> str:
    """From a heading to the next one of any level."""
    return text.split(f"# {heading}\n", 1)[1].split("\n#", 1)[0]


def row(text: str, method: str) -> list[str]:
    """The cells of the first row of a method."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {method} |"))
    return [cell.strip(" *") for cell in line.strip("|").split("|")[1:]]


@pytest.fixture(autouse=True, scope="module")
def quick() -> Iterator[None]:
    """Intervals need not be exact here, nor figures rendered, which takes most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statistics, "RESAMPLES", 99)
        patch.setattr(figures, "save_figure", lambda figure, path: path.write_text(str(figure)))
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    directory = tmp_path_factory.mktemp("whole")
    return report(everything(), directory), directory / "report"


def test_header_says_what_was_run(whole: tuple[str, Path]) -> None:
    text, _ = whole
    assert "seeds 0, 1, 2" in text and "commit: 0123abc" in text
    assert "Python 3.11.7, botorch 0.18.1, torch 2.13.0" in text
    assert "1 thread(s) per run, device cpu" in text and "python -m benchmarks report" in text
    assert "failed: 1\n  - beale, CMA-ES, seed 0: boom" in text


def test_every_kind_of_problem_has_its_section(whole: tuple[str, Path]) -> None:
    text, output = whole
    headings = re.findall(r"^## (.*)", text, flags=re.MULTILINE)
    assert headings == [
        "What the paper says",
        "The price of not knowing the domain",
        "The paper's protocol",
        "With noise",
        "Start box that holds the optimum",
        "From the starts of the authors' runs",
        "MNIST, optimum not known",
        "Far optimum",
        "Variants of EI-UBO",
        "Seconds per suggestion",
    ]
    assert {"paper_mean.png", "paper_median.png", "paper_critical_difference.png",
            "paper_boxes.png", "far.png"} <= {p.name for p in output.iterdir()}  # fmt: skip


def test_measures_of_the_papers_protocol(whole: tuple[str, Path]) -> None:
    text, _ = whole
    # log10 of (0.05, 0.055, 0.06) is -1.301, -1.260, -1.222.
    assert row(section(text, "Normalised log-regret"), DEFAULT) == ["-1.26", "-1.26"]
    ratios = row(section(text, "Oracle ratio"), DEFAULT)
    assert ratios == ["0.50", "0.50", "0.50 [0.50, 0.50]"]
    assert row(section(text, "Ranks and tests"), "GPUCB-UBO") == ["4.00", "4.00", "4.00"]
    # Mean of 0.5, 0.55, 0.6.
    assert row(section(text, "Final regret"), DEFAULT)[0] == "0.55 ± 0.0289"
    assert "Median and quartiles" in text and "p (Holm)" in text


def test_an_optimum_not_known_has_values_and_no_regret(whole: tuple[str, Path]) -> None:
    text, _ = whole
    tuning = text.split("## MNIST, optimum not known")[1].split("\n## ")[0]
    assert "Normalised log-regret" not in tuning and "Oracle ratio" not in tuning
    assert row(section(tuning, "Final best value"), DEFAULT)[0] == "2.45 ± 0.0289"
    assert row(section(tuning, "Ranks and tests"), DEFAULT)[-1] == "1.00"


def test_the_authors_are_the_reference_of_their_starts(whole: tuple[str, Path]) -> None:
    found = section(whole[0], "Ratio to the authors' runs")
    assert row(found, DEFAULT)[0] == "0.17" and row(found, "authors")[0] == "1.00"


def test_far_counts_evaluations(whole: tuple[str, Path]) -> None:
    text, _ = whole
    far_rows = section(text, "far_smooth2")
    assert row(far_rows, DEFAULT)[:3] == ["2.0 (1.00)", "3.0 (1.00)", "5.0 (1.25)"]
    assert row(far_rows, ORACLE) == [
        "2.0 (1.00)", "3.0 (1.00)", "4.0 (1.00)", "2.0", "1.0", "1.00"
    ]  # fmt: skip
    assert row(far_rows, "EI-Vanilla")[:3] == ["6.0 (3.00) †3", "6.0 (2.00) †3", "6.0 (1.50) †3"]
    overview = section(text, "Ratio to the oracle")
    assert row(overview, DEFAULT) == ["1.08", "1.25", "0"]  # 1.25 ** (1 / 3)
    assert row(overview, "EI-Vanilla") == ["2.08", "3.00", "9"]  # (3 * 2 * 1.5) ** (1 / 3)
    by_distance = overview[overview.index("The same by dimension and distance") :]
    assert "| d = 2, 1 | d = 2, 10 | d = 2, 100 |" in by_distance
    assert row(by_distance, DEFAULT) == ["1.00", "1.00", "1.25"]


def test_variants_are_priced_and_not_ranked(whole: tuple[str, Path]) -> None:
    text, _ = whole
    cells = row(section(text, f"Variants of {DEFAULT}"), "(no cap)")
    # Evaluations 4, 6 and 6 of a budget of 6, against 2, 3 and 5.
    assert cells == ["+1.00 [+1.00, +1.00]", "+1.00", "–", "1.69", "2.00"]
    assert "(no cap)" not in section(text, "Ranks and tests")
    assert "(no cap)" not in section(text, "Normalised log-regret")


def test_seconds_and_their_split(whole: tuple[str, Path]) -> None:
    seconds = section(whole[0], "Seconds per suggestion")
    assert row(seconds, DEFAULT)[0] == "0.60 / 0.60"
    assert "| d = 2 |" in seconds and "0.20 / 0.10 / 0.30" in seconds


def test_summary_has_every_run(whole: tuple[str, Path]) -> None:
    frame = pd.read_csv(whole[1] / "summary.csv")
    assert len(frame) == len(everything())
    assert not frame.duplicated(["problem", "method", "seed"]).any()
    assert frame["status"].value_counts().to_dict() == {"ok": len(frame) - 1, "failed": 1}


def test_no_oracle_and_no_default(tmp_path: Path) -> None:
    records = [*final("beale", 0.1, method="A"), *final("beale", 0.2, method="B")]
    text = report([*records, *far("A", 1, 2), *far("A", 10, 3)], tmp_path)
    assert text.count("No records of LogEI-oracle, so there is no ratio to it.") == 2
    assert "EI-UBO lacks runs or has no records" in text
    assert row(section(text, "far_smooth2"), "A")[:2] == ["2.0", "3.0"]


def test_one_method(tmp_path: Path) -> None:
    text = report(final("beale", 0.1, method=DEFAULT), tmp_path)
    assert "Fewer than two methods" in text


def test_one_seed(tmp_path: Path) -> None:
    records = [make_record(method=m, regrets=(10, 20, 10 * f)) for m, f in FACTORS.items()]
    records += [r for m in (ORACLE, DEFAULT) for r in far(m, 1, 2) if r.seed == 0]
    text = report(records, tmp_path)
    assert row(section(text, "Oracle ratio"), DEFAULT) == ["0.50", "0.50"]
    assert row(section(text, "Final regret"), DEFAULT) == ["0.50"]
    assert "Friedman's test needs" in text


def test_missing_seeds_are_named(tmp_path: Path) -> None:
    records = [r for m, f in FACTORS.items() for r in final("beale", f, method=m)]
    records = [r for r in records if (r.method, r.seed) != ("HuBO-EI", 2)]
    records.append(make_record(method=DEFAULT, seed=99))
    text = report(records, tmp_path)
    assert "lack runs that others have: HuBO-EI (1 missing)." in text
    assert "no more than half of the methods have them: beale seed 99." in text
    assert "HuBO-EI |" not in section(text, "Ranks and tests")
    assert row(section(text, "Normalised log-regret"), "HuBO-EI")


def test_only_failures(tmp_path: Path) -> None:
    text = report([make_record(status="failed", error="boom")], tmp_path)
    assert "failed: 1" in text


def test_a_second_report_leaves_no_figures_of_the_first(tmp_path: Path) -> None:
    report([*final("near_beale", 0.1), *final("beale", 0.1)], tmp_path)
    assert (tmp_path / "report" / "near_mean.png").exists()
    kept = tmp_path / "report" / "mine.png"
    kept.touch()
    write_packed(tabulate(final("beale", 0.1)), tmp_path / "records.json.xz")
    arguments = ["--records", str(tmp_path / "records.json.xz"), "--output", str(kept.parent)]
    assert main(["report", *arguments]) == 0
    assert not list(kept.parent.glob("near_*.png")) and kept.exists()


def test_no_boxes_and_no_seconds(tmp_path: Path) -> None:
    records = [
        r
        for method in (ORACLE, DEFAULT)
        for r in final("beale", FACTORS[method], method=method, boxes=[], seconds={})
    ]
    text = report(records, tmp_path)
    assert "Box growth" not in text and "No seconds in the records" in text


def test_many_methods_leave_curves_to_a_few(tmp_path: Path) -> None:
    methods = {
        **FACTORS,
        f"{ORACLE}-stock": 0.01,
        **{f"M{i:02d}": 0.3 + 0.01 * i for i in range(18)},
    }
    path = tmp_path / "many.json.xz"
    records = [r for m, f in methods.items() for r in final("beale", f, method=m)]
    write_packed(tabulate(records), path)
    study = load_study([path], ORACLE, DEFAULT)
    assert study.shown("paper") == [ORACLE, DEFAULT, "HuBO-EI", "M00", "M01", "GPUCB-UBO"]
    chosen = load_study([path], ORACLE, DEFAULT, chosen=["M07", DEFAULT])
    assert chosen.shown("paper") == ["M07", DEFAULT]
    lines = [str(style) for style in study.styles.values()]
    assert len(set(lines)) == len(lines) == len(methods)


def test_table_for_the_readme(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for record in everything():
        write_record(tmp_path / "records", record)
    given = ["--records", str(tmp_path / "records"), "--default", DEFAULT]
    assert main(["report", *given, "--table"]) == 0
    table = capsys.readouterr().out
    heads = [cell.strip() for cell in table.splitlines()[0].strip("|").split("|")]
    assert heads[1:3] == [ORACLE, DEFAULT]
    assert row(table, "beale")[:2] == ["-0.96 (1.00)", "-1.26 (0.50)"]
    assert row(table, "geometric mean of the ratios")[:2] == ["1.00", "0.50"]
    assert row(table, "mean rank of 4 methods")[:2] == ["2.00", "1.00"]
    assert row(table, "far, d = 2")[:3] == ["1.00 (1.00)", "1.08 (1.25)", "–"]
    assert not list(tmp_path.glob("**/*.png"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--output", "out"], "does not exist"),
        ([], "expected --output DIR or --table"),
        (["--methods", "Nobody", "--table"], "got Nobody"),
    ],
)
def test_what_cannot_be_reported(tmp_path: Path, arguments: list[str], message: str) -> None:
    path = tmp_path / "records.json.xz"
    if arguments != ["--output", "out"]:
        write_packed(tabulate([make_record()]), path)
    with pytest.raises(SystemExit, match=re.escape(message)):
        main(["report", "--records", str(path), *arguments])


def test_two_versions_of_a_method_are_refused_or_marked(tmp_path: Path) -> None:
    records = [r for m, f in FACTORS.items() for r in final("beale", f, method=m)]
    for record in records:
        other = record.method == DEFAULT and record.seed == 1
        record.metadata = {**record.metadata, "code": "f2" if other else "f1"}
    with pytest.raises(SystemExit, match=rf"{DEFAULT}: code f1 \(2 runs\), code f2 \(1 runs\)"):
        report(records, tmp_path)
    text = report(records, tmp_path, "--mixed-versions")
    assert "**runs of several code versions are mixed**" in text
    assert row(section(text, "Oracle ratio"), f"{DEFAULT} ‡")
    assert f"| {DEFAULT} |" not in text and "| HuBO-EI |" in text
