"""What the default is to reach, target by target, from records: found, and whether it is met.

Differences are the default's L less the other's, so that negative is better than the other, means
over functions with a 95 % interval that resamples functions. A target is met by its estimate,
unless it says that the interval must exclude zero.
"""

from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd

from benchmarks.problems import families, highdim, plains
from benchmarks.report.comparison import loss_column
from benchmarks.report.markdown import interval, met, percent, plain, signed, write_table
from benchmarks.report.measures import pivot
from benchmarks.report.statistics import sample_interval

PACKAGE = ("EI-Roaming", "HuBO-EI", "EI-UBO", "TuRBO-1", "GPUCB-UBO")
TOLD = ("same-told", "same-told-spread", "LogEI-oracle", "Optuna-GP-told")
OUTSIDE = ("LogEI-oracle", "Optuna-GP-told", "CMA-ES")
NOT_RUN = "not run"

Row = tuple[str, str, str]  # target, what was found, whether it is met


class Runs:
    """Finished runs by suite, and the default's differences to others in them."""

    def __init__(self, frame: pd.DataFrame, default: str) -> None:
        """Of a frame of runs with their measures."""
        done = frame[frame["status"] == "ok"]
        self.frame = done.assign(
            log_evaluations=np.log10(done["evaluations_to_target"].clip(lower=1))
        )
        self.default = default

    def of(self, suite: str) -> pd.DataFrame:
        """The rows of a suite."""
        return self.frame[self.frame["suite"] == suite]

    def losses(self, suite: str) -> pd.DataFrame:
        """L of a suite: a row per problem and seed, a column per method."""
        rows = self.of(suite)
        return pivot(rows, loss_column(rows, suite)) if len(rows) else pd.DataFrame()

    def differences(self, suite: str, other: str) -> pd.Series:
        """The default's L less another's by problem, over the seeds that both have."""
        losses = self.losses(suite)
        if not {self.default, other} <= set(losses):
            return pd.Series(dtype=float)
        both = (losses[self.default] - losses[other]).dropna()
        return both.groupby(level="problem").mean()


def write_targets(frame: pd.DataFrame, default: str) -> str:
    """The table of all targets.

    Args:
        frame: Runs with their measures (:func:`benchmarks.report.measures.summarize`).
        default: The method that is to reach them.

    Returns:
        Markdown.
    """
    runs = Runs(frame, default)
    rows = [row for part in _PARTS for row in part(runs)]
    cells = pd.DataFrame(rows, columns=["target", "found", ""]).set_index("target")
    return write_table(cells, "target")


def _on_families(runs: Runs) -> Iterable[Row]:
    text = "families: at most 0.02 behind the best method of the package"
    found = {name: runs.differences(families.JUDGE, name) for name in PACKAGE}
    found = {name: values for name, values in found.items() if len(values)}
    if found:
        worst = max(found, key=lambda name: found[name].mean())
        yield text, f"{_estimate(found[worst])} to {worst}", met(found[worst].mean() <= 0.02)
    else:
        yield text, NOT_RUN, ""
    for name in OUTSIDE:
        values = runs.differences(families.JUDGE, name)
        yield _row(f"families: better than {name}", values, _excludes_zero)
    for name, most in (("same-told", 1.0), ("same-told-spread", 1.3)):
        text = f"families: at most {most:.1f} times the regret of {name}"
        yield _ratio_row(text, runs.differences(families.JUDGE, name), most)


def _on_tuning(runs: Runs) -> Iterable[Row]:
    rows = runs.of("tuning")
    losses = runs.losses("tuning")
    if runs.default not in losses:
        yield "tuning", NOT_RUN, ""
        return
    ranks = losses.drop(columns=[n for n in TOLD if n in losses]).dropna().rank(axis=1).mean()
    words = ", ".join(f"{name} {rank:.2f}" for name, rank in ranks.sort_values().items())
    best = ranks.min() == ranks[runs.default]
    yield "tuning: best mean rank of those that are not told", words, met(best)
    gained = 1 - losses.groupby(level="problem").mean()
    if "Optuna-GP-told" in gained:
        share = (gained[runs.default] / gained["Optuna-GP-told"]).dropna()
        short = [f"{name} {percent(share[name])}" for name in share.index[share < 0.95]]
        found = f"{len(share) - len(short)} of {len(share)}" + _list(short)
        yield "tuning: 95 % of what Optuna told gets, every task", found, met(not short)
    own = rows[rows["method"] == runs.default]
    far = own["farthest"] > np.maximum(10 * own["distance"], 20)
    found = f"at most {own['farthest'].max():.0f} sides" + _list(
        [f"{r.problem}, seed {r.seed}: {r.farthest:.0f}" for r in own[far].itertuples()]
    )
    text = "tuning: no evaluation further than ten times the best known value, or 20 sides"
    yield text, found, met(not far.any())


def _on_plains(runs: Runs) -> Iterable[Row]:
    for suite in ("plateau", plains.JUDGE):
        values = runs.differences(suite, "EI-Roaming")
        yield _row(f"{suite}: not worse than the default of 0.1.0", values, _not_positive)


def _far_and_noisy(runs: Runs) -> Iterable[Row]:
    values = runs.differences("far", "same-told")
    text = "far: at most 1.15 times the evaluations of same-told, every function"
    if len(values):
        over = values[values > np.log10(1.15)]
        found = f"{_ratio(values)}; above on {len(over)} of {len(values)}, at most "
        yield text, found + plain(10 ** values.max()), met(over.empty)
    else:
        yield text, NOT_RUN, ""
    noisy = runs.differences("noisy", "same-told")
    yield _ratio_row("noise: at most 1.0 times the regret of same-told", noisy, 1.0)


def _high_dimension(runs: Runs) -> Iterable[Row]:
    for suite, dim in ((families.JUDGE, 20), (highdim.JUDGE, 50), (highdim.JUDGE, 100)):
        values = runs.differences(suite, "TuRBO-1")
        values = values[[str(name).endswith(f"{dim}") for name in values.index]]
        text = f"d = {dim}: not worse than TuRBO-1 on any family"
        if values.empty:
            yield text, NOT_RUN, ""
            continue
        worse = [f"{name} {signed(value)}" for name, value in values[values > 0].items()]
        found = f"{_estimate(values)}; worse on {len(worse)} of {len(values)}{_list(worse)}"
        yield text, found, met(not worse)


def _on_mnist(runs: Runs) -> Iterable[Row]:
    losses = runs.losses("mnist")
    text = "MNIST: mean rank 1, or not distinguishable from it"
    if runs.default not in losses:
        yield text, NOT_RUN, ""
        return
    ranks = losses.dropna().rank(axis=1)
    means = ranks.mean().sort_values()
    words = ", ".join(f"{name} {rank:.2f}" for name, rank in means.items())
    best = str(means.drop(runs.default).index[0])
    behind = (ranks[runs.default] - ranks[best]).to_numpy()
    low, high = sample_interval(behind)
    found = f"{words}; to {best} {signed(behind.mean())}{interval(low, high, signed)}"
    yield text, f"{found}, runs resampled", met(bool(low <= 0))


_PARTS: tuple[Callable[[Runs], Iterable[Row]], ...] = (
    *(_on_families, _on_tuning, _on_plains, _far_and_noisy, _high_dimension, _on_mnist),
)


def _row(text: str, values: pd.Series, judge: Callable[[pd.Series], bool]) -> Row:
    if values.empty:
        return text, NOT_RUN, ""
    return text, f"{_estimate(values)}, {len(values)} functions", met(judge(values))


def _ratio_row(text: str, values: pd.Series, most: float) -> Row:
    if values.empty:
        return text, NOT_RUN, ""
    return text, f"{_ratio(values)}, {len(values)} functions", met(10 ** values.mean() <= most)


def _excludes_zero(values: pd.Series) -> bool:
    return sample_interval(values.to_numpy())[1] < 0


def _not_positive(values: pd.Series) -> bool:
    return bool(values.mean() <= 0)


def _estimate(values: pd.Series) -> str:
    return signed(values.mean()) + interval(*sample_interval(values.to_numpy()), signed)


def _ratio(values: pd.Series) -> str:
    low, high = sample_interval(values.to_numpy())
    return plain(10 ** values.mean()) + interval(10**low, 10**high)


def _list(words: list[str]) -> str:
    return f" ({'; '.join(words)})" if words else ""
