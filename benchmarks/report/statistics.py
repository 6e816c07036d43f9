"""Statistics that compare methods, all by scipy, statsmodels and scikit-posthocs.

A table of losses (``measures.pivot``) has a row per problem and seed, a column per method, and
lower is better. Methods that lack a row are left out of everything that pairs.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scikit_posthocs import posthoc_nemenyi_friedman
from scipy import stats
from statsmodels.stats.multitest import multipletests

Array = npt.NDArray[np.float64]
RESAMPLES = 9999
LEVEL = 0.05


class Paired(NamedTuple):
    """What can be compared run by run.

    Attributes:
        table: Losses without gaps.
        lacking: The methods that are left out, with the number of runs that each lacks.
        dropped: Problems and seeds that are left out, as no more than half of the methods have
            them.
    """

    table: pd.DataFrame
    lacking: dict[str, int]
    dropped: list[tuple[str, int]]


def pair_up(table: pd.DataFrame) -> Paired:
    """Drop rows that few methods have, then methods that lack a row."""
    common = table.notna().mean(axis=1) > 0.5
    kept = table[common]
    lacking = kept.isna().sum()
    return Paired(
        kept.loc[:, lacking == 0], lacking[lacking > 0].to_dict(), list(table.index[~common])
    )


def differences_by_problem(table: pd.DataFrame, method: str, other: str) -> dict[str, Array]:
    """``method - other`` of every problem, over the seeds that both have."""
    both = (table[method] - table[other]).dropna()
    return {str(name): group.to_numpy() for name, group in both.groupby(level="problem")}


def ratios(table: pd.DataFrame, reference: str) -> pd.DataFrame:
    """``10 ** (L_method - L_reference)``, a row per problem, over the seeds that both have."""
    differences = table.sub(table[reference], axis=0)
    return 10.0 ** differences.groupby(level="problem").mean()


def geometric_mean(ratios: pd.DataFrame) -> pd.Series:
    """Geometric mean over rows; NaN for a column that lacks one."""
    return pd.Series(stats.gmean(ratios, axis=0), index=ratios.columns)


def mean_interval(samples: Sequence[Array]) -> tuple[float, float]:
    """Bootstrap interval (95 %) of the mean over samples of each sample's mean.

    Every sample (the seeds of one problem) is resampled by itself. NaN if one has a single value.
    """
    if not samples or min(len(sample) for sample in samples) < 2:
        return math.nan, math.nan

    def mean_of_means(*parts: Array, axis: int = -1) -> Array:
        return np.mean([part.mean(axis=axis) for part in parts], axis=0)

    # The percentile interval also exists where all values are equal; BCa's does not.
    found = stats.bootstrap(
        samples, mean_of_means, n_resamples=RESAMPLES, method="percentile", batch=1000, rng=0
    ).confidence_interval
    return float(found.low), float(found.high)


def sample_interval(values: Array) -> tuple[float, float]:
    """Bootstrap interval (95 %) of the mean of values, each of which is resampled as a whole.

    For means of functions: it tells what other functions would have said. NaN of a single value.
    """
    if len(values) < 2:
        return math.nan, math.nan
    found = stats.bootstrap(
        (values,), np.mean, n_resamples=RESAMPLES, method="percentile", batch=1000, rng=0
    ).confidence_interval
    return float(found.low), float(found.high)


def cluster_interval(samples: Sequence[Array]) -> tuple[float, float]:
    """Bootstrap interval (95 %) of the mean over samples of each sample's mean, in two levels.

    Samples (functions) are resampled, and within each of them its values (seeds): it tells what
    other functions and other seeds would have said. Of a single sample only its values are. NaN
    of a single value.
    """
    if not samples or sum(map(len, samples)) < 2:
        return math.nan, math.nan
    rng = np.random.default_rng(0)
    chosen = rng.integers(len(samples), size=(RESAMPLES, len(samples)))
    means = np.empty(chosen.shape)
    for number, sample in enumerate(samples):
        places = chosen == number
        drawn = rng.integers(len(sample), size=(int(places.sum()), len(sample)))
        means[places] = sample[drawn].mean(axis=1)
    low, high = np.quantile(means.mean(axis=1), [LEVEL / 2, 1 - LEVEL / 2])
    return float(low), float(high)


def holm(p_values: Sequence[float]) -> Array:
    """Holm's correction of several p-values."""
    return multipletests(p_values, method="holm")[1] if len(p_values) else np.empty(0)


def compare_with(table: pd.DataFrame, default: str) -> pd.DataFrame:
    """Each method against one, paired over problems and seeds of losses without gaps.

    Returns:
        A row per other method: ``difference`` (mean over problems, positive if the method is
        worse), its interval ``low`` and ``high``, Wilcoxon's ``p`` over all pairs and ``p_holm``
        over methods, and the number of problems on which it is significantly ``better`` or
        ``worse`` (Wilcoxon over seeds, Holm over methods within each problem).
    """
    others = [str(name) for name in table.columns if name != default]
    by_problem = {name: differences_by_problem(table, name, default) for name in others}
    rows = []
    for samples in map(list, map(dict.values, by_problem.values())):
        mean = np.mean([sample.mean() for sample in samples])
        rows.append((mean, *mean_interval(samples), wilcoxon(np.concatenate(samples))))
    found = pd.DataFrame(rows, index=others, columns=["difference", "low", "high", "p"])
    signs = _significant_signs(by_problem)
    return found.assign(
        p_holm=holm(found["p"].tolist()),
        better=(signs < 0).sum(axis=1),
        worse=(signs > 0).sum(axis=1),
    )


def wilcoxon(differences: Array) -> float:
    """The p-value of the signed-rank test, of two sides; 1 of a single pair."""
    if len(differences) < 2:
        return 1.0
    with np.errstate(invalid="ignore"):  # all zero: the statistic is 0 / 0, and p is 1
        return float(stats.wilcoxon(differences).pvalue)


def _significant_signs(by_problem: dict[str, dict[str, Array]]) -> pd.DataFrame:
    """A row per method, a column per problem: sign of a significant mean difference, or 0."""
    samples = pd.DataFrame(by_problem).T
    p = samples.map(wilcoxon).apply(holm)
    return samples.map(np.mean).map(np.sign) * (p < LEVEL)


class RankTest(NamedTuple):
    """Friedman's test of all methods, and p-values of Nemenyi's test of all pairs."""

    statistic: float
    p: float
    pairs: pd.DataFrame


def friedman(table: pd.DataFrame) -> RankTest | None:
    """Whether the methods differ; ``None`` with fewer than three methods or two rows."""
    if table.shape[1] < 3 or table.shape[0] < 2 or (table.rank(axis=1).std(axis=1) == 0).all():
        return None
    found = stats.friedmanchisquare(*(table[name] for name in table.columns))
    pairs = posthoc_nemenyi_friedman(table.reset_index(drop=True))
    return RankTest(float(found.statistic), float(found.pvalue), pairs)


def fit_distance(rows: pd.DataFrame) -> Any | None:
    """Least squares of evaluations over log10(distance); ``None`` with fewer than two distances."""
    if rows["distance"].nunique() < 2:
        return None
    with np.errstate(invalid="ignore"):  # all evaluations equal: r is 0 / 0
        return stats.linregress(np.log10(rows["distance"]), rows["evaluations_to_target"])
