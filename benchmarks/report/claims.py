"""Section of a report on what the paper says, a row for each claim, and what the runs say.

The claims are data, in the paper's words as far as a row allows. Verdicts are computed.
"""

from dataclasses import dataclass

import pandas as pd

from benchmarks.problems.problem import EVALUATIONS_PER_DIM
from benchmarks.problems.registry import PAPER5
from benchmarks.report.claim_figures import FoundWithin, Promised, Reaches, of_the_papers_size
from benchmarks.report.claim_tests import (
    CONTRADICTED,
    INCONCLUSIVE,
    MARGIN,
    NOT_RUN,
    REPRODUCED,
    Better,
    Similar,
    Slower,
    Test,
    Verdict,
)
from benchmarks.report.markdown import write_table
from benchmarks.report.study import PAPER_METHOD, Study

AS_PUBLISHED = f"{PAPER_METHOD} (as published)"
FBO = "GPUCB-FBO"
SIX = ("EI-Vanilla", "EI-Volx2", "EI-H", "EI-Q", "GPUCB-Vanilla", "GPUCB-Volx2")
IN_TABLE = ("EI-H", "EI-Q", "EI-Volx2", "GPUCB-Volx2")  # of the paper's seconds
ELASTIC, MLP, CNN = "mnist_elastic_net", "mnist_mlp", "mnist_cnn"


@dataclass(frozen=True)
class Claim:
    """What the paper says, where, and what decides it."""

    text: str
    where: str
    test: Test


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "a point within epsilon of the maximum is found with probability 1 - delta",
        "theorem 5.1",
        Promised(PAPER_METHOD),
    ),
    Claim(
        "the optimum outside the first box is found within one or two expansions (Beale)",
        "figure 1",
        FoundWithin("beale"),
    ),
    Claim(
        "better than six methods (all but GPUCB-FBO) on most of five functions",
        "figure 2",
        Better(SIX, PAPER5),
    ),
    Claim(
        "in fewer evaluations than these (to 1 % of the initial regret)",
        "figure 2",
        Better(SIX, PAPER5, column="evaluations_to_target"),
    ),
    Claim(
        "better than GPUCB-FBO on Hartmann3 and Hartmann6",
        "figure 2",
        Better((FBO,), ("hartmann3", "hartmann6"), everywhere=True),
    ),
    Claim(
        "similar to GPUCB-FBO on Beale, Eggholder and Levy3",
        "figure 2",
        Similar(FBO, ("beale", "eggholder", "levy3")),
    ),
    Claim(
        "GPUCB-FBO takes 2 to 3 times as long as GPUCB-UBO",
        "table 1",
        Slower(FBO, 2, 3, PAPER5),
    ),
    Claim(
        "GPUCB-FBO takes 2 to 3 times as long as the other methods",
        "table 1",
        Slower(FBO, 2, 3, PAPER5, IN_TABLE, only_others=True),
    ),
    Claim(
        "better than all seven on Ackley10",
        "appendix",
        Better((*SIX, FBO), ("ackley10",), everywhere=True),
    ),
    Claim(
        "GPUCB-FBO takes at least 5 times as long on Ackley10",
        "appendix",
        Slower(FBO, 5, float("inf"), ("ackley10",)),
    ),
    Claim(
        "better than all seven on Levy10",
        "appendix",
        Better((*SIX, FBO), ("levy10",), everywhere=True),
    ),
    Claim(
        "elastic net: better than the six",
        "figure 3",
        Better(SIX, (ELASTIC,), everywhere=True),
    ),
    # Losses of the tuning tasks are accuracies, of which a hundredth is much.
    Claim("elastic net: similar to GPUCB-FBO", "figure 3", Similar(FBO, (ELASTIC,), margin=0.01)),
    Claim(
        "perceptron: better than all seven",
        "figure 3",
        Better((*SIX, FBO), (MLP,), everywhere=True),
    ),
    Claim("perceptron: 97.8 % after 12 evaluations", "figure 3", Reaches(MLP, 0.978, 12)),
    Claim(
        "convolutional network: better than all seven",
        "figure 3",
        Better((*SIX, FBO), (CNN,), everywhere=True),
    ),
    Claim("convolutional network: 98.7 % after 30", "figure 3", Reaches(CNN, 0.987, 30)),
)


def judge_claims(study: Study, subject: str = PAPER_METHOD) -> dict[Claim, Verdict]:
    """The verdict on every claim, with a method in the role of the paper's."""
    done = study.frame[study.frame["status"] == "ok"]
    runs = done[done["budget"] == EVALUATIONS_PER_DIM * done["dim"]]
    if runs.empty:
        return dict.fromkeys(CLAIMS, Verdict(NOT_RUN, "no runs of the paper's protocol"))
    found = {claim: claim.test.judge(runs, subject) for claim in CLAIMS}
    other = done.drop(runs.index)
    return {claim: _with_reason(claim, verdict, other) for claim, verdict in found.items()}


def _with_reason(claim: Claim, verdict: Verdict, other: pd.DataFrame) -> Verdict:
    """Say of a claim that was not run if there are runs of its problems with another budget."""
    problems = getattr(claim.test, "problems", (getattr(claim.test, "problem", None),))
    count = int(other["problem"].isin(problems).sum())
    if verdict.word != NOT_RUN or not count:
        return verdict
    return Verdict(NOT_RUN, f"{verdict.measured}; {count} runs of another budget")


def write_claims(study: Study) -> str:
    """The section: a table for the paper's method, one for it as published if that was run."""
    done = study.frame[study.frame["status"] == "ok"]
    other = done[done["budget"] != EVALUATIONS_PER_DIM * done["dim"]]
    parts = [
        "## What the paper says",
        "Only runs of the paper's protocol count: 10 evaluations to a dimension. Differences are "
        "in L (accuracy in the tuning tasks, evaluations where the claim is of these), the paper's "
        "method less the other, so that negative is better; [95 %] resamples functions and seeds. "
        "Better and worse count functions by Wilcoxon's test over runs paired by seed, with Holm's "
        "correction over all tests of the claim. Most: more than half of the functions and an "
        f"interval below zero, against every other. Similar: intervals within ±{MARGIN:g} of L.",
    ]
    tasks = done[done["suite"] == "mnist"]
    reduced = sum(not of_the_papers_size(found) for found in tasks["metadata"])
    if reduced:
        parts.append(
            f"{reduced} runs of tuning tasks are of fewer images or epochs than the paper's."
        )
    if len(other):
        count = other.groupby("suite").size()
        words = ", ".join(f"{suite} {number}" for suite, number in count.items())
        parts.append(f"Runs of another budget, which do not count here: {words}.")
    for subject in (PAPER_METHOD, AS_PUBLISHED):
        if subject == PAPER_METHOD or (done["method"] == subject).any():
            parts += _write_subject(study, subject)
    return "\n\n".join(parts)


def _write_subject(study: Study, subject: str) -> list[str]:
    verdicts = judge_claims(study, subject)
    rows = pd.DataFrame(
        [(claim.where, found.word, found.measured) for claim, found in verdicts.items()],
        index=[claim.text for claim in verdicts],
        columns=["where", "verdict", "measured"],
    )
    words = [found.word for found in verdicts.values()]
    counts = ", ".join(
        f"{words.count(word)} {word}" for word in (REPRODUCED, CONTRADICTED, INCONCLUSIVE, NOT_RUN)
    )
    return [f"### {subject} in its role: {counts}", write_table(rows, "the paper says")]
