"""Appendix B: a maximiser beyond the reach of all data is exchanged for one within it."""

from typing import Any

import pytest
import torch
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from botorch.models.transforms.input import ChainedInputTransform, Log10
from torch import Tensor

from botorch_ubo import Context, TheoremBox
from botorch_ubo.strategies.refinement import refine_in_balls
from tests.support.controlled import corrected
from tests.support.gps import tensor


def unit(d: int) -> Tensor:
    return torch.stack([torch.zeros(d), torch.ones(d)]).double()


def gp(d: int, n: int, seed: int, **kwargs: Any) -> SingleTaskGP:
    generator = torch.Generator().manual_seed(seed)
    X = torch.rand(n, d, generator=generator, dtype=torch.double)
    Y = torch.sin(4 * X).sum(dim=-1, keepdim=True)
    model = SingleTaskGP(X, Y, input_transform=Normalize(d, bounds=unit(d)), **kwargs)
    model.covar_module.lengthscale = 0.2 + 0.3 * torch.rand(1, d, generator=generator)
    model.likelihood.noise = 1e-3
    return model.eval()


def context_of(model: SingleTaskGP, width: float, **kwargs: Any) -> Context:
    """A context whose box is ``width`` wide, far beyond the reach of the data."""
    d = model.train_inputs[0].shape[-1]
    box = corrected(unit(d), **kwargs)
    box.update(model)
    wide = [[0.5 - width / 2] * d, [0.5 + width / 2] * d]
    box.load_state_dict({**box.state_dict(), "bounds": wide})
    return box.context(model)


def scaled_distance(context: Context, X: Tensor) -> float:
    """To the nearest datum, in radii of its ball."""
    mapped = context.model.input_transform.transform(X)
    return float(((mapped - context.X) / context.confidence.radius.half_widths).norm(dim=-1).min())


@pytest.mark.parametrize("d", [1, 2, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("prior_mean", [0.0, 3.0])
@pytest.mark.parametrize("seed", range(2))
def test_far_point_is_exchanged_for_one_in_a_ball(d: int, prior_mean: float, seed: int) -> None:
    """It lies in a ball, in the box, and gives up at most epsilon of the supremum.

    With a high prior mean UCB rises outward: the best of a cube is a corner beyond the ball.
    """
    model = gp(d, 4 * d + 2, seed)
    model.mean_module.constant = prior_mean
    context = context_of(model, width=60.0)
    far = torch.full((1, d), 25.0, dtype=torch.double)
    assert scaled_distance(context, far) > 1
    x = refine_in_balls(context, far)
    assert x.shape == (1, d) and not x.requires_grad
    assert scaled_distance(context, x) <= 1 + 1e-9
    bounds = context.confidence
    supremum = max(bounds.ucb_maximizer[1], bounds.ucb_at_infinity)
    with torch.no_grad():
        assert float(bounds.ucb(x.unsqueeze(-2))) >= supremum - context.epsilon


def test_point_in_a_ball_is_kept() -> None:
    context = context_of(gp(2, 8, 0), width=60.0)
    rightmost = context.X[context.X[:, 0].argmax()].unsqueeze(0)
    edge = rightmost + tensor([[0.99, 0.0]]) * context.confidence.radius.half_widths
    assert edge[0, 0] > 1 and scaled_distance(context, edge) == pytest.approx(0.99)
    assert refine_in_balls(context, edge) is edge
    beyond = rightmost + tensor([[1.01, 0.0]]) * context.confidence.radius.half_widths
    assert not torch.equal(refine_in_balls(context, beyond), beyond)


def test_point_in_the_first_box_is_kept_though_no_datum_reaches_it() -> None:
    X = tensor([[0.02, 0.02], [0.05, 0.01], [0.01, 0.06]])
    model = SingleTaskGP(X, X.sum(-1, keepdim=True), input_transform=Normalize(2, bounds=unit(2)))
    model.covar_module.lengthscale = 0.03
    context = context_of(model.eval(), width=60.0)
    corner = tensor([[0.99, 0.99]])
    assert scaled_distance(context, corner) > 1
    assert refine_in_balls(context, corner) is corner
    beyond = tensor([[1.01, 0.99]])
    assert not torch.equal(refine_in_balls(context, beyond), beyond)


def test_the_ball_with_the_best_ucb_comes_first() -> None:
    """Two far clusters; either has a point that is good enough, so the better one supplies it."""
    X = tensor([[0.1], [0.2], [0.8], [0.9]])
    Y = tensor([[0.0], [0.1], [5.0], [5.2]])
    model = SingleTaskGP(X, Y, input_transform=Normalize(1, bounds=unit(1)))
    model.covar_module.lengthscale = 0.025
    context = context_of(model.eval(), width=60.0)
    x = refine_in_balls(context, tensor([[20.0]]))
    assert abs(float(x) - 0.9) < abs(float(x) - 0.2)


def test_hard_limits_hold_inside_the_balls() -> None:
    model = gp(2, 8, 1)
    limits = {0: (-0.1, 30.0), 1: (-0.1, 30.0)}
    box = corrected(unit(2), hard_limits=limits)
    box.update(model)
    box.load_state_dict({**box.state_dict(), "bounds": [[-0.1, -0.1], [30.0, 30.0]]})
    x = refine_in_balls(box.context(model), tensor([[28.0, 28.0]]))
    assert (x >= -0.1).all() and (x <= 30).all()


def test_log_inputs() -> None:
    bounds = tensor([[1.0], [10.0]])
    transform = ChainedInputTransform(log=Log10([0]), unit=Normalize(1, bounds=bounds.log10()))
    X = tensor([[1.5], [4.0], [9.0]])
    model = SingleTaskGP(X, X.log10().sin(), input_transform=transform)
    model.covar_module.lengthscale = 0.2
    box = corrected(bounds, hard_limits={0: (1e-30, None)})
    box.update(model.eval())
    box.load_state_dict({**box.state_dict(), "bounds": [[1e-20], [1e20]]})
    context = box.context(model)
    x = refine_in_balls(context, tensor([[1e19]]))
    assert scaled_distance(context, x) <= 1 + 1e-9


def test_suggestions_use_it_unless_switched_off() -> None:
    """All data below the prior mean: the supremum of UCB is at infinity."""
    model = gp(2, 6, 0)
    model.covar_module.lengthscale = 0.1
    model.mean_module.constant = 3.0
    distance = {}
    for refinement in (True, False):
        box = corrected(unit(2), strategy=TheoremBox(refinement=refinement))
        box.update(model)
        box.load_state_dict({**box.state_dict(), "bounds": [[-30.0, -30.0], [31.0, 31.0]]})
        distance[refinement] = scaled_distance(box.context(model), box.suggest(model))
    assert distance[False] > 2
    assert distance[True] <= 1 + 1e-9


def test_global_random_state_is_untouched_and_the_result_repeatable() -> None:
    context = context_of(gp(2, 8, 0), width=60.0)
    far = tensor([[25.0, 25.0]])
    torch.manual_seed(3)
    before = torch.get_rng_state()
    first = refine_in_balls(context, far)
    assert torch.equal(before, torch.get_rng_state())
    torch.manual_seed(4)
    assert torch.equal(first, refine_in_balls(context, far))
