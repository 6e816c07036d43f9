"""One search of a GP sample path with the paper's method, until its regret bound is epsilon."""

from dataclasses import replace
from typing import Any

import torch
from scipy.stats.qmc import LatinHypercube

from benchmarks.problems.sample_paths import draw_path, known_model, maximum_in
from botorch_ubo import ExpandingBounds, TheoremBeta, get_method

# Factors on ``beta_t`` of Theorem 5.1: its own, and that of the paper's experiments.
SCALES = {"beta": 1.0, "beta/5": 0.2}

Key = tuple[int, int, str]  # dimension, path and factor
Search = dict[str, Any]


def search_path(key: Key, settings: dict[str, Any]) -> Search:
    """Search one path until the trigger fires, or for as many evaluations as are allowed.

    Args:
        key: Dimension, the seed of the path and of the initial points, and a key of ``SCALES``.
        settings: ``delta``, ``epsilon`` in standard deviations of the values seen, as for users,
            ``lengthscale`` in sides of the box, and ``max_evaluations``.

    Returns:
        Among others ``regret``, the maximum over the box minus the best evaluated value, and
        ``epsilon`` in the path's units, or ``None`` if the regret bound did not fall to it.
    """
    dim, seed, beta = key
    path = draw_path(dim, settings["lengthscale"], seed)
    box = torch.tensor([[0.0] * dim, [1.0] * dim], dtype=torch.double)
    schedule = TheoremBeta(settings["delta"], SCALES[beta])
    controller = ExpandingBounds(
        box,
        method=replace(get_method("GPUCB-UBO"), beta=schedule),
        hard_limits=box,
        epsilon=settings["epsilon"],
        seed=seed,
    )
    X = torch.from_numpy(LatinHypercube(dim, rng=seed).random(3 * dim))
    Y = path(X)
    while True:
        model = known_model(X, Y, settings["lengthscale"])
        controller.update(model)
        certificate = controller.certificate
        if certificate is not None or len(X) >= settings["max_evaluations"]:
            break
        x = controller.suggest(model)
        X, Y = torch.cat([X, x]), torch.cat([Y, path(x)])
    return {
        "dim": dim,
        "path": seed,
        "beta": beta,
        "evaluations": len(X),  # initial points included
        # The polished maximum can be a rounding error below an evaluated one.
        "regret": max(0.0, maximum_in(path, box) - float(Y.max())),
        "epsilon": None if certificate is None else certificate.epsilon,
        "sqrt_beta": controller.context(model).confidence.beta ** 0.5,
    }


def key_of(search: Search) -> Key:
    """Which search it is."""
    return search["dim"], search["path"], search["beta"]
