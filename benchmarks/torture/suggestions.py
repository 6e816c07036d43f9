"""Hard limits and ``suggest``: every method, both precisions, batches, pending, failed."""

import random
import warnings

import torch
from botorch.exceptions.errors import InputDataError
from botorch.models import SingleTaskGP
from torch import Tensor

from benchmarks.torture.limits import crossed, random_case
from benchmarks.torture.small import FASTEST, METHODS
from benchmarks.torture.tally import Tally, expect
from botorch_ubo import ExpandingBounds
from botorch_ubo.boxes import cast_inward, check_resolvable, clip
from botorch_ubo.models import default_model

_N = 5
_DTYPES = (torch.float, torch.double)


def random_model(box: Tensor, chance: random.Random, dtype: torch.dtype) -> SingleTaskGP:
    """An unfitted model of random data in the box, with a length-scale short, usual or long."""
    generator = torch.Generator().manual_seed(chance.randrange(2**31))
    unit = torch.rand(_N, box.shape[-1], generator=generator, dtype=torch.double)
    X = clip(box[0] + unit * (box[1] - box[0]), box).to(dtype)
    X = clip(X, cast_inward(box, X))
    Y = torch.randn(_N, 1, generator=generator, dtype=torch.double).to(dtype)
    model = default_model(X, Y, cast_inward(box, X))
    model.covar_module.base_kernel.lengthscale = chance.choice((0.1, 1.0, 30.0))
    return model.eval()


def resolvable_case(chance: random.Random, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """A box that is not to be refused, in its precision, and its limits."""
    while True:
        box, limits = random_case(chance, 3)
        first = cast_inward(box, torch.empty(0, dtype=dtype))
        if first.isfinite().all() and (first[0] < first[1]).all() and _has_room(first):
            return first, limits


def attack_suggest(count: int, seed: int) -> Tally:
    """A suggestion per attempt, on sound data: no error is an answer."""
    tally, chance = Tally("hard limits: suggest, all methods"), random.Random(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(count):
            method, dtype = METHODS[number % len(METHODS)], chance.choice(_DTYPES)
            first, limits = resolvable_case(chance, dtype)
            q = chance.choice((1, 1, 2, 3))
            here = first.mean(dim=0, keepdim=True)
            pending, failed = (here if chance.random() < 0.3 else None for _ in range(2))
            what = f"{method}, {dtype}, q = {q}, box {first.tolist()} in {limits.tolist()}"
            with tally.attempt(what, may_refuse=False):
                controller = ExpandingBounds(
                    first, method=method, hard_limits=limits, seed=number, **FASTEST
                )
                model = random_model(first.double(), chance, dtype)
                X = controller.suggest(model, q=q, X_pending=pending, X_failed=failed)
                expect(X.shape == (q, first.shape[-1]) and X.dtype == dtype, f"got {X}")
                expect(not crossed(X, limits).any(), f"suggested {X.tolist()}")
                found = controller.bounds
                expect(not crossed(found, limits).any(), f"the box is {found.tolist()}")
                expect(bool((found[0] < found[1]).all()), f"the box is {found.tolist()}")
    return tally


def _has_room(box: Tensor) -> bool:
    try:
        check_resolvable(box)
    except InputDataError:
        return False
    return True
