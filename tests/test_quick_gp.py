"""The shortcut of ``QuickGP`` gives its parent's numbers, and is taken only where it may be."""

import copy
import io
import pickle
from collections.abc import Callable
from unittest import mock

import pytest
import torch
from botorch.acquisition import LogExpectedImprovement, PosteriorMean, qLogExpectedImprovement
from botorch.acquisition.objective import (
    ExpectationPosteriorTransform,
    ScalarizedPosteriorTransform,
)
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.models.transforms.input import (
    ChainedInputTransform,
    InputPerturbation,
    InputStandardize,
    InputTransform,
    Log10,
    Warp,
)
from botorch.models.transforms.outcome import Bilog, Log
from botorch.optim import optimize_acqf
from botorch.posteriors import Posterior, TransformedPosterior
from botorch.sampling import SobolQMCNormalSampler
from gpytorch.kernels import Kernel, MaternKernel, RBFKernel, ScaleKernel
from gpytorch.means import LinearMean, ZeroMean
from torch import Tensor

from botorch_ubo.quick_gp import PointPosterior, QuickGP
from tests.helpers import tensor

D = 3
POSITIVE = tensor([[0.5, 1.0, 20.0], [2.5, 9.0, 60.0]])
DEFAULT = Standardize(1)


def scaled(kernel: Kernel) -> Kernel:
    kernel = ScaleKernel(kernel)
    kernel.outputscale = 2.7
    return kernel


def one_lengthscale() -> Kernel:
    kernel = RBFKernel()
    kernel.lengthscale = 0.6
    return kernel


def ard() -> Kernel:
    kernel = RBFKernel(ard_num_dims=D)
    kernel.lengthscale = torch.tensor([0.3, 0.8, 1.7])
    return kernel


KERNELS: dict[str, Callable[[], Kernel]] = {
    "rbf": one_lengthscale,
    "ard": ard,
    "scaled": lambda: scaled(one_lengthscale()),
    "scaled_ard": lambda: scaled(ard()),
}
INPUTS: dict[str, Callable[[], InputTransform | None]] = {
    "none": lambda: None,
    "normalize": lambda: Normalize(D, bounds=POSITIVE),
    "learned": lambda: Normalize(D),
    "some": lambda: Normalize(D, indices=[0, 2], bounds=POSITIVE[:, [0, 2]]),
    "log": lambda: Log10([0, 1, 2]),
    "log_of_some": lambda: Log10([1]),
    "chained": lambda: ChainedInputTransform(
        log=Log10([0, 1, 2]), unit=Normalize(D, bounds=POSITIVE.log10())
    ),
    "standardize": lambda: InputStandardize(D),
    "warp": lambda: Warp(D, indices=[0, 1, 2], bounds=POSITIVE + tensor([[-9.0], [9.0]])),
    "only_in_training": lambda: Normalize(D, bounds=POSITIVE, transform_on_eval=False),
    "reversed": lambda: Normalize(D, bounds=POSITIVE / 60, reverse=True),
}


def data(n: int = 12, dtype: torch.dtype = torch.double) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(n)
    uniform = torch.rand(n, D, generator=generator, dtype=torch.double)
    X = POSITIVE[0] + (POSITIVE[1] - POSITIVE[0]) * uniform
    Y = 40 + 5 * torch.sin(6 * uniform).sum(dim=-1, keepdim=True)
    return X.to(dtype), Y.to(dtype)


def make(
    kernel: str = "scaled_ard",
    inputs: str = "normalize",
    outcome: object = DEFAULT,
    dtype: torch.dtype = torch.double,
    fixed: bool = False,
    n: int = 12,
) -> QuickGP:
    X, Y = data(n, dtype)
    Yvar = torch.linspace(0.01, 0.5, n).to(X).unsqueeze(-1) if fixed else None
    model = QuickGP(
        X,
        Y,
        Yvar,
        covar_module=KERNELS[kernel](),
        input_transform=INPUTS[inputs](),
        outcome_transform=copy.deepcopy(outcome),
    ).to(X)
    model.mean_module.constant = 0.4
    return model.eval()


def points(count: int = 9, dtype: torch.dtype = torch.double) -> Tensor:
    """Single points inside and around the data, two of them at data."""
    generator = torch.Generator().manual_seed(1)
    uniform = torch.rand(count - 2, D, generator=generator, dtype=torch.double)
    around = POSITIVE[0] + (POSITIVE[1] - POSITIVE[0]) * (1.5 * uniform - 0.1)
    X = torch.cat([around.clamp_min(0.05), data(12)[0][:2]])
    return X.unsqueeze(-2).to(dtype)


def of_parent(model: QuickGP, X: Tensor, **kwargs: object) -> Posterior:
    return SingleTaskGP.posterior(model, X, **kwargs)


def assert_quick(model: QuickGP, X: Tensor | None = None, rtol: float = 1e-8) -> None:
    """The shortcut is taken, and mean, variance and their gradients are the parent's."""
    X = points(dtype=model.train_targets.dtype) if X is None else X
    found = []
    for ask in (model.posterior, lambda X: of_parent(model, X)):
        leaf = X.clone().requires_grad_(True)
        posterior = ask(leaf)
        gradients = [
            torch.autograd.grad(value.sum(), leaf, retain_graph=True)[0]
            for value in (posterior.mean, posterior.variance)
        ]
        found.append([posterior.mean.detach(), posterior.variance.detach(), *gradients])
        found[-1] += [posterior.rsample().shape]
    assert isinstance(model.posterior(X), PointPosterior)
    *values, shape = found[0]
    *expected, same = found[1]
    assert shape == same
    for value, other in zip(values, expected, strict=True):
        assert value.dtype == other.dtype and value.shape == other.shape
        torch.testing.assert_close(value, other, rtol=rtol, atol=rtol * float(other.abs().max()))


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


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_variance_is_positive_at_repeated_exact_data(dtype: torch.dtype) -> None:
    X, Y = data(dtype=dtype)
    model = QuickGP(
        X.repeat(3, 1), Y.repeat(3, 1), torch.full((36, 1), 1e-4).to(X), covar_module=ard()
    )
    variance = model.to(X).eval().posterior(X.unsqueeze(-2)).variance
    assert (variance > 0).all()
    assert LogExpectedImprovement(model, Y.max())(X.unsqueeze(-2)).isfinite().all()


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


class TestNothingStale:
    """What was prepared for one state of the model is not used in another."""

    def asked(self, **kwargs: object) -> QuickGP:
        model = make(**kwargs)
        model.posterior(points())
        return model

    def test_prepared_once(self) -> None:
        model = self.asked()
        prepared = model._prepared
        assert prepared is not None
        model.posterior(points() + 1)
        assert model._prepared is prepared

    def test_new_hyperparameters(self) -> None:
        model = self.asked()
        before = model.posterior(points()).mean
        model.train()
        model.covar_module.base_kernel.lengthscale = torch.tensor([0.5, 0.5, 0.2])
        model.covar_module.outputscale = 0.3
        model.likelihood.noise = 0.2
        model.mean_module.constant = -1.0
        model.eval()
        assert_quick(model)
        assert not torch.allclose(model.posterior(points()).mean, before)

    def test_a_step_of_an_optimizer(self) -> None:
        model = self.asked()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model.train()
        model(*model.train_inputs).mean.sum().backward()
        optimizer.step()
        assert_quick(model.eval())

    def test_in_place_change_of_a_parameter_in_evaluation_mode(self) -> None:
        model = self.asked()
        prepared = model._prepared
        with torch.no_grad():
            model.mean_module.raw_constant.add_(1.0)
        model.posterior(points())
        assert model._prepared is not prepared

    @pytest.mark.parametrize("keep_transforms", [True, False])
    def test_load_state_dict(self, keep_transforms: bool) -> None:
        model, other = self.asked(), make()
        other.covar_module.base_kernel.lengthscale = torch.tensor([0.5, 0.5, 0.2])
        other.likelihood.noise = 0.2
        model.load_state_dict(other.state_dict(), keep_transforms=keep_transforms)
        quick, expected = model.posterior(points()), other.posterior(points())
        torch.testing.assert_close(quick.mean, expected.mean)
        torch.testing.assert_close(quick.variance, expected.variance)
        assert_quick(model)

    def test_state_dict_is_the_parents(self) -> None:
        model = self.asked()
        X, Y = data()
        plain = SingleTaskGP(
            X, Y, covar_module=KERNELS["scaled_ard"](), input_transform=INPUTS["normalize"]()
        ).to(X)
        assert model.state_dict().keys() == plain.state_dict().keys()
        plain.load_state_dict(model.state_dict())
        posterior = plain.posterior(points())
        torch.testing.assert_close(model.posterior(points()).mean, posterior.mean)
        torch.testing.assert_close(model.posterior(points()).variance, posterior.variance)

    def test_state_dict_through_a_file(self) -> None:
        model, file = self.asked(), io.BytesIO()
        torch.save(model.state_dict(), file)
        file.seek(0)
        other = make()
        other.covar_module.outputscale = 9.0
        other.posterior(points())
        other.load_state_dict(torch.load(file, weights_only=True))
        torch.testing.assert_close(
            other.posterior(points()).variance, model.posterior(points()).variance
        )

    @pytest.mark.parametrize("inputs", ["none", "normalize"])
    def test_set_train_data(self, inputs: str) -> None:
        model = self.asked(inputs=inputs)
        before = model.posterior(points()).mean
        X = model.train_inputs[0]
        model.set_train_data(X[:7] + 0.01, model.train_targets[:7] - 1, strict=False)
        assert_quick(model)
        assert not torch.allclose(model.posterior(points()).mean, before)

    def test_set_targets_only(self) -> None:
        model = self.asked()
        model.set_train_data(targets=model.train_targets + 1)
        assert_quick(model)

    @pytest.mark.parametrize("fixed", [False, True], ids=["inferred", "fixed"])
    @pytest.mark.parametrize("inputs", ["none", "normalize", "log"])
    def test_condition_on_observations(self, inputs: str, fixed: bool) -> None:
        model = self.asked(inputs=inputs, fixed=fixed)
        before = model.posterior(points()).variance
        X, Y = data(4)
        noise = {"noise": torch.full_like(Y, 0.02)} if fixed else {}
        more = model.condition_on_observations(X, Y, **noise)
        assert isinstance(more, QuickGP)
        assert_quick(more, rtol=1e-6)
        assert (more.posterior(points()).variance <= before + 1e-9).all()
        torch.testing.assert_close(model.posterior(points()).variance, before)
        assert_quick(model)

    def test_conditioned_model_is_the_one_with_all_data(self) -> None:
        model = self.asked(outcome=None)
        X, Y = data(4)
        more = model.condition_on_observations(X, Y)
        first = data()
        whole = QuickGP(
            torch.cat([first[0], X]),
            torch.cat([first[1], Y]),
            covar_module=KERNELS["scaled_ard"](),
            input_transform=INPUTS["normalize"](),
            outcome_transform=None,
        ).to(X)
        whole.mean_module.constant = 0.4
        whole.likelihood.noise = float(model.likelihood.noise.detach())
        quick, expected = more.posterior(points()), whole.eval().posterior(points())
        torch.testing.assert_close(quick.mean, expected.mean)
        torch.testing.assert_close(quick.variance, expected.variance)

    def test_fantasize(self) -> None:
        model = self.asked()
        before = model.posterior(points()).mean
        fantasies = model.fantasize(data(4)[0][:2], SobolQMCNormalSampler(torch.Size([5]), seed=0))
        quick, slow = fantasies.posterior(points()[:1]), of_parent(fantasies, points()[:1])
        assert quick.mean.shape == (5, 1, 1)
        torch.testing.assert_close(quick.mean, slow.mean)
        torch.testing.assert_close(model.posterior(points()).mean, before)

    @pytest.mark.parametrize("asked_before", [True, False])
    @pytest.mark.parametrize(
        "duplicate",
        [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))],
        ids=["deep", "pickle"],
    )
    def test_copies(self, duplicate: Callable[[QuickGP], QuickGP], asked_before: bool) -> None:
        model = self.asked() if asked_before else make()
        other = duplicate(model)
        assert_quick(other)
        expected = model.posterior(points()).mean
        torch.testing.assert_close(other.posterior(points()).mean, expected)
        other.train()
        other.covar_module.outputscale = 0.1
        assert_quick(other.eval())
        torch.testing.assert_close(model.posterior(points()).mean, expected)
        assert_quick(model)

    def test_copy_whose_original_changes(self) -> None:
        model = self.asked()
        other = copy.deepcopy(model)
        expected = other.posterior(points()).variance
        model.train()
        model.covar_module.outputscale = 0.1
        model.eval()
        torch.testing.assert_close(other.posterior(points()).variance, expected)

    def test_other_precision_and_back(self) -> None:
        model = self.asked()
        expected = model.posterior(points()).mean
        model.float()
        assert model.posterior(points(dtype=torch.float)).mean.dtype == torch.float
        assert_quick(model, rtol=1e-3)
        mean = model.double().posterior(points()).mean
        torch.testing.assert_close(mean, expected, rtol=1e-4, atol=1e-3)
        model.train()  # or gpytorch keeps what it cached in single precision
        assert_quick(model.eval())

    def test_after_joint_posterior(self) -> None:
        """The parent, asked in between, leaves it right."""
        model = self.asked()
        model.posterior(points().squeeze(-2))
        assert_quick(model)


class TestAcquisition:
    def test_log_ei_and_its_optimum(self) -> None:
        X, Y = data()
        model = make()
        slow = SingleTaskGP(
            X, Y, covar_module=KERNELS["scaled_ard"](), input_transform=INPUTS["normalize"]()
        ).to(X)
        slow.load_state_dict(model.state_dict())
        found = []
        for each in (model, slow.eval()):
            acqf = LogExpectedImprovement(each, Y.max())
            torch.manual_seed(0)
            found.append(optimize_acqf(acqf, POSITIVE, 1, num_restarts=2, raw_samples=32))
        torch.testing.assert_close(found[0], found[1], rtol=1e-4, atol=1e-4)

    def test_minimising(self) -> None:
        model, X = make(), points()
        acqf = LogExpectedImprovement(model, 39.0, maximize=False)
        value = acqf(X)
        with mock.patch.object(model, "posterior", lambda X, **kw: of_parent(model, X, **kw)):
            torch.testing.assert_close(value, acqf(X))

    @pytest.mark.parametrize("q", [1, 2])
    def test_q_log_ei(self, q: int) -> None:
        model = make()
        X = points().squeeze(-2)[:8].reshape(8 // q, q, D)
        found = []
        for ask in (model.posterior, lambda X, **kw: of_parent(model, X, **kw)):
            with mock.patch.object(model, "posterior", ask):
                leaf = X.clone().requires_grad_(True)
                acqf = qLogExpectedImprovement(
                    model, 41.0, sampler=SobolQMCNormalSampler(torch.Size([32]), seed=2)
                )
                value = acqf(leaf)
                (gradient,) = torch.autograd.grad(value.sum(), leaf)
                found.append((value.detach(), gradient))
        torch.testing.assert_close(found[0], found[1], rtol=1e-6, atol=1e-6)

    def test_pending_points(self) -> None:
        model = make()
        acqf = qLogExpectedImprovement(model, 41.0, X_pending=data(4)[0])
        assert acqf(points()).isfinite().all()

    def test_first_asked_without_gradients(self) -> None:
        model = make()
        with torch.no_grad():
            value = PosteriorMean(model)(points())
        assert not value.requires_grad
        assert_quick(model)
