"""Every method that a benchmark compares, behind one interface: data in, next point out.

The methods of the registry start from the problem's start box and use the default model. Beside
them, by name:

- ``LogEI-oracle``: LogEI in the true domain (for ``far``: the box of 3 D sides);
- ``LogEI-wide5``, ``LogEI-wide25``: LogEI in a box 5 or 25 times as wide as the true domain per
  side, about the start box's centre (as wide as the start box, where there is no domain);
- ``CMA-ES``: package ``cma``, from the best initial point with the start box's scales;
- ``Optuna-GP-wide5``: Optuna's GP sampler in the box of ``LogEI-wide5``, told the initial points.

LogEI uses the same model as the registry's methods, but with inputs scaled by the box that it is
told, as a user would: BoTorch's ``LogExpectedImprovement``, ``optimize_acqf`` with 10 restarts
and 512 raw samples. All of them respect the problem's hard limits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.optim import optimize_acqf
from botorch.utils.sampling import manual_seed
from torch import Tensor

from benchmarks.catalog import Start
from benchmarks.problems import Problem
from botorch_ubo.boxes import clip, scale_about_center
from botorch_ubo.methods import available_methods, get_method
from botorch_ubo.models import fit_default_model
from botorch_ubo.strategies import FilteringBox

CMA_SIGMA = 0.3  # sides of the start box; cma's advice is a quarter to a third


@dataclass
class Clock:
    """Seconds of one suggestion, by phase, of the wall's clock and of the process."""

    seconds: dict[str, float] = field(default_factory=dict)
    process_seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        wall, process = time.perf_counter(), time.process_time()
        yield
        self.process_seconds[name] = time.process_time() - process
        self.seconds[name] = time.perf_counter() - wall


class Contender(Protocol):
    """A method at work on one problem."""

    bounds: Tensor | None
    """The ``2 x d`` box of the last suggestion, where there is one."""

    def suggest(self, X: Tensor, Y: Tensor, clock: Clock) -> Tensor:
        """The next ``1 x d`` point, from all ``n x d`` points and their ``n x 1`` values so far."""
        ...


class RegistryContender:
    """A method of :mod:`botorch_ubo.methods`."""

    def __init__(self, name: str, problem: Problem, start: Start, seed: int) -> None:
        self.box = get_method(name).build(
            start.box, epsilon=problem.epsilon, seed=seed, hard_limits=problem.hard_limits
        )
        if isinstance(self.box.strategy, FilteringBox):  # the one that plans for a budget
            self.box.strategy = replace(self.box.strategy, budget=start.budget)
        self.start_box, self.seed = start.box, seed
        self.bounds: Tensor | None = None

    def suggest(self, X: Tensor, Y: Tensor, clock: Clock) -> Tensor:
        with clock.phase("fit"):
            model = fit_default_model(X, Y, self.start_box, seed=self.seed + len(X))
        # A trigger that needs the acquisition's maximum has it computed here, and kept.
        with clock.phase("geometry"):
            self.box.update(model)
        with clock.phase("acquisition"):
            x = self.box.suggest(model)
        self.bounds = self.box.bounds
        return x


class LogEIContender:
    """LogEI in a fixed box that a user has given."""

    def __init__(self, bounds: Tensor, seed: int) -> None:
        self.bounds, self.seed = bounds, seed

    def suggest(self, X: Tensor, Y: Tensor, clock: Clock) -> Tensor:
        seed = self.seed + len(X)
        with clock.phase("fit"):
            model = fit_default_model(X, Y, self.bounds, seed=seed)
        with clock.phase("acquisition"), manual_seed(seed):
            acqf = LogExpectedImprovement(model, best_f=Y.max())
            x, _ = optimize_acqf(acqf, self.bounds, q=1, num_restarts=10, raw_samples=512)
        return x


class CMAContender:
    """CMA-ES, whose generations are handed out point by point."""

    bounds: Tensor | None = None

    def __init__(self, problem: Problem, start: Start, seed: int) -> None:
        import cma  # here, so that its import is not counted as the first suggestion's

        self._new_strategy = cma.CMAEvolutionStrategy
        self.problem, self.start, self.seed = problem, start, seed
        self._strategy: Any = None
        self._generation: list[Any] = []
        self._handed_out = 0

    def suggest(self, X: Tensor, Y: Tensor, clock: Clock) -> Tensor:
        with clock.phase("acquisition"):
            if self._strategy is None:
                self._strategy = self._begin(X[Y.argmax()])
            elif self._handed_out == len(self._generation):
                self._strategy.tell(self._generation, (-Y[-self._handed_out :, 0]).tolist())
                self._generation = []
            if not self._generation:
                self._generation, self._handed_out = self._strategy.ask(), 0
            point = self._generation[self._handed_out]
            self._handed_out += 1
            return torch.as_tensor(point, dtype=torch.double).unsqueeze(0)

    def _begin(self, x: Tensor) -> Any:
        side = self.start.box[1] - self.start.box[0]
        # Seed 0 would mean one of the clock's.
        options = {"seed": self.seed + 1, "verbose": -9, "CMA_stds": side.tolist()}
        if self.problem.hard_limits is not None:
            options["bounds"] = self.problem.hard_limits.tolist()
        return self._new_strategy(x.tolist(), CMA_SIGMA, options)


class OptunaContender:
    """Optuna's GP sampler in a fixed box."""

    def __init__(self, bounds: Tensor, seed: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._optuna = optuna
        self.bounds, self.seed = bounds, seed
        self._space = {
            f"x{i}": optuna.distributions.FloatDistribution(lower, upper)
            for i, (lower, upper) in enumerate(bounds.T.tolist())
        }
        self._study: Any = None
        self._trial: Any = None

    def suggest(self, X: Tensor, Y: Tensor, clock: Clock) -> Tensor:
        with clock.phase("acquisition"):
            if self._study is None:
                self._study = self._begin(X, Y)
            else:
                self._study.tell(self._trial, float(Y[-1]))
            self._trial = self._study.ask(self._space)
            point = [self._trial.params[name] for name in self._space]
            return torch.tensor([point], dtype=torch.double)

    def _begin(self, X: Tensor, Y: Tensor) -> Any:
        # The initial points stand in for those that the sampler would draw itself.
        sampler = self._optuna.samplers.GPSampler(seed=self.seed, n_startup_trials=len(X))
        study = self._optuna.create_study(direction="maximize", sampler=sampler)
        for x, y in zip(X.tolist(), Y.flatten().tolist(), strict=True):
            params = dict(zip(self._space, x, strict=True))
            study.add_trial(
                self._optuna.trial.create_trial(params=params, distributions=self._space, value=y)
            )
        return study


def _true_domain(problem: Problem, start: Start) -> Tensor:
    if problem.bounds is None:
        raise ValueError(
            f"Expected a problem with a nominal domain for LogEI-oracle; {problem.name} has none. "
            "Leave the method out."
        )
    return problem.bounds


def wide_box(problem: Problem, start: Start, factor: float) -> Tensor:
    """A box ``factor`` times as wide as the true domain, about the start box's centre."""
    known = start.box if problem.bounds is None else problem.bounds
    wide = scale_about_center(known, factor) - known.mean(dim=0) + start.box.mean(dim=0)
    return wide if problem.hard_limits is None else clip(wide, problem.hard_limits)


OUTSIDE: dict[str, Callable[[Problem, Start, int], Contender]] = {
    "LogEI-oracle": lambda p, start, seed: LogEIContender(_true_domain(p, start), seed),
    "LogEI-wide5": lambda p, start, seed: LogEIContender(wide_box(p, start, 5), seed),
    "LogEI-wide25": lambda p, start, seed: LogEIContender(wide_box(p, start, 25), seed),
    "CMA-ES": CMAContender,
    "Optuna-GP-wide5": lambda p, start, seed: OptunaContender(wide_box(p, start, 5), seed),
}
AUTHORS = "authors"
"""The name under which the authors' own runs are kept; they are converted, not run."""


def contender_names() -> tuple[str, ...]:
    """All names: the registry's in its order, then those from outside."""
    return (*(method.name for method in available_methods()), *OUTSIDE)


def make_contender(name: str, problem: Problem, start: Start, seed: int) -> Contender:
    """A method, ready to begin on a problem."""
    if name in OUTSIDE:
        return OUTSIDE[name](problem, start, seed)
    return RegistryContender(name, problem, start, seed)
