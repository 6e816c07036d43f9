"""What the package needs of BoTorch beyond its documented names, in one place.

None of these names is promised by BoTorch. Everything else in the package takes them from here,
and ``tests/compat/test_botorch_private.py`` checks each of them against the version pinned in
``constraints.txt``. When one moves, this is the file to mend.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from botorch.acquisition.analytic import AnalyticAcquisitionFunction
from botorch.acquisition.logei import qLogExpectedImprovement
from botorch.acquisition.monte_carlo import SampleReducingMCAcquisitionFunction
from botorch.test_functions.base import BaseTestProblem
from torch import Tensor

try:
    from botorch.acquisition.analytic import _log_ei_helper as log_ei_helper
    from botorch.acquisition.analytic import _scaled_improvement as scaled_improvement
    from botorch.acquisition.logei import _log_improvement as log_improvement

    # What is called or overridden below; an override that BoTorch never calls would be silent.
    _PRIVATE_METHODS = (
        AnalyticAcquisitionFunction._mean_and_sigma,
        SampleReducingMCAcquisitionFunction._sample_forward,
        BaseTestProblem._evaluate_true,
    )
except (ImportError, AttributeError) as error:
    raise ImportError(
        f"Expected a BoTorch whose acquisition functions are built as in 0.18; {error}. Install "
        "the version that constraints.txt names, or adapt botorch_ubo/compat/botorch_private.py."
    ) from error
from botorch.generation import gen

__all__ = [
    "LogValues",
    "SampledLogImprovement",
    "evaluate_anywhere",
    "fmin_l_bfgs_b_batched",
    "has_log_values",
    "is_ensemble",
    "log_ei_helper",
    "log_improvement",
    "mean_and_sigma",
    "original_train_inputs",
    "put_train_data",
    "scaled_improvement",
    "task_structure",
]

# BoTorch has it for the versions of scipy whose L-BFGS-B it knows, and falls back on its own
# search with others; so does this package.
fmin_l_bfgs_b_batched: Any = getattr(gen, "fmin_l_bfgs_b_batched", None)


def original_train_inputs(model: Any) -> Tensor:
    """Training inputs of a model in evaluation mode as they were given, not transformed."""
    original = getattr(model, "_original_train_inputs", None)
    X: Tensor = model.train_inputs[0] if original is None else original
    return X


def put_train_data(model: Any, X: Tensor, inputs: Tensor, targets: Tensor) -> None:
    """Give a model in evaluation mode other data: original and transformed inputs, and targets."""
    if getattr(model, "_original_train_inputs", None) is not None:
        model._original_train_inputs = X
    model.train_inputs = (inputs,)
    model.train_targets = targets
    model.prediction_strategy = None


def is_ensemble(model: Any) -> bool:
    """Whether the batch dimension of a model counts members of an ensemble."""
    return bool(getattr(model, "_is_ensemble", False))


def has_log_values(acq_function: Any) -> bool:
    """Whether the values of an acquisition function are logarithms."""
    return bool(getattr(acq_function, "_log", False))


def task_structure(model: Any) -> tuple[int, list[int]]:
    """Of a multi-task model, the column of the task and the tasks that it predicts."""
    return model._task_feature % (model.num_non_task_features + 1), list(model._output_tasks)


class LogValues:
    """A mixin for acquisition functions whose values are logarithms."""

    _log: ClassVar[bool] = True


class SampledLogImprovement(qLogExpectedImprovement):
    """A Monte Carlo log expected improvement with an improvement of samples of its own."""

    _fat: bool

    @abstractmethod
    def log_improvement(self, samples: Tensor, fat: bool) -> Tensor:
        r"""The logarithm of what samples of the objective improve.

        Args:
            samples: ``... x q'`` samples at the candidates, and at the pending points last.
            fat: Whether the smooth positive part has a fat tail.

        Returns:
            A ``... x q`` tensor.
        """

    def _sample_forward(self, obj: Tensor) -> Tensor:
        return self.log_improvement(obj, self._fat)


def mean_and_sigma(acq_function: AnalyticAcquisitionFunction, X: Tensor) -> tuple[Tensor, Tensor]:
    """Posterior means and standard deviations at ``b x 1 x d`` points, ``b x 1`` each."""
    mean, sigma = acq_function._mean_and_sigma(X)
    assert sigma is not None  # it is for `compute_sigma=True`, the default
    return mean, sigma


def evaluate_anywhere(problem: BaseTestProblem, X: Tensor) -> Tensor:
    """The noiseless values of a test problem, also outside of its domain, which others refuse."""
    return problem._evaluate_true(X)
