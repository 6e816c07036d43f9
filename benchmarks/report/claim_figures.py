"""Kinds of claims that are no comparison: an accuracy that is reached, a figure of boxes."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.problems.mnist import PAPER
from benchmarks.report.calibration import THEOREM, coverage_by, tabulate_cells
from benchmarks.report.claim_tests import (
    CONTRADICTED,
    INCONCLUSIVE,
    NOT_RUN,
    REPRODUCED,
    Verdict,
)
from benchmarks.report.markdown import interval
from benchmarks.report.statistics import cluster_interval
from benchmarks.runs.versions import BENCHMARKS

CALIBRATION = BENCHMARKS / "results" / "calibration.json"


@dataclass(frozen=True)
class Reaches:
    """The subject's mean best value is ``level`` after so many evaluations.

    Of a task that depends on its size, only runs of the paper's size count. Contradicted if the
    interval over seeds lies below the level.
    """

    problem: str
    level: float
    evaluations: int

    def judge(self, runs: pd.DataFrame, subject: str) -> Verdict:
        own = runs[(runs["problem"] == self.problem) & (runs["method"] == subject)]
        if own.empty:
            return Verdict(NOT_RUN, f"no runs on {self.problem}")
        whole = own[own["metadata"].map(of_the_papers_size).astype(bool)]
        if whole.empty:
            return Verdict(NOT_RUN, f"{len(own)} runs, none with the paper's images and epochs")
        best = whole["best"].str[min(self.evaluations, int(whole["evaluations"].min()))]
        values = best.to_numpy(dtype=float)
        low, high = cluster_interval([values])
        ends = interval(low, high, "{:.2%}".format)
        text = f"{len(values)} seeds; {values.mean():.2%}{ends} after {self.evaluations}"
        if len(values) < 2:
            return Verdict(INCONCLUSIVE, text)
        return Verdict(CONTRADICTED if high < self.level else REPRODUCED, text)


def of_the_papers_size(found: Mapping[str, Any]) -> bool:
    """Whether a run of a task is of as many images and epochs as the paper's."""
    return found.get("preset") == json.loads(json.dumps(asdict(PAPER)))


@dataclass(frozen=True)
class FoundWithin:
    """Runs exist that come to 1 % of the initial regret after one, and after two expansions.

    The paper shows one of each. An expansion is a change of the box; the first suggestion's is
    one if the box is not that of the start any more.
    """

    problem: str
    expansions: tuple[int, ...] = (1, 2)

    def judge(self, runs: pd.DataFrame, subject: str) -> Verdict:
        own = runs[(runs["problem"] == self.problem) & (runs["method"] == subject)]
        own = own[own["growth"].str.len() > 0]
        if own.empty:
            return Verdict(NOT_RUN, f"no runs with boxes on {self.problem}")
        there = own[own["reached"].astype(bool)]
        counts = [
            count_expansions(run.growth[: int(run.evaluations_to_target)])
            for run in there.itertuples()
        ]
        shown = ", ".join(f"{counts.count(n)} after {n}" for n in sorted(set(counts)))
        text = f"{len(there)} of {len(own)} runs get there; expansions: {shown or 'none'}"
        found = all(number in counts for number in self.expansions)
        return Verdict(REPRODUCED if found else INCONCLUSIVE, text)


def count_expansions(growth: list[float]) -> int:
    """How often the box has changed, from ``log10(side / start side)`` of every suggestion."""
    known = np.array([0.0, *growth])
    known = known[~np.isnan(known)]
    return int((np.diff(known) != 0).sum())


@dataclass(frozen=True)
class Promised:
    """Of the certificates by Theorem 5.1's beta, unscaled, a share of ``1 - delta`` is right.

    Not by runs of the benchmarks, of which nobody knows what a certificate is worth, but by
    searches of functions that are drawn from a Gaussian process (``calibration``). What the theorem
    assumes is that hyper-parameters are known; those where they are fitted are told beside, and how
    many paths there are: the others have no certificate after so many evaluations.
    """

    subject: str
    searches: Path = CALIBRATION

    def judge(self, runs: pd.DataFrame, subject: str) -> Verdict:
        if subject != self.subject:
            return Verdict(NOT_RUN, f"`calibration` has the theorem's constants, not {subject}'s")
        if not self.searches.is_file():
            return Verdict(NOT_RUN, "no searches by `calibration`")
        content = json.loads(self.searches.read_text())
        promised, cells = 1 - content["settings"]["delta"], tabulate_cells(content["blocks"])
        own = cells[(cells["level"] == THEOREM) & (cells["factor"] == 1)]
        found = coverage_by(own, ["model"]).set_index("model")
        words = [
            f"hyper-parameters {name} {int(row.right)} of {int(row.certificates)}"
            f"{interval(row.low, row.high, '{:.3f}'.format)} on {int(row.paths)} paths"
            for name, row in found.iterrows()
            if name in ("known", "fitted")
        ]
        text = f"right certificates by `calibration`: {'; '.join(words)}"
        known = found.loc["known"] if "known" in found.index else None
        if known is None or not known["certificates"]:
            return Verdict(INCONCLUSIVE, text)
        if known["high"] < promised:
            return Verdict(CONTRADICTED, text)
        return Verdict(REPRODUCED if known["low"] >= promised else INCONCLUSIVE, text)
