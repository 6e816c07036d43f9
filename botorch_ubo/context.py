r"""What a policy may look at: a fitted model and the controller's state, read-only.

Triggers, strategies and acquisition factories get a :class:`Context` and hold nothing
themselves. Everything derived from the posterior is computed at most once, and only if asked
for: a step whose trigger cannot fire does not pay for the regret bound.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import torch
from botorch.acquisition.objective import PosteriorTransform
from botorch.exceptions.errors import InputDataError
from gpytorch.models import ExactGP
from torch import Tensor

from botorch_ubo.acquisition.confidence import (
    LowerConfidenceBound,
    UnboundedUpperConfidenceBound,
    value_at_infinity,
)
from botorch_ubo.beta import BetaSchedule
from botorch_ubo.boxes import cast_inward, to_model_space
from botorch_ubo.candidates import Neighborhood, SearchSettings, maximize_acquisition
from botorch_ubo.posterior import PosteriorSummary, summarize_posterior
from botorch_ubo.radius import Radius, check_epsilon, theorem_radius
from botorch_ubo.records import Certificate, ExpansionRecord


@dataclass(frozen=True)
class StepRecord:
    """The quantities of one step, moved box or not, in raw units."""

    num_observations: int
    epsilon: float
    beta: float
    regret_bound: float | None
    """``None`` where nothing asked for it, as when the slack alone exceeds epsilon."""

    @classmethod
    def of(cls, context: Context) -> StepRecord:
        """Read them off a context."""
        return cls(context.n, context.epsilon, context.beta, context.known_regret_bound)


@dataclass(frozen=True)
class BoxState:
    """The state of a controller. Boxes are double tensors on the CPU, in raw units."""

    initial_bounds: Tensor
    bounds: Tensor
    boxes: Tensor | None = None
    """``b x 2 x d``: where to search, if that is not all of ``bounds``."""
    num_initial: int | None = None
    """Observations at the first update; ``None`` before it."""
    num_at_expansion: int = 0
    num_observed: int = 0
    fingerprint: str = ""
    """Of the data of the last update: an update with the same data changes nothing."""
    memory: Mapping[str, float] = field(default_factory=dict)
    """What the strategy asked to be handed back at its next step."""
    history: tuple[ExpansionRecord, ...] = ()
    trace: tuple[StepRecord, ...] = ()
    certificate: Certificate | None = None


@dataclass(frozen=True)
class Settings:
    """What stays the same throughout a run."""

    epsilon: float
    epsilon_unit: str
    beta: BetaSchedule
    hard_limits: Tensor
    max_growth: float
    maximize: bool
    posterior_transform: PosteriorTransform | None
    seed: int
    search: SearchSettings


class Context:
    """A fitted model in the light of the controller's state."""

    def __init__(self, model: ExactGP, state: BoxState, settings: Settings) -> None:
        r"""A fitted model in the light of the controller's state.

        Args:
            model: A fitted exact GP.
            state: The controller's state.
            settings: The controller's settings.
        """
        self.model = model
        self.state = state
        self.settings = settings

    def moved(self, state: BoxState) -> Context:
        """The same model in the light of another state; what depends on the model alone is kept."""
        context = Context(self.model, state, self.settings)
        kept = ("X", "summary", "unit", "mean_at_data")
        context.__dict__.update({key: self.__dict__[key] for key in kept if key in self.__dict__})
        return context

    @cached_property
    def X(self) -> Tensor:
        """``n x d`` training inputs in raw units."""
        return training_inputs(self.model)

    @property
    def Y(self) -> Tensor:
        """``n``-dim observed objective in raw units, in its own sign."""
        return self.summary.Y

    @property
    def n(self) -> int:
        """Number of observations."""
        return self.X.shape[0]

    @property
    def t(self) -> int:
        """Step of the run, counted from 1 at the first update."""
        start = self.state.num_initial
        return 1 if start is None else max(1, self.n - start + 1)

    @property
    def t_local(self) -> int:
        """Step since the box last moved, counted from 1."""
        if self.state.num_initial is None:
            return 1
        return max(1, self.n - self.state.num_at_expansion + 1)

    @property
    def notable(self) -> float:
        """An improvement that counts: more than epsilon, and than what noise makes of nothing."""
        return self.epsilon + self.summary.noise_std

    @property
    def stalled(self) -> int:
        """Evaluations of the run since a value about as good as the best was first seen."""
        values = self.mean_at_data if self.settings.maximize else -self.mean_at_data
        first = int((values >= values.max() - self.notable).nonzero()[0])
        return min(self.n - 1 - first, self.t - 1)

    @property
    def seed(self) -> int:
        """A seed for this step, the same each time it is asked for."""
        return self.settings.seed + 1009 * self.n

    @cached_property
    def summary(self) -> PosteriorSummary:
        """The posterior as the theorem sees it."""
        return summarize_posterior(self.model, self.settings.posterior_transform)

    @cached_property
    def unit(self) -> float:
        """Unit of the outcomes, in which slack and (unless raw) epsilon are given."""
        if self.settings.epsilon_unit == "range":
            return self.summary.Y_range or 1.0
        return self.summary.Y_std

    @property
    def epsilon(self) -> float:
        """The accuracy in raw units."""
        raw = self.settings.epsilon_unit == "raw"
        return self.settings.epsilon * (1.0 if raw else self.unit)

    @property
    def slack(self) -> float:
        """``1 / t_local^2`` of Proposition 5.1, in raw units."""
        return self.unit / self.t_local**2

    @cached_property
    def model_bounds(self) -> Tensor:
        """The current box in the model's input space (double, on the model's device)."""
        return self.to_model(self.state.bounds)

    def to_model(self, box: Tensor) -> Tensor:
        """Map a box in raw units to the model's input space, in double on its device."""
        mapped = to_model_space(self.model, box.to(self.summary.X)).reshape(box.shape)
        if not mapped.isfinite().all():
            raise InputDataError(
                f"Expected a box within the domain of the model's input transform; {box.tolist()} "
                f"maps to {mapped.tolist()}. A Log10 transform needs positive bounds: set "
                "`hard_limits` with a positive lower limit."
            )
        return mapped

    def beta_in(self, model_box: Tensor, t: int) -> float:
        """``beta`` of step ``t`` in a box given in the model's input space."""
        return self.settings.beta(t, model_box[1] - model_box[0], self.summary)

    @cached_property
    def beta(self) -> float:
        """``beta`` of this step in the current box."""
        beta = self.beta_in(self.model_bounds, self.t_local)
        check_epsilon(self.epsilon, beta**0.5, float(self.summary.sigma_at_infinity.min()))
        return beta

    @cached_property
    def radius(self) -> Radius:
        """Theorem 4.1's radius at this step."""
        return theorem_radius(self.summary, self.epsilon, self.beta)

    @property
    def neighborhood(self) -> Neighborhood:
        """The data and their reach, for placing the starts of an optimisation."""
        return Neighborhood(self.model, self.summary.X, self.radius)

    @cached_property
    def ucb(self) -> UnboundedUpperConfidenceBound:
        """The upper confidence bound of this step."""
        settings = self.settings
        return UnboundedUpperConfidenceBound(
            self.model, self.beta, settings.posterior_transform, settings.maximize
        )

    @cached_property
    def lcb(self) -> LowerConfidenceBound:
        """The lower confidence bound of this step."""
        settings = self.settings
        return LowerConfidenceBound(
            self.model, self.beta, settings.posterior_transform, settings.maximize
        )

    @cached_property
    def ucb_at_infinity(self) -> float:
        """Limit of the upper confidence bound (Proposition 4.1)."""
        return float(value_at_infinity(self.summary, self.beta, self.settings.maximize))

    @cached_property
    def lcb_at_data(self) -> Tensor:
        """``n``-dim lower confidence bounds of the evaluated points."""
        with torch.no_grad():
            return self.lcb(self.X.unsqueeze(-2))

    @cached_property
    def ucb_at_data(self) -> Tensor:
        """``n``-dim upper confidence bounds of the evaluated points."""
        with torch.no_grad():
            return self.ucb(self.X.unsqueeze(-2))

    @cached_property
    def ucb_maximizer(self) -> tuple[Tensor, float]:
        """The ``1 x d`` maximiser of the upper confidence bound in the search region."""
        X, value = maximize_acquisition(
            self.ucb, self.search_boxes, self.neighborhood, seed=self.seed,
            settings=self.settings.search,
        )  # fmt: skip
        return X, float(value)

    @property
    def search_boxes(self) -> Tensor:
        """``b x 2 x d`` (or ``2 x d``) boxes to search, in the model's dtype and device."""
        boxes = self.state.bounds if self.state.boxes is None else self.state.boxes
        like = self.model.train_targets
        if boxes.dim() == 2:
            return cast_inward(boxes, like)
        return torch.stack([cast_inward(box, like) for box in boxes])

    @cached_property
    def regret_bound(self) -> float:
        """``max UCB - max LCB + 1/t^2`` (Section 4), over the box and the evaluated points."""
        return self.ucb_maximizer[1] - float(self.lcb_at_data.max()) + self.slack

    @property
    def known_regret_bound(self) -> float | None:
        """The regret bound if something asked for it at this step, else ``None``."""
        return self.__dict__.get("regret_bound")

    @cached_property
    def mean_at_data(self) -> Tensor:
        """``n``-dim posterior means of the evaluated points, in raw units and their own sign."""
        with torch.no_grad():
            posterior = self.model.posterior(
                self.X.unsqueeze(-2), posterior_transform=self.settings.posterior_transform
            )
            # ``n x 1 x 1``, or ``n x S x 1 x 1`` of an ensemble, whose members are averaged.
            return posterior.mean.reshape(self.n, -1).mean(dim=-1)

    @property
    def believed_best(self) -> int:
        """Index of the evaluated point with the best posterior mean; the luckiest is another."""
        mean = self.mean_at_data
        return int(mean.argmax() if self.settings.maximize else mean.argmin())

    @property
    def incumbent(self) -> int:
        """Index of the best observation."""
        return int(self.Y.argmax() if self.settings.maximize else self.Y.argmin())


def training_inputs(model: ExactGP) -> Tensor:
    """``n x d`` training inputs of a model in evaluation mode, in raw units."""
    original = getattr(model, "_original_train_inputs", None)
    X: Tensor = model.train_inputs[0] if original is None else original
    # BoTorch leaves them behind when a model is moved.
    return X.reshape(-1, *X.shape[-2:])[0].detach().to(model.train_targets)


def fingerprint(*tensors: Tensor) -> str:
    """A digest of the exact values of some tensors."""
    digest = hashlib.sha256()
    for tensor in tensors:
        digest.update(str(tuple(tensor.shape)).encode())
        digest.update(tensor.detach().to("cpu", torch.double).contiguous().numpy().tobytes())
    return digest.hexdigest()
