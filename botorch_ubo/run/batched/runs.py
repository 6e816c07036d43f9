r"""``BatchedRuns``: many independent runs that advance in lock step, as tensors on any device."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from botorch.exceptions.errors import InputDataError, UnsupportedError
from torch import Tensor

from botorch_ubo.acquisition.search import SearchSettings
from botorch_ubo.controller import DEFAULT_METHOD, ExpandingBounds, Method, get_method
from botorch_ubo.controller.arguments import Epsilon
from botorch_ubo.controller.initial import usual_num_initial
from botorch_ubo.run.arguments import Direction, as_count
from botorch_ubo.run.batched.arguments import (
    cast_boxes,
    parse_boxes,
    parse_data,
    parse_limits,
    parse_seeds,
)
from botorch_ubo.run.batched.beginning import Design, begin_with_data
from botorch_ubo.run.batched.file import ASKED, STOPPED, TOLD, BatchFile
from botorch_ubo.run.batched.history import StepsTaken
from botorch_ubo.run.batched.methods import check_batched
from botorch_ubo.run.batched.problem import Problem
from botorch_ubo.run.batched.result import BatchResult
from botorch_ubo.run.batched.single import Arguments, run_alone
from botorch_ubo.run.batched.state import PENDING, BatchedState
from botorch_ubo.run.batched.step import suggest_batched
from botorch_ubo.run.config import describe_epsilon, describe_limits, describe_search
from botorch_ubo.run.goals import parse_goal
from botorch_ubo.run.optimizer import UnboundedOptimizer
from botorch_ubo.run.storage.events import Event
from botorch_ubo.strategies import TheoremBox

_TOO_LARGE = 1e150  # its square is infinite, and so would be the variance of the values


class BatchedRuns:
    r"""``R`` runs of one method, each with its own seed, box, data and failures.

    What :class:`UnboundedOptimizer` does for one run, with tensors for all of them: one model fit,
    one move of the boxes and one search per step. Runs know nothing of each other.

    A step is not compiled (``torch.compile``): see "Many runs at once" in ``benchmarks/README.md``.

    Example:
        >>> runs = BatchedRuns(bounds, seeds=range(100), device="cuda")
        >>> for _ in range(40):
        >>>     X = runs.ask()  # 100 x d
        >>>     runs.tell(simulate(X))  # 100 values, NaN for a failure
        >>> runs.results().best_value
    """

    def __init__(
        self,
        bounds: Any,
        seeds: int | Sequence[int],
        *,
        method: str | Method = DEFAULT_METHOD,
        direction: Direction = "minimize",
        hard_limits: Any = None,
        num_initial: int | None = None,
        data: Sequence[tuple[Any, Any] | None] | None = None,
        epsilon: Epsilon = 0.05,
        max_growth: float | None = None,
        search: SearchSettings | None = None,
        dtype: torch.dtype = torch.double,
        device: torch.device | str | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        r"""Many independent runs.

        Args:
            bounds: One rough guess for all runs, as :class:`UnboundedOptimizer` takes it, or an
                ``R x 2 x d`` tensor with one for each.
            seeds: ``R`` seeds, or ``R`` alone for those from 0 on.
            method: A method that can be batched, or its name: EI-Turns, HuBO-EI, EI-UBO and
                GPUCB-UBO; others are refused.
            direction: ``"minimize"`` or ``"maximize"``.
            hard_limits: Limits that no proposal crosses, for all runs in any form that
                :class:`ExpandingBounds` takes, or an ``R x 2 x d`` tensor.
            num_initial: Space-filling trials before the first model; ``3 d``, but no more than
                30, by default.
            data: For each run ``(X, Y)`` to start from, or ``None``.
            epsilon: See :class:`UnboundedOptimizer`, as for the next two.
            max_growth: See above.
            search: See above; ``options`` are not supported.
            dtype: Of all tensors; double, unless the device is much faster in single precision.
            device: Where all tensors live; the CPU by default.
            checkpoint: A file to keep all runs in. If it exists, they are resumed from it, and the
                arguments must be those that they were started with.
        """
        self.seeds = parse_seeds(seeds)
        boxes = parse_boxes(bounds, len(self.seeds))
        limits = parse_limits(hard_limits, boxes)
        if search is not None and search.options is not None:
            raise InputDataError(
                f"Expected `search` without `options`, which are those of `optimize_acqf`; got "
                f"{search.options}."
            )
        self.method = check_batched(get_method(method))
        goal = parse_goal(direction, 0)
        if len(goal.directions) != 1:
            raise InputDataError(f"Expected one `direction` for all runs; got {direction!r}.")
        self.direction = direction
        # The one place where these arguments are checked.
        settings = ExpandingBounds(
            boxes[0], method=self.method, epsilon=epsilon, max_growth=max_growth, search=search
        ).settings
        self.num_initial = usual_num_initial(boxes.shape[-1])
        if num_initial is not None:
            self.num_initial = as_count(num_initial, "num_initial")
        like = torch.empty(0, dtype=dtype, device=device or "cpu")
        if dtype not in (torch.float, torch.double):
            raise InputDataError(
                f"Expected `dtype` to be torch.double or torch.float; got {dtype}."
            )
        self._arguments = Arguments(
            boxes, limits, self.seeds, self.method, self.num_initial, direction, settings
        )
        self._problem = Problem(
            method=self.method,
            first=cast_boxes(boxes, like),
            hard_limits=cast_boxes(limits, like),
            seeds=torch.tensor(self.seeds, device=like.device),
            sign=1.0 if direction == "maximize" else -1.0,
            epsilon=settings.epsilon,
            epsilon_unit=settings.epsilon_unit,
            max_growth=settings.max_growth,
            search=settings.search,
        )
        given = parse_data(data, limits)
        self._num_given = torch.tensor([len(Y) for _, Y in given], device=like.device)
        self._largest = min(_TOO_LARGE, torch.finfo(dtype).max ** 0.5)
        self._state = begin_with_data(self._problem, given, self._largest)
        self._steps: tuple[StepsTaken, ...] = ()
        self._design = Design(self._arguments, self._problem.hard_limits)
        config = {
            "batch": len(self.seeds),
            "bounds": boxes.tolist(),
            "hard_limits": [describe_limits(limit) for limit in limits],
            "seeds": self.seeds,
            "direction": direction,
            "method": self.method.name,
            "num_initial": self.num_initial,
            "epsilon": describe_epsilon(settings, self.method),
            "max_growth": settings.max_growth,
            "search": describe_search(settings.search),
            "dtype": str(dtype),
            "data": [[X.tolist(), Y] for X, Y in given],
        }
        self._file = BatchFile(checkpoint, config)
        for event in self._file.open():
            self._take_in(event)

    def __len__(self) -> int:
        """The number of runs."""
        return len(self.seeds)

    def __repr__(self) -> str:
        """One line."""
        state = self._state
        return (
            f"BatchedRuns({len(self)} runs of {self.method.name}, {int(state.active.sum())} of "
            f"them active; {int(state.num_completed.sum())} evaluations)"
        )

    def __getitem__(self, index: int) -> UnboundedOptimizer:
        """Run ``index`` alone, as it is now: it goes on without the others, and they without it."""
        return self._alone(self._state, self._steps, range(len(self))[index])

    def __iter__(self) -> Any:
        """The runs, each alone."""
        return (self[i] for i in range(len(self)))

    @property
    def state(self) -> BatchedState:
        """Trials and boxes of all runs, frozen."""
        return self._state

    @property
    def bounds(self) -> Tensor:
        """``R x 2 x d``: the boxes as they are."""
        return self._state.bounds

    @property
    def active(self) -> Tensor:
        """``R``: which runs go on."""
        return self._state.active

    @property
    def pending(self) -> Tensor:
        """``R``: which runs have a point that :meth:`ask` gave and no value for it yet."""
        return (self._state.status == PENDING).any(dim=-1)

    @property
    def num_asked(self) -> Tensor:
        """``R`` numbers of trials that were asked for."""
        return self._state.count - self._num_given

    def ask(self, q: int | None = None) -> Tensor:
        r"""Points to evaluate.

        Args:
            q: How many for each run, chosen one after another; one if omitted. More are for methods
                of expected improvement.

        Returns:
            An ``R x d`` tensor, or ``R x q x d`` if ``q`` was given; NaN for runs that were
            stopped. Asked again before :meth:`tell`, it returns the same.
        """
        state = self._state
        count = 1 if q is None else as_count(q, "q")
        if count > 1 and isinstance(self.method.strategy, TheoremBox):
            raise UnsupportedError(
                f"Expected a method of expected improvement for several points of a run at once; "
                f"{self.method.name!r} proposes one. Ask for one, or use EI-UBO."
            )
        if not bool(self.pending.any()) and bool(state.active.any()):
            modelled = (state.count >= self.num_initial) & (state.num_completed > 0)
            rows = (state.active & modelled).nonzero().squeeze(-1)
            X = self._design.points(state.count, state.active & ~modelled, count)
            taken = None
            if len(rows):
                step = suggest_batched(self._problem.take(rows), state.take(rows), count)
                X[rows] = step.X
                taken = StepsTaken.of(rows, step)
            asked = {
                "X": X.tolist() if self._file.is_kept else None,
                "step": taken.to_dict() if self._file.is_kept and taken is not None else None,
            }
            self._file.append(Event(ASKED, asked))
            self._asked(X, taken)
        points, _, there = self._state.first_of(PENDING)
        found = torch.where(there.unsqueeze(-1), points, torch.nan)
        if not found.shape[1]:  # nothing goes on
            found = torch.full_like(self._state.bounds[:, :1], torch.nan).expand(-1, count, -1)
        return found.squeeze(1) if q is None and found.shape[1] == 1 else found

    def tell(self, Y: Any) -> None:
        r"""Hand in the results of :meth:`ask`.

        Args:
            Y: ``R``, ``R x 1`` or, of several points each, ``R x q`` values in the sense of
                ``direction``: NaN, infinity or a number beyond 1e150 for an evaluation that failed.
                Those of runs that were stopped, or have nothing pending, are not looked at.
        """
        try:
            values = torch.as_tensor(Y, device=self._state.Y.device).detach().to(self._state.Y)
        except (TypeError, ValueError, RuntimeError) as error:
            raise InputDataError(f"Expected numbers in `Y`; got {Y!r} ({error}).") from error
        count = int((self._state.status == PENDING).sum(dim=-1).max())
        if not count:
            raise InputDataError("Expected a call of `ask` before `tell`; nothing is pending.")
        allowed = [(len(self), count), *([(len(self),)] if count == 1 else [])]
        if tuple(values.shape) not in allowed:
            wanted = "one value" if count == 1 else f"{count} values"
            raise InputDataError(
                f"Expected {wanted} for each of the {len(self)} runs; got shape "
                f"{tuple(values.shape)}. Pass NaN for a failure and for a run that was stopped."
            )
        values = values.reshape(len(self), count)
        self._file.append(Event(TOLD, {"Y": values.tolist() if self._file.is_kept else None}))
        self._told(values)

    def stop(self, runs: int | Sequence[int] | Tensor) -> None:
        r"""End some runs; the others go on.

        A point that is pending is told with the next :meth:`tell` all the same.

        Args:
            runs: Indices, or ``R`` booleans.
        """
        index = torch.as_tensor(runs)
        if index.dtype == torch.bool:
            if index.shape != (len(self),):
                raise InputDataError(
                    f"Expected {len(self)} booleans; got shape {tuple(index.shape)}."
                )
            index = index.nonzero().squeeze(-1)
        numbers = [range(len(self))[int(i)] for i in index.reshape(-1).tolist()]
        self._file.append(Event(STOPPED, {"runs": numbers}))
        self._stopped(numbers)

    def results(self, stopped_because: str = "a result was asked for") -> BatchResult:
        r"""What the runs have found so far.

        Args:
            stopped_because: Why they ended, for the record.

        Returns:
            The best points and values as tensors, and for each run what ``minimize`` returns.
        """
        alone = partial(self._alone, self._state, self._steps)
        return BatchResult(self._state, self._problem.sign, alone, stopped_because)

    def _alone(
        self, state: BatchedState, steps: tuple[StepsTaken, ...], run: int
    ) -> UnboundedOptimizer:
        num_given = int(self._num_given[run])
        return run_alone(self._arguments, self._problem, state, steps, run, num_given)

    def _asked(self, X: Tensor, taken: StepsTaken | None) -> None:
        state = self._state
        for points in X.unbind(dim=1):
            state = state.append(points, state.active)
        if taken is not None:
            runs = taken.runs
            bounds, first, last = (
                part.clone() for part in (state.bounds, state.num_initial, state.num_at_expansion)
            )
            bounds[runs] = taken.bounds
            new = first[runs] < 0
            first[runs] = torch.where(new, taken.n, first[runs])
            last[runs] = torch.where(new | taken.moved, taken.n, last[runs])
            state = replace(state, bounds=bounds, num_initial=first, num_at_expansion=last)
            self._steps = (*self._steps, taken)
        self._state = state

    def _told(self, values: Tensor) -> None:
        self._state = self._state.tell(values, self._largest)

    def _stopped(self, runs: Sequence[int]) -> None:
        active = self._state.active.clone()
        active[torch.tensor(runs, dtype=torch.long, device=active.device)] = False
        self._state = replace(self._state, active=active)

    def _take_in(self, event: Event) -> None:
        """Bring the state forward by what a file holds."""
        body: Mapping[str, Any] = event.body
        like = self._state.X
        if event.kind == ASKED:
            X = torch.tensor(body["X"], dtype=like.dtype, device=like.device)
            step = body["step"]
            self._asked(X, None if step is None else StepsTaken.from_dict(step, like))
        elif event.kind == TOLD:
            values = [[float(y) for y in row] for row in body["Y"]]
            self._told(torch.tensor(values, dtype=like.dtype, device=like.device))
        elif event.kind == STOPPED:
            self._stopped(body["runs"])
