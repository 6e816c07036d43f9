"""Numbers in a model's dtype."""

import pytest
import torch
from botorch.models import SingleTaskGP
from botorch.utils.testing import MockModel, MockPosterior

from botorch_ubo.acquisition.tensors import like_model
from tests.support.gps import tensor


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_as_the_models_parameters(dtype: torch.dtype) -> None:
    X = torch.rand(3, 2, dtype=dtype)
    model = SingleTaskGP(X, X[:, :1])
    assert like_model(model, 0.2).dtype == dtype
    assert torch.equal(like_model(model, tensor([0.2, 0.3])), tensor([0.2, 0.3]).to(dtype))


def test_double_where_there_are_none() -> None:
    value = like_model(MockModel(MockPosterior()), 0.2)
    assert value.dtype == torch.double and float(value) == 0.2
