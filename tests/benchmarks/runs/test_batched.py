"""All seeds of a problem at once give the records that single runs give."""

import math

import pytest

from benchmarks.commands import run
from benchmarks.problems.problem import Sources
from benchmarks.problems.registry import find_problem
from benchmarks.runs.batched import is_batchable, run_batched
from benchmarks.runs.loop import run_one
from benchmarks.runs.records import read_records


def test_records_begin_as_those_of_single_runs():
    found = run_batched("beale", "EI-Turns", [3, 5], budget=3)
    for record, seed in zip(found, (3, 5), strict=True):
        single = run_one("beale", "EI-Turns", seed, budget=3)
        n = record.num_initial
        assert record.X[:n] == single.X[:n] and record.Y[:n] == single.Y[:n]
        assert record.start_box == single.start_box and record.start_value == single.start_value
        assert len(record.X) == len(single.X) == n + 3 and record.status == "ok"
        assert record.X[n] == pytest.approx(single.X[n], abs=0.05)  # the same model and region
        assert set(record.seconds) == set(single.seconds)
        assert len(record.seconds["fit"]) == 3 and record.metadata["batched"] == 2
        assert [set(box) for box in record.boxes] == [{"t", "bounds"}] * len(record.boxes)


def test_only_methods_and_problems_with_a_batched_form_are_batched():
    beale = find_problem("beale", 0, Sources())
    assert is_batchable("EI-Turns", beale) and is_batchable("GPUCB-UBO", beale)
    assert not is_batchable("TuRBO-1", beale) and not is_batchable("CMA-ES", beale)


@pytest.mark.slow
def test_the_command_groups_seeds_and_runs_the_rest_one_by_one(tmp_path):
    import argparse

    parser = argparse.ArgumentParser()
    run.add_arguments(parser)
    words = ["--problems", "beale", "--methods", "HuBO-EI", "CMA-ES", "--seeds", "0-1"]
    words += ["--budget", "2", "--batched", "--output", str(tmp_path)]
    assert run.run(parser.parse_args(words)) == 0
    records = {record.key: record for record in read_records(tmp_path)}
    assert len(records) == 4
    batched = {key for key, record in records.items() if "batched" in record.metadata}
    assert batched == {("beale", "HuBO-EI", 0), ("beale", "HuBO-EI", 1)}
    assert all(math.isfinite(record.best) for record in records.values())
    assert run.run(parser.parse_args(words)) == 0  # nothing to do
