"""One search of a GP sample path with the paper's method, until its regret bound is epsilon."""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch
from scipy.stats.qmc import LatinHypercube

from benchmarks.sample_paths import draw_path, known_model, maximum_in
from botorch_ubo import ExpandingBounds
from botorch_ubo.beta import TheoremBeta

SCALES = {"beta": 1.0, "beta/5": 0.2}
"""Factors on ``beta_t`` of Theorem 5.1: its own, and that of the paper's experiments."""

Key = tuple[int, int, str]


@dataclass(frozen=True)
class Settings:
    """What all searches of a study have in common."""

    delta: float
    epsilon: float
    """In standard deviations of the values seen, as for users."""
    lengthscale: float
    """In sides of the box."""
    max_evaluations: int


@dataclass(frozen=True)
class Search:
    """One search of one path."""

    dim: int
    path: int
    """Seed of the path and of the initial points."""
    beta: str
    """A key of ``SCALES``."""
    evaluations: int
    """Initial points included."""
    regret: float
    """Maximum over the box minus the best evaluated value."""
    epsilon: float | None
    """In the path's units; ``None`` if the regret bound did not fall to it."""
    regret_bound: float | None
    sqrt_beta: float
    """At the last step."""
    seconds: float

    @property
    def key(self) -> Key:
        return self.dim, self.path, self.beta

    @property
    def fired(self) -> bool:
        """Whether the regret bound fell to epsilon within the allowed evaluations."""
        return self.epsilon is not None

    @property
    def covered(self) -> bool:
        """Whether the best evaluated point is as good as the trigger says."""
        return self.epsilon is not None and self.regret <= self.epsilon


def search_path(key: Key, settings: Settings) -> Search:
    """Search one path until the trigger fires, or for as many evaluations as are allowed."""
    dim, seed, beta = key
    began = time.process_time()
    path = draw_path(dim, settings.lengthscale, seed)
    box = torch.tensor([[0.0] * dim, [1.0] * dim], dtype=torch.double)
    controller = ExpandingBounds.corrected(
        box,
        hard_limits=box,
        epsilon=settings.epsilon,
        beta=TheoremBeta(settings.delta, SCALES[beta]),
        seed=seed,
    )
    X = torch.from_numpy(LatinHypercube(dim, rng=seed).random(3 * dim))
    Y = path(X)
    while True:
        model = known_model(X, Y, settings.lengthscale)
        controller.update(model)
        certificate = controller.certificate
        if certificate is not None or len(X) >= settings.max_evaluations:
            break
        x = controller.suggest(model)
        X, Y = torch.cat([X, x]), torch.cat([Y, path(x)])
    return Search(
        dim=dim,
        path=seed,
        beta=beta,
        evaluations=len(X),
        # The polished grid can stop a rounding error below an evaluated maximum.
        regret=max(0.0, maximum_in(path, box) - float(Y.max())),
        epsilon=None if certificate is None else certificate.epsilon,
        regret_bound=None if certificate is None else certificate.regret_bound,
        sqrt_beta=controller.trace[-1].beta ** 0.5,
        seconds=time.process_time() - began,
    )
