"""The published preset against numbers of the authors' own runs, and against its formulas."""

import math

import pytest
import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.test_functions import Beale
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

from botorch_ubo import PublishedBeta, published_model
from botorch_ubo.strategies.published import published_radius
from botorch_ubo.testing import StrategyConformance
from tests.support.controlled import UNIT, build, corrected
from tests.support.gps import tensor

PUBLISHED = "GPUCB-UBO (as published)"
# The first steps of the authors' script on Beale, run 0 and run 3: the start box, the initial
# points, the box of the first expansion, and the points that the script evaluated next.
RUNS = {
    0: {
        "initial_box": [[-0.548542771723, 0.649363437881], [1.25145722828, 2.44936343788]],
        "first_box": [[-1.8799225358, -0.754400231121], [3.15060703257, 4.47791480967]],
        "X": [
            [0.536431305206, 2.38395640678],
            [0.432246957671, 1.33955817177],
            [0.214035867087, 2.07446850643],
            [0.614066631797, 1.60137429344],
            [0.23911420855, 1.67184364785],
            [1.05664862968, 2.31543738681],
        ],
        "next": [
            [-0.419667468724, 3.30868800632],
            [1.40022493832, 0.624044615366],
            [0.963665242551, -0.33079531249],
        ],
    },
    3: {
        "initial_box": [[-0.534255101463, 0.59866432285], [1.26574489854, 2.39866432285]],
        "first_box": [[-1.05071067674, -0.0900676316779], [1.82158159273, 2.50963274267]],
        "X": [
            [-0.0106265714198, 0.691305288792],
            [0.385234587893, 1.39212204142],
            [1.07304941636, 0.652441502432],
            [1.07907245862, 1.42096412676],
            [-0.308201542628, 1.76712360856],
            [-0.161217920814, 1.09994143162],
        ],
        "next": [
            [0.931444416353, 0.23045743387],
            [1.64558444799, 0.272860224071],
            [-0.810801329023, 2.50963274267],
        ],
    },
}


def beale(X: Tensor) -> Tensor:
    return -Beale()._evaluate_true(X).unsqueeze(-1)


def fitted(X: Tensor, Y: Tensor) -> SingleTaskGP:
    """The maximum of the likelihood over a few starts, as the authors' fit with restarts."""
    best, best_value = None, -math.inf
    for lengthscale in (0.1, 0.5, 2.0):
        model = published_model(X, Y)
        model.covar_module.outputscale = 1.0
        model.covar_module.base_kernel.lengthscale = lengthscale
        mll = ExactMarginalLogLikelihood(model.likelihood, model)
        fit_gpytorch_mll(mll)
        model.train()
        with torch.no_grad():
            value = float(mll(model(*model.train_inputs), model.train_targets))
        if value > best_value:
            best, best_value = model.eval(), value
    return best


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("run", [0, pytest.param(3, marks=pytest.mark.slow)])
def test_reproduces_the_first_steps_of_the_authors_code(run: int) -> None:
    """Different GP library, different optimiser: the same box and the same points."""
    reference = {key: tensor(value) for key, value in RUNS[run].items()}
    X = reference["X"]
    side = reference["initial_box"][1] - reference["initial_box"][0]
    box = build(PUBLISHED, reference["initial_box"])
    for i, expected in enumerate(reference["next"]):
        x = box.suggest(fitted(X, beale(X)))
        if i == 0:
            difference = (box.bounds - reference["first_box"]).abs() / side
            assert difference.max() < 1e-3
        assert ((x - expected) / side).norm() < 1e-3, f"step {i}"
        X = torch.cat([X, x])
    assert len(box.history) == 1


def test_corrected_preset_takes_another_box() -> None:
    """So the agreement above is not something that every variant of the method has."""
    reference = {key: tensor(value) for key, value in RUNS[0].items()}
    box = corrected(reference["initial_box"])
    box.update(fitted(reference["X"], beale(reference["X"])))
    side = reference["initial_box"][1] - reference["initial_box"][0]
    assert ((box.bounds - reference["first_box"]).abs() / side).max() > 0.05


def made_up(lengthscale: float = 0.4, outputscale: float = 0.7) -> tuple[SingleTaskGP, Tensor]:
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(9, 2, generator=generator, dtype=torch.double)
    Y = 7 * torch.sin(3 * X).sum(-1, keepdim=True)
    model = published_model(X, Y)
    model.covar_module.base_kernel.lengthscale = lengthscale
    model.covar_module.outputscale = outputscale
    return model.eval(), Y


def test_radius_follows_the_authors_mixture_of_scales() -> None:
    """z and lambda_max of the correlation matrix, theta in units of the range."""
    model, Y = made_up()
    context = build(PUBLISHED, UNIT).context(model)
    X = model.train_inputs[0]
    span = float(Y.max() - Y.min())
    theta = 0.7**0.5 * float(Y.std()) / span
    y = ((Y - Y.mean()) / span).squeeze(-1)
    correlation = torch.exp(-torch.cdist(X, X).square() / (2 * 0.4**2))
    inverse = torch.linalg.inv(correlation)
    z = inverse @ y
    total = max(float(z[z > 0].sum()), -float(z[z < 0].sum()))
    largest = float(torch.linalg.eigvalsh(inverse)[-1])
    root, epsilon = math.sqrt(context.confidence.beta), 0.05
    gamma_1 = epsilon / 4 / total
    gamma_2 = math.sqrt((root * theta * epsilon / 2 - epsilon**2 / 16) / (9 * largest)) / root
    expected = 0.4 * math.sqrt(2 * math.log(theta**2 / min(gamma_1, gamma_2)))
    radius = published_radius(context)
    torch.testing.assert_close(
        radius.half_widths, tensor([expected, expected]), rtol=1e-5, atol=0
    )  # fmt: skip
    assert radius.active_term == ("mean" if gamma_1 <= gamma_2 else "variance")


def test_beta_follows_the_authors_constants() -> None:
    model, Y = made_up()
    context = build(PUBLISHED, UNIT).context(model)
    theta = 0.7**0.5 * float(Y.std()) / float(Y.max() - Y.min())
    b = theta / (math.sqrt(2) * 0.4)
    for t, side in ((1, 1.0), (7, 5.0)):
        theory = 2 * math.log(2 * math.pi**2 * t**2 / 0.3) + 4 * math.log(
            t**2 * 2 * b * side * math.sqrt(math.log(80))
        )
        sides = tensor([0.3, side]) if side == 1.0 else tensor([side, side])
        assert PublishedBeta()(t, sides, context.view) == pytest.approx(abs(0.2 * theory))


def test_boxes_are_not_nested_and_may_shrink() -> None:
    """A tiny length-scale makes the published "expansion" a contraction (the paper's runs too)."""
    model, _ = made_up(lengthscale=1e-3)
    bounds = tensor([[-5.0, -5.0], [5.0, 5.0]])
    box = build(PUBLISHED, bounds)
    box.update(model)
    assert (box.bounds[1] - box.bounds[0] < 2).all()
    nested = corrected(bounds)
    nested.update(model)
    assert torch.equal(nested.bounds, bounds)


def test_hard_limits_hold() -> None:
    model, _ = made_up()
    box = build(PUBLISHED, UNIT, hard_limits={0: (-0.25, None)})
    x = box.suggest(model)
    assert box.bounds[0, 0] == -0.25 and x[0, 0] >= -0.25


def test_refinement_returns_a_point_near_the_best_observations() -> None:
    """UCB at its limit everywhere: the search goes to the boxes around the known best."""
    model, Y = made_up(lengthscale=0.02, outputscale=400.0)
    box = build(PUBLISHED, UNIT)
    box.update(model)
    box.load_state_dict({**box.state_dict(), "bounds": [[-30.0, -30.0], [31.0, 31.0]]})
    context = box.context(model)
    far = tensor([[25.0, 25.0]])
    bounds = context.confidence
    bounds.__dict__["ucb_maximizer"] = (far, bounds.ucb_at_infinity - 1e-9)
    x = box.strategy.refine(context, far, bounds.ucb)
    best = model.train_inputs[0][Y.flatten().topk(5).indices]
    half_widths = tensor(box.history[-1].details["half_widths"])
    assert (((x - best).abs() / half_widths).amax(dim=-1).min()) <= 1 + 1e-6
    # Well below the limit there is nothing to refine.
    bounds.__dict__["ucb_maximizer"] = (far, bounds.ucb_at_infinity - 2 * context.epsilon)
    assert box.strategy.refine(context, far, bounds.ucb) is far


@pytest.mark.slow
class TestConformance(StrategyConformance):
    method = PUBLISHED


def test_model_is_the_authors() -> None:
    model, _ = made_up()
    assert model.covar_module.base_kernel.lengthscale.numel() == 1
    assert float(model.mean_module(torch.zeros(1, 2).double())) == 0
    assert float(model.likelihood.noise.max()) < 1e-5  # in units of the outcomes' variance
    assert getattr(model, "input_transform", None) is None
