"""Bayesian optimisation in BoTorch when nobody knows the right bounds."""

from botorch_ubo.acquisition import LowerConfidenceBound, UnboundedUpperConfidenceBound
from botorch_ubo.beta import BetaSchedule, ConstantBeta, PublishedBeta, TheoremBeta
from botorch_ubo.context import Context
from botorch_ubo.controller import ExpandingBounds
from botorch_ubo.models import default_model, published_model
from botorch_ubo.records import Certificate, ExpansionRecord
from botorch_ubo.strategies import Proposal, PublishedBox, Strategy, TheoremBox
from botorch_ubo.triggers import Always, EveryEvaluations, FirstStep, Never, RegretBound, Trigger

__version__ = "0.1.0"

__all__ = [
    "Always",
    "BetaSchedule",
    "Certificate",
    "ConstantBeta",
    "Context",
    "EveryEvaluations",
    "ExpandingBounds",
    "ExpansionRecord",
    "FirstStep",
    "LowerConfidenceBound",
    "Never",
    "Proposal",
    "PublishedBeta",
    "PublishedBox",
    "RegretBound",
    "Strategy",
    "TheoremBeta",
    "TheoremBox",
    "Trigger",
    "UnboundedUpperConfidenceBound",
    "default_model",
    "published_model",
]
