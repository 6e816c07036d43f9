"""A ``QuickGP`` that changes, and one in an acquisition function."""

import copy
import io
import pickle
from collections.abc import Callable
from unittest import mock

import pytest
import torch
from botorch.acquisition import LogExpectedImprovement, PosteriorMean, qLogExpectedImprovement
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from botorch.sampling import SobolQMCNormalSampler

from botorch_ubo.models.quick.gp import QuickGP
from tests.support.quick_models import (
    INPUTS,
    KERNELS,
    POSITIVE,
    D,
    assert_quick,
    data,
    make,
    of_parent,
    points,
)


class TestNothingStale:
    """What was factored for one state of the model is not used in another."""

    def asked(self, **kwargs: object) -> QuickGP:
        model = make(**kwargs)
        model.posterior(points())
        return model

    def test_factored_once(self) -> None:
        model = self.asked()
        factored = model._factored
        assert factored is not None
        model.posterior(points() + 1)
        assert model._factored is factored

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
        factored = model._factored
        with torch.no_grad():
            model.mean_module.raw_constant.add_(1.0)
        model.posterior(points())
        assert model._factored is not factored

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
