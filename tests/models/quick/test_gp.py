"""The shortcut of ``QuickGP`` gives its parent's numbers, and is taken only where it may be."""

from unittest import mock

import pytest
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.acquisition.objective import (
    ExpectationPosteriorTransform,
    ScalarizedPosteriorTransform,
)
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from botorch.models.transforms.input import (
    ChainedInputTransform,
    InputPerturbation,
    InputTransform,
)
from botorch.models.transforms.outcome import Bilog, Log
from botorch.posteriors import TransformedPosterior
from botorch.sampling import SobolQMCNormalSampler
from gpytorch.kernels import Kernel, MaternKernel, RBFKernel, ScaleKernel
from gpytorch.means import LinearMean, ZeroMean
from torch import Tensor

from botorch_ubo.models.quick.gp import PointPosterior, QuickGP
from tests.support.gps import tensor
from tests.support.quick_models import (
    DEFAULT,
    INPUTS,
    KERNELS,
    POSITIVE,
    D,
    ard,
    assert_quick,
    data,
    make,
    of_parent,
    points,
)


@pytest.mark.parametrize("inputs", sorted(INPUTS))
def test_equal_to_the_parent_through_any_transform(inputs: str) -> None:
    assert_quick(make(inputs=inputs))


@pytest.mark.slow
@pytest.mark.parametrize("fixed", [False, True], ids=["inferred", "fixed"])
@pytest.mark.parametrize("outcome", [DEFAULT, None], ids=["standardize", "raw"])
@pytest.mark.parametrize("inputs", sorted(INPUTS))
@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_equal_to_the_parent(kernel: str, inputs: str, outcome: object, fixed: bool) -> None:
    assert_quick(make(kernel, inputs, outcome, fixed=fixed))


@pytest.mark.parametrize("fixed", [False, True], ids=["inferred", "fixed"])
@pytest.mark.parametrize("outcome", [DEFAULT, None], ids=["standardize", "raw"])
@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_single_precision(kernel: str, outcome: object, fixed: bool) -> None:
    model = make(kernel, outcome=outcome, dtype=torch.float, fixed=fixed)
    assert_quick(model, rtol=1e-3)
    exact = make(kernel, outcome=outcome, fixed=fixed)
    quick, precise = model.posterior(points(dtype=torch.float)), exact.posterior(points())
    for name in ("mean", "variance"):
        value, expected = getattr(quick, name).double(), getattr(precise, name)
        atol = 1e-3 * float(expected.abs().max())
        torch.testing.assert_close(value, expected, rtol=1e-3, atol=atol)


def test_single_precision_with_a_transform_that_has_seen_double() -> None:
    model = make(dtype=torch.float)
    expected = model.posterior(points(dtype=torch.float)).mean
    model.train()
    model.eval()
    model.input_transform(points())
    assert model.input_transform.coefficient.dtype == torch.double
    mean = model.posterior(points(dtype=torch.float)).mean
    assert mean.dtype == torch.float
    torch.testing.assert_close(mean, expected)


@pytest.mark.parametrize("n", [1, 2, 200])
def test_any_number_of_data(n: int) -> None:
    assert_quick(make(n=n), rtol=1e-6)


@pytest.mark.parametrize("count", [2, 700])
def test_any_number_of_points(count: int) -> None:
    assert_quick(make(), points(count + 2)[:count])


def test_a_mean_that_is_always_zero() -> None:
    X, Y = data()
    model = QuickGP(X, Y, covar_module=ard().double(), mean_module=ZeroMean()).eval()
    assert_quick(model)


def test_far_from_everything_is_the_prior() -> None:
    model = make()
    posterior = model.posterior(torch.full((1, 1, D), 1e9, dtype=torch.double))
    outcome = model.outcome_transform
    assert float(posterior.mean) == pytest.approx(float(outcome.means + 0.4 * outcome.stdvs))
    assert float(posterior.variance) == pytest.approx(float(2.7 * outcome.stdvs**2))


def test_a_box_far_from_the_origin() -> None:
    """The shortcut subtracts before it squares: the same as in a box at the origin."""
    X, Y = data()
    found = []
    for offset in (0.0, 1e6):
        transform = Normalize(D, bounds=POSITIVE + offset)
        model = QuickGP(
            X + offset, Y, covar_module=KERNELS["scaled_ard"](), input_transform=transform
        )
        posterior = model.to(X).eval().posterior(points() + offset)
        found.append((posterior.mean, posterior.variance))
    torch.testing.assert_close(found[0], found[1], rtol=1e-6, atol=1e-6)


@pytest.mark.filterwarnings("ignore:Very small noise values")  # in single precision, on purpose
@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_variance_is_positive_at_repeated_exact_data(dtype: torch.dtype) -> None:
    X, Y = data(dtype=dtype)
    model = QuickGP(
        X.repeat(3, 1), Y.repeat(3, 1), torch.full((36, 1), 1e-4).to(X), covar_module=ard()
    )
    variance = model.to(X).eval().posterior(X.unsqueeze(-2)).variance
    assert (variance > 0).all()
    assert LogExpectedImprovement(model, Y.max())(X.unsqueeze(-2)).isfinite().all()


@pytest.mark.parametrize("inputs", ["none", "normalize"])
@pytest.mark.parametrize("fixed", [False, True], ids=["inferred", "fixed"])
def test_means_at_the_data_are_those_of_the_posterior(inputs: str, fixed: bool) -> None:
    model = make(inputs=inputs, fixed=fixed).eval()
    model.mean_module.constant = 0.3
    means = model.means_at_data()
    assert means is not None
    X = model.train_inputs[0]
    raw = X if inputs == "none" else model.input_transform.untransform(X)
    expected = of_parent(model, raw.unsqueeze(-2)).mean.flatten()
    torch.testing.assert_close(means, expected, rtol=1e-8, atol=1e-8)
    assert model.train().means_at_data() is None


class TestPosterior:
    def test_shapes_dtype_and_device(self) -> None:
        model, X = make(), points()
        quick, slow = model.posterior(X), of_parent(model, X)
        for name in ("device", "dtype", "base_sample_shape", "batch_range", "event_shape"):
            if hasattr(slow, name):
                assert getattr(quick, name) == getattr(slow, name), name
        shape = torch.Size([5])
        assert quick._extended_shape(shape) == slow._extended_shape(shape)

    def test_samples(self) -> None:
        model, X = make(), points()
        found = []
        for posterior in (model.posterior(X), of_parent(model, X)):
            sampler = SobolQMCNormalSampler(torch.Size([64]), seed=3)
            found.append(sampler(posterior))
        torch.testing.assert_close(found[0], found[1], rtol=1e-8, atol=1e-8)
        torch.manual_seed(0)
        drawn = model.posterior(X).rsample(torch.Size([4000]))
        torch.testing.assert_close(drawn.mean(dim=0), found[1].mean(dim=0), rtol=0, atol=0.4)

    def test_gradients_of_samples(self) -> None:
        model = make()
        found = []
        for ask in (model.posterior, lambda X: of_parent(model, X)):
            X = points().requires_grad_(True)
            value = SobolQMCNormalSampler(torch.Size([8]), seed=3)(ask(X)).square().sum()
            found.append(torch.autograd.grad(value, X)[0])
        torch.testing.assert_close(found[0], found[1], rtol=1e-7, atol=1e-6)

    def test_quantile_and_density(self) -> None:
        model, X = make(), points()
        quick, slow = model.posterior(X), of_parent(model, X)
        for name, value in (("quantile", 0.9), ("density", 41.0)):
            at = tensor(value)
            torch.testing.assert_close(getattr(quick, name)(at), getattr(slow, name)(at))

    def test_distribution_is_made_once_and_only_if_asked_for(self) -> None:
        posterior = make().posterior(points())
        _ = posterior.mean, posterior.variance
        assert "distribution" not in vars(posterior)
        assert posterior.mvn is posterior.distribution


@pytest.mark.parametrize(
    "transform",
    [
        ScalarizedPosteriorTransform(tensor([-2.0]), offset=3.0),
        ExpectationPosteriorTransform(n_w=1),
    ],
    ids=["scalarized", "expectation"],
)
def test_posterior_transform(transform: object) -> None:
    model, X = make(), points()
    quick = model.posterior(X, posterior_transform=transform)
    slow = of_parent(model, X, posterior_transform=transform)
    torch.testing.assert_close(quick.mean, slow.mean)
    torch.testing.assert_close(quick.variance, slow.variance)


class TestParentIsAsked:
    """Where the shortcut's formulas do not hold, the answer is the parent's own."""

    def check(self, model: QuickGP, X: Tensor, **kwargs: object) -> None:
        with mock.patch.object(
            SingleTaskGP, "posterior", autospec=True, side_effect=SingleTaskGP.posterior
        ) as parent:
            posterior = model.posterior(X, **kwargs)
        assert parent.call_count == 1
        assert not isinstance(posterior, PointPosterior)

    @pytest.mark.parametrize("shape", [(2, D), (4, 2, D), (3, 4, 1, D), (1, D)])
    def test_other_shapes(self, shape: tuple[int, ...]) -> None:
        self.check(make(), torch.rand(shape, dtype=torch.double) + 1)

    def test_in_training_mode(self) -> None:
        model = make().train()
        self.check(model, points())
        assert not model.training  # the parent sees to it

    @pytest.mark.parametrize("noise", [True, torch.full((9, 1, 1), 0.1).double()])
    def test_with_observation_noise(self, noise: bool | Tensor) -> None:
        model = make()
        self.check(model, points(), observation_noise=noise)
        assert (
            model.posterior(points(), observation_noise=noise).variance
            > model.posterior(points()).variance
        ).all()

    def test_batched_data(self) -> None:
        X, Y = data()
        model = QuickGP(torch.stack([X, X + 1]), torch.stack([Y, Y])).eval()
        self.check(model, points(4)[:2])

    def test_several_outputs(self) -> None:
        X, Y = data()
        self.check(QuickGP(X, torch.cat([Y, -Y], dim=-1)).eval(), points())

    @pytest.mark.parametrize(
        "kernel",
        [
            MaternKernel(nu=2.5),
            ScaleKernel(MaternKernel(nu=2.5)),
            RBFKernel(active_dims=(0, 1)),
            ScaleKernel(RBFKernel(), active_dims=(0, 1)),
            ScaleKernel(ScaleKernel(RBFKernel())),
            RBFKernel() + RBFKernel(),
        ],
        ids=["matern", "scaled_matern", "some_dims", "scaled_some_dims", "twice_scaled", "sum"],
    )
    def test_other_kernels(self, kernel: Kernel) -> None:
        X, Y = data()
        self.check(QuickGP(X, Y, covar_module=kernel.double()).eval(), points())

    def test_a_mean_that_is_not_constant(self) -> None:
        X, Y = data()
        self.check(QuickGP(X, Y, mean_module=LinearMean(D).double()).eval(), points())

    @pytest.mark.parametrize("outcome", [Log(), Bilog()])
    def test_other_outcome_transforms(self, outcome: object) -> None:
        model = make(outcome=outcome)
        self.check(model, points())
        assert isinstance(model.posterior(points()), TransformedPosterior)

    def test_one_point_that_becomes_many(self) -> None:
        X, Y = data()
        noise = InputPerturbation(torch.full((4, D), 0.1, dtype=torch.double))
        model = QuickGP(X, Y, input_transform=noise).eval()
        self.check(model, points())
        assert model.posterior(points()).mean.shape == (9, 4, 1)


@pytest.mark.parametrize("flag", ["transform_on_train", "transform_on_eval"])
@pytest.mark.parametrize("chained", [False, True])
def test_means_at_data_are_left_to_the_parent_where_data_are_transformed_otherwise(
    flag: str, chained: bool
) -> None:
    X, Y = torch.rand(8, 2, dtype=torch.double), torch.rand(8, 1, dtype=torch.double)
    for value in (True, False):
        transform: InputTransform = Normalize(2, bounds=tensor([[0.0, 0.0], [3.0, 3.0]]))
        setattr(transform, flag, value)
        if chained:
            transform = ChainedInputTransform(first=transform)
        model = QuickGP(X, Y, covar_module=RBFKernel(), input_transform=transform).eval()
        means = model.means_at_data()
        assert (means is not None) == value
        if means is not None:
            expected = model.posterior(X.unsqueeze(-2)).mean.flatten()
            torch.testing.assert_close(means, expected, rtol=1e-6, atol=1e-8)
