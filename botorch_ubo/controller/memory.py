"""What a controller remembers, as a user may look at it, save it and take it back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.boxes import HardLimits, cast_inward, parse_hard_limits
from botorch_ubo.controller.limits import limit, widest
from botorch_ubo.controller.saved_state import state_from_dict, state_to_dict
from botorch_ubo.policies.state import BoxState, Settings
from botorch_ubo.records import Certificate, ExpansionRecord, LimitsRecord, StepRecord
from botorch_ubo.records.display import as_table
from botorch_ubo.spaces.display import show_box


class BoxWithMemory:
    """The state of a controller, frozen and replaced as a whole, and its settings."""

    def __init__(self, name: str, settings: Settings, bounds: Tensor) -> None:
        r"""A state that has not begun.

        Args:
            name: Of the method.
            settings: What stays the same, but for the hard limits.
            bounds: The first ``2 x d`` box, whose dtype and device are the user's.
        """
        initial = bounds.to("cpu", torch.double)
        self.settings = settings
        self._name = name
        self._first_limits = settings.hard_limits
        self._like = torch.empty(0, dtype=bounds.dtype, device=bounds.device)
        self._state = BoxState(initial_bounds=initial, bounds=initial)

    def __repr__(self) -> str:
        """One line."""
        return f"ExpandingBounds({'; '.join(value for _, value in self._describe())})"

    def _repr_html_(self) -> str:
        """A small table for a notebook."""
        return as_table("ExpandingBounds", self._describe())

    def _describe(self) -> list[tuple[str, str]]:
        moves, state = sum(record.moved for record in self.history), self._state
        space = self.settings.space
        return [
            ("method", self._name),
            ("box", show_box(space, state.bounds.tolist())),
            ("first box", f"at first {show_box(space, state.initial_bounds.tolist())}"),
            ("moves", f"{moves} moves in {state.num_observed} evaluations"),
        ]

    @property
    def bounds(self) -> Tensor:
        """The current ``2 x d`` box, in the dtype and device of the first."""
        return cast_inward(self._state.bounds, self._like)

    @property
    def initial_bounds(self) -> Tensor:
        """The first ``2 x d`` box."""
        return self._state.initial_bounds.to(self._like, copy=True)

    @property
    def hard_limits(self) -> Tensor:
        """``2 x d`` limits, infinite on free sides."""
        return self.settings.hard_limits.to(self._like, copy=True)

    @hard_limits.setter
    def hard_limits(self, hard_limits: Any) -> None:
        raise AttributeError(
            f"Expected a change of the hard limits by `set_hard_limits({hard_limits!r})`, which "
            "records it and cuts the box."
        )

    @property
    def state(self) -> BoxState:
        """The state, frozen: :meth:`restore` brings it back."""
        return self._state

    @property
    def limits(self) -> tuple[LimitsRecord, ...]:
        """One record per change of the hard limits, oldest first."""
        return self._state.limits

    @property
    def data_limits(self) -> Tensor:
        """``2 x d``: the widest of all hard limits of the run, within which all data are."""
        return widest(self._first_limits, self._state.limits)

    @property
    def history(self) -> tuple[ExpansionRecord, ...]:
        """One record per move of the box, oldest first."""
        return self._state.history

    @property
    def trace(self) -> tuple[StepRecord, ...]:
        """One record per update, oldest first: epsilon and, where compared, the regret bound."""
        return self._state.trace

    @property
    def certificate(self) -> Certificate | None:
        """The latest box that was found exhausted, if any was."""
        return self._state.certificate

    def state_dict(self) -> dict[str, Any]:
        """The state as JSON values; settings are the constructor's and not part of it."""
        return state_to_dict(self._state)

    def restore(self, state: BoxState) -> None:
        """Go back to a :attr:`state` of this controller."""
        limits = state.limits[-1].tensor if state.limits else self._first_limits
        self.settings = replace(self.settings, hard_limits=limits)
        self._state = state

    def set_hard_limits(self, hard_limits: HardLimits) -> None:
        r"""Change the hard limits, wider or narrower, from the next proposal on.

        Data beyond narrower limits stay data. The box is cut to them, or moved if nothing of it
        would be left; :attr:`limits` remembers it.

        Args:
            hard_limits: All limits, not only those that change, in any form that the constructor
                takes.
        """
        limits = parse_hard_limits(hard_limits, self._state.bounds.shape[-1])
        self.restore(limit(self._state, self.settings.hard_limits, limits))

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        r"""Take over a state saved by :meth:`state_dict` from a controller with equal settings.

        Args:
            state_dict: The saved state.
        """
        state = state_from_dict(state_dict, self._first_limits)
        if state.initial_bounds.shape != self._state.initial_bounds.shape:
            raise InputDataError(
                f"Expected a state of {self._state.initial_bounds.shape[-1]} dimensions; got "
                f"{state.initial_bounds.shape[-1]}."
            )
        if state.limits and not any(
            torch.equal(limits, self._first_limits)
            for limits in (state.limits[0].old_tensor, state.limits[-1].tensor)
        ):
            raise InputDataError(
                "Expected the hard limits that the state began with, or those that it ends with "
                f"({state.limits[-1].hard_limits}); this controller has "
                f"{self._first_limits.tolist()}. Change them by `set_hard_limits`, afterwards."
            )
        self.restore(state)
