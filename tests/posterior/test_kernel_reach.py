import math

import pytest
import torch
from botorch.exceptions import UnsupportedError
from botorch.models.kernels import CategoricalKernel
from gpytorch.kernels import (
    ConstantKernel,
    CosineKernel,
    Kernel,
    LinearKernel,
    MaternKernel,
    PeriodicKernel,
    PiecewisePolynomialKernel,
    PolynomialKernel,
    RBFKernel,
    RFFKernel,
    RQKernel,
    ScaleKernel,
    SpectralMixtureKernel,
)

from botorch_ubo.posterior.kernel_reach import (
    describe_kernel,
    kernel_reach,
    register_reach,
    require_finite_reach,
)
from tests.support.gps import (
    CLOSED_FORMS,
    ELLIPSOIDAL,
    KERNELS,
    SquaredKernel,
    random_scale,
    tensor,
)

LOG_LEVELS = tensor([0.9, 0.5, 1e-1, 1e-3, 1e-6, 1e-9, 1e-12]).log()


def along_axes(kernel, reach):
    """``k(0, h_j e_j)``: ``batch x d`` values for ``batch x d`` half-widths."""
    with torch.no_grad():
        return kernel(torch.zeros_like(reach.diag_embed()), reach.diag_embed(), diag=True)


def build(kind, lengthscale=None, **kwargs):
    kernel = kind(**kwargs).double()
    if lengthscale is not None:
        kernel.lengthscale = lengthscale
    return kernel


@pytest.mark.parametrize("family", CLOSED_FORMS)
@pytest.mark.parametrize("d", [1, 3])
def test_closed_form_round_trip(family, d):
    torch.manual_seed(d)
    for kernel in (KERNELS[family](d), random_scale(KERNELS[family](d))):
        top = along_axes(kernel, torch.zeros(1, d).double())[0, :1].log()
        level = LOG_LEVELS + top
        values = along_axes(kernel, kernel_reach(kernel, level, d))
        assert torch.allclose(values / level.exp().unsqueeze(-1), tensor(1.0), rtol=1e-10)


@pytest.mark.parametrize(
    ("kernel", "level", "expected"),
    [
        (build(RBFKernel, 2.0), math.exp(-2), 4.0),
        (build(MaternKernel, 0.5, nu=0.5), math.exp(-3), 1.5),
        (build(MaternKernel, 1.0, nu=1.5), (1 + math.sqrt(3)) * math.exp(-math.sqrt(3)), 1.0),
        (
            build(MaternKernel, 3.0, nu=2.5),
            (1 + 2 * math.sqrt(5) + 20 / 3) * math.exp(-2 * math.sqrt(5)),
            6.0,
        ),
        (build(PiecewisePolynomialKernel, 2.0, q=0), 0.25, 1.5),  # (1 - r) in one dimension
    ],
)
def test_hand_numbers(kernel, level, expected):
    reach = kernel_reach(kernel, tensor(level).log(), 1)
    assert reach.item() == pytest.approx(expected, rel=1e-7)


def test_hand_number_rq():
    kernel = build(RQKernel, 1.0)
    kernel.alpha = 1.0
    # (1 + r^2 / 2)^-1 = 1/3 at r = 2
    assert kernel_reach(kernel, tensor(1 / 3).log(), 1).item() == pytest.approx(2.0, rel=1e-12)


@pytest.mark.parametrize("family", KERNELS)
def test_level_at_variance_needs_no_distance(family):
    torch.manual_seed(0)
    kernel = KERNELS[family](2)
    top = along_axes(kernel, torch.zeros(1, 2).double())[0, 0].log()
    reach = kernel_reach(kernel, top + 1.0, 2)
    assert (reach >= 0).all() and (reach <= 1e-6).all()


@pytest.mark.parametrize("family", KERNELS)
@pytest.mark.parametrize("d", [2, *(pytest.param(d, marks=pytest.mark.slow) for d in (1, 5))])
def test_safe_side(family, d):
    """Below the level wherever one coordinate is beyond its half-width."""
    torch.manual_seed(d)
    for _ in range(5):
        kernel = random_scale(KERNELS[family](d))
        top = along_axes(kernel, torch.zeros(1, d).double())[0, 0]
        for relative in (0.5, 1e-2, 1e-5):
            reach = kernel_reach(kernel, (relative * top).log(), d)
            assert reach.isfinite().all()
            steps = torch.randn(200, d, dtype=torch.double)
            if family in ELLIPSOIDAL:
                steps = steps / steps.norm(dim=-1, keepdim=True)
            else:
                steps = steps / steps.abs().amax(dim=-1, keepdim=True)
            steps = torch.cat([torch.eye(d).double(), steps]) * reach
            steps = torch.cat([steps, 1.2 * steps, 10 * steps])
            with torch.no_grad():
                values = kernel(torch.zeros_like(steps), steps, diag=True)
            assert (values <= relative * top * (1 + 1e-9)).all()


@pytest.mark.parametrize(
    ("family", "slack"), [("piecewise0", 1e-6), ("piecewise1", 1e-6), ("user_defined", 0.1)]
)
def test_numeric_inverse_is_tight(family, slack):
    torch.manual_seed(0)
    kernel = KERNELS[family](2)
    level = tensor([0.5, 1e-2, 1e-4]).log()
    reach = kernel_reach(kernel, level, 2)
    assert (along_axes(kernel, reach) <= level.exp().unsqueeze(-1)).all()
    assert (along_axes(kernel, (1 - slack) * reach) > level.exp().unsqueeze(-1)).all()


def test_batch_shapes():
    lengthscale = torch.rand(3, 1, 2, dtype=torch.double) + 0.1
    level = LOG_LEVELS[2:5]
    for kind in (RBFKernel, MaternKernel, RQKernel, PiecewisePolynomialKernel, SquaredKernel):
        batched = build(kind, lengthscale, ard_num_dims=2, batch_shape=torch.Size([3]))
        reach = kernel_reach(batched, level, 2)
        assert reach.shape == (3, 2)
        for i in range(3):
            single = build(kind, lengthscale[i], ard_num_dims=2)
            assert torch.allclose(reach[i], kernel_reach(single, level[i], 2), rtol=1e-12)
        # one kernel, many levels
        assert kernel_reach(single, level.expand(4, 3), 2).shape == (4, 3, 2)


def test_sum_gives_each_term_a_share():
    short, long = build(RBFKernel, 1.0), build(RBFKernel, 3.0)
    reach = kernel_reach(short + long, tensor(0.2).log(), 1)
    assert reach.item() == pytest.approx(3 * math.sqrt(-2 * math.log(0.1)), rel=1e-12)


def test_product_needs_one_factor():
    scaled = ScaleKernel(build(MaternKernel, 1.0, nu=0.5)).double()
    scaled.outputscale = 4.0
    product = scaled * build(RBFKernel, 1.0)
    # the RBF must fall to 0.04 / 4, and does so before exp(-r) would
    expected = math.sqrt(-2 * math.log(0.01))
    assert kernel_reach(product, tensor(0.04).log(), 1).item() == pytest.approx(expected)


def test_active_dims():
    inner = build(RBFKernel, 2.0, active_dims=(2,))
    level = tensor(-2.0)
    expected = tensor([math.inf, math.inf, 4.0])
    assert torch.equal(kernel_reach(inner, level, 3), expected)
    scaled = ScaleKernel(inner).double()
    scaled.outputscale = 1.0
    assert torch.allclose(kernel_reach(scaled, level, 3), expected)
    product = inner * build(RBFKernel, tensor([[1.0, 3.0]]), active_dims=(0, 1), ard_num_dims=2)
    assert torch.allclose(kernel_reach(product, level, 3), tensor([2.0, 6.0, 4.0]))


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        (PeriodicKernel(), "PeriodicKernel"),
        (CosineKernel(), "CosineKernel"),
        (LinearKernel(), "LinearKernel"),
        (PolynomialKernel(power=2), "PolynomialKernel"),
        (ConstantKernel() + RBFKernel(), "AdditiveKernel.ConstantKernel, RBFKernel"),
        (RFFKernel(num_samples=16, num_dims=2), "RFFKernel"),
        (RBFKernel(active_dims=(0,)) + RBFKernel(active_dims=(1,)), "AdditiveKernel"),
        (ScaleKernel(RBFKernel(active_dims=(0,))), "ScaleKernel.RBFKernel.*dimension.s. .1"),
        (CategoricalKernel(ard_num_dims=2), "CategoricalKernel"),
        (SpectralMixtureKernel(num_mixtures=3, ard_num_dims=2), "SpectralMixtureKernel"),
        (CosineKernel() * RBFKernel(), "CosineKernel"),
    ],
)
def test_kernels_that_do_not_decay(kernel, name):
    torch.manual_seed(0)
    with pytest.raises(UnsupportedError, match=rf"Expected .*(?s:{name}).* Use "):
        require_finite_reach(kernel, kernel_reach(kernel.double(), tensor(1e-3).log(), 2))


@pytest.mark.parametrize("lengthscale", [0.01, 0.05, 0.7])
@pytest.mark.parametrize("level", [0.6, 0.1, 1e-3])
def test_periodic_is_never_a_reason(lengthscale, level):
    """However narrow its peaks: they come back, and only the other factor decides."""
    periodic, rbf = build(PeriodicKernel, lengthscale), build(RBFKernel, 2.0)
    level = tensor(level).log()
    assert kernel_reach(periodic, level, 2).isinf().all()
    assert torch.equal(kernel_reach(periodic * rbf, level, 2), kernel_reach(rbf, level, 2))


def test_constant_factor_is_a_scale():
    constant = ConstantKernel().double()
    constant.constant = tensor(5.0)
    reach = kernel_reach(constant * build(RBFKernel, 2.0), tensor(5 * math.exp(-2)).log(), 2)
    assert torch.allclose(reach, tensor([4.0, 4.0]))


class RotatedKernel(Kernel):
    """Decays fast along the axes and slowly along the diagonal."""

    def forward(self, x1, x2, diag=False, **params):
        mix = torch.tensor([[1.0, -1.0], [0.01, 0.01]], dtype=x1.dtype)
        return self.covar_dist(x1 @ mix.T, x2 @ mix.T, square_dist=True, diag=diag).neg().exp()


def test_probe_looks_between_the_axes():
    with pytest.raises(UnsupportedError, match=r"RotatedKernel.*between the axes.*register_reach"):
        kernel_reach(RotatedKernel(), tensor(-3.0), 2)


def test_register_reach():
    class Mine(RotatedKernel):
        pass

    @register_reach(Mine)
    def _(kernel, log_level, d):
        return (-log_level).sqrt().unsqueeze(-1).expand(*log_level.shape, d) * 100

    assert torch.allclose(kernel_reach(Mine(), tensor(-4.0), 2), tensor([200.0, 200.0]))


def test_describe_kernel():
    kernel = ScaleKernel(RBFKernel() + PeriodicKernel())
    assert describe_kernel(kernel) == "ScaleKernel(AdditiveKernel(RBFKernel, PeriodicKernel))"
