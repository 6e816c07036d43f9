"""Where to move the boxes of many runs: some strategies with a batch dimension.

Each is the function of the same name's ``propose``, from a context to boxes.
"""

from botorch_ubo.strategies.batched.hyperharmonic import hyperharmonic_boxes
from botorch_ubo.strategies.batched.proposal import BatchedProposal
from botorch_ubo.strategies.batched.refinement import refine_in_balls
from botorch_ubo.strategies.batched.theorem import improvement_boxes, theorem_boxes, theorem_radii
from botorch_ubo.strategies.batched.turns import turns_boxes

__all__ = [
    "BatchedProposal",
    "hyperharmonic_boxes",
    "improvement_boxes",
    "refine_in_balls",
    "theorem_boxes",
    "theorem_radii",
    "turns_boxes",
]
