"""What a run found, in the user's own sign and words."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from botorch.exceptions.errors import BotorchError, InputDataError
from gpytorch.models import ExactGP
from torch import Tensor

from botorch_ubo.controller import ExpandingBounds
from botorch_ubo.controller.certify import as_whole_box, certify
from botorch_ubo.controller.failures import failing_sides
from botorch_ubo.models.quick import SelectedGP
from botorch_ubo.records import Certificate, ExpansionRecord
from botorch_ubo.records.display import as_table
from botorch_ubo.run.advice import (
    advise,
    advise_flat,
    advise_noise,
    describe_failures,
    is_flat,
    may_be_noise,
)
from botorch_ubo.run.ledger import Ledger
from botorch_ubo.run.named import with_params
from botorch_ubo.run.trials import FAILED, Trial, as_tensor
from botorch_ubo.spaces.display import show_box, show_point

_NOISY = 0.01  # of the standard deviation of the values: noise above this is worth a word


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
    noise: float = 0.0
    """Standard deviation of the observation noise at the recommended point, by the model."""
    num_in_model: int | None = None
    """How many evaluations the model was conditioned on, where they were too many for all."""

    @property
    def is_noisy(self) -> bool:
        """Whether noise matters, so that the best observation is lucky rather than good."""
        if len(self.Y) < 2 or is_flat(self.Y):  # of equal values a model knows no noise
            return False
        return self.noise > _NOISY * float(self.Y.std())

    @property
    def failures(self) -> tuple[Trial, ...]:
        """Trials that failed."""
        return tuple(trial for trial in self.trials if trial.status == FAILED)

    @property
    def best_params(self) -> dict[str, Any]:
        """The point with the best observed value, by name."""
        return self._params(self.best_X)

    @property
    def recommended_params(self) -> dict[str, Any]:
        """The point with the best posterior mean, by name."""
        return self._params(self.recommended_X)

    def _params(self, point: tuple[float, ...]) -> dict[str, Any]:
        space = self.box.settings.space
        if space is None:
            raise InputDataError(
                "Expected a run whose parameters have names, as in `minimize(f, {'x': (0, 1)}, "
                "...)`; this one has `best_X`."
            )
        return space.decode(point)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the run as one HTML page; see :func:`botorch_ubo.run.page.write_page`."""
        from botorch_ubo.run.page import write_page  # which looks at results

        return write_page(self, path)

    def _show(self, point: Sequence[float]) -> str:
        return show_point(self.box.settings.space, point)

    def __str__(self) -> str:
        """A few lines for a person."""
        show = self._show
        count = f"after {len(self.Y)} evaluations"
        if self.failures:
            count += f" and {len(self.failures)} failure{'s' * (len(self.failures) > 1)}"
        moves = sum(record.moved for record in self.expansions)
        best = f"best value {self.best_value:.6g} at {show(self.best_X)}"
        lines = [f"{best} {count}"]
        if self.is_noisy:
            lines = [
                f"recommended {show(self.recommended_X)} with an expected value of "
                f"{self.recommended_value:.6g} {count}",
                f"noise has a standard deviation of {self.noise:.2g}: the observed {best} owes "
                "something to luck",
            ]
        lines += [
            f"stopped because {self.stopped_because}; the box moved {moves} "
            f"time{'s' * (moves != 1)}",
            f"advice: {self.advice}",
        ]
        if self.num_in_model is not None:
            lines.append(
                f"of {len(self.Y)} evaluations the last model was conditioned on the "
                f"{self.num_in_model} that matter most"
            )
        if self.failures:
            lines.append(f"failures: {describe_failures(self.failures)}")
        if self.certificate is not None:
            lines.append(f"certificate: {self.certificate}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        """One line; ``print`` tells more."""
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return (
            f"OptimizationResult(best_value={self.best_value:.6g}, "
            f"best_X={self._show(self.best_X)}, {len(self.Y)} evaluations{failed}, stopped "
            f"because {self.stopped_because})"
        )

    def _repr_html_(self) -> str:
        """A small table for a notebook."""
        rows = [
            ("best value", f"{self.best_value:.6g}"),
            ("at", self._show(self.best_X)),
            ("recommended", f"{self.recommended_value:.6g} at {self._show(self.recommended_X)}"),
            ("evaluations", f"{len(self.Y)}, and {len(self.failures)} that failed"),
            ("first box", show_box(self.box.settings.space, self.initial_bounds.tolist())),
            ("last box", show_box(self.box.settings.space, self.bounds.tolist())),
            ("stopped because", self.stopped_because),
            ("advice", self.advice),
        ]
        if self.is_noisy:
            rows = [rows[2], *rows[:2], ("noise", f"{self.noise:.2g}"), *rows[3:]]
        if self.failures:
            rows.append(("failures", describe_failures(self.failures)))
        if self.certificate is not None:
            rows.append(("certificate", str(self.certificate)))
        return as_table("Result", rows)


def summarize_run(
    box: ExpandingBounds,
    model: ExactGP | None,
    ledger: Ledger,
    stopped_because: str,
) -> OptimizationResult:
    r"""Put together the result of a run.

    Args:
        box: The controller.
        model: The model, fitted to the ledger's completed trials; ``None`` if there are none.
        ledger: All trials.
        stopped_because: Why the run ended.

    Returns:
        The result.
    """
    done = ledger.completed
    if model is None or not done:
        raise NoResultError(_no_result(ledger))
    X, Y, _ = ledger.data()
    context = as_whole_box(box.context(model))
    view, confidence = context.view, context.confidence
    sign = 1.0 if box.settings.maximize else -1.0
    best, recommended = int((sign * Y).argmax()), context.incumbent
    guaranteed = int(confidence.lcb_at_data.argmax())
    flat = is_flat(Y)
    held = failing_sides(X, as_tensor(ledger.failed) if ledger.failed else None)
    space = box.settings.space
    initial, bounds, limits = box.initial_bounds, box.bounds, box.settings.hard_limits
    if flat:
        advice = advise_flat(Y)
    elif may_be_noise(view):
        advice = advise_noise(Y)
    else:
        advice = advise(X, best, initial, bounds, limits, held, space)
    return OptimizationResult(
        best_X=done[best].X,
        best_value=float(Y[best]),
        recommended_X=tuple(view.X_raw[recommended].tolist()),
        recommended_value=view.to_raw_value(float(context.values[recommended])),
        guaranteed_X=tuple(view.X_raw[guaranteed].tolist()),
        guaranteed_value=view.to_raw_value(float(confidence.lcb_at_data[guaranteed])),
        regret_bound=view.to_raw_difference(confidence.regret_bound),
        # Of equal values a model is sure without having learned anything.
        certificate=None if flat else certify(context) or box.certificate,
        X=X,
        Y=Y.squeeze(-1),
        trials=with_params(space, ledger.trials),
        expansions=tuple(record for record in box.history if record.notable),
        initial_bounds=initial,
        bounds=bounds,
        hard_limits=limits,
        box=box,
        stopped_because=stopped_because,
        advice=advice,
        noise=_noise(model, X[recommended : recommended + 1]),
        num_in_model=len(model.selected) if isinstance(model, SelectedGP) else None,
    )


def _noise(model: ExactGP, X: Tensor) -> float:
    """The standard deviation of an observation's noise at a point (``1 x d``)."""
    with torch.no_grad():
        variances = [
            float(model.posterior(X, observation_noise=noise).variance) for noise in (True, False)
        ]
    return max(0.0, variances[0] - variances[1]) ** 0.5


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
