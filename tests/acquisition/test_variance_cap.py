import math

import pytest
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.acquisition.input_constructors import get_acqf_input_constructor
from botorch.exceptions.errors import InputDataError
from botorch.models import SingleTaskGP
from botorch.utils.datasets import SupervisedDataset
from botorch.utils.testing import MockModel, MockPosterior

from botorch_ubo.acquisition import VarianceCappedLogExpectedImprovement


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_values_by_hand(dtype):
    mean = torch.zeros(3, 1, 1, dtype=dtype)
    variance = torch.tensor([1.0, 2.0, 3.0], dtype=dtype).reshape(3, 1, 1)
    model = MockModel(MockPosterior(mean=mean, variance=variance))
    acqf = VarianceCappedLogExpectedImprovement(model, best_f=0.0, max_variance=2.0)
    value = acqf(torch.zeros(3, 1, 2, dtype=dtype))
    assert value.dtype == dtype
    # at u = 0, EI = sigma / sqrt(2 pi); the third is half beyond the cap
    free = [math.log(math.sqrt(v / (2 * math.pi))) for v in (1.0, 2.0, 3.0)]
    assert value.tolist() == pytest.approx([free[0], free[1], free[2] - 250], rel=1e-5)


def test_equals_log_ei_below_the_cap():
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(6, 2, generator=generator, dtype=torch.double)
    Y = torch.rand(6, 1, generator=generator, dtype=torch.double)
    model = SingleTaskGP(X, Y).eval()
    points = torch.rand(10, 1, 2, generator=generator, dtype=torch.double)
    for maximize, best_f in ((True, Y.max()), (False, Y.min())):
        plain = LogExpectedImprovement(model, best_f, maximize=maximize)
        loose = VarianceCappedLogExpectedImprovement(model, best_f, 1e3, maximize=maximize)
        assert torch.equal(loose(points), plain(points))


def test_input_constructor_and_refusal():
    X = torch.rand(6, 2, dtype=torch.double)
    Y = 10 * torch.rand(6, 1, dtype=torch.double)
    model = SingleTaskGP(X, Y).eval()
    data = SupervisedDataset(X, Y, feature_names=["a", "b"], outcome_names=["y"])
    inputs = get_acqf_input_constructor(VarianceCappedLogExpectedImprovement)(
        model=model, training_data=data, variance_cap=0.5
    )
    assert inputs["max_variance"] == pytest.approx(0.5 * float(Y.var()))
    assert float(inputs["best_f"]) == float(Y.max())
    with pytest.raises(InputDataError, match="Expected a positive max_variance; got 0"):
        VarianceCappedLogExpectedImprovement(model, 0.0, 0.0)
