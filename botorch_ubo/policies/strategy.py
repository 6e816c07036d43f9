"""What a strategy is: a rule, without memory, that proposes where to search next."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from botorch.acquisition.acquisition import AcquisitionFunction
from torch import Tensor

from botorch_ubo.policies.context import Context


@dataclass(frozen=True)
class Proposal:
    """Where to search next, and why. The controller maps it to raw units and applies limits."""

    bounds: Tensor
    """``2 x d``, the box, in the model's space."""
    boxes: Tensor | None = None
    """``b x 2 x d``, if only these parts of the box are to be searched, together or in turn."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Reasons as JSON values, kept in the record of the expansion."""
    memory: Mapping[str, float] = field(default_factory=dict)
    """Numbers that the controller keeps and hands back in ``context.state.memory``."""


class Strategy(ABC):
    """A rule for where to move the box.

    A strategy holds parameters only. What it needs of the past is in the context: all data, the
    first and the current box, the records of past moves, and the ``memory`` of its last proposal.
    """

    nested: ClassVar[bool] = True
    """If True, the controller unites a proposal with the current box."""
    takes_turns: ClassVar[bool] = False
    """If True, the boxes of a proposal are searched in turn, one for each candidate of the run."""
    rebuildable: ClassVar[bool] = False
    """If True, proposals depend on the data, the first box and the step alone: neither on the
    current box nor on a memory. Such a box can be had from a record of trials."""

    @property
    def name(self) -> str:
        """How records refer to this strategy."""
        return type(self).__name__

    @abstractmethod
    def propose(self, context: Context) -> Proposal:
        r"""Propose a box.

        Args:
            context: The fitted model and the controller's state.

        Returns:
            The proposal.
        """

    def check(self, context: Context) -> None:  # noqa: B027  # most strategies take any model
        r"""Refuse a model that the strategy cannot use; asked at every step, before any change.

        Args:
            context: The fitted model and the controller's state.
        """

    def refine(self, context: Context, X: Tensor, acq_function: AcquisitionFunction) -> Tensor:
        r"""Replace the maximiser of an acquisition function by one just as good, if wanted.

        Args:
            context: The fitted model and the controller's state, after an expansion if any.
            X: ``q x d`` candidates, in raw units.
            acq_function: What they maximise in the search region.

        Returns:
            A ``q x d`` tensor.
        """
        return X
