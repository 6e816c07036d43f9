"""The generator of gest-api, alone and in two hosts."""

import math

import numpy as np
import pytest
from gest_api.vocs import VOCS, ContinuousVariable

from botorch_ubo import SearchSettings
from botorch_ubo.integrations.gest import UBOGenerator

QUICK = SearchSettings(num_restarts=2, raw_samples=32)
WIDE = VOCS(
    variables={"x": [-1e6, 1e6], "y": [-4.0, 1e6]},
    objectives={"f": "MINIMIZE"},
    constants={"a": 2.0},
)
START = {"x": (-1.0, 1.0), "y": (-1.0, 1.0)}


def f(point):
    return {"f": (point["x"] - 5) ** 2 + point["a"] * (point["y"] + 6) ** 2}


def make(vocs=WIDE, start=START, **kwargs):
    return UBOGenerator(vocs, start, search=QUICK, **kwargs)


def test_points_have_variables_constants_and_an_id_and_are_as_many_as_asked_for():
    generator = make(batch_size=3)
    points = generator.suggest()
    assert [point["_id"] for point in points] == [0, 1, 2]
    assert all(set(point) == {"x", "y", "a", "_id"} and point["a"] == 2.0 for point in points)
    assert all(-3 <= point[name] <= 3 for point in points for name in "xy")
    assert len(generator.suggest(2)) == 2
    assert generator.suggest(0) == []
    with pytest.raises(ValueError, match="num_points"):
        generator.suggest(-1)


@pytest.mark.slow
def test_the_constrained_optimum_is_found_beyond_the_start():
    generator = make()
    for _ in range(24):
        points = generator.suggest(1)
        generator.ingest([{**point, **f(point)} for point in points])
    best = min(generator.record, key=lambda outcome: outcome.value)
    assert best.point["x"] == pytest.approx(5, abs=0.3)
    assert best.point["y"] == pytest.approx(-4, abs=0.1)
    assert all(outcome.point["y"] >= -4 for outcome in generator.record)


def test_results_may_be_late_foreign_failed_or_unknown():
    generator = make(num_initial=3)
    first, second = generator.suggest(2)
    generator.ingest([{**second, **f(second)}, {"x": 0.5, "y": 0.5, "a": 2.0, "f": 3.0}])
    assert [outcome.pending for outcome in generator.record] == [True, False, False]
    generator.ingest([{**first, "f": math.nan}])
    assert not generator.record[0].completed and not generator.record[0].pending
    generator.ingest([{"x": 0.1, "y": 0.1, "_id": math.nan, "f": 1.0}])  # of a data frame
    before = generator.record
    for bad, words in (
        ({"x": 0.0, "y": 0.0, "f": 1.0, "_id": 77}, "_id"),
        ({"x": 0.0, "f": 1.0}, "all variables"),
        ({"x": 0.0, "y": -5.0, "f": 1.0}, "'y' within its limits"),
    ):
        with pytest.raises(ValueError, match=words):
            generator.ingest([{"x": 0.0, "y": 0.0, "f": 1.0}, bad])
        assert generator.record == before
    (point,) = generator.suggest(1)
    generator.finalize()
    assert len(generator.record) == 4 and not any(o.pending for o in generator.record)
    generator.ingest([{**point, **f(point)}])
    assert generator.record[-1].completed


def test_logs_integers_and_discrete_values():
    vocs = VOCS(
        variables={
            "k": [1e-9, 1e3],
            "n": ContinuousVariable(domain=[1, 1000], dtype=int),
            "size": {16, 32, 64},
            "mode": {"a", "b"},
        },
        objectives={"f": "MAXIMIZE"},
    )
    generator = make(vocs, {"k": (1e-3, 1e-1), "n": (1, 5)}, log=("k",), num_initial=5)
    for _ in range(8):
        (point,) = generator.suggest(1)
        assert isinstance(point["n"], int) and point["size"] in (16, 32, 64)
        assert point["mode"] in ("a", "b")
        generator.ingest([{**point, "f": point["n"] - abs(math.log10(point["k"]))}])
    assert all(1e-5 <= outcome.point["k"] <= 1e1 for outcome in generator.record[:5])


def test_discrete_variables_are_used_up_and_single_values_are_returned():
    vocs = VOCS(
        variables={"n": {1, 2, 3}, "flag": {True, False}, "one": {"only"}},
        objectives={"f": "MINIMIZE"},
    )
    generator = make(vocs, {}, num_initial=2)
    for _ in range(3):
        points = generator.suggest(2)
        assert all(point["one"] == "only" for point in points)
        generator.ingest([{**point, "f": float(point["n"])} for point in points])
    assert len({(o.point["n"], o.point["flag"]) for o in generator.record}) == 6
    before = generator.record
    with pytest.raises(ValueError, match="none beside these 6"):
        generator.suggest(1)
    assert generator.record == before


def test_numbers_of_numpy_are_taken_in():
    generator = make(num_initial=2)
    (point,) = generator.suggest(1)
    told = {name: np.float64(value) for name, value in point.items() if name != "_id"}
    generator.ingest([{**told, "_id": np.int64(point["_id"]), "f": np.float32(2.0)}])
    generator.ingest([{"x": np.float32(0.5), "y": np.int64(1), "f": np.array(3.0)}])
    assert [outcome.value for outcome in generator.record] == [2.0, 3.0]
    assert len(generator.suggest(1)) == 1


@pytest.mark.parametrize(
    ("vocs", "start", "words"),
    [
        (VOCS(variables={"x": [0, 1]}, objectives={"f": "MINIMIZE", "g": "MINIMIZE"}), {}, "one"),
        (VOCS(variables={"x": [0, 1]}, objectives={"f": "EXPLORE"}), {}, "one objective"),
        (
            VOCS(
                variables={"x": [0, 1]},
                objectives={"f": "MINIMIZE"},
                constraints={"c": ["LESS_THAN", 0]},
            ),
            {},
            "Constraints",
        ),
        (VOCS(variables={"x": "CONTEXTUAL"}, objectives={"f": "MINIMIZE"}), {}, "Contextual"),
        (
            VOCS(variables={"x": [-math.inf, math.inf]}, objectives={"f": "MINIMIZE"}),
            {},
            "first box for 'x'",
        ),
        (VOCS(variables={"x": [0, 1]}, objectives={"f": "MINIMIZE"}), {"y": (0, 1)}, "'y'"),
        (VOCS(variables={"x": {1, 2}}, objectives={"f": "MINIMIZE"}), {"x": (1, 2)}, "discrete"),
    ],
)
def test_refusals(vocs, start, words):
    with pytest.raises(ValueError, match=words):
        UBOGenerator(vocs, start)


@pytest.mark.slow
def test_runs_in_xopt():
    import xopt

    optimizer = xopt.Xopt(generator=make(), evaluator=xopt.Evaluator(function=f))
    for _ in range(22):
        optimizer.step()
    best = optimizer.data["f"].astype(float).min()
    assert best == pytest.approx(8, abs=0.3)
    assert len(optimizer.data) == 22
    assert (optimizer.data["y"] >= -4).all()


@pytest.mark.slow
def test_runs_in_libensemble(tmp_path, monkeypatch):
    from libensemble import Ensemble
    from libensemble.alloc_funcs.start_only_persistent import only_persistent_gens
    from libensemble.specs import AllocSpecs, ExitCriteria, GenSpecs, LibeSpecs, SimSpecs

    monkeypatch.chdir(tmp_path)
    generator = make()
    ensemble = Ensemble(
        libE_specs=LibeSpecs(
            nworkers=2,
            comms="threads",
            gen_on_manager=True,
            disable_log_files=True,
            save_H_on_completion=False,
        ),
        sim_specs=SimSpecs(simulator=f, vocs=WIDE),
        gen_specs=GenSpecs(generator=generator, vocs=WIDE, initial_batch_size=4, batch_size=2),
        alloc_specs=AllocSpecs(alloc_f=only_persistent_gens),
        exit_criteria=ExitCriteria(sim_max=20),
    )
    history, _, flag = ensemble.run()
    assert flag == 0
    done = history[history["sim_ended"]]
    assert len(done) >= 20
    assert done["f"].min() < 20
    assert (done["y"] >= -4).all()
    assert len({(row["x"], row["y"]) for row in done}) == len(done)
