"""Where to move the box: one strategy, one file, no history inside."""

from botorch_ubo.policies.strategy import Proposal, Strategy
from botorch_ubo.strategies.filtering import FilteringBox
from botorch_ubo.strategies.fixed import FixedBox
from botorch_ubo.strategies.hypercubes import HypercubeBoxes
from botorch_ubo.strategies.hyperharmonic import HyperharmonicBox
from botorch_ubo.strategies.improvement import ImprovementBox
from botorch_ubo.strategies.published import PublishedBox
from botorch_ubo.strategies.regularized import RegularizedBox
from botorch_ubo.strategies.roaming import RoamingBox
from botorch_ubo.strategies.theorem import TheoremBox
from botorch_ubo.strategies.trust_region import TrustRegionBox
from botorch_ubo.strategies.turns import TurnsBox
from botorch_ubo.strategies.variance_cap import VarianceCapBox
from botorch_ubo.strategies.volume_doubling import VolumeDoublingBox

__all__ = [
    "FilteringBox",
    "FixedBox",
    "HypercubeBoxes",
    "HyperharmonicBox",
    "ImprovementBox",
    "Proposal",
    "PublishedBox",
    "RegularizedBox",
    "RoamingBox",
    "Strategy",
    "TheoremBox",
    "TrustRegionBox",
    "TurnsBox",
    "VarianceCapBox",
    "VolumeDoublingBox",
]
