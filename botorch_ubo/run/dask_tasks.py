"""Evaluations on Dask, whose scheduler remembers which have begun and what came of them.

Dask runs a task again when the worker that held its result dies, though the result was wanted only
once; and it runs a task that kills its workers three times more. With the scheduler's memory, an
evaluation that is done is not repeated, and one whose worker died is begun at most twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor

from botorch_ubo.run.arguments import InputType
from botorch_ubo.run.claims import MOST_DEATHS
from botorch_ubo.run.evaluation import Objective, Outcome, WorkerDiedError, evaluate
from botorch_ubo.run.guard import evaluate_guarded


def is_dask(executor: Executor) -> bool:
    """Whether an executor is ``Client.get_executor()`` of Dask."""
    return type(executor).__module__.partition(".")[0] == "distributed"


def evaluate_on_dask(
    f: Objective,
    input_type: InputType,
    X: Sequence[float],
    ticket: str,
    timeout: float | None = None,
) -> Outcome:
    r"""Call an objective in a task of Dask.

    Args:
        f: The objective.
        input_type: ``"floats"`` or ``"tensor"``.
        X: The point.
        ticket: Of this evaluation alone: equal calls are one to Dask.
        timeout: Seconds after which the evaluation is ended; ``None`` for never.

    Returns:
        The value and the variance of its noise, if the objective told one.
    """
    from distributed import get_client

    client = get_client()
    begun, outcome = client.get_metadata(["botorch_ubo", ticket], (0, None))
    if outcome is not None:
        return outcome[0], outcome[1]
    if begun >= MOST_DEATHS:
        raise WorkerDiedError(f"the worker died, {begun} times", begun)
    client.set_metadata(["botorch_ubo", ticket], (begun + 1, None))
    if timeout is None:
        outcome = evaluate(f, input_type, X)
    else:
        outcome = evaluate_guarded(f, input_type, X, timeout)
    client.set_metadata(["botorch_ubo", ticket], (begun + 1, outcome))
    return outcome
