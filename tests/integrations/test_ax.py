"""The generation node for Ax: a client's loop, failures, pending trials, storage."""

import math

import pytest
from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig
from ax.exceptions.core import SearchSpaceExhausted
from botorch.exceptions.errors import InputDataError, UnsupportedError
from botorch.exceptions.warnings import BotorchWarning

from botorch_ubo.integrations.ax import UBONode, expanding_strategy, storage_config

# Ax's own, about pandas, SQLAlchemy and itself
pytestmark = pytest.mark.filterwarnings("ignore:::ax")

START = {"x": (-1.0, 1.0), "lr": (1e-3, 1e-1), "n": (1, 8)}
QUICK = {"num_restarts": 2, "raw_samples": 32}
PARAMETERS = [
    RangeParameterConfig(name="x", bounds=(-1e6, 1e6), parameter_type="float"),
    RangeParameterConfig(name="lr", bounds=(1e-12, 1e6), parameter_type="float", scaling="log"),
    RangeParameterConfig(name="n", bounds=(1, 10**6), parameter_type="int"),
    ChoiceParameterConfig(
        name="act", values=["relu", "tanh"], parameter_type="str", is_ordered=False
    ),
]


def loss(p):
    log_lr = math.log10(p["lr"] / 10)
    return (p["x"] - 12) ** 2 / 20 + log_lr**2 + abs(p["n"] - 40) / 40 + (p["act"] != "tanh")


def make_client(parameters=PARAMETERS, objective="-loss", start=START, storage=None, **options):
    client = Client(storage_config=storage)
    client.configure_experiment(name="test", parameters=parameters)
    client.configure_optimization(objective=objective)
    client.set_generation_strategy(expanding_strategy(start, search=QUICK, **options))
    return client


def run(client, rounds, size=1, sign=1.0, fail=()):
    for number in range(rounds):
        for index, parameters in client.get_next_trials(max_trials=size).items():
            if number in fail:
                client.mark_trial_failed(index)
            else:
                client.complete_trial(index, raw_data={"loss": sign * loss(parameters)})


def arms(client):
    return [trial.arm.parameters for trial in client._experiment.trials.values()]


@pytest.mark.slow
def test_the_optimum_is_found_far_beyond_the_start():
    client = make_client()
    run(client, 18, size=2, fail=(3,))
    parameters, _, _, _ = client.get_best_parameterization(use_model_predictions=False)
    assert parameters["act"] == "tanh"
    assert loss(parameters) < 1.0
    first = arms(client)[:12]  # in the start or close around it
    assert all(-3 <= p["x"] <= 3 and 1 <= p["n"] <= 16 for p in first)
    assert all(isinstance(p["n"], int) for p in arms(client))
    assert len({tuple(p.items()) for p in arms(client)}) == 36


def test_pending_and_failed_trials_are_kept_apart():
    client = make_client(num_initial=3)
    run(client, 4, fail=(1,))
    pending = client.get_next_trials(max_trials=2)
    more = client.get_next_trials(max_trials=1)
    everything = arms(client)
    assert len(pending) == 2 and len(more) == 1
    assert all(a != b for i, a in enumerate(everything) for b in everything[:i])
    node = client._generation_strategy._curr
    kinds = [(o.completed, o.pending) for o in node._record]
    assert kinds.count((True, False)) == 3 and kinds.count((False, False)) == 1


def test_maximisation_fixed_values_and_known_noise():
    client = make_client(objective="loss", num_initial=3)
    for index, parameters in client.get_next_trials(max_trials=3).items():
        client.complete_trial(index, raw_data={"loss": (-loss(parameters), 0.1)})
    run(client, 1, sign=-1.0)
    node = client._generation_strategy._curr
    assert node._direction == "maximize"
    assert [o.variance for o in node._record[:3]] == pytest.approx([0.01] * 3)


def test_a_run_is_saved_to_json_and_goes_on(tmp_path):
    client = make_client(num_initial=4)
    run(client, 6)
    path = str(tmp_path / "ax.json")
    client.save_to_json_file(path)
    again = Client.load_from_json_file(path)
    node = again._generation_strategy._curr
    assert isinstance(node, UBONode)
    assert node.start == {name: tuple(map(float, pair)) for name, pair in START.items()}
    (one,), (two,) = (c.get_next_trials(max_trials=1).values() for c in (client, again))
    # Ax rounds outcomes on the way to JSON.
    assert one["act"] == two["act"] and one["n"] == two["n"]
    assert two["x"] == pytest.approx(one["x"], rel=1e-3, abs=1e-3)


def test_a_run_is_kept_in_a_database(tmp_path):
    from ax.storage.sqa_store.db import (
        create_all_tables,
        get_engine,
        init_engine_and_session_factory,
    )

    url = f"sqlite:///{tmp_path / 'ax.db'}"
    init_engine_and_session_factory(url=url)
    create_all_tables(get_engine())
    storage = storage_config(url)
    client = make_client(storage=storage, num_initial=3)
    run(client, 4)
    again = Client.load_from_database("test", storage_config=storage)
    assert isinstance(again._generation_strategy._curr, UBONode)
    run(again, 2)
    assert len(again._experiment.trials) == 6


def test_attached_trials_outside_of_the_space_are_left_out():
    client = make_client([PARAMETERS[0]], start={"x": (-1.0, 1.0)}, num_initial=2)
    index = client.attach_trial({"x": 0.5})
    client.complete_trial(index, raw_data={"loss": 1.0})
    for _ in range(3):
        for i, parameters in client.get_next_trials(max_trials=1).items():
            client.complete_trial(i, raw_data={"loss": (parameters["x"] - 3) ** 2})
    assert all(abs(p["x"]) <= 1e6 for p in arms(client))


def choices(name, values, kind, **options):
    return ChoiceParameterConfig(name=name, values=values, parameter_type=kind, **options)


def test_an_exhausted_search_space_is_told_in_the_words_of_ax():
    parameters = [
        choices("a", [True, False], "bool"),
        choices("b", [1, 2, 4], "int", is_ordered=True),
        choices("only", ["one"], "str"),
    ]
    client = make_client(parameters, start={}, num_initial=2)
    for _ in range(6):
        for index, p in client.get_next_trials(max_trials=1).items():
            assert p["only"] == "one"
            client.complete_trial(index, raw_data={"loss": float(p["b"] + p["a"])})
    assert len({tuple(sorted(p.items())) for p in arms(client)}) == 6
    with pytest.raises(SearchSpaceExhausted, match="none beside these 6"):
        client.get_next_trials(max_trials=1)


def test_early_stopped_trials_are_not_pending_for_ever():
    client = make_client([PARAMETERS[0]], start={"x": (-1.0, 1.0)}, num_initial=2)
    (index,) = client.get_next_trials(max_trials=1)
    client.attach_data(index, raw_data={"loss": 9.0})
    client.mark_trial_early_stopped(index)
    run_one = client.get_next_trials(max_trials=1)
    node = client._generation_strategy._curr
    assert [outcome.failed for outcome in node._record] == [True]
    assert len(run_one) == 1


def test_steps_have_no_box_exact_outcomes_no_noise_and_integers_their_limits():
    parameters = [
        RangeParameterConfig(name="s", bounds=(0.0, 2.0), parameter_type="float", step_size=0.5),
        RangeParameterConfig(name="n", bounds=(1, 2**53 + 1), parameter_type="int", scaling="log"),
    ]
    client = make_client(parameters, start={"s": (0.0, 1.0), "n": (2, 9)}, num_initial=3)
    for _ in range(5):
        with pytest.warns(BotorchWarning, match="The start of 's' is left aside"):
            found = client.get_next_trials(max_trials=1)
        for index, p in found.items():
            assert p["s"] in (0.0, 0.5, 1.0, 1.5, 2.0) and isinstance(p["n"], int)
            client.complete_trial(index, raw_data={"loss": (p["s"] - math.log(p["n"]), 0.0)})


def test_parameters_that_depend_on_others_are_refused():
    client = Client()
    client.configure_experiment(
        parameters=[
            choices("model", ["svm", "tree"], "str", dependent_parameters={"svm": ["x"]}),
            PARAMETERS[0],
        ]
    )
    client.configure_optimization(objective="-loss")
    client.set_generation_strategy(expanding_strategy({}))
    with pytest.raises(UnsupportedError, match="'model' decides on others"):
        client.get_next_trials(max_trials=1)


@pytest.mark.parametrize("objective", ["-loss, cost", "-loss - 2*cost"])
def test_several_objectives_are_refused(objective):
    client = Client()
    client.configure_experiment(parameters=PARAMETERS[:1])
    client.configure_optimization(objective=objective)
    client.set_generation_strategy(expanding_strategy({"x": (-1.0, 1.0)}))
    with pytest.raises(UnsupportedError, match="one objective"):
        client.get_next_trials(max_trials=1)


def test_refusals():
    with pytest.raises(UnsupportedError, match="follows from the data alone"):
        UBONode(method="EI-UBO")
    with pytest.raises(InputDataError, match="for 'x'"):
        UBONode({"x": (2, 1)})
    client = Client()
    other = RangeParameterConfig(name="y", bounds=(0.0, 1.0), parameter_type="float")
    both = [PARAMETERS[0], other]
    client.configure_experiment(parameters=both, parameter_constraints=["x + y <= 3"])
    client.configure_optimization(objective="-loss")
    client.set_generation_strategy(expanding_strategy({}))
    with pytest.raises(UnsupportedError, match="without constraints"):
        client.get_next_trials(max_trials=1)
    client = make_client(start={"y": (0, 1)})
    with pytest.raises(UnsupportedError, match="'y'"):
        client.get_next_trials(max_trials=1)
    client = Client()
    client.configure_experiment(parameters=PARAMETERS[:1])
    client.configure_optimization(objective="-loss", outcome_constraints=["cost <= 1"])
    client.set_generation_strategy(expanding_strategy({}))
    with pytest.raises(UnsupportedError, match="outcome constraints"):
        client.get_next_trials(max_trials=1)
