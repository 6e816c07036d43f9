"""The authors' own runs, and problems ``ref_...`` that start where those did.

A run is a file `FUNCTION_SEED.json` with keys initial_box (d x 2), X, Y, num_initial and boxes
(d x 2 each, after each expansion), values for maximisation, and seconds_per_suggestion.
"""

import json
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from benchmarks.problems.problem import Family, Problem, Sources
from benchmarks.problems.textbook import AUTHORS_VARIANTS, PROBLEMS

AUTHORS = "authors"  # the method whose runs these are
# Our names of functions, and the authors', which the files carry.
_AUTHORS_NAME = {
    "ref_beale": "Beale",
    "ref_eggholder": "Eggholder",
    "ref_hartmann3": "Hartman3",
    "ref_hartmann6_authors": "Hartman6",
    "ref_levy3_authors": "Levy3",
    "ref_levy3": "LevyT3",
    "ref_levy10": "LevyT10",
    "ref_ackley10": "Ackley10",
}
NAMES = tuple(_AUTHORS_NAME)


@dataclass(frozen=True)
class AuthorsRun:
    """A run of the authors' code: boxes are ``2 x d``, points ``n x d``, values ``n``."""

    initial_box: Tensor
    X: Tensor
    Y: Tensor
    num_initial: int
    boxes: list[Tensor]
    seconds: float


def read_authors_run(name: str, seed: int, sources: Sources) -> AuthorsRun:
    """The authors' run of that number behind a problem ``ref_...``."""
    if sources.reference is None:
        raise ValueError(f"Expected --reference DIR with the authors' runs for problem {name}.")
    path = sources.reference / f"{_AUTHORS_NAME[name]}_{seed}.json"
    if not path.is_file():
        raise FileNotFoundError(f"Expected the authors' run {seed} of {name} in {path}.")
    values = json.loads(path.read_text())
    missing = {"initial_box", "X", "Y", "num_initial", "boxes"} - set(values)
    if missing:
        raise ValueError(f"{path}: expected a run of the authors' code; it lacks {sorted(missing)}")
    return AuthorsRun(
        initial_box=torch.tensor(values["initial_box"], dtype=torch.double).T.contiguous(),
        X=torch.tensor(values["X"], dtype=torch.double),
        Y=torch.tensor(values["Y"], dtype=torch.double).flatten(),
        num_initial=values["num_initial"],
        boxes=[torch.tensor(box, dtype=torch.double).T.contiguous() for box in values["boxes"]],
        seconds=values.get("seconds_per_suggestion", 0.0),
    )


def authors_seeds(name: str, sources: Sources) -> list[int]:
    """The numbers of the authors' runs that there are of a problem ``ref_...``."""
    if sources.reference is None:
        raise ValueError(f"Expected --reference DIR with the authors' runs for {name}.")
    paths = sources.reference.glob(f"{_AUTHORS_NAME[name]}_*.json")
    return sorted(int(path.stem.rpartition("_")[2]) for path in paths)


def _make(name: str, seed: int, sources: Sources) -> Problem:
    """A textbook problem, or the authors' variant, from the start of one of the authors' runs."""
    run = read_authors_run(name, seed, sources)
    return replace(
        {**PROBLEMS, **AUTHORS_VARIANTS}[name.removeprefix("ref_")],
        name=name,
        start_box=run.initial_box,
        start_points=run.X[: run.num_initial],
        num_evaluations=len(run.X) - run.num_initial,
    )


FAMILY = Family("reference", "From the starts of the authors' runs", NAMES, _make)
