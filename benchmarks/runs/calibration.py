"""How far ``beta`` can fall before certificates are wrong: searches of GP sample paths.

A case is a kind of path, box and model; a search runs the paper's method on one path of it with
``beta_t`` of Theorem 5.1 times a factor. Every certificate on the way is held against the maximum
over its box. Besides, the event that the theorem rests on is looked at: that the upper confidence
bound at the true maximiser, with the slack for a grid, is never below the maximum.
"""

from dataclasses import dataclass, replace
from typing import Any

import torch
from botorch.models import SingleTaskGP
from scipy.stats.qmc import LatinHypercube
from torch import Tensor

from benchmarks.problems.sample_paths import (
    NOISE,
    draw_path,
    known_model,
    maximizer_in,
    maximum_in,
)
from botorch_ubo import ExpandingBounds, TheoremBeta, fit_default_model, get_method

SCALES = (1.0, 0.2, 0.05, 0.02, 0.005)
NUM_CERTIFICATES = 3  # of a box that grows; one that stays has one

Key = tuple[str, int, float]  # case, path and factor
Search = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """What is searched, and what the searcher knows.

    Attributes:
        dim: Of the path.
        side: Of the first box, in length-scales.
        kernel: Of the path, and of the model unless that is fitted.
        noise: Standard deviation of an observation, of a path of variance 1.
        fitted: Whether hyper-parameters are fitted at every step, with the default's model.
        growing: Whether the box moves when it is exhausted.
    """

    dim: int
    side: float
    kernel: str = "RBF"
    noise: float = 0.0
    fitted: bool = False
    growing: bool = False

    @property
    def assumed(self) -> bool:
        """Whether all that the theorem assumes is so, with the kernel that a level is chosen on."""
        return not (self.fitted or self.growing or self.noise) and self.kernel == "RBF"


CASES: dict[str, Case] = {
    **{f"d = 1, {side} length-scales": Case(1, side) for side in (5, 20, 50)},
    "d = 2, 5 length-scales": Case(2, 5),
    "d = 2, 20 length-scales": Case(2, 20),
    "d = 3, 5 length-scales": Case(3, 5),
    "d = 4, 5 length-scales": Case(4, 5),
    "d = 1, 20, Matern 5/2": Case(1, 20, kernel="Matern 5/2"),
    "d = 2, 5, Matern 5/2": Case(2, 5, kernel="Matern 5/2"),
    "d = 1, 20, noise 0.1": Case(1, 20, noise=0.1),
    "d = 1, 20, fitted": Case(1, 20, fitted=True),
    "d = 2, 5, fitted": Case(2, 5, fitted=True),
    "d = 1, 5, growing": Case(1, 5, growing=True),
}


def search_case(key: Key, settings: dict[str, Any]) -> Search:
    """Search one path until the box is exhausted, or for as many evaluations as are allowed.

    Args:
        key: A name of ``CASES``, the seed of path, noise and initial points, and the factor.
        settings: ``delta``, ``epsilon`` in standard deviations of the values seen, and
            ``max_evaluations``.

    Returns:
        Among others ``certificates``, each with ``regret``, by how much the certified point is
        below the maximum over the box of the certificate, and ``epsilon``; and ``held``, whether
        the upper confidence bound covered the maximum at every step (``None`` of growing boxes).
    """
    name, seed, scale = key
    case = CASES[name]
    path = draw_path(case.dim, 1 / case.side, seed, case.kernel)
    box = torch.tensor([[0.0] * case.dim, [1.0] * case.dim], dtype=torch.double)
    controller = ExpandingBounds(
        box,
        method=replace(get_method("GPUCB-UBO"), beta=TheoremBeta(settings["delta"], scale)),
        hard_limits=None if case.growing else box,
        epsilon=settings["epsilon"],
        seed=seed,
    )
    generator = torch.Generator().manual_seed(seed)
    place, top = maximizer_in(path, box)
    X = torch.from_numpy(LatinHypercube(case.dim, rng=seed).random(3 * case.dim))
    Y = _observe(path(X), case, generator)
    certificates: list[dict[str, float]] = []
    held = True
    while True:
        model = _fit(X, Y, case, box)
        controller.update(model)
        found = controller.certificate
        if found is not None and found.num_observations == len(X):
            inside = torch.tensor(found.bounds, dtype=torch.double)
            known = float(path(torch.tensor([found.best_X], dtype=torch.double)))
            # The polished maximum can be a rounding error below an evaluated one.
            regret = max(0.0, maximum_in(path, inside) - known)
            certificates.append({"regret": regret, "epsilon": found.epsilon})
        context = controller.context(model)
        beta = context.confidence.beta
        slack = context.view.to_raw_difference(context.confidence.slack)
        held = held and _upper(model, place, beta) + slack >= top
        enough = len(certificates) >= (NUM_CERTIFICATES if case.growing else 1)
        if enough or len(X) >= settings["max_evaluations"]:
            break
        x = controller.suggest(model)
        X, Y = torch.cat([X, x]), torch.cat([Y, _observe(path(x), case, generator)])
    return {
        "case": name,
        "path": seed,
        "scale": scale,
        "evaluations": len(X),  # initial points included
        "certificates": certificates,
        "held": None if case.growing else held,
        "sqrt_beta": beta**0.5,
    }


def _observe(values: Tensor, case: Case, generator: torch.Generator) -> Tensor:
    noise = torch.randn(values.shape, generator=generator, dtype=values.dtype)
    return values + case.noise * noise


def _fit(X: Tensor, Y: Tensor, case: Case, box: Tensor) -> SingleTaskGP:
    if case.fitted:
        return fit_default_model(X, Y, box)
    return known_model(X, Y, 1 / case.side, case.kernel, max(case.noise**2, NOISE))


def _upper(model: SingleTaskGP, x: Tensor, beta: float) -> float:
    with torch.no_grad():
        posterior = model.posterior(x)
        return float(posterior.mean + (beta * posterior.variance).sqrt())


def case_key(search: Search) -> Key:
    """Which search it is."""
    return search["case"], search["path"], search["scale"]
