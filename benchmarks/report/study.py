"""All runs of a report, with the roles that some methods play in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from benchmarks.problems.reference import AUTHORS
from benchmarks.problems.registry import HEADINGS
from benchmarks.report.figures import Styles, choose_styles
from benchmarks.report.measures import pivot, summarize
from benchmarks.report.statistics import pair_up
from benchmarks.runs.table import read_table
from benchmarks.runs.versions import check_one_version, mixed_versions

PAPER_METHOD = "GPUCB-UBO"
NUM_OTHERS = 3


@dataclass(frozen=True)
class Study:
    """Runs and their measures.

    Attributes:
        frame: One row per run.
        oracle: The method that is told the domain.
        default: The method that the others are compared with.
        chosen: The methods to show in curves; none: a few are chosen.
    """

    frame: pd.DataFrame
    oracle: str
    default: str
    chosen: tuple[str, ...] = ()

    @cached_property
    def mixed(self) -> dict[str, dict[str, int]]:
        """Methods whose runs are of several code versions, with the number of runs of each."""
        return mixed_versions(self.frame)

    @property
    def suites(self) -> list[str]:
        """Kinds of problems with at least one finished run."""
        done = set(self.frame[self.frame["status"] == "ok"]["suite"])
        return [suite for suite in HEADINGS if suite in done]

    @property
    def ablations(self) -> list[str]:
        """Variants of the default: ``X (no cap)`` of ``X``."""
        return [name for name in self._methods if name.startswith(f"{self.default} (")]

    @property
    def told(self) -> list[str]:
        """The oracle, its variants, and others that are told the domain: they do not compete."""
        return [n for n in self._methods if n.startswith(self.oracle) or "-told" in n]

    @property
    def _methods(self) -> list[str]:
        return sorted(self.frame["method"].unique())

    def rows(self, suite: str, with_ablations: bool = False) -> pd.DataFrame:
        """The finished runs of a suite, problems of few dimensions first."""
        frame = self.frame[(self.frame["suite"] == suite) & (self.frame["status"] == "ok")]
        return frame if with_ablations else frame[~frame["method"].isin(self.ablations)]

    def losses(self, suite: str, with_ablations: bool = False) -> pd.DataFrame:
        """A row per problem and seed, a column per method; lower is better."""
        column = "evaluations_to_target" if suite == "far" else "loss"
        return pivot(self.rows(suite, with_ablations), column)

    def ordered(self, suite: str) -> list[str]:
        """Methods from the best mean rank to the worst, then those that lack runs."""
        paired = pair_up(self.losses(suite))
        ranks = paired.table.rank(axis=1).mean()
        return [*ranks.sort_values(kind="stable").index, *paired.lacking]

    def shown(self, suite: str) -> list[str]:
        """The few methods that curves show: oracle, default, best others, the paper's."""
        names = self.ordered(suite)
        if self.chosen:
            return [name for name in self.chosen if name in names]
        fixed = [n for n in (self.oracle, self.default, AUTHORS, PAPER_METHOD) if n in names]
        others = [name for name in names if name not in (*fixed, *self.told)][:NUM_OTHERS]
        return [*fixed[:2], *others, *fixed[2:]]

    @cached_property
    def styles(self) -> Styles:
        """The same line for a method in every figure."""
        shown = [name for suite in self.suites for name in self.shown(suite)]
        return choose_styles(self.oracle, [self.default, PAPER_METHOD, *shown, *self._methods])


def load_study(
    paths: Sequence[Path],
    oracle: str,
    default: str,
    chosen: Sequence[str] = (),
    mixed: bool = False,
) -> Study:
    """Read the runs of directories, ``.jsonl`` and packed files; of several of one the last.

    Raises:
        MixedVersionsError: If runs of a method are of several code versions, unless ``mixed``.
    """
    table = read_table(paths)
    if not mixed:
        check_one_version(table)
    strangers = set(chosen) - set(table["method"])
    if strangers:
        methods = ", ".join(sorted(table["method"].unique()))
        raise ValueError(f"Expected methods of {methods}; got {', '.join(strangers)}.")
    return Study(summarize(table), oracle, default, tuple(chosen))
