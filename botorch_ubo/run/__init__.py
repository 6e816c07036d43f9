"""A run: ask and tell, or one call; trials, what is kept of them, and what was found."""

from botorch_ubo.run.batched import BatchedRuns, BatchResult, minimize_batch
from botorch_ubo.run.evaluation import EvaluationError, ObjectiveWarning
from botorch_ubo.run.goal_result import GoalResult
from botorch_ubo.run.minimize import maximize, minimize
from botorch_ubo.run.optimizer import UnboundedOptimizer
from botorch_ubo.run.propose import Outcome, propose
from botorch_ubo.run.result import NoResultError, OptimizationResult
from botorch_ubo.run.trials import Trial

__all__ = [
    "BatchResult",
    "BatchedRuns",
    "EvaluationError",
    "GoalResult",
    "NoResultError",
    "ObjectiveWarning",
    "OptimizationResult",
    "Outcome",
    "Trial",
    "UnboundedOptimizer",
    "maximize",
    "minimize",
    "minimize_batch",
    "propose",
]
