"""One model of every class of BoTorch's, hyper-parameters as they come."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from botorch.acquisition.objective import (
    ExpectationPosteriorTransform,
    GenericMCObjective,
    ScalarizedPosteriorTransform,
)
from botorch.models import (
    KroneckerMultiTaskGP,
    MixedSingleTaskGP,
    ModelListGP,
    MultiTaskGP,
    PairwiseGP,
    SingleTaskGP,
    SingleTaskMultiFidelityGP,
    SingleTaskVariationalGP,
)
from botorch.models.deterministic import GenericDeterministicModel
from botorch.models.gpytorch import GPyTorchModel
from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP
from botorch.models.model import Model, ModelList
from botorch.models.transforms import Normalize
from botorch.models.transforms.input import (
    AppendFeatures,
    ChainedInputTransform,
    InputPerturbation,
    Log10,
    Round,
    Warp,
)
from botorch.models.transforms.outcome import Bilog, ChainedOutcomeTransform, Log, Standardize
from gpytorch.distributions import MultivariateNormal
from gpytorch.kernels import (
    LinearKernel,
    MaternKernel,
    PeriodicKernel,
    RBFKernel,
    RQKernel,
    ScaleKernel,
)
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.means import LinearMean
from gpytorch.models import ExactGP
from torch import Tensor

from tests.support.controlled import UNIT
from tests.support.gps import tensor

WIDE = tensor([[-200.0, -200.0], [200.0, 200.0]])
TWO = ScalarizedPosteriorTransform(tensor([2.0, -0.3]), offset=1.0)


class UserDefined(ExactGP, GPyTorchModel):
    """A GP as a user would write it."""

    _num_outputs = 1

    def __init__(self, X: Tensor, Y: Tensor) -> None:
        super().__init__(X, Y.squeeze(-1), GaussianLikelihood())
        self.trend = LinearMean(2)
        self.kernel = ScaleKernel(RBFKernel())
        self.to(X)

    def forward(self, X: Tensor) -> MultivariateNormal:
        return MultivariateNormal(self.trend(X), self.kernel(X))


class WithoutData(Model):
    """A model of one's own that is no GP of GPyTorch's and keeps no data, but has a posterior."""

    num_outputs = 1
    batch_shape = torch.Size()

    def __init__(self, X: Tensor, Y: Tensor) -> None:
        super().__init__()
        self.inner = SingleTaskGP(X, Y)

    def posterior(self, X: Tensor, *args: Any, **kwargs: Any) -> Any:
        return self.inner.posterior(X, *args, **kwargs)


@dataclass(frozen=True)
class Case:
    """How to build a model of ``n x 2`` points and one outcome, and what goes with it."""

    build: Callable[[Tensor, Tensor], Any]
    box: dict[str, Any] = field(default_factory=dict)
    """Arguments of the controller."""
    asked: Callable[[Tensor], dict[str, Any]] = lambda X: {}
    """Arguments of ``suggest``, from the points."""
    points: Callable[[Tensor], Tensor] = lambda X: X
    """What the model needs of the points."""
    in_theorem: bool = False
    by_samples: bool = False
    """Whether the objective is had by samples only, of which confidence bounds know nothing."""
    slow: bool = False


def _plain(**kwargs: Callable[[], Any]) -> Callable[[Tensor, Tensor], SingleTaskGP]:
    def build(X: Tensor, Y: Tensor) -> SingleTaskGP:
        given = {name: make() for name, make in kwargs.items()}
        usual = {"input_transform": Normalize(2, bounds=UNIT)}
        return SingleTaskGP(X, Y, **{**usual, **given}).double()

    return build


def _kernel(kernel: Callable[[], Any], in_theorem: bool = False) -> Case:
    return Case(_plain(covar_module=lambda: ScaleKernel(kernel())), in_theorem=in_theorem)


def _inputs(transform: Callable[[], Any], in_theorem: bool = False, **kwargs: Any) -> Case:
    return Case(_plain(input_transform=transform), in_theorem=in_theorem, **kwargs)


def _both(X: Tensor, Y: Tensor) -> Tensor:
    return torch.cat([Y, X.sum(-1, keepdim=True)], dim=-1)


def _list(X: Tensor, Y: Tensor) -> ModelListGP:
    unit = Normalize(2, bounds=UNIT)
    return ModelListGP(
        *(SingleTaskGP(X, y, input_transform=unit) for y in _both(X, Y).split(1, dim=-1))
    )


def _binary(X: Tensor) -> Tensor:
    return torch.stack([X[:, 0], (X[:, 1] > 0.5).to(X)], dim=-1)


def _tasks(X: Tensor, Y: Tensor) -> MultiTaskGP:
    task = torch.zeros_like(Y)
    task[::3] = 1.0
    return MultiTaskGP(
        torch.cat([X, task], dim=-1),
        Y,
        task_feature=-1,
        output_tasks=[0],
        input_transform=Normalize(3, bounds=torch.cat([UNIT, tensor([[0.0], [1.0]])], -1)),
    )


def _comparisons(X: Tensor, Y: Tensor) -> PairwiseGP:
    order = Y.squeeze(-1).argsort(descending=True)
    return PairwiseGP(X, torch.stack([order[:-1], order[1:]], dim=-1))


def _with_known_cost(X: Tensor, Y: Tensor) -> ModelList:
    cost = GenericDeterministicModel(lambda X: X.sum(dim=-1, keepdim=True))
    return ModelList(SingleTaskGP(X, Y), cost)


_SHIFTS = tensor([[-0.05, 0.0], [0.0, 0.0], [0.05, 0.05]])
_fitted: dict[int, Any] = {}


def _saas(X: Tensor, Y: Tensor) -> Any:
    """Fitted once for so many points: the data of these tests are always the same."""
    if len(X) not in _fitted:
        _fitted[len(X)] = _fit_saas(X, Y)
    return _fitted[len(X)]


def _fit_saas(X: Tensor, Y: Tensor) -> Any:
    if importlib.util.find_spec("numpyro") is None:
        pytest.skip("numpyro is not installed: pip install 'botorch-ubo[fully-bayesian]'")
    from botorch.fit import fit_fully_bayesian_model_nuts
    from botorch.models.fully_bayesian import SaasFullyBayesianSingleTaskGP

    model = SaasFullyBayesianSingleTaskGP(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit_fully_bayesian_model_nuts(
            model, warmup_steps=8, num_samples=4, thinning=1, disable_progbar=True
        )
    return model


def _positive(X: Tensor) -> Tensor:
    return X.clamp_min(0.01)


CASES: dict[str, Case] = {
    "SingleTaskGP": Case(_plain(), in_theorem=True),
    "raw inputs": _inputs(lambda: None, in_theorem=True),
    "learned Normalize": _inputs(lambda: Normalize(2), in_theorem=True),
    "Log10": _inputs(
        lambda: ChainedInputTransform(log=Log10([0, 1]), unit=Normalize(2)),
        in_theorem=True,
        box={"hard_limits": {0: (1e-3, None), 1: (1e-3, None)}},
        points=_positive,
    ),
    "Warp": _inputs(lambda: Warp(2, [0, 1], bounds=WIDE)),
    "Normalize, Warp": _inputs(
        lambda: ChainedInputTransform(unit=Normalize(2, bounds=UNIT), warp=Warp(2, [0, 1]))
    ),
    "Round": _inputs(lambda: Round(integer_indices=[0])),
    "Log outcomes": Case(_plain(outcome_transform=Log)),
    "no outcome transform": Case(_plain(outcome_transform=lambda: None), in_theorem=True),
    "given noise": Case(lambda X, Y: SingleTaskGP(X, Y, torch.full_like(Y, 1e-3)), in_theorem=True),
    "heteroskedastic noise": Case(
        lambda X, Y: SingleTaskGP(X, Y, 1e-3 + 0.01 * Y.square()), in_theorem=True
    ),
    "linear mean": Case(_plain(mean_module=lambda: LinearMean(2))),
    "Matern": _kernel(lambda: MaternKernel(1.5, ard_num_dims=2), in_theorem=True),
    "rational quadratic": _kernel(RQKernel, in_theorem=True),
    "periodic": _kernel(PeriodicKernel),
    "linear": _kernel(LinearKernel),
    "additive": Case(
        _plain(covar_module=lambda: RBFKernel(active_dims=(0,)) + RBFKernel(active_dims=(1,)))
    ),
    "ModelListGP of one": Case(lambda X, Y: ModelListGP(SingleTaskGP(X, Y))),
    "ModelListGP": Case(_list, box={"posterior_transform": TWO}),
    "two outputs": Case(
        lambda X, Y: SingleTaskGP(X, _both(X, Y)),
        box={"posterior_transform": TWO},
        in_theorem=True,
    ),
    "MixedSingleTaskGP": Case(
        lambda X, Y: MixedSingleTaskGP(X, Y, cat_dims=[1]),
        box={"hard_limits": {1: (0.0, 1.0)}},
        asked=lambda X: {"cat_dims": {1: [0.0, 1.0]}},
        points=_binary,
    ),
    "EnsembleMapSaasSingleTaskGP": Case(
        lambda X, Y: EnsembleMapSaasSingleTaskGP(X, Y, num_taus=2), in_theorem=True
    ),
    "SaasFullyBayesianSingleTaskGP": Case(_saas, in_theorem=True, slow=True),
    "MultiTaskGP": Case(_tasks),
    "KroneckerMultiTaskGP": Case(
        # BoTorch's takes no posterior transform
        lambda X, Y: KroneckerMultiTaskGP(X, _both(X, Y)),
        box={"objective": GenericMCObjective(lambda Y, X=None: 2 * Y[..., 0] - 0.3 * Y[..., 1])},
        by_samples=True,
    ),
    "SingleTaskMultiFidelityGP": Case(
        lambda X, Y: SingleTaskMultiFidelityGP(X, Y, data_fidelities=[1]),
        box={"hard_limits": {1: (0.0, 1.0)}},
        asked=lambda X: {"fixed_features": {1: 1.0}},
    ),
    "SingleTaskVariationalGP": Case(
        lambda X, Y: SingleTaskVariationalGP(X, Y, inducing_points=4),
        asked=lambda X: {"X_baseline": X},
    ),
    "user-defined": Case(UserDefined),
    "user-defined, no GP": Case(WithoutData, asked=lambda X: {"X_baseline": X}),
    "outcomes without a mean": Case(
        _plain(
            outcome_transform=lambda: ChainedOutcomeTransform(bilog=Bilog(), unit=Standardize(1))
        ),
        by_samples=True,
    ),
    "perturbed inputs": Case(
        _plain(input_transform=lambda: InputPerturbation(_SHIFTS)),
        box={"posterior_transform": ExpectationPosteriorTransform(3)},
    ),
    "appended features": Case(
        lambda X, Y: SingleTaskGP(
            torch.cat([X, torch.zeros_like(Y)], dim=-1),
            Y,
            input_transform=AppendFeatures(tensor([[0.0]])),
        ),
        asked=lambda X: {"X_baseline": X},
    ),
    "PairwiseGP": Case(_comparisons),
    "a GP and a known cost": Case(
        _with_known_cost,
        box={
            "objective": GenericMCObjective(lambda Y, X=None: Y[..., 0]),
            "constraints": [lambda Y: Y[..., 1] - 1.2],
        },
        by_samples=True,
    ),
    "variational, two outputs": Case(
        lambda X, Y: SingleTaskVariationalGP(X, _both(X, Y), num_outputs=2, inducing_points=4),
        box={"objective": GenericMCObjective(lambda Y, X=None: Y[..., 0])},
        asked=lambda X: {"X_baseline": X},
        by_samples=True,
    ),
}
