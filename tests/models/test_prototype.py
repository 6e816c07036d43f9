"""Copies of a module share nothing that one of them can change."""

import torch

from botorch_ubo.models.default import default_model
from botorch_ubo.models.prototype import Prototype

BOUNDS = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.double)


def data() -> tuple[torch.Tensor, torch.Tensor]:
    X = torch.rand(8, 2, generator=torch.Generator().manual_seed(0), dtype=torch.double)
    return X, X.sum(dim=-1, keepdim=True).sin()


def test_a_copy_has_the_same_state_and_no_tensor_of_the_original() -> None:
    model = default_model(*data(), BOUNDS)
    copy = Prototype(model).copy()
    state, copied = model.state_dict(), copy.state_dict()
    assert list(state) == list(copied)
    for name, tensor in state.items():
        assert torch.equal(tensor, copied[name])
        assert tensor.data_ptr() != copied[name].data_ptr()
    assert all(p.requires_grad for p in copy.parameters())


def test_what_one_model_is_told_another_does_not_know() -> None:
    X, Y = data()
    changed, other = default_model(X, Y, BOUNDS), default_model(X, Y, BOUNDS)
    expected = {name: tensor.clone() for name, tensor in other.state_dict().items()}
    changed.covar_module.outputscale_prior.loc = torch.tensor(7.0)
    changed.load_state_dict({name: t + 1 for name, t in changed.state_dict().items()})
    changed.float()
    for model in (other, default_model(X, Y, BOUNDS)):
        state = model.state_dict()
        assert all(torch.equal(state[name], tensor) for name, tensor in expected.items())
        assert float(model.covar_module.outputscale_prior.loc) == 2.25


def test_a_state_is_loaded_into_the_copy_itself() -> None:
    """gpytorch's hooks are methods bound to a module, which have to be the copy's own."""
    X, Y = data()
    model = default_model(X, Y, BOUNDS)
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    state["covar_module.raw_outputscale"] += 3.0
    model.load_state_dict(state)
    assert float(model.covar_module.outputscale.detach()) == 4.0
    for part in model.modules():
        for hook in part._load_state_dict_pre_hooks.values():
            owner = getattr(getattr(hook, "hook", hook), "__self__", part)
            assert owner is part
