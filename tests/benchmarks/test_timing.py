import json
from pathlib import Path

import pytest

from benchmarks.__main__ import build_parser, main
from benchmarks.timing import VARIANTS, Measurement, format_table


def test_command_measures_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "times.json"
    assert main(
        ["time", "--dims", "2", "--sizes", "12", "--repeats", "1", "--out", str(out)]
    ) == 0  # fmt: skip
    written = json.loads(out.read_text())
    assert written["metadata"]["threads"] == 1
    assert written["metadata"]["packages"]["botorch"]
    (case,) = written["cases"]
    assert case["dim"] == 2 and case["n"] == 12
    assert set(case["seconds"]) == {"fit", *VARIANTS}
    assert all(len(times) == 1 and times[0] > 0 for times in case["seconds"].values())
    # The steps that are said not to expand do not.
    assert case["moved"] == dict.fromkeys(VARIANTS, False)
    assert "geometry/plain" in capsys.readouterr().out


def test_ratios_and_verdict() -> None:
    times = {
        "fit": [1.0, 1.0, 9.0],
        "plain": [1.0, 1.0, 1.0],
        "quiet": [1.2, 1.2, 1.2],
        "watchful": [2.0, 2.0, 0.8],
        "geometry": [0.08, 0.08, 5.0],
    }
    moved = dict.fromkeys(VARIANTS, False)
    m = Measurement(dim=2, n=20, problem="levy2", seconds=times, moved=moved)
    assert m.ratio("quiet") == pytest.approx(1.1)
    assert m.ratio("watchful") == pytest.approx(1.5)
    assert m.ratio("watchful", min) == pytest.approx(0.9)
    assert m.ratio("geometry") == pytest.approx(0.04)
    assert m.search_ratio("watchful") == pytest.approx(2.0)
    table = format_table([m])
    assert "1.20  2.00" in table
    assert "1.2: MISSED" in table and "5%: met" in table and "moved!" not in table
    assert "moved!" in format_table(
        [Measurement(2, 20, "levy2", times, {**moved, "quiet": True})]
    )  # fmt: skip


def test_help_of_every_command_says_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    for command, words in (("time", "Targets"), ("reference", "log10"), ("", "COMMAND")):
        with pytest.raises(SystemExit) as stop:
            build_parser().parse_args([*([command] if command else []), "--help"])
        assert stop.value.code == 0
        assert words in capsys.readouterr().out


def test_bad_sizes_are_refused() -> None:
    with pytest.raises(SystemExit, match="sizes"):
        main(["time", "--sizes", "3"])
