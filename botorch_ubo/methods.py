r"""Methods by name: switch with one argument, change nothing else.

Example:
    >>> box = get_method("HuBO-EI").build(bounds)
    >>> for method in available_methods():
    >>>     print(method.name, "-", method.description)

A method is a strategy, a trigger, a schedule and an acquisition function, put together. Whoever
has another one registers it, and everything that takes a method by name knows it:

    >>> register_method(Method("Mine", "What it does.", "Me (2030).", build))
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from botorch.exceptions.errors import InputDataError, UnsupportedError
from torch import Tensor

from botorch_ubo import factories
from botorch_ubo.acquisition.penalties import HingeQuadraticPenalty, QuadraticPenalty
from botorch_ubo.beta import HyperharmonicBeta
from botorch_ubo.controller import ExpandingBounds
from botorch_ubo.strategies import (
    FilteringBox,
    FixedBox,
    HypercubeBoxes,
    HyperharmonicBox,
    ImprovementBox,
    RegularizedBox,
    TrustRegionBox,
    VarianceCapBox,
    VolumeDoublingBox,
)
from botorch_ubo.suggestion import AcquisitionFactory
from botorch_ubo.triggers import Always, EveryEvaluations, Never

_HA = "Ha et al., Bayesian Optimization with Unknown Search Space, NeurIPS 2019."
_SHAHRIARI = "Shahriari et al., Unbounded Bayesian Optimization via Regularization, AISTATS 2016."
_NGUYEN = "Nguyen et al., Bayesian Optimization in Weakly Specified Search Space, ICDM 2017."
_TRAN_THE = (
    "Tran-The et al., Sub-linear Regret Bounds for Bayesian Optimisation in Unknown Search Spaces, "
    "NeurIPS 2020."
)
_ERIKSSON = "Eriksson et al., Scalable Global Optimization via Local BO, NeurIPS 2019."
_AMENT = "Ament et al., Unexpected Improvements to Expected Improvement, NeurIPS 2023."
_SRINIVAS = "Srinivas et al., Gaussian Process Optimization in the Bandit Setting, ICML 2010."
_OURS = "botorch_ubo"


@dataclass(frozen=True)
class Method:
    """A way to search an unknown space."""

    name: str
    description: str
    """One line."""
    citation: str
    build: Callable[..., ExpandingBounds]
    """``build(bounds, **kwargs)``; ``kwargs`` are those of ``ExpandingBounds`` and win."""


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


def get_method(name: str) -> Method:
    r"""Look up a method.

    Args:
        name: Its name; upper or lower case does not matter.

    Returns:
        The method.

    Raises:
        UnsupportedError: If there is none of that name; it tells the nearest ones.
    """
    method = _METHODS.get(name.strip().casefold())
    if method is None:
        near = difflib.get_close_matches(name.casefold(), _METHODS, n=3, cutoff=0)
        nearest = ", ".join(repr(_METHODS[key].name) for key in near)
        known = ", ".join(method.name for method in _METHODS.values())
        raise UnsupportedError(
            f"Expected the name of a method; got {name!r}. The nearest are {nearest}; all are: "
            f"{known}. `register_method` adds one."
        )
    return method


def available_methods() -> tuple[Method, ...]:
    """All methods, in the order in which they were registered."""
    return tuple(_METHODS.values())


def _register(name: str, description: str, citation: str, **preset: Any) -> None:
    def build(bounds: Tensor, **kwargs: Any) -> ExpandingBounds:
        return ExpandingBounds.corrected(bounds, **{**preset, **kwargs})

    register_method(Method(name, description, citation, build))


def _without_monte_carlo(factory: AcquisitionFactory) -> dict[str, Any]:
    return {"acquisition": factory, "batch_acquisition": factories.Repelled(factory)}


_EI = {"acquisition": factories.log_ei, "batch_acquisition": factories.q_log_ei}
_UCB_OF_RUN = {"acquisition": factories.ucb_of_run, "batch_acquisition": factories.q_ucb_of_run}
_DOUBLING = {
    "strategy": VolumeDoublingBox(),
    "trigger": EveryEvaluations(3, times_dimension=True),
}

DEFAULT_METHOD = "EI-Roaming"
"""The method of whoever names none: that of ``ExpandingBounds`` without further arguments."""

register_method(
    Method(
        DEFAULT_METHOD,
        "LogEI in a box that follows the incumbent and grows as it is led; the default.",
        _OURS,
        ExpandingBounds,
    )
)
_register("GPUCB-UBO", "UCB in the theorem's box, expanded when exhausted; corrected.", _HA)
register_method(
    Method(
        "GPUCB-UBO (as published)",
        "UCB in the theorem's box with the authors' constants, units and scales.",
        _HA,
        ExpandingBounds.as_published,
    )
)
_register(
    "EI-Vanilla", "LogEI in the first box, which stays.", _AMENT,
    strategy=FixedBox(), trigger=Never(), **_EI,
)  # fmt: skip
_register(
    "EI-Volx2", "LogEI; the volume doubles every 3d evaluations.", _SHAHRIARI, **_DOUBLING, **_EI
)
for _name, _what, _penalty in (
    (
        "EI-H",
        "LogEI that pays for distance from a ball around the first box.",
        HingeQuadraticPenalty,
    ),
    ("EI-Q", "LogEI that pays for distance from the first box's centre.", QuadraticPenalty),
):
    _register(
        _name, _what, _SHAHRIARI,
        strategy=RegularizedBox(_penalty), trigger=Always(),
        **_without_monte_carlo(factories.RegularizedLogEI(_penalty)),
    )  # fmt: skip
_register(
    "GPUCB-Vanilla", "UCB in the first box, which stays.", _SRINIVAS,
    strategy=FixedBox(), trigger=Never(),
)  # fmt: skip
_register("GPUCB-Volx2", "UCB; the volume doubles every 3d evaluations.", _SHAHRIARI, **_DOUBLING)
_register(
    "GPUCB-FBO", "UCB; the box grows with the remaining budget and is filtered.", _NGUYEN,
    strategy=FilteringBox(), trigger=Always(), **_UCB_OF_RUN,
)  # fmt: skip
for _name, _strategy, _what in (
    ("HuBO", HyperharmonicBox(), "a hyperharmonic box on the incumbent"),
    ("HD-HuBO", HypercubeBoxes(), "random cubes of a hyperharmonic box on the incumbent"),
):
    _register(
        _name, f"UCB in {_what}.", _TRAN_THE,
        strategy=_strategy, trigger=Always(), beta=HyperharmonicBeta(), **_UCB_OF_RUN,
    )  # fmt: skip
    _register(
        f"{_name}-EI", f"LogEI in {_what}.", _TRAN_THE,
        strategy=_strategy, trigger=Always(), **_EI,
    )  # fmt: skip
_register(
    "EI-VarCap", "LogEI where the variance is capped (AEBO-like; a reconstruction).", _OURS,
    strategy=VarianceCapBox(), trigger=Always(),
    **_without_monte_carlo(factories.variance_capped_log_ei),
)  # fmt: skip
_register(
    "TuRBO-1", "LogEI in a trust region on the incumbent that may leave the first box.", _ERIKSSON,
    strategy=TrustRegionBox(), trigger=Always(), **_EI,
)  # fmt: skip
_register(
    "EI-UBO", "LogEI in the theorem's box for EI, recomputed at every step.", f"{_OURS}; {_HA}",
    strategy=ImprovementBox(), trigger=Always(), **_EI,
)  # fmt: skip
