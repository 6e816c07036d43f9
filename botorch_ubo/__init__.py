"""Bayesian optimisation in BoTorch when nobody knows the right bounds.

Start with :func:`minimize` for a function and a guess, :class:`UnboundedOptimizer` for experiments
that are asked for and told, or :class:`ExpandingBounds` in a loop of your own. Beside the names
below there are

* :mod:`botorch_ubo.methods`, all methods by name, and :mod:`botorch_ubo.strategies`, where each of
  them moves the box;
* :mod:`botorch_ubo.models`, :mod:`botorch_ubo.acquisition` and :mod:`botorch_ubo.factories`, what
  they model and maximise;
* :mod:`botorch_ubo.plotting`, figures of a run;
* :mod:`botorch_ubo.triggers`, :mod:`botorch_ubo.beta`, :mod:`botorch_ubo.context` and
  :mod:`botorch_ubo.boxes`, the parts of a method, and :mod:`botorch_ubo.testing`, a conformance
  suite for your own;
* :mod:`botorch_ubo.posterior`, :mod:`botorch_ubo.radius` and :mod:`botorch_ubo.kernel_reach`, the
  mathematics of Theorem 4.1.
"""

import logging

from botorch_ubo.acquisition import LowerConfidenceBound, UnboundedUpperConfidenceBound
from botorch_ubo.beta import BetaSchedule, ConstantBeta, PublishedBeta, TheoremBeta
from botorch_ubo.checkpoint import CheckpointError
from botorch_ubo.context import Context
from botorch_ubo.controller import ExpandingBounds
from botorch_ubo.methods import Method, available_methods, get_method, register_method
from botorch_ubo.minimize import maximize, minimize
from botorch_ubo.models import default_model, fit_default_model, published_model
from botorch_ubo.optimizer import UnboundedOptimizer
from botorch_ubo.records import Certificate, ExpansionRecord
from botorch_ubo.result import NoResultError, OptimizationResult
from botorch_ubo.strategies import Proposal, PublishedBox, Strategy, TheoremBox
from botorch_ubo.trials import Trial
from botorch_ubo.triggers import Always, EveryEvaluations, FirstStep, Never, RegretBound, Trigger

__version__ = "0.1.0"

# Quiet unless the application says otherwise: logging.getLogger("botorch_ubo").setLevel(...)
logging.getLogger("botorch_ubo").addHandler(logging.NullHandler())

__all__ = [
    "Always",
    "BetaSchedule",
    "Certificate",
    "CheckpointError",
    "ConstantBeta",
    "Context",
    "EveryEvaluations",
    "ExpandingBounds",
    "ExpansionRecord",
    "FirstStep",
    "LowerConfidenceBound",
    "Method",
    "Never",
    "NoResultError",
    "OptimizationResult",
    "Proposal",
    "PublishedBeta",
    "PublishedBox",
    "RegretBound",
    "Strategy",
    "TheoremBeta",
    "TheoremBox",
    "Trial",
    "Trigger",
    "UnboundedOptimizer",
    "UnboundedUpperConfidenceBound",
    "available_methods",
    "default_model",
    "fit_default_model",
    "get_method",
    "maximize",
    "minimize",
    "published_model",
    "register_method",
]
