r"""A method: a strategy, a trigger, a schedule and acquisition functions under one name.

Example:
    >>> box = ExpandingBounds(bounds, method="HuBO-EI")
    >>> mine = replace(get_method("EI-UBO"), name="Mine", strategy=MyBox())
    >>> box = ExpandingBounds(bounds, method=mine)
    >>> register_method(mine)  # and everything that takes a method by name knows it
"""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from botorch.exceptions.errors import InputDataError
from torch import Tensor

from botorch_ubo.policies.beta import BetaSchedule, TheoremBeta
from botorch_ubo.policies.calibrated_beta import CalibratedBeta
from botorch_ubo.policies.factories import AcquisitionFactory
from botorch_ubo.policies.state import EpsilonUnit
from botorch_ubo.policies.strategy import Strategy
from botorch_ubo.policies.triggers import Always, Never, Trigger

if TYPE_CHECKING:
    from botorch_ubo.controller.expanding_bounds import ExpandingBounds

DEFAULT_METHOD = "EI-Turns"
"""The name of the method of whoever names none."""

BetaName = Literal["theorem", "scaled", "calibrated"]
"""Of a schedule: Theorem 5.1's, that of the paper's experiments, and the measured one."""

_SCHEDULES: dict[str, BetaSchedule] = {
    "theorem": TheoremBeta(scale=1.0),
    "scaled": TheoremBeta(),
    "calibrated": CalibratedBeta(),
}


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way to search an unknown space, as data."""

    name: str
    description: str = ""
    """One line."""
    citation: str = ""
    strategy: Strategy
    """Where to move the box."""
    trigger: Trigger
    """When to move it."""
    acquisition: AcquisitionFactory
    """From the context of a step to what :meth:`ExpandingBounds.suggest` maximises."""
    batch_acquisition: AcquisitionFactory | None = None
    """The same for several candidates or pending points; ``None`` if there is none."""
    constrained_acquisition: AcquisitionFactory | None = None
    """The same for an ``objective`` or ``constraints``, whatever the number of candidates."""
    multi_acquisition: AcquisitionFactory | None = None
    """The same for several objectives."""
    beta: BetaSchedule | BetaName = field(default_factory=TheoremBeta)
    """The schedule of those parts that use confidence bounds, and of certificates; ``"theorem"``,
    ``"scaled"`` (by 1/5) and ``"calibrated"`` are names of the package's."""
    epsilon_unit: EpsilonUnit = "std"
    """Unit of ``epsilon``: standard deviation or range of the observed outcomes, or their own."""
    max_growth: float = 10.0
    """How far a face may move at once, in sides of the box, unless the user says otherwise."""
    blind_limit: float = 20.0
    """Widest box, in sides of the first, while the outcomes show no structure: all equal, or
    nothing but noise as far as the model can tell. ``math.inf`` lifts it."""
    initial_span: float = 1.0
    """Sides of the box for initial points beyond the first ``d + 1``, in sides of the first box."""

    def __post_init__(self) -> None:
        """Validate."""
        parts = {
            "name": (self.name, str),
            "strategy": (self.strategy, Strategy),
            "trigger": (self.trigger, Trigger),
        }
        for name, (value, kind) in parts.items():
            if not isinstance(value, kind):
                raise InputDataError(
                    f"Expected `{name}` of a method to be a {kind.__name__}; got {value!r}. Pass "
                    "an instance, not a class or a name."
                )
        named = self.beta if isinstance(self.beta, str) else "scaled"
        if not isinstance(self.beta, BetaSchedule | str) or named not in _SCHEDULES:
            raise InputDataError(
                "Expected `beta` of a method to be a BetaSchedule or one of "
                f"{', '.join(map(repr, _SCHEDULES))}; got {self.beta!r}. A number is "
                "`ConstantBeta(number)`."
            )
        for factory in (
            self.acquisition,
            self.batch_acquisition,
            self.constrained_acquisition,
            self.multi_acquisition,
        ):
            if factory is not None and not callable(factory):
                raise InputDataError(
                    "Expected acquisition functions of a method as functions of the context; got "
                    f"{factory!r}. See botorch_ubo.policies.factories."
                )
        if not self.blind_limit >= 1:
            raise InputDataError(
                f"Expected `blind_limit` of at least 1, the first box; got {self.blind_limit}. Use "
                "math.inf to lift it."
            )
        if not 1 <= self.initial_span < math.inf:
            raise InputDataError(
                "Expected `initial_span` of a method as a number of sides, at least 1; got "
                f"{self.initial_span!r}."
            )
        if self.epsilon_unit not in get_args(EpsilonUnit):
            raise InputDataError(
                f"Expected `epsilon_unit` to be one of {get_args(EpsilonUnit)}; got "
                f"{self.epsilon_unit!r}."
            )

    @property
    def schedule(self) -> BetaSchedule:
        """:attr:`beta`, looked up if it is a name."""
        return _SCHEDULES[self.beta] if isinstance(self.beta, str) else self.beta

    @property
    def rebuildable(self) -> bool:
        """Whether the box follows from the data alone; see :attr:`Strategy.rebuildable`."""
        if isinstance(self.trigger, Never):  # the strategy is not asked
            return True
        return self.strategy.rebuildable and isinstance(self.trigger, Always)

    def build(self, bounds: Tensor, **kwargs: Any) -> ExpandingBounds:
        """``ExpandingBounds(bounds, method=self, **kwargs)``."""
        from botorch_ubo.controller.expanding_bounds import ExpandingBounds

        return ExpandingBounds(bounds, method=self, **kwargs)


_METHODS: dict[str, Method] = {}


def register_method(method: Method, overwrite: bool = False) -> Method:
    r"""Make a method known by its name.

    Args:
        method: The method.
        overwrite: Whether it may take the place of one of the same name.

    Returns:
        The method.
    """
    key = method.name.casefold()
    if key in _METHODS and not overwrite:
        raise InputDataError(
            f"Expected a new name; {_METHODS[key].name!r} is registered. Choose another name, or "
            "pass `overwrite=True`."
        )
    _METHODS[key] = method
    return method


def get_method(method: str | Method) -> Method:
    r"""Look up a method.

    Args:
        method: Its name, whose upper or lower case does not matter; or a method, which is its own
            answer.

    Returns:
        The method.

    Raises:
        InputDataError: If there is none of that name; it tells the nearest ones.
    """
    if isinstance(method, Method):
        return method
    found = _METHODS.get(str(method).strip().casefold())
    if found is None:
        near = difflib.get_close_matches(str(method).casefold(), _METHODS, n=3, cutoff=0)
        nearest = ", ".join(repr(_METHODS[key].name) for key in near)
        known = ", ".join(known.name for known in _METHODS.values())
        raise InputDataError(
            f"Expected the name of a method; got {method!r}. The nearest are {nearest}; all are: "
            f"{known}. `register_method` adds one."
        )
    return found


def available_methods() -> tuple[Method, ...]:
    """All methods, in the order in which they were registered."""
    return tuple(_METHODS.values())
