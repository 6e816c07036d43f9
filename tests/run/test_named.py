"""Runs whose parameters have names: dicts in, dicts out, words in the user's units."""

import math
import pickle
import re

import pytest
from botorch.exceptions.errors import InputDataError

from botorch_ubo import (
    Categorical,
    Float,
    Integer,
    Ordinal,
    Outcome,
    SearchSettings,
    Space,
    UnboundedOptimizer,
    minimize,
    propose,
)

QUICK = SearchSettings(num_restarts=2, raw_samples=32)
SPACE = {
    "lr": Float(1e-4, 1e-2, log=True),
    "layers": Integer(1, 3, limits=(1, None)),
    "act": Categorical(["relu", "tanh"]),
    "size": Ordinal([16, 32, 64]),
    "x": (-1.0, 1.0),
}
NUMBERS = {"lr": Float(1e-4, 1e-2, log=True), "n": Integer(1, 4, limits=(1, 30))}


def loss(p):
    wrong = (p["act"] != "tanh") + abs(math.log2(p["size"] / 32))
    return math.log10(p["lr"]) ** 2 + abs(p["layers"] - 6) / 4 + wrong + (p["x"] - 2) ** 2


def simple(p):
    return (math.log10(p["lr"]) - 1) ** 2 + (p["n"] - 40) ** 2 / 100


@pytest.mark.slow
def test_minimize_with_names_finds_what_lies_beyond_the_box():
    seen = []

    def f(p):
        seen.append(p)
        return loss(p)

    result = minimize(f, SPACE, budget=45, search=QUICK)
    assert all(list(p) == list(SPACE) for p in seen)
    assert all(isinstance(p["layers"], int) and p["layers"] >= 1 for p in seen)
    assert len({tuple(p.items()) for p in seen}) == 45
    assert result.best_params == min(seen, key=loss)
    assert result.best_params["act"] == "tanh"
    assert result.best_value < 1.5
    assert [dict(trial.params) for trial in result.trials] == seen
    assert "act = tanh" in str(result)


def test_words_are_names_and_the_users_units():
    result = minimize(simple, NUMBERS, budget=22, search=QUICK)
    assert result.best_params["n"] == 30
    assert "hard limit on n, upper side" in result.advice
    assert "outside it in lr, n" in result.advice
    assert "n = 30" in str(result) and "lr = " in str(result)
    assert set(result.recommended_params) == {"lr", "n"}


def test_records_and_the_progress_bar_speak_of_names(capsys, caplog):
    """Also of names that look like those of dimensions, in another order."""
    space = {
        "x1": Float(1e-4, 1e-2, log=True),
        "x2": Integer(1, 4, limits=(1, 30)),
        "x0": Categorical(["a", "b"]),
    }

    def f(p):
        return simple({"lr": p["x1"], "n": p["x2"]}) + (p["x0"] != "b")

    with caplog.at_level("INFO", "botorch_ubo"):
        result = minimize(f, space, budget=22, search=QUICK, progress=True)
    for words in (str(result.expansions[0]), caplog.messages[0]):
        assert "reach in x1, x2" in words
        assert re.search(r"sides x1 x [\d.]+, x2 x [\d.]+;", words)
        assert "hard limit on x2" in words
    limited = {name for record in result.expansions for name, _ in record.stopped_by_limit}
    assert 2 not in limited  # there is nothing beyond the ends of a list
    shown = "".join(capsys.readouterr())
    assert "the box is x1 " in shown and "x2 1 to" in shown
    assert "stopped by the hard limit on x2 upper" in shown


def test_ask_tell_failures_and_data():
    optimizer = UnboundedOptimizer(SPACE, num_initial=4, search=QUICK)
    trial = optimizer.ask()
    assert list(trial.params) == list(SPACE)
    assert trial.X == Space(SPACE).encode(trial.params)
    assert optimizer.pending[0].params == trial.params
    assert optimizer.tell(trial, 1.0).params == trial.params
    failed = optimizer.tell_failed(optimizer.ask(), "broken")
    assert optimizer.failed[0].params == failed.params
    given = {"lr": 1e-3, "layers": 9, "act": "relu", "size": 16, "x": 5.0}
    (added,) = optimizer.add_data([given], [2.0])
    assert added.params == {**given, "lr": pytest.approx(1e-3)}
    with pytest.raises(InputDataError, match="'layers' within its limits"):
        optimizer.add_data([{**given, "layers": 0}], [1.0])
    with pytest.raises(InputDataError, match="list of dicts"):
        optimizer.add_data([[1, 2, 3, 4, 5]], [1.0])
    assert len(optimizer.trials) == 3


def test_data_may_come_as_a_frame():
    import pandas as pd

    frame = pd.DataFrame({"lr": [1e-3, 1e-2], "n": [2, 3]})
    optimizer = UnboundedOptimizer(NUMBERS, data=(frame, [1.0, 2.0]))
    assert [trial.params["n"] for trial in optimizer.completed] == [2, 3]


@pytest.mark.slow
def test_equal_to_propose_to_the_digit():
    optimizer, record = UnboundedOptimizer(SPACE, search=QUICK, num_initial=6), []
    for _ in range(12):
        trial = optimizer.ask()
        assert propose(SPACE, record, search=QUICK, num_initial=6) == [trial.params]
        optimizer.tell(trial, loss(trial.params))
        record.append(Outcome(trial.params, loss(trial.params)))


def test_a_run_is_resumed_and_opened_with_its_names(tmp_path):
    path = tmp_path / "run.db"
    one = UnboundedOptimizer(SPACE, num_initial=3, checkpoint=path, search=QUICK)
    for _ in range(4):
        trial = one.ask()
        one.tell(trial, loss(trial.params))
    two = UnboundedOptimizer(SPACE, num_initial=3, checkpoint=path, search=QUICK)
    three = UnboundedOptimizer.open(path)
    assert one.trials == two.trials == three.trials
    assert three.space == Space(SPACE)
    assert [t.params for t in three.trials] == [t.params for t in one.trials]
    with pytest.raises(Exception, match="same arguments"):
        UnboundedOptimizer({**SPACE, "x": (-2.0, 1.0)}, num_initial=3, checkpoint=path)


def test_the_space_can_be_sent_and_described():
    space = Space(SPACE)
    assert pickle.loads(pickle.dumps(space)) == space
    assert Space.from_description(space.describe()) == space
    odd = Space({"f": Categorical([math.sin, math.cos])})
    with pytest.raises(InputDataError, match="values of 'f' that a file can hold"):
        Space.from_description(odd.describe())


def test_a_run_ends_when_all_points_are_known():
    space = {"n": Integer(1, 3, limits=(1, 3)), "act": Categorical(["relu", None])}
    result = minimize(lambda p: p["n"] + (p["act"] is None), space, budget=40, search=QUICK)
    assert len(result.trials) == 6
    assert result.stopped_because == "all points of the space are known"
    assert result.best_params == {"n": 1, "act": "relu"}


def test_refusals():
    with pytest.raises(InputDataError, match="limits with the parameters"):
        minimize(loss, SPACE, budget=3, hard_limits={0: (0, 1)})
    with pytest.raises(InputDataError, match="limits with the parameters"):
        UnboundedOptimizer(SPACE).set_hard_limits({0: (0, 1)})
    with pytest.raises(InputDataError, match="come as a dict"):
        minimize(loss, SPACE, budget=3, input_type="tensor")
    with pytest.raises(InputDataError, match="search each branch"):
        minimize(loss, {"model": {"svm": {"C": (1, 2)}}}, budget=3)
    plain = minimize(lambda x: x[0], [(0.0, 1.0)], budget=2)
    with pytest.raises(InputDataError, match="parameters have names"):
        _ = plain.best_params


def test_notebooks_and_terminals_show_names_and_units():
    optimizer = UnboundedOptimizer({"lr": Float(1e-4, 1e-2, log=True), "n": Integer(1, 4)})
    optimizer.add_data([{"lr": 1e-3, "n": 2}], [0.5])
    for thing in (optimizer, optimizer.box, optimizer.result()):
        for text in (thing._repr_html_(), repr(thing)):
            assert "-6.9" not in text and "-9.2" not in text  # logarithms
        assert "lr 0.0001 to 0.01, n 1 to 4" in thing._repr_html_()
    assert "(lr = 0.001, n = 2)" in optimizer.result()._repr_html_()
    assert "lr = 0.001" in repr(optimizer)
