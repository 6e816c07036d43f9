r"""All methods by name: switch with one argument, change nothing else.

Example:
    >>> result = minimize(f, bounds, budget=40, method="HuBO-EI")
    >>> for method in available_methods():
    >>>     print(method.name, "-", method.description)

A method is a strategy, a trigger, a schedule and acquisition functions, put together as data
(:class:`Method`).
"""

from __future__ import annotations

from typing import Any

from botorch_ubo.acquisition.penalties import HingeQuadraticPenalty, QuadraticPenalty
from botorch_ubo.controller.method import (
    DEFAULT_METHOD,
    Method,
    available_methods,
    get_method,
    register_method,
)
from botorch_ubo.policies import factories, goal_factories
from botorch_ubo.policies.beta import HyperharmonicBeta, PublishedBeta
from botorch_ubo.policies.factories import AcquisitionFactory, Repelled
from botorch_ubo.policies.triggers import Always, EveryEvaluations, FirstStep, Never, RegretBound
from botorch_ubo.strategies import (
    FilteringBox,
    FixedBox,
    HypercubeBoxes,
    HyperharmonicBox,
    ImprovementBox,
    PublishedBox,
    RegularizedBox,
    RoamingBox,
    TheoremBox,
    TrustRegionBox,
    TurnsBox,
    VarianceCapBox,
    VolumeDoublingBox,
)
from botorch_ubo.strategies.regularized import regularized_log_ei
from botorch_ubo.strategies.variance_cap import variance_capped_log_ei

__all__ = ["DEFAULT_METHOD", "Method", "available_methods", "get_method", "register_method"]

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


def _alone_or_repelled(factory: AcquisitionFactory) -> dict[str, Any]:
    return {"acquisition": factory, "batch_acquisition": Repelled(factory)}


_FOR_OTHER_GOALS: dict[str, Any] = {
    "constrained_acquisition": goal_factories.constrained_q_log_nei,
    "multi_acquisition": goal_factories.hypervolume_or_parego,
}
_EI: dict[str, Any] = {
    "acquisition": factories.log_ei,
    "batch_acquisition": factories.q_log_ei,
    **_FOR_OTHER_GOALS,
}
_UCB: dict[str, Any] = {
    "acquisition": factories.ucb,
    "batch_acquisition": factories.q_ucb,
}
_UCB_OF_RUN: dict[str, Any] = {
    "acquisition": factories.ucb_of_run,
    "batch_acquisition": factories.q_ucb_of_run,
}
_REGULARIZED = _alone_or_repelled(regularized_log_ei)
_DOUBLING: dict[str, Any] = {
    "strategy": VolumeDoublingBox(),
    "trigger": EveryEvaluations(3, times_dimension=True),
}
_ALWAYS, _NEVER = Always(), Never()

METHODS = (
    Method(
        name=DEFAULT_METHOD,
        description="LogEI in a trust region and in a box that grows, in turn; the default.",
        citation=_OURS,
        strategy=TurnsBox(),
        trigger=_ALWAYS,
        blind_limit=8.0,
        initial_span=3.0,
        **_EI,
    ),
    Method(
        name="EI-Roaming",
        description="LogEI in a box that follows the incumbent, as far as it is led.",
        citation=_OURS,
        strategy=RoamingBox(),
        trigger=_ALWAYS,
        acquisition=factories.searching_log_ei,
        batch_acquisition=factories.q_searching_log_ei,
        blind_limit=8.0,
        **_FOR_OTHER_GOALS,
    ),
    Method(
        name="GPUCB-UBO",
        description="UCB in the theorem's box, expanded when exhausted; corrected.",
        citation=_HA,
        strategy=TheoremBox(),
        trigger=FirstStep() | RegretBound(),
        **_UCB,
    ),
    Method(
        name="GPUCB-UBO (as published)",
        description="UCB in the theorem's box with the authors' constants, units and scales.",
        citation=_HA,
        strategy=PublishedBox(),
        trigger=FirstStep() | RegretBound(include_candidate=True),
        beta=PublishedBeta(),
        epsilon_unit="range",
        max_growth=float("inf"),
        **_UCB,
    ),
    Method(
        name="EI-Vanilla",
        description="LogEI in the first box, which stays.",
        citation=_AMENT,
        strategy=FixedBox(),
        trigger=_NEVER,
        **_EI,
    ),
    Method(
        name="EI-Volx2",
        description="LogEI; the volume doubles every 3d evaluations.",
        citation=_SHAHRIARI,
        **_DOUBLING,
        **_EI,
    ),
    Method(
        name="EI-H",
        description="LogEI that pays for distance from a ball around the first box.",
        citation=_SHAHRIARI,
        strategy=RegularizedBox(HingeQuadraticPenalty),
        trigger=_ALWAYS,
        **_REGULARIZED,
    ),
    Method(
        name="EI-Q",
        description="LogEI that pays for distance from the first box's centre.",
        citation=_SHAHRIARI,
        strategy=RegularizedBox(QuadraticPenalty),
        trigger=_ALWAYS,
        **_REGULARIZED,
    ),
    Method(
        name="GPUCB-Vanilla",
        description="UCB in the first box, which stays.",
        citation=_SRINIVAS,
        strategy=FixedBox(),
        trigger=_NEVER,
        **_UCB,
    ),
    Method(
        name="GPUCB-Volx2",
        description="UCB; the volume doubles every 3d evaluations.",
        citation=_SHAHRIARI,
        **_DOUBLING,
        **_UCB,
    ),
    Method(
        name="GPUCB-FBO",
        description="UCB; the box grows with the remaining budget and is filtered.",
        citation=_NGUYEN,
        strategy=FilteringBox(),
        trigger=_ALWAYS,
        **_UCB_OF_RUN,
    ),
    Method(
        name="HuBO",
        description="UCB in a hyperharmonic box on the best observation.",
        citation=_TRAN_THE,
        strategy=HyperharmonicBox(),
        trigger=_ALWAYS,
        beta=HyperharmonicBeta(),
        **_UCB_OF_RUN,
    ),
    Method(
        name="HuBO-EI",
        description="LogEI in a hyperharmonic box on the best observation.",
        citation=_TRAN_THE,
        strategy=HyperharmonicBox(),
        trigger=_ALWAYS,
        **_EI,
    ),
    Method(
        name="HD-HuBO",
        description="UCB in random cubes of a hyperharmonic box on the best observation.",
        citation=_TRAN_THE,
        strategy=HypercubeBoxes(),
        trigger=_ALWAYS,
        beta=HyperharmonicBeta(),
        **_UCB_OF_RUN,
    ),
    Method(
        name="HD-HuBO-EI",
        description="LogEI in random cubes of a hyperharmonic box on the best observation.",
        citation=_TRAN_THE,
        strategy=HypercubeBoxes(),
        trigger=_ALWAYS,
        **_EI,
    ),
    Method(
        name="EI-VarCap",
        description="LogEI where the variance is capped (AEBO-like; a reconstruction).",
        citation=_OURS,
        strategy=VarianceCapBox(),
        trigger=_ALWAYS,
        **_alone_or_repelled(variance_capped_log_ei),
    ),
    Method(
        name="TuRBO-1",
        description="LogEI in a trust region on the best observation that may leave the first box.",
        citation=_ERIKSSON,
        strategy=TrustRegionBox(),
        trigger=_ALWAYS,
        **_EI,
    ),
    Method(
        name="EI-UBO",
        description="LogEI in the theorem's box for EI, recomputed at every step.",
        citation=f"{_OURS}; {_HA}",
        strategy=ImprovementBox(),
        trigger=_ALWAYS,
        **_EI,
    ),
)

for _method in METHODS:
    register_method(_method)
