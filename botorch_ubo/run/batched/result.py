"""What many runs found: tensors at once, and each run's result when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

import torch
from torch import Tensor

from botorch_ubo.run.batched.state import COMPLETED, BatchedState
from botorch_ubo.run.optimizer import UnboundedOptimizer
from botorch_ubo.run.result import OptimizationResult


class BatchResult(Sequence[OptimizationResult]):
    """The results of ``R`` runs, in the user's own sign.

    ``result[i]`` is what ``minimize`` would have returned of run ``i``. It is computed when it is
    asked for, as it takes a model and a regret bound each; the tensors are there at once.
    """

    def __init__(
        self, state: BatchedState, sign: float, run: Callable[[int], UnboundedOptimizer], why: str
    ) -> None:
        r"""The results of some runs.

        Args:
            state: The runs.
            sign: 1 if large outcomes are good, else -1.
            run: From the index of a run to the run alone.
            why: Why they ended.
        """
        self._state, self._sign, self._run, self._why = state, sign, run, why

    @property
    def X(self) -> Tensor:
        """``R x n x d`` completed evaluations in the order in which they came in.

        NaN where a run has fewer than others, as :attr:`Y`.
        """
        X, _, there = self._state.first_of(COMPLETED)
        return torch.where(there.unsqueeze(-1), X, torch.nan)

    @property
    def Y(self) -> Tensor:
        """``R x n`` outcomes."""
        _, Y, there = self._state.first_of(COMPLETED)
        return torch.where(there, Y, torch.nan)

    @property
    def best_value(self) -> Tensor:
        """``R`` best observed values; NaN of a run without any."""
        return self.best_values[:, -1]

    @property
    def best_values(self) -> Tensor:
        """``R x n``: the best observed value after each evaluation; NaN before the first."""
        _, Y, there = self._state.first_of(COMPLETED)
        if not Y.shape[-1]:
            return Y.new_full((len(Y), 1), torch.nan)
        best = torch.where(there, self._sign * Y, -torch.inf).cummax(dim=-1).values
        return torch.where(best.isinf(), torch.nan, self._sign * best)

    @property
    def best_X(self) -> Tensor:
        """``R x d`` points with the best observed values; NaN of a run without any."""
        X, Y, there = self._state.first_of(COMPLETED)
        if not Y.shape[-1]:
            return X.new_full((len(X), X.shape[-1]), torch.nan)
        best = torch.where(there, self._sign * Y, -torch.inf).argmax(dim=-1)
        rows = torch.arange(len(X), device=X.device)
        found = X[rows, best]
        return torch.where(there.any(dim=-1, keepdim=True), found, torch.nan)

    def __len__(self) -> int:
        """The number of runs."""
        return len(self._state.X)

    @overload
    def __getitem__(self, index: int) -> OptimizationResult: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[OptimizationResult]: ...

    def __getitem__(self, index: int | slice) -> OptimizationResult | Sequence[OptimizationResult]:
        """The result of a run, as ``minimize`` gives it."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        result = self._run(range(len(self))[index]).result(self._why)
        assert isinstance(result, OptimizationResult)  # of one objective
        return result

    def __repr__(self) -> str:
        """One line."""
        best = self.best_value
        known = best[~best.isnan()]
        spread = (
            f"best values from {float(known.min()):.6g} to {float(known.max()):.6g}"
            if len(known)
            else "no value yet"
        )
        return f"BatchResult({len(self)} runs, {spread})"
