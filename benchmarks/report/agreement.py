"""Whether two ways of running the same methods come to the same end: L, paired by seed."""

import math

import numpy as np
import pandas as pd

from benchmarks.report.markdown import interval, met, plain, write_table
from benchmarks.report.measures import summarize

WITHIN = 0.05
_NORMAL = 1.959964  # standard errors on either side of a mean, for 95 %


def write_agreement(first: pd.DataFrame, second: pd.DataFrame) -> str:
    """A row for every problem, one for the mean over them, and a verdict.

    Args:
        first: A table of runs.
        second: The same runs, made in another way.

    Returns:
        Markdown. Differences are the second's L less the first's, over runs that both have.
    """
    one, other = _losses(first), _losses(second)
    both = pd.DataFrame({"first": one, "second": other}).dropna()
    differences = (both["second"] - both["first"]).groupby(level="problem")
    rows = {
        name: {
            "runs": len(values),
            "L of the first": _fine(both["first"].xs(name, level="problem").mean()),
            "L of the second": _fine(both["second"].xs(name, level="problem").mean()),
            "difference [95 %]": _with_interval(*_of_one(values)),
            "SD of a difference": plain(values.std(ddof=1)),
        }
        for name, values in differences
    }
    mean, error = _over_problems(differences)
    rows["mean over functions"] = {
        "runs": len(both),
        "L of the first": _fine(both["first"].groupby(level="problem").mean().mean()),
        "L of the second": _fine(both["second"].groupby(level="problem").mean().mean()),
        "difference [95 %]": _with_interval(mean, error),
        "SD of a difference": "",
    }
    # What chance alone does: each run of the first against its next seed, another start as well.
    # These differences add up to nothing, so that their width is all there is to say.
    shifted = (_next_seed(both["first"]) - both["first"]).groupby(level="problem")
    _, width = _over_problems(shifted)
    inside = abs(mean) + _NORMAL * error <= WITHIN
    needed = len(both) * (_NORMAL * error / WITHIN) ** 2
    table = write_table(pd.DataFrame.from_dict(rows, orient="index"), "problem")
    return "\n\n".join(
        [
            table,
            "Half the width of the interval of the first against itself with the next seed: "
            f"{_NORMAL * width:.3f}.",
            f"Interval within ±{WITHIN}: {met(inside)}; half its width is {_NORMAL * error:.3f}, "
            f"and would be {WITHIN} with {needed:.0f} runs where there are {len(both)}.",
        ]
    )


def _losses(table: pd.DataFrame) -> pd.Series:
    frame = summarize(table)
    done = frame[frame["status"] == "ok"]
    return done.set_index(["problem", "method", "seed"])["loss"].sort_index()


def _next_seed(losses: pd.Series) -> pd.Series:
    """Of each run that of the next seed of its problem and method; the last has the first's."""
    shifted = losses.groupby(level=["problem", "method"]).transform(
        lambda values: np.roll(values.to_numpy(), -1)
    )
    return pd.Series(shifted, index=losses.index)


def _of_one(values: pd.Series) -> tuple[float, float]:
    """A mean and its standard error."""
    return float(values.mean()), float(values.std(ddof=1)) / math.sqrt(len(values))


def _over_problems(groups: "pd.api.typing.SeriesGroupBy") -> tuple[float, float]:
    """The mean over problems, each counted once, and its standard error over seeds."""
    means, errors = zip(*(_of_one(values) for _, values in groups), strict=True)
    return float(np.mean(means)), float(np.linalg.norm(errors)) / len(errors)


def _fine(value: float) -> str:
    return f"{value:+.3f}"


def _with_interval(mean: float, error: float) -> str:
    return _fine(mean) + interval(mean - _NORMAL * error, mean + _NORMAL * error, _fine)
