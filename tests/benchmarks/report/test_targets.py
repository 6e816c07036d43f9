"""Targets from records whose verdicts are known."""

from __future__ import annotations

from benchmarks.report.targets import write_targets
from tests.support.made_records import make_record, summarize_records

JUDGE = ("fam_chirp1", "fam_discus2", "fam_powers20")


def runs(method: str, regrets: dict[str, float], **values: object) -> list:
    """One seed each; the initial regret is 10."""
    return [
        make_record(name, method, 0, (10.0, regret), num_initial=1, **values)
        for name, regret in regrets.items()
    ]


def found(text: str, target: str) -> list[str]:
    """What was found, and the verdict, of the row that starts so."""
    (row,) = [line for line in text.splitlines() if line.startswith(f"| {target}")]
    return [cell.strip() for cell in row.split("|")[2:4]]


def test_nothing_was_run() -> None:
    text = write_targets(summarize_records(*runs("A", {"fam_warp1": 1.0})), "A")
    rows = text.splitlines()[2:]
    assert len(rows) >= 12
    assert all(row.endswith("| not run |  |") for row in rows)


def test_ratios_and_differences_by_hand() -> None:
    base = dict.fromkeys(JUDGE, 1.0)
    text = write_targets(
        summarize_records(
            *runs("A", base),
            *runs("same-told", dict.fromkeys(JUDGE, 0.5)),
            *runs("same-told-spread", dict.fromkeys(JUDGE, 0.8)),
            *runs("CMA-ES", {"fam_chirp1": 10.0, "fam_discus2": 2.0, "fam_powers20": 5.0}),
            *runs("LogEI-oracle", {"fam_chirp1": 10.0, "fam_discus2": 0.5, "fam_powers20": 1.0}),
            *runs("TuRBO-1", {"fam_chirp1": 1.0, "fam_discus2": 1.0, "fam_powers20": 0.1}),
        ),
        "A",
    )
    told = "families: at most {} times the regret of {} "
    assert found(text, told.format("1.0", "same-told")) == [
        "2.00 [2.00, 2.00], 3 functions",
        "MISSED",
    ]
    assert found(text, told.format("1.3", "same-told-spread")) == [
        "1.25 [1.25, 1.25], 3 functions",
        "met",
    ]
    assert found(text, "families: better than CMA-ES")[1] == "met"
    # The mean is better, but one function is worse: the interval has zero in it.
    assert found(text, "families: better than LogEI-oracle")[1] == "MISSED"
    package = found(text, "families: at most 0.02 behind")
    assert package == ["+0.33 [+0.00, +1.00] to TuRBO-1", "MISSED"]
    high = found(text, "d = 20")
    assert high == ["+1.00; worse on 1 of 1 (fam_powers20 +1.00)", "MISSED"]


def test_tuning_counts_tasks_and_sides() -> None:
    # Of a way of 10, A goes 9 and Optuna 9.9 on the first task, and as far on the second.
    regrets = {"tune_ridge": 1.0, "tune_svr": 1.0}
    near = {"X": [[0.5, 0.5], [0.5, 24.0]], "start_value": -7.0, "distance": 2.0}
    text = write_targets(
        summarize_records(
            *runs("A", regrets, **near),
            *runs("Optuna-GP-told", {"tune_ridge": 0.1, "tune_svr": 1.0}, **near),
            *runs("CMA-ES", {"tune_ridge": 0.5, "tune_svr": 2.0}, **near),
        ),
        "A",
    )
    assert found(text, "tuning: 95 %") == ["1 of 2 (tune_ridge 91%)", "MISSED"]
    assert found(text, "tuning: best mean rank")[0] == "A 1.50, CMA-ES 1.50"
    far = found(text, "tuning: no evaluation further")
    assert far[1] == "MISSED" and "tune_ridge, seed 0: 23" in far[0]


def test_the_best_rank_on_mnist() -> None:
    rows = [
        make_record("mnist_mlp", name, seed, (10.0, loss), num_initial=1, optimal_value=None)
        for seed in range(4)
        for name, loss in (("A", 2.0), ("EI-H", 1.0), ("EI-Q", 3.0))
    ]
    text = write_targets(summarize_records(*rows), "A")
    ranks = "EI-H 1.00, A 2.00, EI-Q 3.00; to EI-H +1.00 [+1.00, +1.00], runs resampled"
    assert found(text, "MNIST") == [ranks, "MISSED"]
    assert found(write_targets(summarize_records(*rows), "EI-H"), "MNIST")[1] == "met"
