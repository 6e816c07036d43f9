"""Statistics that compare methods, all by scipy, statsmodels and scikit-posthocs.

A table of losses (``analysis.pivot``) has a row per problem and seed, a column per method, and
lower is better. Methods that lack a row are left out of everything that pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks.analysis import Array

CONFIDENCE = 0.95
RESAMPLES = 9999
LEVEL = 0.05


@dataclass(frozen=True)
class Paired:
    """What can be compared run by run."""

    table: pd.DataFrame
    """Losses without gaps."""
    lacking: dict[str, int]
    """The methods that are left out, with the number of runs that each lacks."""
    dropped: list[tuple[str, int]]
    """Problems and seeds that are left out, as no more than half of the methods have them."""


def pair_up(table: pd.DataFrame) -> Paired:
    """Drop rows that few methods have, then methods that lack a row."""
    common = table.notna().mean(axis=1) > 0.5
    kept = table[common]
    lacking = kept.isna().sum()
    return Paired(
        table=kept.loc[:, lacking == 0],
        lacking={str(name): int(count) for name, count in lacking[lacking > 0].items()},
        dropped=[(str(problem), int(seed)) for problem, seed in table.index[~common]],
    )


def rank(table: pd.DataFrame) -> pd.DataFrame:
    """Ranks within each row, 1 the best, ties averaged."""
    if table.empty:
        return table.astype(float)
    return pd.DataFrame(stats.rankdata(table, axis=1), index=table.index, columns=table.columns)


def differences_by_problem(table: pd.DataFrame, method: str, other: str) -> dict[str, Array]:
    """``method - other`` of every problem, over the seeds that both have."""
    both = (table[method] - table[other]).dropna()
    return {str(name): group.to_numpy() for name, group in both.groupby(level="problem")}


def ratios(table: pd.DataFrame, reference: str) -> pd.DataFrame:
    """``10 ** (L_method - L_reference)``, a row per problem, over the seeds that both have."""
    differences = table.sub(table[reference], axis=0)
    mean: pd.DataFrame = differences.groupby(level="problem").mean()
    return 10.0**mean


def geometric_mean(ratios_by_problem: pd.DataFrame) -> pd.Series:
    """Geometric mean over problems; NaN for a method that lacks one."""
    values = stats.gmean(ratios_by_problem, axis=0, nan_policy="propagate")
    return pd.Series(values, index=ratios_by_problem.columns)


def mean_interval(samples: Sequence[Array]) -> tuple[float, float]:
    """Bootstrap interval of the mean over samples of each sample's mean.

    Every sample (the seeds of one problem) is resampled by itself. NaN if one has a single value.
    """
    if not samples or min(len(sample) for sample in samples) < 2:
        return math.nan, math.nan

    def mean_of_means(*parts: Array, axis: int = -1) -> Array:
        return np.mean([part.mean(axis=axis) for part in parts], axis=0)

    # The percentile interval also exists where all values are equal; BCa's does not.
    found = stats.bootstrap(
        tuple(samples), mean_of_means, confidence_level=CONFIDENCE, n_resamples=RESAMPLES,
        method="percentile", batch=1000, rng=0,
    ).confidence_interval  # fmt: skip
    return float(found.low), float(found.high)


def holm(p_values: Sequence[float]) -> Array:
    """Holm's correction of several p-values."""
    from statsmodels.stats.multitest import multipletests

    if not len(p_values):
        return np.empty(0)
    return np.asarray(multipletests(p_values, method="holm")[1], dtype=float)


def compare_with(table: pd.DataFrame, default: str) -> pd.DataFrame:
    """Each method against one, paired over problems and seeds.

    Args:
        table: Losses without gaps.
        default: The method to compare with.

    Returns:
        A row per other method: ``difference`` (mean over problems, positive if the method is
        worse), its interval ``low`` and ``high``, Wilcoxon's ``p`` over all pairs and ``p_holm``
        over methods, and the number of problems on which it is significantly ``better`` or
        ``worse`` (Wilcoxon over seeds, Holm over methods within each problem).
    """
    others = [str(name) for name in table.columns if name != default]
    by_problem = {name: differences_by_problem(table, name, default) for name in others}
    rows = []
    for name in others:
        samples = list(by_problem[name].values())
        low, high = mean_interval(samples)
        rows.append(
            {
                "difference": float(np.mean([sample.mean() for sample in samples])),
                "low": low,
                "high": high,
                "p": _wilcoxon(np.concatenate(samples)),
            }
        )
    found = pd.DataFrame(rows, index=others, columns=["difference", "low", "high", "p"])
    found["p_holm"] = holm(found["p"].tolist())
    signs = _significant_signs(by_problem)
    found["better"] = (signs < 0).sum(axis=1)
    found["worse"] = (signs > 0).sum(axis=1)
    return found


def _wilcoxon(differences: Array) -> float:
    with np.errstate(invalid="ignore"):  # all zero: the statistic is 0 / 0, and p is 1
        return float(stats.wilcoxon(differences).pvalue)


def _significant_signs(by_problem: dict[str, dict[str, Array]]) -> pd.DataFrame:
    """A row per method, a column per problem: sign of a significant mean difference, or 0."""
    samples = pd.DataFrame(by_problem).T
    p = samples.map(_wilcoxon).apply(holm)
    return samples.map(np.mean).map(np.sign) * (p < LEVEL)


@dataclass(frozen=True)
class RankTest:
    """Friedman's test of all methods, and Nemenyi's of all pairs."""

    statistic: float
    p: float
    pairs: pd.DataFrame


def friedman(table: pd.DataFrame) -> RankTest | None:
    """Whether the methods differ; ``None`` with fewer than three methods or two rows."""
    if table.shape[1] < 3 or table.shape[0] < 2 or (rank(table).std(axis=1) == 0).all():
        return None
    from scikit_posthocs import posthoc_nemenyi_friedman

    found = stats.friedmanchisquare(*(table[name] for name in table.columns))
    pairs = posthoc_nemenyi_friedman(table.reset_index(drop=True))
    return RankTest(float(found.statistic), float(found.pvalue), pairs)


@dataclass(frozen=True)
class DistanceFit:
    """``evaluations = intercept + slope * log10(distance)``."""

    intercept: float
    slope: float
    r_squared: float

    def __call__(self, distance: Array) -> Array:
        return self.intercept + self.slope * np.log10(distance)


def fit_distance(distances: Array, evaluations: Array) -> DistanceFit | None:
    """Least squares over runs; ``None`` with fewer than two distances."""
    if len(np.unique(distances)) < 2:
        return None
    with np.errstate(invalid="ignore"):  # all evaluations equal: r is 0 / 0
        found = stats.linregress(np.log10(distances), evaluations)
    return DistanceFit(float(found.intercept), float(found.slope), float(found.rvalue**2))
