"""Generated functions that no method was chosen on: half to look at, half to judge by.

Two families of each kind of difficulty, each in two dimensions: ``fam_ellipsoid5`` and its like. A
seed is an instance: it draws the optimum, a rotation, an offset of the values, and the start box, a
fifth of each side of the domain ``[-5, 5]^d``, which need not hold the optimum. 10 evaluations per
dimension, 60 in 10 dimensions and 80 in 20.

The two families of a kind, in the order of the alphabet, go one to each half, the first to the half
to look at in every other kind. The judging half is run once per decision; ``README.md`` of the
benchmarks lists every look at it.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from benchmarks.problems import forms
from benchmarks.problems.forms import SIDE, Form
from benchmarks.problems.problem import Family, Problem, Sources

LOOK, JUDGE = "families-look", "families-judge"
NUM_EVALUATIONS = {10: 60, 20: 80}
NOISE_SHARE = 0.1  # of the standard deviation of the values over the domain
START_SHARE = 0.2
MARGIN = 0.1  # of the side: how far the optimum keeps from the domain's faces
_STREAM, _SAMPLES = 74, 1024


@dataclass(frozen=True)
class Kind:
    """Two families that are hard in the same way.

    Attributes:
        forms: By name.
        dims: In which both are run.
        rotated: Whether axes of the form are no axes of the space.
        noisy: Whether methods see values with noise.
    """

    forms: dict[str, Form]
    dims: tuple[int, int]
    rotated: bool = True
    noisy: bool = False


KINDS: dict[str, Kind] = {
    "smooth": Kind({"cumulative": forms.cumulative, "powers": forms.powers}, (3, 20)),
    "ill-conditioned": Kind({"discus": forms.discus, "ellipsoid": forms.ellipsoid}, (2, 5)),
    "valley": Kind({"dixon": forms.dixon, "rosenbrock": forms.rosenbrock}, (2, 5)),
    "ridge": Kind({"kink": forms.kink, "ridge": forms.sharp_ridge}, (3, 10)),
    "ripples": Kind({"ackley": forms.ackley, "rastrigin": forms.rastrigin}, (1, 3)),
    "many hills": Kind({"lunacek": forms.lunacek, "peaks": forms.peaks}, (2, 5)),
    "rugged": Kind({"schaffers": forms.schaffers, "weierstrass": forms.weierstrass}, (2, 3)),
    "stepped": Kind({"lattice": forms.lattice, "staircase": forms.staircase}, (2, 5), False),
    "noisy": Kind({"noisybowl": forms.gentle, "noisywaves": forms.rastrigin}, (2, 3), noisy=True),
    "non-stationary": Kind({"chirp": forms.chirp, "warp": forms.warp}, (1, 3), False),
    "asymmetric": Kind({"cliff": forms.cliff, "sector": forms.sector}, (2, 10)),
    "plateau": Kind({"funnel": forms.funnel, "mesa": forms.mesa}, (2, 3)),
    "heavy-tailed": Kind({"exploding": forms.exploding, "product": forms.product}, (2, 5)),
    "few matter": Kind({"decaying": forms.decaying, "embedded": forms.embedded}, (5, 20)),
    "basins": Kind({"basins": forms.basins, "doublewell": forms.double_well}, (3, 5), False),
}


Function = tuple[Kind, Form, int]  # the last is the dimension


def half_of(kinds: dict[str, Kind], look: bool) -> dict[str, Function]:
    """The functions of a half by name."""
    found = {}
    for place, kind in enumerate(kinds.values()):
        family = sorted(kind.forms)[(place + (not look)) % 2]
        for dim in kind.dims:
            found[f"fam_{family}{dim}"] = kind, kind.forms[family], dim
    return found


HALVES = {LOOK: half_of(KINDS, look=True), JUDGE: half_of(KINDS, look=False)}
FUNCTIONS = {**HALVES[LOOK], **HALVES[JUDGE]}


def make_function(name: str, seed: int, sources: Sources) -> Problem:
    """The instance of that seed."""
    return make_instance(name, FUNCTIONS[name], seed)


def make_instance(name: str, function: Function, seed: int) -> Problem:
    """The instance of that seed of any form, in any dimension."""
    kind, form, dim = function
    rng = np.random.default_rng([_STREAM, seed, zlib.crc32(name.encode())])
    lower, upper = -SIDE / 2, SIDE / 2
    optimizer = torch.from_numpy(rng.uniform(lower + MARGIN * SIDE, upper - MARGIN * SIDE, dim))
    rotation = torch.eye(dim, dtype=torch.double)
    if kind.rotated:
        rotation = torch.from_numpy(np.linalg.qr(rng.standard_normal((dim, dim)))[0])
    loss = form(rng, dim)
    samples = torch.from_numpy(rng.uniform(lower, upper, (_SAMPLES, dim)))
    losses = loss((samples - optimizer) @ rotation)
    offset = float(losses.median() * rng.standard_normal())  # or zero would mean "the best"
    corner = torch.from_numpy(rng.uniform(lower, upper - START_SHARE * SIDE, dim))
    return Problem(
        name=name,
        function=_negative(loss, optimizer, rotation, offset),
        bounds=torch.tensor([[lower] * dim, [upper] * dim], dtype=torch.double),
        optimal_value=offset,
        optimizer=optimizer,
        start_box=torch.stack([corner, corner + START_SHARE * SIDE]),
        num_evaluations=NUM_EVALUATIONS.get(dim),
        noise_std=NOISE_SHARE * float(losses.std()) if kind.noisy else 0.0,
    )


def _negative(
    loss: forms.Function, optimizer: Tensor, rotation: Tensor, offset: float
) -> Callable[[Tensor], Tensor]:
    return lambda X: offset - loss((X - optimizer) @ rotation)


FAMILIES = (
    Family(LOOK, "Families to look at", tuple(HALVES[LOOK]), make_function),
    Family(JUDGE, "Families to judge by", tuple(HALVES[JUDGE]), make_function),
)
