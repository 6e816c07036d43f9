"""All records of a report, with the roles that some methods play in it."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from benchmarks.analysis import SUITES, pivot, summarize
from benchmarks.comparison import pair_up, rank
from benchmarks.figures import Styles, choose_styles
from benchmarks.records import Record, read_records

PAPER_METHOD = "GPUCB-UBO"
AUTHORS = "authors"
NUM_OTHERS = 3


@dataclass(frozen=True)
class Study:
    """Records and their measures."""

    records: list[Record]
    frame: pd.DataFrame
    """One row per record."""
    oracle: str
    """The method that is told the domain."""
    default: str
    """The method that the others are compared with."""
    chosen: tuple[str, ...] = ()
    """The methods to show in curves; none: a few are chosen."""

    @property
    def suites(self) -> list[str]:
        """Kinds of problems with at least one finished run."""
        done = set(self.frame[self.frame["status"] == "ok"]["suite"])
        return [suite for suite in SUITES if suite in done]

    @property
    def ablations(self) -> list[str]:
        """Variants of the default: ``X (no cap)`` of ``X``."""
        names = sorted(set(self.frame["method"]))
        return [n for n in names if n.startswith((f"{self.default} ", f"{self.default}("))]

    @property
    def told(self) -> list[str]:
        """The oracle and its variants, ``LogEI-oracle-stock`` say: they do not compete."""
        return [n for n in sorted(set(self.frame["method"])) if n.startswith(self.oracle)]

    def rows(self, suite: str, with_ablations: bool = False) -> pd.DataFrame:
        """Measures of the finished runs of a suite."""
        frame = self.frame[(self.frame["suite"] == suite) & (self.frame["status"] == "ok")]
        return frame if with_ablations else frame[~frame["method"].isin(self.ablations)]

    def finished(self, suite: str) -> list[Record]:
        """Finished records of a suite."""
        problems = set(self.rows(suite, with_ablations=True)["problem"])
        found = [r for r in self.records if r.problem in problems and r.status == "ok"]
        return sorted(found, key=lambda record: (record.dim, record.key))

    def problems(self, suite: str) -> list[str]:
        """Names of a suite's problems, those of few dimensions first."""
        return list(self.rows(suite)["problem"].unique())

    def losses(self, suite: str, with_ablations: bool = False) -> pd.DataFrame:
        """A row per problem and seed, a column per method; lower is better."""
        column = "evaluations_to_target" if suite == "far" else "loss"
        return pivot(self.rows(suite, with_ablations), column)

    def ordered(self, suite: str) -> list[str]:
        """Methods from the best mean rank to the worst, then those that lack runs."""
        paired = pair_up(self.losses(suite))
        return [*rank(paired.table).mean().sort_values(kind="stable").index, *paired.lacking]

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
        main = dict.fromkeys((self.default, PAPER_METHOD))
        return choose_styles(list(main), [self.shown(s) for s in self.suites], self.oracle)


def load_study(
    paths: Sequence[Path],
    oracle: str,
    default: str,
    problems: Sequence[str] = ("*",),
    chosen: Sequence[str] = (),
) -> Study:
    """Read records; of several of one run the last counts.

    Args:
        paths: Directories, ``.jsonl`` or ``.jsonl.gz``.
        oracle: The method that is told the domain.
        default: The method that the others are compared with.
        problems: Names or patterns of the problems to take.
        chosen: The methods to show in curves.
    """
    found: Iterable[Record] = (record for path in paths for record in read_records(path))
    by_key = {record.key: record for record in found}
    records = [
        r for r in by_key.values() if any(fnmatch.fnmatchcase(r.problem, p) for p in problems)
    ]
    if by_key and not records:
        known = ", ".join(sorted({key[0] for key in by_key}))
        raise ValueError(f"Expected problems like {' '.join(problems)}; the records have {known}.")
    methods = sorted({record.method for record in records})
    strangers = [name for name in chosen if name not in methods]
    if strangers:
        raise ValueError(
            f"Expected methods of the records, {', '.join(methods)}; got {', '.join(strangers)}."
        )
    return Study(records, summarize(records), oracle, default, tuple(chosen))
