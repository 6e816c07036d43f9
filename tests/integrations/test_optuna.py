"""The sampler for Optuna: limits and start, kinds of parameters, states of trials, many workers."""

import math
import multiprocessing
import pickle
import threading

import optuna
import pytest
from botorch.exceptions.errors import InputDataError, UnsupportedError
from botorch.exceptions.warnings import BotorchWarning
from optuna.trial import TrialState

from botorch_ubo import SearchSettings
from botorch_ubo.integrations.optuna import UBOSampler
from botorch_ubo.integrations.optuna_storage import read_proposal

QUICK = SearchSettings(num_restarts=2, raw_samples=32)
START = {"x": (-1.0, 1.0), "lr": (1e-3, 1e-1)}
optuna.logging.set_verbosity(optuna.logging.WARNING)


def make_study(start=START, storage=None, direction="minimize", **kwargs):
    sampler = UBOSampler(start, search=QUICK, **{"seed": 0, **kwargs})
    return optuna.create_study(sampler=sampler, storage=storage, direction=direction)


def far(trial):
    x = trial.suggest_float("x", -1e6, 1e6)
    lr = trial.suggest_float("lr", 1e-12, 1e6, log=True)
    return (x - 12) ** 2 / 10 + math.log10(lr / 32) ** 2


def points(study):
    return [tuple(trial.params.items()) for trial in study.trials]


@pytest.mark.slow
def test_the_optimum_is_found_far_beyond_the_start():
    study = make_study()
    study.optimize(far, n_trials=30)
    assert study.best_value < 0.05
    first = [trial.params for trial in study.trials[:6]]  # in the start or close around it
    assert all(-3 <= p["x"] <= 3 and 1e-5 <= p["lr"] <= 1e1 for p in first)


@pytest.mark.slow
def test_integers_steps_categories_and_maximisation():
    def objective(trial):
        n = trial.suggest_int("n", 1, 10**6)
        even = trial.suggest_int("even", 0, 1000, step=2)
        share = trial.suggest_float("share", 0.0, 100.0, step=0.25)
        act = trial.suggest_categorical("act", ["relu", "tanh", None])
        assert even % 2 == 0 and (4 * share) % 1 == 0
        loss = abs(n - 40) / 20 + abs(even - 8) / 8 + (share - 2) ** 2 + (act != "tanh")
        return -loss

    start = {"n": (1, 8), "even": (0, 6), "share": (0.0, 1.0)}
    study = make_study(start, direction="maximize")
    study.optimize(objective, n_trials=45)
    assert study.best_params["act"] == "tanh"
    assert study.best_value > -1.0
    assert len(set(points(study))) == 45


def test_ranges_can_be_widened_in_mid_study():
    study = make_study(None, n_startup_trials=4)
    study.optimize(lambda t: (t.suggest_float("x", 0.0, 1.0) - 5) ** 2, n_trials=8)
    assert study.best_value > 15.9
    study.optimize(lambda t: (t.suggest_float("x", 0.0, 100.0) - 5) ** 2, n_trials=12)
    assert study.best_value < 1.0
    study.optimize(lambda t: (t.suggest_float("x", 0.0, 2.0) - 5) ** 2, n_trials=3)
    assert all(trial.params["x"] <= 2 for trial in study.trials[-3:])


def test_parameters_that_some_trials_lack_go_to_the_independent_sampler():
    def objective(trial):
        x = trial.suggest_float("x", -1e6, 1e6)
        if trial.suggest_categorical("kind", ["a", "b"]) == "a":
            return x**2 + trial.suggest_float("extra", 0.0, 1.0)
        return x**2 + 1

    study = make_study({"x": (-1.0, 1.0)}, n_startup_trials=3)
    with pytest.warns(BotorchWarning, match="'extra' is drawn at random"):
        study.optimize(objective, n_trials=9)
    sampler = study.sampler
    assert list(sampler.infer_relative_search_space(study, study.trials[-1])) == ["kind", "x"]
    assert {trial.params["kind"] for trial in study.trials} == {"a", "b"}


@pytest.mark.parametrize("consider", [False, True])
def test_pruned_failed_and_infinite_trials(consider):
    def objective(trial):
        x = trial.suggest_float("x", -1e6, 1e6)
        trial.report(x, 1)
        if trial.number == 2:
            raise optuna.TrialPruned
        if trial.number == 3:
            raise ZeroDivisionError
        return {4: math.nan, 5: math.inf}.get(trial.number, (x - 3) ** 2)

    study = make_study({"x": (-1.0, 1.0)}, n_startup_trials=3, consider_pruned_trials=consider)
    study.optimize(objective, n_trials=10, catch=(ZeroDivisionError,))
    states = [trial.state for trial in study.trials]
    assert states[2:6] == [
        TrialState.PRUNED,
        TrialState.FAIL,
        TrialState.FAIL,
        TrialState.COMPLETE,
    ]
    last = study.trials[-1]
    record = study.sampler._record(study, last, {"x": last.distributions["x"]})
    kinds = [(o.completed, o.pending) for o in record.values()]
    assert kinds.count((False, False)) == (3 if consider else 4)  # two failed, one infinite
    assert len(record) == 9


def test_what_is_asked_for_is_known_to_others_before_it_is_suggested():
    study = make_study(n_startup_trials=2)
    study.optimize(far, n_trials=3)
    one, two = study.ask(), study.ask()
    space = study.trials[0].distributions
    proposed = one.relative_params  # computed now, and not suggested yet
    assert study.trials[-2].params == {}
    seen = study.sampler._record(study, study.trials[-1], space)[one.number]
    assert seen.pending and seen.point == proposed
    assert two.relative_params != proposed


@pytest.mark.slow
def test_threads_repeat_nothing():
    study = make_study()
    study.optimize(far, n_trials=18, n_jobs=3)
    assert len(set(points(study))) == 18


def _work(url, n_trials):
    sampler = UBOSampler({"n": (1, 8)}, search=QUICK, seed=0)  # the same in both
    study = optuna.load_study(study_name="shared", storage=url, sampler=sampler)

    def objective(trial):
        n = trial.suggest_int("n", 1, 10**6)
        act = trial.suggest_categorical("act", ["a", "b", "c"])
        return abs(n - 30) + (act != "b")

    study.optimize(objective, n_trials=n_trials)


@pytest.mark.slow
def test_processes_on_one_database_repeat_nothing(tmp_path):
    url = f"sqlite:///{tmp_path / 'study.db'}"
    optuna.create_study(study_name="shared", storage=url)
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_work, args=(url, 10)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    study = optuna.load_study(study_name="shared", storage=url)
    assert len(study.trials) == 20
    assert len(set(points(study))) == 20


@pytest.mark.slow
def test_first_trials_of_many_workers_on_a_small_grid_are_different(tmp_path):
    """Before anything is known of the space, each value is agreed upon as it is asked for."""
    study = make_study(None, f"sqlite:///{tmp_path / 'small.db'}")
    barrier = threading.Barrier(4)

    def objective(trial):
        barrier.wait(60)
        a = trial.suggest_int("a", 0, 1)
        b = trial.suggest_categorical("b", [True, None])
        barrier.wait(60)
        return a + (b is None)

    study.optimize(objective, n_trials=4, n_jobs=4)
    assert len(set(points(study))) == 4


def test_a_seed_that_processes_share_gives_them_different_first_trials():
    study = make_study()
    again = optuna.load_study(
        study_name=study.study_name, storage=study._storage, sampler=UBOSampler(START, seed=0)
    )
    far(study.ask()), far(again.ask())
    assert len(set(points(study))) == 2


def test_pruned_points_do_not_come_again():
    def objective(trial):
        x = trial.suggest_float("x", -1e6, 1e6)
        n = trial.suggest_int("n", 1, 100)
        if trial.number >= 4:
            raise optuna.TrialPruned
        return x**2 + n

    study = make_study({"x": (-1.0, 1.0), "n": (1, 5)}, n_startup_trials=3)
    study.optimize(objective, n_trials=9)
    assert len(set(points(study))) == 9


def test_enqueued_points_are_pending_until_they_are_evaluated():
    study = make_study(None, n_startup_trials=1)
    kinds = {"kind": optuna.distributions.CategoricalDistribution(["a", "b", "c"])}
    study.tell(study.ask(kinds), 1.0)
    left = {"a", "b", "c"} - {study.trials[0].params["kind"]}
    study.enqueue_trial({"kind": min(left)})
    running = study.ask()  # which is the enqueued one, and has suggested nothing yet
    assert study.ask(kinds).params["kind"] == max(left)
    assert running.suggest_categorical("kind", ["a", "b", "c"]) == min(left)


def test_enqueued_points_of_another_kind_disturb_nobody():
    study = make_study(n_startup_trials=1)
    study.optimize(far, n_trials=2)
    for odd in ({"x": "text"}, {"x": 1e9, "lr": 1.0}, {"y": 1}):
        study.enqueue_trial(odd)
        study.enqueue_trial({"x": 0.5, "lr": 1.0}, skip_if_exists=True)
    space = study.trials[0].distributions
    record = study.sampler._record(study, study.trials[0], space)
    assert [o.point for o in record.values() if o.pending] == [{"x": 0.5, "lr": 1.0}]


def test_an_exhausted_space_is_told_and_goes_on():
    study = make_study(None, n_startup_trials=1)
    with pytest.warns(BotorchWarning, match=r"All points of \['n'\] are known"):
        study.optimize(lambda t: t.suggest_int("n", 1, 3), n_trials=5)
    assert len(set(points(study)[:3])) == 3


def test_trials_that_break_a_constraint_count_as_failed():
    study = make_study({"x": (-1.0, 1.0)}, n_startup_trials=2)

    def objective(trial):
        x = trial.suggest_float("x", -1e6, 1e6)
        trial.set_constraint("c", x - 2.0)
        return -x

    study.optimize(objective, n_trials=8)
    *others, last = study.trials
    record = study.sampler._record(study, last, last.distributions)
    assert [record[t.number].failed for t in others] == [t.params["x"] > 2 for t in others]
    assert any(outcome.failed for outcome in record.values())


def test_renamed_parameters_are_told():
    study = make_study(n_startup_trials=2)
    study.optimize(far, n_trials=4)
    with pytest.warns(BotorchWarning, match="'rate' is drawn at random.*renamed"):
        study.optimize(lambda t: t.suggest_float("rate", 1e-9, 1.0, log=True), n_trials=1)
    kept = study.sampler.infer_relative_search_space(study, study.trials[-1])
    assert kept == {}


@pytest.mark.parametrize(
    "ask",
    [
        lambda t: t.suggest_int("x", 1, 2**62),
        lambda t: t.suggest_int("x", -(2**62), 2**62, step=7),
        lambda t: t.suggest_int("x", 1, 2**62, log=True),
        lambda t: math.log(t.suggest_float("x", 5e-324, 1e308, log=True)),
        lambda t: t.suggest_float("x", -1e300, 1e300) / 1e300,
        lambda t: float(t.suggest_categorical("x", [True, False]) is True),
        lambda t: float(t.suggest_categorical("x", [None, 1, 1.5, "1"]) is None),
        lambda t: t.suggest_float("x", 0.0, 1.0, step=0.1),
        lambda t: t.suggest_int("x", 3, 3) + t.suggest_float("y", 0.0, 1.0),
    ],
)
@pytest.mark.filterwarnings("ignore:All points")
@pytest.mark.filterwarnings("ignore:The distribution is specified")  # a step that does not divide
def test_odd_ranges(ask):
    study = make_study(None, n_startup_trials=2)
    study.optimize(ask, n_trials=5)
    assert all(trial.state == TrialState.COMPLETE for trial in study.trials)


def test_long_proposals_are_stored_in_chunks(tmp_path):
    study = make_study(None, f"sqlite:///{tmp_path / 'long.db'}", n_startup_trials=9)
    names = [f"{'name' * 40}{i}" for i in range(20)]
    study.optimize(lambda t: sum(t.suggest_float(n, 0, 1) for n in names), n_trials=2)
    proposed = study.ask().relative_params
    assert read_proposal(study.trials[-1]) == proposed
    assert set(proposed) == set(names)


def test_repeats_with_a_seed_and_survives_pickle():
    one, two = (make_study(n_startup_trials=3) for _ in range(2))
    two.sampler = pickle.loads(pickle.dumps(two.sampler))
    for study in (one, two):
        study.optimize(far, n_trials=6)
    assert points(one) == points(two)
    two.sampler.reseed_rng()
    two.optimize(far, n_trials=1)


def test_infinite_ranges_need_a_start():
    def objective(trial):
        return trial.suggest_float("x", -math.inf, math.inf) ** 2

    study = make_study({"x": (1.0, 2.0)}, n_startup_trials=2)
    study.optimize(objective, n_trials=5)
    assert study.best_value < 1
    with pytest.raises((InputDataError, OverflowError)):
        make_study(None).optimize(objective, n_trials=2)


def test_a_start_elsewhere_is_left_aside_with_a_warning():
    study = make_study({"x": (50.0, 60.0)}, n_startup_trials=1)
    with pytest.warns(BotorchWarning, match="leaves nothing to search"):
        study.optimize(lambda t: t.suggest_float("x", 0.0, 1.0), n_trials=3)


def test_refusals():
    with pytest.raises(UnsupportedError, match="follows from the data alone"):
        UBOSampler(method="GPUCB-UBO")
    with pytest.raises(InputDataError, match=r"finite \(low, high\) for 'x'"):
        UBOSampler({"x": (1, 0)})
    study = optuna.create_study(directions=["minimize"] * 2, sampler=UBOSampler())
    with pytest.raises(ValueError, match="multi-objective"):
        study.optimize(lambda t: (t.suggest_float("x", 0, 1),) * 2, n_trials=1)
