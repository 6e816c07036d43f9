from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.runs.records import write_record
from benchmarks.runs.table import read_table, tabulate, write_packed
from tests.support.made_records import make_record


def row(**values: object) -> object:
    return next(tabulate([make_record(**values)]).itertuples())


def test_best_starts_at_the_best_initial_point() -> None:
    assert row(regrets=(10.0, 20.0, 15.0, 1.0, 4.0)).best == [-7.0, -7.0, 2.0, 2.0]


def test_points_outside_count_only_where_they_may() -> None:
    values = {"regrets": (100.0, 10.0, -5.0, 1.0), "inside": [True, True, False, True]}
    assert row(**values, scored_inside_only=True).best == [-7.0, -7.0, 2.0]
    assert row(**values).best == [-7.0, 8.0, 8.0]
    assert row(**values).outside_share == 0.5
    # The best initial point is then the best one inside as well.
    values["inside"] = [True, False, False, True]
    assert row(**values, scored_inside_only=True).best == [-97.0, -97.0, 2.0]


def test_picked_is_the_value_of_the_best_observation() -> None:
    observed = [0.0, 0.0, 9.0, 1.0]
    regrets = (10.0, 20.0, 5.0, 1.0)
    assert row(regrets=regrets, Y_observed=observed).picked == -2.0
    outside = {"inside": [True, True, False, True], "scored_inside_only": True}
    assert row(regrets=regrets, Y_observed=observed, **outside).picked == 2.0


def test_growth_is_a_step_function() -> None:
    boxes = [
        {"t": 1, "bounds": [[0.0, 0.0], [1.0, 10.0]]},  # factors 1 and 10: 0.5 on average
        {"t": 3, "bounds": [[0.0, 0.0], [10.0, 100.0]]},
    ]
    growth = row(regrets=(1.0,) * 6, boxes=boxes).growth
    np.testing.assert_allclose(growth, [math.nan, 0.5, 0.5, 1.5])
    assert row(boxes=[]).growth == []


def test_only_the_last_line_of_an_error_is_kept() -> None:
    assert row(status="failed", error="Traceback\n  boom\n").error == "  boom"
    assert row().error is None


def test_packed_file_has_the_same_runs_and_bytes(tmp_path: Path) -> None:
    for method in ("EI-UBO", "GPUCB-UBO (as published)"):
        for seed in (1, 0):
            write_record(tmp_path / "runs", make_record(method=method, seed=seed))
    first, second = tmp_path / "a" / "x.json.xz", tmp_path / "x.json.xz"
    table = read_table([tmp_path / "runs"])
    assert write_packed(table, first) == 4 == write_packed(read_table([first]), second)
    assert first.read_bytes() == second.read_bytes()
    ordered = table.sort_values(["problem", "method", "seed"], ignore_index=True)
    pd.testing.assert_frame_equal(read_table([first]), ordered)


def test_values_keep_their_digits_and_seconds_three(tmp_path: Path) -> None:
    third = 1 / 3
    seconds = {"fit": [third], "geometry": [0.0], "acquisition": [0.0]}
    path = tmp_path / "x.json.xz"
    write_packed(
        tabulate([make_record(regrets=(9.0, third), num_initial=1, seconds=seconds)]), path
    )
    found = read_table([path]).iloc[0]
    assert found["best"] == [-6.0, 3.0 - third] and found["fit"] == [0.333]
    assert found["metadata"]["packages"] == {"botorch": "0.18.1", "torch": "2.13.0"}


def test_later_paths_win(tmp_path: Path) -> None:
    first, second = tmp_path / "a.json.xz", tmp_path / "b.json.xz"
    write_packed(tabulate([make_record(), make_record("levy3")]), first)
    write_packed(tabulate([make_record(regrets=(10, 20, 0.1))]), second)
    table = read_table([first, second]).set_index("problem")
    assert len(table) == 2 and table.loc["beale", "best"][-1] == pytest.approx(2.9)


def test_what_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_table([tmp_path / "nowhere.json.xz"])
    with pytest.raises(ValueError, match="got none"):
        read_table([tmp_path])
    with pytest.raises(ValueError, match=r"json\.xz"):
        write_packed(tabulate([make_record()]), tmp_path / "x.jsonl.gz")
