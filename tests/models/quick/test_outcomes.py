"""Several outcomes at once: the same numbers as a ``ModelListGP``."""

import pytest
import torch
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.acquisition.objective import GenericMCObjective, ScalarizedPosteriorTransform
from botorch.models import ModelListGP, SingleTaskGP
from botorch.sampling import SobolQMCNormalSampler

from botorch_ubo.models import fit_default_models
from botorch_ubo.models.quick import OutcomesPosterior, QuickModelList

BOX = torch.tensor([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]], dtype=torch.double)


@pytest.fixture(scope="module")
def models() -> tuple[QuickModelList, ModelListGP]:
    X = torch.rand(20, 3, generator=torch.Generator().manual_seed(0), dtype=torch.double)
    Y = torch.stack([100 * X.sum(dim=-1).sin(), X.square().sum(dim=-1), X[:, 0].cos()], dim=-1)
    quick = fit_default_models(X, Y, BOX)
    return quick, ModelListGP(*quick.models).eval()


def points(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    return 2 * torch.rand(*shape, 3, generator=generator, dtype=torch.double)


@pytest.mark.parametrize("shape", [(5,), (7, 1), (2, 3, 4)])
def test_posterior_samples_and_gradients_are_those_of_a_list(models, shape):
    found, samples, slopes = [], [], []
    for model in models:
        X = points(*shape).requires_grad_()
        posterior = model.posterior(X)
        draw = SobolQMCNormalSampler(torch.Size([16]), seed=1)(posterior)
        found.append(posterior)
        samples.append(draw.detach())
        slopes.append(torch.autograd.grad(draw.square().sum(), X)[0])
    quick, slow = found
    assert isinstance(quick, OutcomesPosterior)
    assert not isinstance(slow, OutcomesPosterior)
    torch.testing.assert_close(quick.mean, slow.mean)
    torch.testing.assert_close(quick.variance, slow.variance, atol=1e-8, rtol=1e-6)
    torch.testing.assert_close(
        quick.distribution.covariance_matrix,
        slow.distribution.covariance_matrix,
        atol=1e-8,
        rtol=1e-6,
    )
    torch.testing.assert_close(samples[0], samples[1], atol=1e-5, rtol=1e-6)
    torch.testing.assert_close(slopes[0], slopes[1], atol=1e-3, rtol=1e-5)
    assert quick._extended_shape(torch.Size([4])) == slow._extended_shape(torch.Size([4]))
    assert quick.rsample(torch.Size([4])).shape == slow.rsample(torch.Size([4])).shape


def test_base_samples_of_each_batch_are_its_own_where_they_differ(models):
    X = points(4, 2)
    generator = torch.Generator().manual_seed(2)
    base = torch.randn(8, 4, 2, 3, generator=generator, dtype=torch.double)
    samples = [m.posterior(X).rsample_from_base_samples(torch.Size([8]), base) for m in models]
    torch.testing.assert_close(samples[0], samples[1], atol=1e-5, rtol=1e-6)
    with pytest.raises(RuntimeError, match="base samples of shape"):
        models[0].posterior(X).rsample_from_base_samples(torch.Size([7]), base)


def test_acquisition_values_are_those_of_a_list(models):
    values = []
    for model, cache_root in zip(models, (False, True), strict=True):
        acqf = qLogNoisyExpectedImprovement(
            model,
            model.models[0].train_inputs[0][:6],
            sampler=SobolQMCNormalSampler(torch.Size([64]), seed=1),
            objective=GenericMCObjective(lambda Y, X=None: Y[..., 0]),
            constraints=[lambda Y: Y[..., 1] - 1],
            cache_root=cache_root,
        )
        acqf.set_X_pending(points(2))
        with torch.no_grad():
            values.append(acqf(points(6, 1)))
    torch.testing.assert_close(values[0], values[1], atol=0.05, rtol=1e-3)


def test_what_the_formulas_do_not_cover_goes_the_long_way(models):
    quick, _ = models
    X = points(3)
    assert not isinstance(quick.posterior(X, observation_noise=True), OutcomesPosterior)
    assert quick.posterior(X, output_indices=[1]).mean.shape == (3, 1)
    assert isinstance(quick.subset_output([0, 2]).posterior(X), OutcomesPosterior)
    other = SingleTaskGP(points(20), points(20)[:, :1])
    mixed = QuickModelList(*quick.models[:1], other).eval()
    assert not isinstance(mixed.posterior(X), OutcomesPosterior)
    transform = ScalarizedPosteriorTransform(torch.tensor([1.0, 2.0, 0.0], dtype=torch.double))
    sums = [m.posterior(X, posterior_transform=transform) for m in models]
    torch.testing.assert_close(sums[0].mean, sums[1].mean)
    torch.testing.assert_close(sums[0].variance, sums[1].variance, atol=1e-7, rtol=1e-6)


def test_a_changed_parameter_is_noticed(models):
    X = points(4)
    quick = fit_default_models(points(12), points(12)[:, :2], BOX)
    before = quick.posterior(X).mean
    with torch.no_grad():
        quick.models[1].mean_module.raw_constant += 1.0
    after = quick.posterior(X).mean
    assert torch.equal(before[:, 0], after[:, 0])
    assert not torch.equal(before[:, 1], after[:, 1])
    slow = ModelListGP(*quick.models)
    slow.train()
    slow.eval()
    torch.testing.assert_close(after, slow.posterior(X).mean)
