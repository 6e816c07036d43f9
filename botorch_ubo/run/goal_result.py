"""What a run with constraints or several objectives found: the front, and how it came about."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from botorch.models.model import Model
from botorch.utils.multi_objective import infer_reference_point, is_non_dominated
from botorch.utils.multi_objective.hypervolume import Hypervolume
from torch import Tensor

from botorch_ubo.controller import ExpandingBounds
from botorch_ubo.records import ExpansionRecord
from botorch_ubo.records.display import as_table
from botorch_ubo.run.goals import RunGoal
from botorch_ubo.run.ledger import Ledger
from botorch_ubo.run.named import with_params
from botorch_ubo.run.trials import FAILED, Trial
from botorch_ubo.spaces.display import show_box, show_point


@dataclass(frozen=True, kw_only=True)
class GoalResult:
    """The outcome of a run with constraints or several objectives, finished or still going."""

    front_X: Tensor
    """``r x d``: the feasible points that no other feasible one beats; with one objective, the best
    of them. Empty while none is feasible."""
    front_Y: Tensor
    """``r x m`` outcomes of these: objectives, then constraints, in the user's own sign."""
    recommended_X: Tensor
    """``r' x d``: the same by posterior means and probabilities, which under noise are to be
    trusted; while no point is probably feasible, the one most likely to be."""
    hypervolume: Tensor
    """``n`` hypervolumes of the front after each evaluation, beyond ``reference_point``; with one
    objective, the best feasible value so far (NaN before there is one)."""
    reference_point: Tensor | None
    """``k`` values, in the user's own sign, as BoTorch infers them from the last front."""
    feasible: Tensor
    """``n`` booleans: which evaluations met all constraints."""
    X: Tensor
    """``n x d`` completed evaluations, in the order in which they came in."""
    Y: Tensor
    """``n x m`` outcomes."""
    goal: RunGoal
    trials: tuple[Trial, ...]
    """All trials, failed and pending ones included."""
    expansions: tuple[ExpansionRecord, ...]
    """Moves of the box with their reasons, and those that `on_expand` refused."""
    initial_bounds: Tensor
    bounds: Tensor
    hard_limits: Tensor
    box: ExpandingBounds = field(repr=False, compare=False)
    stopped_because: str

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the run as one HTML page; see :func:`botorch_ubo.run.page.write_page`."""
        from botorch_ubo.run.page import write_page  # which looks at results

        return write_page(self, path)

    def __str__(self) -> str:
        """A few lines for a person."""
        failed = sum(trial.status == FAILED for trial in self.trials)
        moves = sum(record.moved for record in self.expansions)
        after = f"after {len(self.Y)} evaluations"
        after += f" and {failed} failure{'s' * (failed > 1)}" if failed else ""
        return "\n".join(
            [
                f"{self._found()}{',' * (self.goal.num_objectives > 1)} {after}",
                f"stopped because {self.stopped_because}; the box moved {moves} "
                f"time{'s' * (moves != 1)}",
            ]
        )

    def __repr__(self) -> str:
        """One line; ``print`` tells more."""
        return f"GoalResult({self._found()} after {len(self.Y)} evaluations)"

    def _repr_html_(self) -> str:
        """A small table for a notebook."""
        space = self.box.settings.space
        failed = sum(trial.status == FAILED for trial in self.trials)
        feasible = int(self.feasible.sum())
        rows = [
            ("found", self._found()),
            ("evaluations", f"{len(self.Y)}, {feasible} feasible, and {failed} that failed"),
            ("first box", show_box(space, self.initial_bounds.tolist())),
            ("last box", show_box(space, self.bounds.tolist())),
            ("stopped because", self.stopped_because),
        ]
        return as_table("Result", rows)

    def _found(self) -> str:
        if not len(self.front_X):
            return "no feasible point"
        if self.goal.num_objectives > 1:
            return f"a front of {len(self.front_X)} points, hypervolume {self.hypervolume[-1]:.6g}"
        told = show_point(self.box.settings.space, self.front_X[0].tolist())
        return f"best feasible value {self.front_Y[0, 0]:.6g} at {told}"


def summarize_goal(
    box: ExpandingBounds, model: Model, ledger: Ledger, goal: RunGoal, stopped_because: str
) -> GoalResult:
    r"""Put together the result of a run with constraints or several objectives.

    Args:
        box: The controller.
        model: The model, fitted to the ledger's completed trials.
        ledger: All trials.
        goal: What was sought.
        stopped_because: Why the run ended.

    Returns:
        The result.
    """
    X, Y, _ = ledger.data()
    values, feasible = goal.objectives(Y), goal.feasible(Y)
    front = front_of(values, feasible)
    reference = None
    if goal.num_objectives > 1 and len(front):
        reference = infer_reference_point(values[front])
    view = box.context(model).view
    signs = goal.objectives(torch.ones(goal.num_outcomes, dtype=torch.double))
    return GoalResult(
        front_X=X[front],
        front_Y=Y[front],
        recommended_X=view.X_raw[view.incumbents].cpu(),
        hypervolume=over_time(values, feasible, reference, signs),
        reference_point=None if reference is None else reference * signs,
        feasible=feasible,
        X=X,
        Y=Y,
        goal=goal,
        trials=with_params(box.settings.space, ledger.trials),
        expansions=tuple(record for record in box.history if record.notable),
        initial_bounds=box.initial_bounds,
        bounds=box.bounds,
        hard_limits=box.settings.hard_limits,
        box=box,
        stopped_because=stopped_because,
    )


def front_of(values: Tensor, feasible: Tensor) -> Tensor:
    """Indices of the feasible points that are not dominated, each value once."""
    index = feasible.nonzero().squeeze(-1)
    if values.shape[-1] == 1:
        return index[values[index, 0].argmax()].reshape(1) if len(index) else index
    return index[is_non_dominated(values[index])]


def over_time(
    values: Tensor,
    feasible: Tensor,
    reference: Tensor | None,
    signs: Tensor,
    counts: Sequence[int] | None = None,
) -> Tensor:
    r"""Hypervolumes, or of one objective the best feasible values in the user's own sign.

    Args:
        values: ``n x k`` objectives of which the larger are the better.
        feasible: ``n`` booleans.
        reference: ``k`` values beyond which volumes are counted; ``None`` before there is a front.
        signs: ``k`` signs that lead to the user's.
        counts: After how many evaluations to compute a hypervolume; after each by default.

    Returns:
        As many numbers as there are counts; of one objective ``n``, NaN before a feasible one.
    """
    if values.shape[-1] == 1:
        best = torch.where(feasible, values[:, 0], -torch.inf).cummax(dim=0).values
        return torch.where(best.isfinite(), best * signs[0], torch.nan)
    counts = range(1, len(values) + 1) if counts is None else counts
    if reference is None:
        return torch.zeros(len(counts), dtype=torch.double)
    volume = Hypervolume(reference)
    found = []
    for n in counts:
        front = values[front_of(values[:n], feasible[:n])]
        found.append(volume.compute(front) if len(front) else 0.0)
    return torch.tensor(found, dtype=torch.double)
