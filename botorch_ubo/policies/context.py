r"""What a policy may look at at one step: the model's view, and the run's state.

Triggers, strategies and acquisition factories get a :class:`Context` and hold nothing themselves.
Points, boxes and lengths are in the model's space, values in its own units and such that large is
good: a policy does not see the user's units or sign.
"""

from __future__ import annotations

from functools import cached_property

import torch
from botorch.models.model import Model
from torch import Tensor

from botorch_ubo.boxes import cast_inward, clip
from botorch_ubo.compat.deprecated import moved_names
from botorch_ubo.models.space import box_to_model_space, from_model_space
from botorch_ubo.policies.confidence import Confidence
from botorch_ubo.policies.state import BoxState, Settings
from botorch_ubo.policies.view import ModelView

_MAX_SEED = 2**62  # of which a search adds a few


class Context:
    """A fitted model in the light of the controller's state."""

    def __init__(self, view: ModelView, state: BoxState, settings: Settings) -> None:
        r"""A fitted model in the light of the controller's state.

        Args:
            view: The model's view.
            state: The controller's state.
            settings: The controller's settings.
        """
        self.view = view
        self.state = state
        self.settings = settings

    def with_state(self, state: BoxState) -> Context:
        """The same model in the light of another state."""
        return Context(self.view, state, self.settings)

    @property
    def model(self) -> Model:
        """The fitted model, in its own units."""
        return self.view.model

    @property
    def X(self) -> Tensor:
        """``n x d`` training inputs in the model's space, in double."""
        return self.view.X

    @property
    def X_in_sight(self) -> Tensor:
        """Those of them that are not out of sight of the others (``m x d``)."""
        return self.view.X[self.view.in_sight]

    @property
    def values(self) -> Tensor:
        """``n`` posterior means at the data; large is good."""
        return self.view.values

    @property
    def observed(self) -> Tensor:
        """``n`` observed values; large is good."""
        return self.view.observed

    @property
    def incumbent(self) -> int:
        """Index of the evaluated point with the best posterior mean."""
        return self.view.incumbent

    @property
    def best_observed(self) -> int:
        """Index of the best observation."""
        return self.view.best_observed

    @property
    def X_leading(self) -> Tensor:
        """``n' x d`` points of the model's space that the box may follow, as :attr:`X`.

        All, unless there are constraints (those that are probably feasible, if any is) or several
        objectives (the initial points, and those that were at the front when they came).
        """
        leading = self.view.leading & self.view.in_sight
        if leading.all():
            return self.X
        if self.view.is_multi:
            leading[: self.num_initial] = self.view.in_sight[: self.num_initial]
        return self.X[leading]

    @property
    def lengthscales(self) -> Tensor:
        """``d``-dim, in the model's space."""
        return self.view.lengthscales

    @property
    def n(self) -> int:
        """Number of observations."""
        return self.view.X_raw.shape[0]

    @property
    def d(self) -> int:
        """Number of dimensions."""
        return self.view.X_raw.shape[1]

    @property
    def num_initial(self) -> int:
        """Observations before the first step of the run."""
        return self.n if self.state.num_initial is None else self.state.num_initial

    @property
    def t(self) -> int:
        """Step of the run, counted from 1 at the first update."""
        return max(1, self.n - self.num_initial + 1)

    @property
    def t_local(self) -> int:
        """Step since the box last moved, counted from 1."""
        if self.state.num_initial is None:
            return 1
        return max(1, self.n - self.state.num_at_expansion + 1)

    @property
    def seed(self) -> int:
        """A seed for this step, the same each time it is asked for."""
        return (self.settings.seed + 1009 * self.n) % _MAX_SEED

    @property
    def unit(self) -> float:
        """Unit of the outcomes, in which slack and (unless raw) epsilon are given."""
        return self.view.range if self.settings.epsilon_unit == "range" else self.view.spread

    @property
    def epsilon(self) -> float:
        """The accuracy in the model's units."""
        if self.settings.epsilon_unit == "raw":
            return self.settings.epsilon / self.view.units.scale
        return self.settings.epsilon * self.unit

    @property
    def first_box(self) -> Tensor:
        """The user's ``2 x d`` box in the model's space, in double on the model's device."""
        return self.view.first_box

    @cached_property
    def box(self) -> Tensor:
        """The current ``2 x d`` box in the model's space, likewise."""
        return self.to_model(self.state.bounds)

    @property
    def search_boxes(self) -> Tensor:
        """``b x 2 x d`` (or ``2 x d``) raw boxes to search, in the model's dtype and device."""
        boxes = self.state.bounds if self.state.boxes is None else self.state.boxes
        like = self.view.like
        if boxes.dim() == 2:
            return cast_inward(boxes, like)
        return torch.stack([cast_inward(box, like) for box in boxes])

    @cached_property
    def confidence(self) -> Confidence:
        """Confidence bounds of this step, for those who use them."""
        # Of a twin: a circle of both would keep the model's matrices until the collector comes.
        return Confidence(self.with_state(self.state))

    def to_model(self, box: Tensor) -> Tensor:
        """Map a raw box (``... x 2 x d``) to the model's space, in double on its device."""
        return box_to_model_space(self.model, box.to(self.X))

    def to_raw(self, X: Tensor) -> Tensor:
        """Map points or boxes (``... x d``) of the model's space to raw units."""
        return from_model_space(self.model, X)

    def within_limits(self, box: Tensor) -> Tensor:
        """Cut a box of the model's space to the hard limits."""
        return self.to_model(clip(self.to_raw(box).cpu(), self.settings.hard_limits))


__getattr__ = moved_names(
    __name__,
    {
        "StepRecord": "botorch_ubo.records.StepRecord",
        "training_inputs": "botorch_ubo.models.training_data.training_inputs",
    },
)
