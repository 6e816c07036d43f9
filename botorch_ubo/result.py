"""What a run found, in the user's own sign and words."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from gpytorch.models import ExactGP
from torch import Tensor

from botorch_ubo.boxes import contains, hull
from botorch_ubo.controller import ExpandingBounds
from botorch_ubo.ledger import Ledger
from botorch_ubo.records import Certificate, ExpansionRecord
from botorch_ubo.trials import FAILED, Trial

_NEAR = 0.01  # of a side: closer than this to a hard limit counts as being at it
_LATE = 0.8  # of the evaluations: a best point found after this, further out, is still on its way


@dataclass(frozen=True, kw_only=True)
class OptimizationResult:
    """The outcome of a run, whether finished or still going."""

    best_X: tuple[float, ...]
    """The evaluated point with the best observed value."""
    best_value: float
    recommended_X: tuple[float, ...]
    """The evaluated point with the best posterior mean: under noise, the one to choose."""
    recommended_value: float
    """Its posterior mean."""
    guaranteed_X: tuple[float, ...]
    """The evaluated point whose pessimistic confidence bound is best."""
    guaranteed_value: float
    """That bound: a value that the point reaches as far as the model's confidence goes."""
    certificate: Certificate | None
    X: Tensor
    """``n x d`` completed evaluations, in the order in which they came in."""
    Y: Tensor
    """``n`` outcomes."""
    trials: tuple[Trial, ...]
    """All trials, failed and pending ones included."""
    expansions: tuple[ExpansionRecord, ...]
    initial_bounds: Tensor
    bounds: Tensor
    hard_limits: Tensor
    stopped_because: str
    advice: str

    def __str__(self) -> str:
        """A few lines for a person."""
        point = ", ".join(f"{x:.6g}" for x in self.best_X)
        failed = sum(trial.status == FAILED for trial in self.trials)
        lines = [
            f"best value {self.best_value:.6g} at ({point}) after {len(self.Y)} evaluations"
            + (f" and {failed} failures" if failed else ""),
            f"stopped because {self.stopped_because}; {len(self.expansions)} moves of the box",
            f"advice: {self.advice}",
        ]
        if self.certificate is not None:
            lines.append(f"certificate: {self.certificate}")
        return "\n".join(lines)


def summarize_run(
    box: ExpandingBounds, model: ExactGP, ledger: Ledger, stopped_because: str
) -> OptimizationResult:
    r"""Put together the result of a run.

    Args:
        box: The controller.
        model: The model, fitted to the ledger's completed trials.
        ledger: All trials.
        stopped_because: Why the run ended.

    Returns:
        The result.
    """
    done = ledger.completed
    X, Y, _ = ledger.data()
    context = box.context(model)
    with torch.no_grad():
        mean = model.posterior(X).mean.squeeze(-1)
    sign = 1.0 if box.settings.maximize else -1.0
    best, recommended = int((sign * Y).argmax()), int((sign * mean).argmax())
    guaranteed = int(context.lcb_at_data.argmax())
    initial, bounds, limits = box.initial_bounds, box.bounds, box.settings.hard_limits
    return OptimizationResult(
        best_X=done[best].X,
        best_value=float(Y[best]),
        recommended_X=done[recommended].X,
        recommended_value=float(mean[recommended]),
        guaranteed_X=done[guaranteed].X,
        guaranteed_value=sign * float(context.lcb_at_data[guaranteed]),
        certificate=box.certificate,
        X=X,
        Y=Y.squeeze(-1),
        trials=ledger.trials,
        expansions=box.history,
        initial_bounds=initial,
        bounds=bounds,
        hard_limits=limits,
        stopped_because=stopped_because,
        advice=advise(X, best, initial, bounds, limits),
    )


def advise(
    X: Tensor,
    best: int,
    initial_bounds: Tensor,
    bounds: Tensor,
    limits: Tensor,
) -> str:
    r"""Say in words what the run tells about the box.

    Args:
        X: ``n x d`` evaluations in the order in which they came in.
        best: Index of the best.
        initial_bounds: The user's ``2 x d`` box.
        bounds: The last ``2 x d`` box.
        limits: ``2 x d`` hard limits.

    Returns:
        One or more sentences.
    """
    point = X[best]
    near = _NEAR * (bounds[1] - bounds[0])
    at_limit = [
        f"stopped by the hard limit on dimension {dim}, {name} side: relax it if it is not physical"
        for row, name in enumerate(("lower", "upper"))
        for dim in ((point - limits[row]).abs() <= near).nonzero().flatten().tolist()
    ]
    outside = ((point < initial_bounds[0]) | (point > initial_bounds[1])).nonzero().flatten()
    at_edge = ((point - bounds).abs() <= near).any() and not at_limit
    late = best >= _LATE * len(X)
    further = late and not contains(hull(initial_bounds, X[: int(_LATE * len(X))]), point)
    if outside.numel():
        where = "your box was too small: the best point lies outside it in dimension(s) "
        sentences = [where + f"{outside.tolist()}", *at_limit]
    elif at_edge:
        sentences = ["the best point lies on the edge of the box: let it grow"]
    else:
        sentences = at_limit or ["your box was enough: the best point lies in it"]
    if outside.numel() and (at_edge or further):
        sentences.append("still expanding when the budget ended: more evaluations may pay")
    return "; ".join(sentences)
