"""Models with hyper-parameters by hand, and updates of a controller without optimisation."""

from __future__ import annotations

import torch
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from gpytorch.kernels import RBFKernel
from gpytorch.means import ZeroMean
from torch import Tensor

from botorch_ubo import ExpandingBounds, ExpansionRecord

NOISE = 1e-4

# A move of a box of two dimensions, as planned.
PLAN = ExpansionRecord(
    iteration=3,
    num_observations=9,
    strategy="TheoremBox",
    trigger="regret bound at or below epsilon",
    regret_bound=0.01,
    epsilon=0.05,
    beta=2.0,
    old_bounds=((0.0, 0.0), (1.0, 1.0)),
    new_bounds=((-1.0, 0.0), (2.0, 3.0)),
    stopped_by_limit=((1, "lower"),),
    capped=((1, "upper"),),
    details={"radius": 2.5, "active_term": "mean", "half_widths": [1.0, 2.0]},
)


def unit_box(d: int = 2) -> Tensor:
    return torch.stack([torch.zeros(d), torch.ones(d)]).double()


def rbf_model(
    X: Tensor, Y: Tensor, lengthscale: float = 1.0, bounds: Tensor | None = None
) -> SingleTaskGP:
    """Zero mean, unit prior variance, outcomes as they are; ``n x d`` inputs, ``n`` outcomes."""
    d = X.shape[-1]
    kernel = RBFKernel(ard_num_dims=d).double()
    kernel.lengthscale = torch.full((1, d), lengthscale)
    model = SingleTaskGP(
        X,
        Y.unsqueeze(-1),
        train_Yvar=torch.full((len(Y), 1), NOISE, dtype=torch.double),
        covar_module=kernel,
        mean_module=ZeroMean(),
        input_transform=None if bounds is None else Normalize(d, bounds=bounds),
        outcome_transform=None,
    )
    return model.eval()


def feed(box: ExpandingBounds, X: Tensor, Y: Tensor, start: int) -> list[ExpansionRecord | None]:
    """Update with the first ``start``, ``start + 1``, ... observations."""
    return [box.update(rbf_model(X[:n], Y[:n])) for n in range(start, len(Y) + 1)]


def random_data(n: int, d: int = 2, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Points in the unit box and values in (0, 1)."""
    generator = torch.Generator().manual_seed(seed)
    X = torch.rand(n, d, generator=generator, dtype=torch.double)
    return X, torch.rand(n, generator=generator, dtype=torch.double)
