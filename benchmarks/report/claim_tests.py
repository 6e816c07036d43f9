"""Kinds of claims, and what decides each of them: runs in, a verdict in words out.

Runs are paired by seed. Tests of one claim are its family: Wilcoxon's signed-rank test over the
seeds of a function, Holm's correction over all functions and methods that the claim names.
Intervals of a mean over functions resample functions and their seeds.

A claim of which runs lack is never reproduced; what there is can contradict it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import pandas as pd

from benchmarks.report.markdown import interval, plain, signed
from benchmarks.report.measures import pivot
from benchmarks.report.statistics import LEVEL, Array, cluster_interval, holm, wilcoxon

REPRODUCED, CONTRADICTED = "reproduced", "contradicted"
INCONCLUSIVE, NOT_RUN = "inconclusive", "not run"
MARGIN = 0.2  # of L: a factor of 1.6 in regret either way counts as similar


class Verdict(NamedTuple):
    """``word`` is one of four, ``measured`` what it rests on."""

    word: str
    measured: str


class Test(Protocol):
    """What decides a claim about ``subject``, from finished runs of the paper's protocol."""

    def judge(self, runs: pd.DataFrame, subject: str) -> Verdict: ...


def decide(reproduced: bool, contradicted: bool, lacking: Sequence[str], measured: str) -> Verdict:
    """The verdict from what was found; runs that lack are named."""
    word = CONTRADICTED if contradicted else REPRODUCED if reproduced else INCONCLUSIVE
    if lacking:
        measured += f"; lacking: {', '.join(lacking)}"
        word = INCONCLUSIVE if word == REPRODUCED else word
    return Verdict(word, measured)


class Pairs(NamedTuple):
    """Differences ``subject - other`` by other and problem, and what there is no pair of."""

    found: dict[tuple[str, str], Array]
    lacking: list[str]

    def of(self, other: str) -> list[Array]:
        """A sample per problem."""
        return [sample for (name, _), sample in self.found.items() if name == other]

    @property
    def seeds(self) -> str:
        counts = sorted({len(sample) for sample in self.found.values()})
        return f"{counts[0]} seeds" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} seeds"


def pair(
    runs: pd.DataFrame,
    subject: str,
    others: Sequence[str],
    problems: Sequence[str],
    column: str = "loss",
) -> Pairs:
    """Pair the subject's runs with those of others, by problem and seed."""
    table = pivot(runs[runs["problem"].isin(problems)], column)
    table = table.reindex(columns=[subject, *others]).astype(float)
    found, lacking = {}, []
    for other in others:
        both = (table[subject] - table[other]).dropna()
        for problem in problems:
            sample = both[both.index.get_level_values("problem") == problem].to_numpy()
            if len(sample):
                found[other, problem] = sample
            else:
                lacking.append(f"{other} on {problem}")
    return Pairs(found, lacking)


def _power(pairs: Pairs) -> str:
    """Whether the tests could say anything: of n pairs the smallest p is 2^(1 - n)."""
    most = max(map(len, pairs.found.values()))
    hopeless = len(pairs.found) * 2.0 ** (1 - most) >= LEVEL
    return f" (too few for any of {len(pairs.found)} tests)" if hopeless else ""


@dataclass(frozen=True)
class Better:
    """The subject has a lower loss than each of the others.

    On every problem, if ``everywhere``: then each test must say so, and one that says the opposite
    contradicts. Otherwise on most: against each of the others more than half of the problems, with
    an interval of the mean over functions below zero; half of them the other way, or an interval
    above zero, contradict.
    """

    others: tuple[str, ...]
    problems: tuple[str, ...]
    everywhere: bool = False
    column: str = "loss"

    def judge(self, runs: pd.DataFrame, subject: str) -> Verdict:
        pairs = pair(runs, subject, self.others, self.problems, self.column)
        if not pairs.found:
            return Verdict(NOT_RUN, "no common runs")
        p = holm([wilcoxon(sample) for sample in pairs.found.values()])
        means = np.array([sample.mean() for sample in pairs.found.values()])
        signs = dict(zip(pairs.found, np.sign(means) * (p < LEVEL), strict=True))
        words, all_won, lost = [], True, False
        for other in dict.fromkeys(name for name, _ in pairs.found):
            own = np.array([sign for (name, _), sign in signs.items() if name == other])
            better, worse = int((own < 0).sum()), int((own > 0).sum())
            samples = pairs.of(other)
            low, high = cluster_interval(samples)
            mean = float(np.mean([sample.mean() for sample in samples]))
            words.append(
                f"{other} {signed(mean)}{interval(low, high, signed)}, {better} better and "
                f"{worse} worse of {len(own)}"
            )
            if self.everywhere:
                all_won &= better == len(own)
                lost |= worse > 0
            else:
                all_won &= 2 * better > len(own) and high < 0
                lost |= 2 * worse >= len(own) or low > 0
        text = f"{pairs.seeds}{_power(pairs)}; {'; '.join(words)}"
        return decide(all_won, lost, pairs.lacking, text)


@dataclass(frozen=True)
class Similar:
    """The subject's loss differs from another's by at most ``margin`` on every problem.

    Reproduced if every interval (seeds, 95 %) lies within the margin, contradicted if a mean is
    beyond it and its test says that the two differ.
    """

    other: str
    problems: tuple[str, ...]
    margin: float = MARGIN

    def judge(self, runs: pd.DataFrame, subject: str) -> Verdict:
        pairs = pair(runs, subject, [self.other], self.problems)
        if not pairs.found:
            return Verdict(NOT_RUN, "no common runs")
        p = holm([wilcoxon(sample) for sample in pairs.found.values()])
        words, within, beyond = [], True, False
        for (_, problem), sample, own in zip(pairs.found, pairs.found.values(), p, strict=True):
            low, high = cluster_interval([sample])
            words.append(f"{problem} {signed(sample.mean())}{interval(low, high, signed)}")
            within &= -self.margin <= low and high <= self.margin
            beyond |= abs(sample.mean()) > self.margin and own < LEVEL
        text = f"{pairs.seeds}; {'; '.join(words)}; margin ±{self.margin:g}"
        return decide(within, beyond, pairs.lacking, text)


@dataclass(frozen=True)
class Slower:
    """A suggestion of ``slow`` takes ``low`` to ``high`` times as long as one of the quick ones.

    Those are the subject and the others, or these alone.

    Reproduced if every interval of the ratio (functions and seeds resampled) is above 1 and meets
    that range, contradicted if one misses it. Runs that were computed many at once have shares of
    seconds, and do not count.
    """

    slow: str
    low: float
    high: float
    problems: tuple[str, ...]
    others: tuple[str, ...] = ()
    only_others: bool = field(default=False)

    def judge(self, runs: pd.DataFrame, subject: str) -> Verdict:
        alone = runs[pd.isna(runs["metadata"].str.get("batched"))]
        logs = alone.assign(log_seconds=np.log10(alone["seconds_total"].astype(float)))
        quick = self.others if self.only_others else (subject, *self.others)
        pairs = pair(logs, self.slow, quick, self.problems, "log_seconds")
        if not pairs.found:
            return Verdict(NOT_RUN, "no common runs with seconds")
        words, met, missed = [], True, False
        for other in dict.fromkeys(name for name, _ in pairs.found):
            samples = pairs.of(other)
            ratio = 10 ** float(np.mean([sample.mean() for sample in samples]))
            low, high = (10**end for end in cluster_interval(samples))
            words.append(f"{self.slow} / {other} {plain(ratio)}{interval(low, high)}")
            met &= low > 1 and low <= self.high and high >= self.low
            missed |= high < self.low or low > self.high
        return decide(met, missed, pairs.lacking, f"{pairs.seeds}; {'; '.join(words)}")
