"""One move of the boxes of many runs."""

from botorch_ubo.controller.batched.expansion import (
    BatchedMove,
    Limits,
    failing_sides,
    fit_inside,
    move_boxes,
)

__all__ = ["BatchedMove", "Limits", "failing_sides", "fit_inside", "move_boxes"]
