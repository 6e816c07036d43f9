"""One move of the boxes of many runs."""

from botorch_ubo.controller.batched.expansion import (
    GUARDED,
    BatchedMove,
    Limits,
    failing_sides,
    fit_inside,
    move_boxes,
)

__all__ = ["GUARDED", "BatchedMove", "Limits", "failing_sides", "fit_inside", "move_boxes"]
