"""What a run found, in the user's own sign and words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from botorch.exceptions.errors import BotorchError
from gpytorch.models import ExactGP
from torch import Tensor

from botorch_ubo.advice import advise
from botorch_ubo.controller import ExpandingBounds
from botorch_ubo.expansion import certify, whole_box
from botorch_ubo.ledger import Ledger
from botorch_ubo.records import Certificate, ExpansionRecord, Side
from botorch_ubo.trials import FAILED, Trial


class NoResultError(BotorchError):
    """No evaluation has succeeded, so that there is nothing to choose from."""


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
    regret_bound: float
    """How much better than that bound a point of the last box may be, as far as the model goes."""
    certificate: Certificate | None
    """The latest box that was found exhausted to the accuracy epsilon, if any was."""
    X: Tensor
    """``n x d`` completed evaluations, in the order in which they came in."""
    Y: Tensor
    """``n`` outcomes."""
    trials: tuple[Trial, ...]
    """All trials, failed and pending ones included."""
    expansions: tuple[ExpansionRecord, ...]
    """Moves of the box with their reasons, and those that `on_expand` refused."""
    initial_bounds: Tensor
    bounds: Tensor
    hard_limits: Tensor
    box: ExpandingBounds = field(repr=False, compare=False)
    """The controller, for :mod:`botorch_ubo.plotting`: ``plot_boxes(result.box, result.X)``."""
    stopped_because: str
    advice: str

    def __str__(self) -> str:
        """A few lines for a person."""
        point = ", ".join(f"{x:.6g}" for x in self.best_X)
        failed = sum(trial.status == FAILED for trial in self.trials)
        moves = sum(record.moved for record in self.expansions)
        lines = [
            f"best value {self.best_value:.6g} at ({point}) after {len(self.Y)} evaluations"
            + (f" and {failed} failure{'s' * (failed > 1)}" if failed else ""),
            f"stopped because {self.stopped_because}; the box moved {moves} "
            f"time{'s' * (moves != 1)}",
            f"advice: {self.advice}",
        ]
        if self.certificate is not None:
            lines.append(f"certificate: {self.certificate}")
        return "\n".join(lines)


def summarize_run(
    box: ExpandingBounds,
    model: ExactGP | None,
    ledger: Ledger,
    stopped_because: str,
    held: Collection[Side] = (),
) -> OptimizationResult:
    r"""Put together the result of a run.

    Args:
        box: The controller.
        model: The model, fitted to the ledger's completed trials; ``None`` if there are none.
        ledger: All trials.
        stopped_because: Why the run ended.
        held: Sides beyond which evaluations keep failing.

    Returns:
        The result.
    """
    done = ledger.completed
    if model is None or not done:
        raise NoResultError(_no_result(ledger))
    X, Y, _ = ledger.data()
    context = whole_box(box.context(model))
    sign = 1.0 if box.settings.maximize else -1.0
    best, recommended = int((sign * Y).argmax()), context.believed_best
    guaranteed = int(context.lcb_at_data.argmax())
    initial, bounds, limits = box.initial_bounds, box.bounds, box.settings.hard_limits
    return OptimizationResult(
        best_X=done[best].X,
        best_value=float(Y[best]),
        recommended_X=done[recommended].X,
        recommended_value=float(context.mean_at_data[recommended]),
        guaranteed_X=done[guaranteed].X,
        guaranteed_value=sign * float(context.lcb_at_data[guaranteed]),
        regret_bound=context.regret_bound,
        certificate=certify(context) or box.certificate,
        X=X,
        Y=Y.squeeze(-1),
        trials=ledger.trials,
        expansions=tuple(record for record in box.history if record.notable),
        initial_bounds=initial,
        bounds=bounds,
        hard_limits=limits,
        box=box,
        stopped_because=stopped_because,
        advice=advise(X, best, initial, bounds, limits, held),
    )


def _no_result(ledger: Ledger) -> str:
    """Why there is nothing to report."""
    if not ledger.failed:
        return (
            f"Expected an evaluation with a value; there is none yet, and {len(ledger.pending)} "
            "are pending. Hand results in with `tell`."
        )
    reasons = Counter(trial.reason for trial in ledger.failed).most_common(3)
    told = "; ".join(f"{count} times {reason!r}" for reason, count in reasons)
    return (
        f"Expected an evaluation that succeeds; all {len(ledger.failed)} failed so far: {told}. "
        "Try the objective on a point of the box by hand: does it take the input it is given (see "
        "`input_type`), and is it finite there?"
    )
