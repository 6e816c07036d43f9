"""Many default models at once, as tensors with a batch dimension, on any device.

``B`` counts runs; their data are padded to the same number of rows ``n``, and a mask ``present``
says which of them are there.
"""

from botorch_ubo.models.batched.fit import BatchedFit, fit_batched
from botorch_ubo.models.batched.gp import BatchedGP
from botorch_ubo.models.batched.improvement import (
    BatchedConfidenceBound,
    BatchedFormula,
    BatchedLogEI,
)
from botorch_ubo.models.batched.outcomes import (
    BatchedOutcomes,
    in_sight,
    standardize_outcomes,
)
from botorch_ubo.models.batched.pending import BatchedPendingLogEI, pending_outcomes
from botorch_ubo.models.batched.quasi_newton import (
    Rows,
    Stopping,
    begin_descent,
    descend,
    follow,
    minimize_rows,
)
from botorch_ubo.models.batched.single import as_batch, fit_on_device

__all__ = [
    "BatchedConfidenceBound",
    "BatchedFit",
    "BatchedFormula",
    "BatchedGP",
    "BatchedLogEI",
    "BatchedOutcomes",
    "BatchedPendingLogEI",
    "Rows",
    "Stopping",
    "as_batch",
    "begin_descent",
    "descend",
    "fit_batched",
    "fit_on_device",
    "follow",
    "in_sight",
    "minimize_rows",
    "pending_outcomes",
    "standardize_outcomes",
]
