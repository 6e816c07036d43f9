"""What a model was trained on: points and outcomes in raw units, whatever the model."""

import pytest
import torch
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from botorch.exceptions.errors import UnsupportedError
from botorch.models import (
    HigherOrderGP,
    KroneckerMultiTaskGP,
    ModelListGP,
    MultiTaskGP,
    SingleTaskGP,
    SingleTaskVariationalGP,
)
from botorch.models.deterministic import GenericDeterministicModel
from botorch.models.transforms import Log, Normalize, Standardize

from botorch_ubo.models.training_data import (
    check_fitted,
    check_one_objective,
    observed_objective,
    observed_outcomes,
    training_inputs,
    training_targets,
)
from botorch_ubo.posterior import check_model
from tests.models.test_structure import BOX, SCALARIZED, data, ensemble
from tests.support.gps import tensor


class TestInputs:
    @pytest.mark.parametrize("transform", [None, Normalize(2), Normalize(2, bounds=4 * BOX)])
    def test_are_in_raw_units(self, transform: Normalize | None) -> None:
        X, Y = data()
        model = SingleTaskGP(X, Y, input_transform=transform).eval()
        torch.testing.assert_close(training_inputs(model), X)

    def test_of_ensembles_and_several_outputs_are_there_once(self) -> None:
        X, Y = data(m=2)
        assert torch.equal(training_inputs(SingleTaskGP(X, Y).eval()), X)
        assert torch.equal(training_inputs(ensemble()), data()[0])

    def test_follow_the_precision_of_the_model(self) -> None:
        X, Y = data()
        model = SingleTaskGP(X, Y, input_transform=Normalize(2)).eval().float()
        assert training_inputs(model).dtype == torch.float


class TestObserved:
    @pytest.mark.parametrize("outcome", [Standardize(1), None, Log()], ids=["std", "none", "log"])
    def test_are_the_outcomes_that_were_given(self, outcome: object) -> None:
        X, Y = data()
        model = SingleTaskGP(X, 1000 * Y, outcome_transform=outcome).eval()
        found = observed_objective(model)
        assert found.shape == (7,) and found.dtype == torch.double
        torch.testing.assert_close(found, 1000 * Y[:, 0])

    @pytest.mark.parametrize("standardize", [True, False])
    def test_of_several_outputs_are_combined(self, standardize: bool) -> None:
        X, Y = data(m=2)
        outcome = Standardize(2) if standardize else None
        model = SingleTaskGP(X, Y * tensor([1.0, 50.0]), outcome_transform=outcome).eval()
        expected = 2 * Y[:, 0] - 25 * Y[:, 1] + 7
        torch.testing.assert_close(observed_objective(model, SCALARIZED), expected)

    def test_of_one_output_may_be_transformed_too(self) -> None:
        X, Y = data()
        negative = ScalarizedPosteriorTransform(tensor([-1.0]))
        found = observed_objective(SingleTaskGP(X, Y).eval(), negative)
        torch.testing.assert_close(found, -Y[:, 0])

    def test_of_an_ensemble_are_there_once(self) -> None:
        torch.testing.assert_close(observed_objective(ensemble()), 10 * data()[1][:, 0])

    def test_single_precision(self) -> None:
        X, Y = data()
        found = observed_objective(SingleTaskGP(X.float(), Y.float()).eval())
        assert found.dtype == torch.double
        torch.testing.assert_close(found, Y[:, 0], rtol=1e-6, atol=1e-6)


class TestSeveralModels:
    def test_a_list_has_the_points_of_its_models_and_a_column_of_outcomes_each(self) -> None:
        X, Y = data(m=2)
        model = ModelListGP(SingleTaskGP(X, Y[:, :1]), SingleTaskGP(X, Y[:, 1:])).eval()
        assert torch.equal(training_inputs(model), X)
        torch.testing.assert_close(observed_outcomes(model), Y)
        assert len(training_targets(model)) == 2

    def test_models_that_have_seen_other_points_have_all_of_them_once_but_no_outcomes(self) -> None:
        X, Y = data()
        model = ModelListGP(SingleTaskGP(X[:5], Y[:5]), SingleTaskGP(X[3:], Y[3:])).eval()
        assert torch.equal(training_inputs(model), X)
        assert observed_outcomes(model) is None

    def test_of_a_multi_task_model_those_of_the_tasks_that_it_predicts(self) -> None:
        X, Y = data(6)
        task = torch.cat([X[:, :1], tensor([[0.0], [1.0]] * 3), X[:, 1:]], dim=-1)
        model = MultiTaskGP(task, Y, task_feature=1, output_tasks=[1]).eval()
        assert torch.equal(training_inputs(model), X[1::2])
        assert observed_outcomes(model) is None
        both = MultiTaskGP(task, Y, task_feature=1).eval()
        assert torch.equal(training_inputs(both), X)

    def test_correlated_outputs(self) -> None:
        X, Y = data(m=2)
        model = KroneckerMultiTaskGP(X, Y).eval()
        torch.testing.assert_close(observed_outcomes(model), Y)

    def test_a_model_that_keeps_none_is_told_the_points(self) -> None:
        X, Y = data()
        model = SingleTaskVariationalGP(X, Y).eval()
        assert torch.equal(training_inputs(model, X), X)
        assert observed_outcomes(model, X) is None and training_targets(model) == ()


class TestRefusals:
    def test_what_has_no_posterior_at_known_points(self) -> None:
        X, Y = data(6)
        refused = {
            "got str": "model",
            "does not keep them.*X_baseline": SingleTaskVariationalGP(X, Y).eval(),
            "batch shape .3,.. Fit one model per data set": SingleTaskGP(
                X.expand(3, 6, 2), Y.expand(3, 6, 1)
            ).eval(),
            "training mode.*fit_gpytorch_mll": ModelListGP(
                SingleTaskGP(X, Y).eval(), SingleTaskGP(X, Y)
            ),
            "deterministic.*ModelList": GenericDeterministicModel(lambda X: X[..., :1]),
            "outcomes are tensors.*KroneckerMultiTaskGP": HigherOrderGP(
                X, Y.unsqueeze(-1).expand(6, 2, 2)
            ).eval(),
        }
        for message, model in refused.items():
            with pytest.raises(UnsupportedError, match=f"(?s)Expected.*{message}"):
                check_fitted(model)

    def test_what_the_theorem_does_not_cover(self) -> None:
        X, Y = data(6)
        task = torch.cat([X, tensor([[0.0], [1.0]] * 3)], dim=-1)
        both = torch.cat([Y, Y + 1], dim=-1)
        refused = {
            "got ModelListGP, which the expansion theorem does not cover. Use a SingleTaskGP": (
                ModelListGP(SingleTaskGP(X, Y))
            ),
            "got SingleTaskVariationalGP.* EI-Turns": SingleTaskVariationalGP(X, Y),
            "got MultiTaskGP.* EI-Turns": MultiTaskGP(task, Y, task_feature=-1),
            "independent outputs.*KroneckerMultiTaskGP.* EI-Turns": KroneckerMultiTaskGP(X, both),
            "got 2 outputs. Pass `posterior_transform=": SingleTaskGP(X, both),
        }
        for message, model in refused.items():
            with pytest.raises(UnsupportedError, match=f"(?s)Expected.*{message}"):
                check_model(model.eval())

    def test_what_was_not_fitted(self) -> None:
        model = SingleTaskGP(*data())
        with pytest.raises(UnsupportedError, match=r"training mode.*fit_gpytorch_mll.*eval\(\)"):
            check_fitted(model)
        assert check_fitted(model.eval()) is model

    def test_several_outputs_that_nothing_makes_one_of(self) -> None:
        two = SingleTaskGP(*data(m=2)).eval()
        check_one_objective(two, SCALARIZED)
        with pytest.raises(UnsupportedError, match=r"got 2.*posterior_transform=.*objective="):
            check_one_objective(two, None)

    def test_nothing_that_can_be_used(self) -> None:
        members = ensemble()
        assert check_fitted(members) is members
