"""Optuna's samplers on problems whose parameters have names, told the domain."""

import math
from typing import Any

import torch
from torch import Tensor

from benchmarks.methods.contender import Clock, Contender
from benchmarks.problems.problem import Problem, Start
from botorch_ubo.spaces import Float, Integer, Parameter


class MixedOptunaContender:
    """A sampler of Optuna that knows each parameter's kind, scale and domain."""

    bounds: Tensor | None = None

    def __init__(self, problem: Problem, seed: int, sampler: str) -> None:
        import optuna

        if problem.domain is None or problem.space is None:
            raise ValueError(f"Expected a problem of parameters with names; got {problem.name}")
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._optuna = optuna
        self._problem = problem
        self._sampler = getattr(optuna.samplers, sampler)(seed=seed)
        self._space = {n: _distribution(optuna, p) for n, p in problem.domain.parameters.items()}
        self._study: Any = None
        self._trial: Any = None

    def suggest(self, X: Tensor, Y: Tensor, clock: Clock) -> Tensor:
        with clock.phase("acquisition"):
            if self._study is None:
                self._study = self._begin(X, Y)
            else:
                value = float(Y[-1])
                failed = self._optuna.trial.TrialState.FAIL if math.isnan(value) else None
                self._study.tell(self._trial, None if failed else value, state=failed)
            self._trial = self._study.ask(self._space)
            point = self._problem.space.encode(dict(self._trial.params))
            return torch.tensor([point], dtype=torch.double)

    def _begin(self, X: Tensor, Y: Tensor) -> Any:
        # The initial points stand in for those that the sampler would draw itself.
        self._sampler._n_startup_trials = len(X)
        study = self._optuna.create_study(direction="maximize", sampler=self._sampler)
        for x, y in zip(X.tolist(), Y.flatten().tolist(), strict=True):
            if not math.isnan(y):
                study.add_trial(
                    self._optuna.trial.create_trial(
                        params=self._problem.domain.decode(x), distributions=self._space, value=y
                    )
                )
        return study


def optuna_tpe(problem: Problem, start: Start, seed: int) -> Contender:
    """Optuna's default sampler, told the domain."""
    return MixedOptunaContender(problem, seed, "TPESampler")


def _distribution(optuna: Any, parameter: Parameter) -> Any:
    if isinstance(parameter, Float):
        return optuna.distributions.FloatDistribution(
            parameter.low, parameter.high, log=parameter.log
        )
    if isinstance(parameter, Integer):
        return optuna.distributions.IntDistribution(
            parameter.low, parameter.high, log=parameter.log
        )
    return optuna.distributions.CategoricalDistribution(tuple(parameter.values))
