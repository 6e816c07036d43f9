"""What a strategy is: a rule, without memory, that proposes where to search next."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from torch import Tensor

from botorch_ubo.context import Context


@dataclass(frozen=True)
class Proposal:
    """Where to search next, and why, in raw units. The controller applies the limits."""

    bounds: Tensor
    """``2 x d``, the box."""
    boxes: Tensor | None = None
    """``b x 2 x d``, if only these parts of the box are to be searched."""
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

    def refine(self, context: Context, X: Tensor) -> Tensor:
        r"""Replace the maximiser of the upper confidence bound by one just as good, if wanted.

        Args:
            context: The fitted model and the controller's state, after an expansion if any.
            X: The ``1 x d`` maximiser in the search region.

        Returns:
            A ``1 x d`` tensor.
        """
        return X
