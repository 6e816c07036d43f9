"""Bayesian optimisation in BoTorch when nobody knows the right bounds.

Start with :func:`minimize` for a function and a guess, :class:`UnboundedOptimizer` for experiments
that are asked for and told, :class:`BatchedRuns` for hundreds of searches at once, or
:class:`ExpandingBounds` in a loop of your own. Beside the names below there are

* :mod:`botorch_ubo.methods`, all methods by name, and :mod:`botorch_ubo.strategies`, where each of
  them moves the box;
* :mod:`botorch_ubo.models` and :mod:`botorch_ubo.acquisition`, what they model and maximise;
* :mod:`botorch_ubo.plotting`, figures of a run;
* :mod:`botorch_ubo.policies`, the other parts of a method and what they see, and
  :mod:`botorch_ubo.testing`, a conformance suite for your own;
* :mod:`botorch_ubo.posterior`, the mathematics of Theorem 4.1.

ARCHITECTURE.md in the repository shows how they fit together.
"""

import logging

from botorch_ubo import methods
from botorch_ubo.acquisition import LowerConfidenceBound, UnboundedUpperConfidenceBound
from botorch_ubo.acquisition.search import (
    SearchSettings,
    SpaceExhaustedError,
    StartsAroundData,
)
from botorch_ubo.compat import deprecated
from botorch_ubo.controller import (
    ExpandingBounds,
    Method,
    available_methods,
    get_method,
    register_method,
)
from botorch_ubo.models import default_model, fit_default_model, published_model
from botorch_ubo.policies.beta import BetaSchedule, ConstantBeta, PublishedBeta, TheoremBeta
from botorch_ubo.policies.calibrated_beta import CalibratedBeta
from botorch_ubo.policies.context import Context
from botorch_ubo.policies.triggers import (
    Always,
    EveryEvaluations,
    FirstStep,
    Never,
    RegretBound,
    Trigger,
    Verdict,
)
from botorch_ubo.posterior import register_reach
from botorch_ubo.records import Certificate, ExpansionRecord
from botorch_ubo.run import (
    BatchedRuns,
    BatchResult,
    EvaluationError,
    GoalResult,
    NoResultError,
    ObjectiveWarning,
    OptimizationResult,
    Outcome,
    Trial,
    UnboundedOptimizer,
    maximize,
    minimize,
    minimize_batch,
    propose,
)
from botorch_ubo.run.storage import CheckpointError
from botorch_ubo.spaces import Categorical, Float, Integer, Ordinal, Space
from botorch_ubo.strategies import Proposal, PublishedBox, Strategy, TheoremBox

__version__ = "0.2.0"

deprecated.install()

# Quiet unless the application says otherwise: logging.getLogger("botorch_ubo").setLevel(...)
logging.getLogger("botorch_ubo").addHandler(logging.NullHandler())

__all__ = [
    "Always",
    "BatchResult",
    "BatchedRuns",
    "BetaSchedule",
    "CalibratedBeta",
    "Categorical",
    "Certificate",
    "CheckpointError",
    "ConstantBeta",
    "Context",
    "EvaluationError",
    "EveryEvaluations",
    "ExpandingBounds",
    "ExpansionRecord",
    "FirstStep",
    "Float",
    "GoalResult",
    "Integer",
    "LowerConfidenceBound",
    "Method",
    "Never",
    "NoResultError",
    "ObjectiveWarning",
    "OptimizationResult",
    "Ordinal",
    "Outcome",
    "Proposal",
    "PublishedBeta",
    "PublishedBox",
    "RegretBound",
    "SearchSettings",
    "Space",
    "SpaceExhaustedError",
    "StartsAroundData",
    "Strategy",
    "TheoremBeta",
    "TheoremBox",
    "Trial",
    "Trigger",
    "UnboundedOptimizer",
    "UnboundedUpperConfidenceBound",
    "Verdict",
    "available_methods",
    "default_model",
    "fit_default_model",
    "get_method",
    "maximize",
    "methods",
    "minimize",
    "minimize_batch",
    "propose",
    "published_model",
    "register_method",
    "register_reach",
]
