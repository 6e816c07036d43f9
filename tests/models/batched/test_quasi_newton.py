"""Many bounded problems at once, each with the answer that it has alone."""

from dataclasses import dataclass

import torch
from torch import Tensor

from botorch_ubo.models.batched import (
    Stopping,
    begin_descent,
    descend,
    follow,
    minimize_rows,
)

STOPPING = Stopping(evaluations=200, ftol=1e-14, longest=4.0)


@dataclass
class Bowls:
    """``1/2 (x - c)' A (x - c)``, one for each row."""

    A: Tensor
    center: Tensor
    evaluated: list[int]

    def take(self, groups: Tensor) -> "Bowls":
        return Bowls(self.A[groups], self.center[groups], self.evaluated)

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.evaluated.append(len(x))
        slope = (self.A @ (x - self.center).unsqueeze(-1)).squeeze(-1)
        return 0.5 * ((x - self.center) * slope).sum(dim=-1), slope


class Valleys:
    """Rosenbrock's function."""

    def take(self, groups: Tensor) -> "Valleys":
        return self

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor]:
        u, v = x.unbind(dim=-1)
        across = v - u**2
        slope = torch.stack([-400 * u * across - 2 * (1 - u), 200 * across], dim=-1)
        return 100 * across**2 + (1 - u) ** 2, slope


def _bowls(B: int = 6, p: int = 4) -> Bowls:
    generator = torch.Generator().manual_seed(1)
    root = torch.randn(B, p, p, generator=generator, dtype=torch.double)
    A = root @ root.mT + 0.1 * torch.eye(p, dtype=torch.double)
    return Bowls(A, torch.randn(B, p, generator=generator, dtype=torch.double), [])


def test_every_row_finds_its_own_minimum():
    bowls = _bowls()
    x0 = torch.full_like(bowls.center, 3.0)
    x, f = minimize_rows(bowls, x0, x0 - 20, x0 + 20, STOPPING)
    torch.testing.assert_close(x, bowls.center, atol=1e-5, rtol=0)
    assert float(f.abs().max()) < 1e-9


def test_at_a_bound_the_gradient_points_out_of_the_box():
    bowls = _bowls()
    lower, upper = torch.full_like(bowls.center, -0.1), torch.full_like(bowls.center, 0.3)
    x, _ = minimize_rows(bowls, torch.zeros_like(lower), lower, upper, STOPPING)
    assert ((x >= lower) & (x <= upper)).all()
    _, slope = bowls(x)
    projected = torch.clamp(x - slope, lower, upper) - x
    assert float(projected.abs().max()) < 1e-5
    assert bool((x == lower).any()) and bool((x == upper).any())


def test_a_curved_valley_is_followed():
    x0 = torch.tensor([[-1.2, 1.0], [2.0, -1.0], [0.0, 0.0]], dtype=torch.double)
    x, _ = minimize_rows(Valleys(), x0, x0 - 10, x0 + 10, STOPPING)
    torch.testing.assert_close(x, torch.ones_like(x), atol=1e-5, rtol=0)


def test_a_row_does_not_depend_on_its_neighbours():
    bowls = _bowls()
    x0 = torch.full_like(bowls.center, 3.0)
    together, _ = minimize_rows(bowls, x0, x0 - 20, x0 + 20, STOPPING)
    one = torch.tensor([2])
    alone, _ = minimize_rows(bowls.take(one), x0[one], x0[one] - 20, x0[one] + 20, STOPPING)
    torch.testing.assert_close(alone, together[one], atol=1e-9, rtol=0)


def test_rows_that_have_converged_leave_the_batch():
    bowls = _bowls()
    x0 = bowls.center.clone()
    x0[-1] += 5.0  # the only one that has a way to go
    minimize_rows(bowls, x0, x0 - 20, x0 + 20, STOPPING)
    assert bowls.evaluated[0] == 6 and bowls.evaluated[-1] == 1


def test_a_group_stays_as_long_as_one_of_its_rows():
    bowls = _bowls()
    x0 = bowls.center.clone()
    x0[-1] += 5.0

    class Pairs(Bowls):
        def take(self, groups: Tensor) -> "Pairs":
            rows = (2 * groups.unsqueeze(-1) + torch.arange(2)).flatten()
            return Pairs(self.A[rows], self.center[rows], self.evaluated)

    pairs = Pairs(bowls.A, bowls.center, [])
    x, _ = minimize_rows(pairs, x0, x0 - 20, x0 + 20, STOPPING, group=2)
    assert pairs.evaluated[0] == 6 and pairs.evaluated[-1] == 2
    torch.testing.assert_close(x, bowls.center, atol=1e-5, rtol=0)


def test_a_result_is_never_worse_than_its_start():
    x0 = torch.tensor([[-1.2, 1.0], [1.0, 1.0]], dtype=torch.double)
    few = Stopping(evaluations=3, ftol=0.0, longest=4.0)
    _, f = minimize_rows(Valleys(), x0, x0 - 10, x0 + 10, few)
    assert (f <= Valleys()(x0)[0]).all()


def test_a_point_without_a_value_is_stepped_back_from():
    class Walled(Valleys):
        def __call__(self, x: Tensor) -> tuple[Tensor, Tensor]:
            f, g = super().__call__(x)
            beyond = x[:, 0] > 1.2
            return torch.where(beyond, 1e10, f), torch.where(beyond[:, None], torch.nan, g)

    x0 = torch.tensor([[-1.2, 1.0], [1.1, 1.0]], dtype=torch.double)
    x, f = minimize_rows(Walled(), x0, x0 - 10, x0 + 10, STOPPING)
    assert x.isfinite().all() and float(f.max()) < 1e-6


def test_rows_go_on_alone_as_they_would_have_together():
    bowls = _bowls()
    x0 = torch.full_like(bowls.center, 3.0)
    limits = x0 - 20, x0 + 20
    whole, _ = minimize_rows(bowls, x0, *limits, STOPPING)
    descent = follow(bowls, begin_descent(bowls, x0, *limits, STOPPING), range(2, 6), STOPPING)
    some = torch.tensor([1, 4])
    x, f = descend(bowls.take(some), descent.take(some), 5, STOPPING)
    torch.testing.assert_close(x, whole[some], atol=1e-6, rtol=0)
    assert float(f.abs().max()) < 1e-9
