r"""Maximise an acquisition function in a box that is mostly plateau.

In a box much wider than the data, an acquisition function is constant (to machine precision)
almost everywhere, and space-filling starts have no gradient to follow. Starts are therefore
drawn from three sources: near the data, on the shell at which the data cease to matter, and
space-filling; then BoTorch's ``optimize_acqf`` does its work from the best of them. As many
samples and restarts as in a stock call cost the same; fewer restarts do, since they are well apart.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.exceptions.errors import BotorchTensorDimensionError, UnsupportedError
from botorch.optim import optimize_acqf
from botorch.utils.sampling import draw_sobol_samples
from gpytorch.models import ExactGP
from torch import Tensor

from botorch_ubo.boxes import clip, from_model_space, to_model_space
from botorch_ubo.quick_search import gen_candidates_quick, has_quick_search
from botorch_ubo.radius import Radius
from botorch_ubo.seeding import seeded

Options = dict[str, bool | float | int | str]

# A relative change of 1e-6 of an acquisition value, in units of the machine's precision; BoTorch's
# batched L-BFGS-B takes no `ftol` beside its default of this.
_OPTIONS: Options = {"factr": 1e-6 / 2.22e-16}
_MAX_SEARCHED = 5  # boxes of a union that are worth a local search
_SEPARATION = 0.2  # length-scales between two starts: closer ones climb the same hill
_PLAIN_SIDES = (1e-4, 1e4)  # with which L-BFGS-B gets along: see `_Rescaled`


@dataclass(frozen=True)
class SearchSettings:
    """How hard to search: the numbers of BoTorch's tutorials, by default."""

    num_restarts: int = 10
    raw_samples: int = 512
    options: Options | None = None


@dataclass(frozen=True)
class Neighborhood:
    """Where the data are and how far they matter, to place starts by."""

    model: ExactGP
    X: Tensor
    """``n x d`` training inputs in the model's input space."""
    radius: Radius


def maximize_acquisition(
    acq_function: AcquisitionFunction,
    boxes: Tensor,
    neighborhood: Neighborhood,
    q: int = 1,
    seed: int = 0,
    settings: SearchSettings | None = None,
) -> tuple[Tensor, Tensor]:
    r"""Maximise an acquisition function over a box or a union of boxes.

    Args:
        acq_function: The acquisition function. For ``q > 1`` it must support ``X_pending``;
            points are then chosen one after another, as with ``sequential=True``.
        boxes: A ``2 x d`` or ``b x 2 x d`` tensor in raw units, in the model's dtype.
        neighborhood: The data and their reach.
        q: The number of candidates.
        seed: Seed of the starts; the global random state is left alone.
        settings: Numbers of restarts and samples, and options of ``optimize_acqf``.

    Returns:
        A ``q x d`` tensor of candidates and a ``q``-dim tensor of their acquisition values.
    """
    settings = settings or SearchSettings()
    boxes = boxes if boxes.dim() == 3 else boxes.unsqueeze(0)
    if boxes.shape[-2:] != (2, neighborhood.X.shape[-1]):
        raise BotorchTensorDimensionError(
            f"Expected boxes of shape 2 x {neighborhood.X.shape[-1]} or b x 2 x "
            f"{neighborhood.X.shape[-1]}; got {tuple(boxes.shape)}."
        )
    if q == 1:
        X, value = _maximize_one(acq_function, boxes, neighborhood, seed, settings)
        return X, value.reshape(1)
    if not hasattr(acq_function, "X_pending"):
        raise UnsupportedError(
            f"Expected an acquisition function that supports pending points for q={q}; got "
            f"{type(acq_function).__name__}. Use a q-acquisition such as qLogExpectedImprovement."
        )
    base_pending = acq_function.X_pending
    chosen, values = [], []
    try:
        for i in range(q):
            X, value = _maximize_one(acq_function, boxes, neighborhood, seed + i, settings)
            chosen.append(X)
            values.append(value.reshape(1))
            pending = chosen if base_pending is None else [base_pending, *chosen]
            acq_function.set_X_pending(torch.cat(pending))
    finally:
        acq_function.set_X_pending(base_pending)
    return torch.cat(chosen), torch.cat(values)


def _maximize_one(
    acq_function: AcquisitionFunction,
    boxes: Tensor,
    neighborhood: Neighborhood,
    seed: int,
    settings: SearchSettings,
) -> tuple[Tensor, Tensor]:
    """The best ``1 x d`` candidate over all boxes, with its value."""
    best: tuple[Tensor, Tensor] | None = None
    share = settings
    if len(boxes) > 1:  # a union of boxes, however many, costs about two searches
        boxes = _most_promising(acq_function, boxes, seed, settings.raw_samples)
        share = SearchSettings(
            num_restarts=max(2, 2 * settings.num_restarts // len(boxes)),
            raw_samples=max(32, settings.raw_samples // len(boxes)),
            options=settings.options,
        )
    for i, box in enumerate(boxes):
        with seeded(seed + 7919 * i), warnings.catch_warnings():
            # On a plateau or at a kink a line search may end abnormally: one restart is lost, not
            # the search, and the best of all restarts is returned.
            warnings.filterwarnings("ignore", "Optimization failed in", RuntimeWarning)
            starts = draw_starts(acq_function, box, neighborhood, seed + 7919 * i, share)
            X, value = _climb(acq_function, box, starts, share.options)
        if best is None or value > best[1]:
            best = X, value
    assert best is not None
    return best


def _climb(
    acq_function: AcquisitionFunction, box: Tensor, starts: Tensor, options: Options | None
) -> tuple[Tensor, Tensor]:
    """The best ``1 x d`` point that is reached from ``r x 1 x d`` starts, with its value."""
    if options is None and has_quick_search(acq_function):  # the caller's are for BoTorch's own
        X, value = optimize_acqf(
            acq_function,
            bounds=box,
            q=1,
            num_restarts=starts.shape[0],
            batch_initial_conditions=starts,
            options=_OPTIONS,
            gen_candidates=gen_candidates_quick,  # type: ignore[arg-type]  # called by keyword
        )
        assert value is not None  # it is for `return_acq_values=True`, the default
        return clip(X, box), value
    scaled = _Rescaled(acq_function, box)
    X, value = optimize_acqf(
        scaled if scaled.needed else acq_function,
        bounds=scaled.from_raw(box),
        q=1,
        num_restarts=starts.shape[0],
        batch_initial_conditions=scaled.from_raw(starts),
        options=_OPTIONS if options is None else options,
    )
    assert value is not None
    return clip(scaled.to_raw(X.detach()), box), value.detach()


class _Rescaled(AcquisitionFunction):
    """An acquisition function whose inputs are counted in sides where those are very long or short.

    L-BFGS-B starts with a step of length one and ends at a gradient of 1e-5, in whatever units. In
    a box of pascals or of farads that is no search at all.
    """

    def __init__(self, acq_function: AcquisitionFunction, box: Tensor) -> None:
        super().__init__(acq_function.model)
        self.acq_function = acq_function
        sides = box[1] - box[0]
        plain = (sides >= _PLAIN_SIDES[0]) & (sides <= _PLAIN_SIDES[1])
        self.needed = not bool(plain.all())
        self.origin = torch.where(plain, 0.0, box[0])
        self.unit = torch.where(plain, 1.0, sides)

    def from_raw(self, X: Tensor) -> Tensor:
        """Map inputs in raw units to those in sides."""
        return (X - self.origin) / self.unit

    def to_raw(self, X: Tensor) -> Tensor:
        """The inverse of :meth:`from_raw`."""
        return self.origin + X * self.unit

    def forward(self, X: Tensor) -> Tensor:
        """The acquisition value."""
        return self.acq_function(self.to_raw(X))


def _most_promising(
    acq_function: AcquisitionFunction, boxes: Tensor, seed: int, raw_samples: int
) -> Tensor:
    """The few boxes of a union in which samples found the best values."""
    if len(boxes) <= _MAX_SEARCHED:
        return boxes
    count = max(4, raw_samples // len(boxes))
    samples = torch.stack([draw_sobol_samples(box, count, 1, seed=seed) for box in boxes])
    with torch.no_grad():
        values = acq_function(samples.flatten(0, 1)).reshape(len(boxes), count)
    return boxes[values.amax(dim=-1).topk(_MAX_SEARCHED).indices]


def draw_starts(
    acq_function: AcquisitionFunction,
    box: Tensor,
    neighborhood: Neighborhood,
    seed: int,
    settings: SearchSettings,
) -> Tensor:
    r"""Draw raw samples from the three sources and keep the most promising, well apart.

    Args:
        acq_function: The acquisition function.
        box: A ``2 x d`` box in raw units, in the model's dtype.
        neighborhood: The data and their reach.
        seed: Seed of the samples.
        settings: Numbers of restarts and samples.

    Returns:
        A ``num_restarts x 1 x d`` tensor.
    """
    filling = draw_sobol_samples(box, settings.raw_samples // 2, 1, seed=seed).squeeze(-2)
    near = _near_data(acq_function, box, neighborhood, settings.raw_samples // 4, seed)
    shell = _on_shell(box, neighborhood, settings.raw_samples // 4, seed)
    raw = torch.cat([filling, near, shell])
    with torch.no_grad():
        values = acq_function(raw.unsqueeze(-2))
    values = values.nan_to_num(nan=-torch.inf)
    lengths = neighborhood.radius.lengthscales.to(raw)
    scaled = to_model_space(neighborhood.model, raw) / lengths
    # A quarter of the restarts stays with the space-filling part: far hills that the data do
    # not suggest. The rest goes wherever the values are best.
    reserved = settings.num_restarts // 4
    best = _best_apart(values, scaled, settings.num_restarts - reserved)
    own = values.clone()
    own[filling.shape[0] :] = -torch.inf
    own[best] = -torch.inf
    far = _best_apart(own, scaled, reserved)
    return raw[torch.cat([best, far])].unsqueeze(-2)


def _best_apart(values: Tensor, scaled: Tensor, count: int) -> Tensor:
    """Indices of the ``count`` best values that are ``_SEPARATION`` apart where possible."""
    values = values.clone()
    chosen: list[Tensor] = []
    for _ in range(count):
        index = values.argmax()
        if values[index] == -torch.inf:  # all taken or too close: start over with what is left
            break
        chosen.append(index)
        values[(scaled - scaled[index]).norm(dim=-1) < _SEPARATION] = -torch.inf
        values[index] = -torch.inf
    if not chosen:
        return torch.zeros(0, dtype=torch.long, device=values.device)
    return torch.stack(chosen)


def _near_data(
    acq_function: AcquisitionFunction,
    box: Tensor,
    neighborhood: Neighborhood,
    count: int,
    seed: int,
) -> Tensor:
    """Samples within a length-scale of the data with the best acquisition values."""
    X = neighborhood.X
    raw = clip(_to_raw(neighborhood.model, X, box), box)
    with torch.no_grad():
        at_data = acq_function(raw.unsqueeze(-2)).nan_to_num(nan=-torch.inf)
    top = at_data.topk(min(16, X.shape[0])).indices
    centers = X[top.repeat(count // len(top) + 1)[:count]]
    normal = _normal(count, X, seed + 1)
    # Steps of 0.01 to 1 length-scale: the hill at the incumbent may be much narrower than one.
    size = 10 ** (-2 * _shuffled_fractions(count, X))
    steps = size.unsqueeze(-1) * normal * neighborhood.radius.lengthscales.to(X)
    jittered = clip(_to_raw(neighborhood.model, centers + steps, box), box)
    return torch.cat([raw[top], jittered])


def _on_shell(box: Tensor, neighborhood: Neighborhood, count: int, seed: int) -> Tensor:
    """Samples between half the radius and the radius around the data."""
    X = neighborhood.X
    index = torch.arange(count, device=X.device) % X.shape[0]
    normal = _normal(count, X, seed + 2)
    direction = normal / normal.norm(dim=-1, keepdim=True)
    size = 0.3 + 0.7 * _shuffled_fractions(count, X)
    steps = size.unsqueeze(-1) * direction * neighborhood.radius.half_widths.to(X)
    return clip(_to_raw(neighborhood.model, X[index] + steps, box), box)


def _shuffled_fractions(count: int, like: Tensor) -> Tensor:
    fractions = torch.linspace(0, 1, count, dtype=torch.double)
    return fractions[torch.randperm(count)].to(like)


def _normal(count: int, like: Tensor, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(count, like.shape[-1], generator=generator, dtype=torch.double).to(like)


def _to_raw(model: ExactGP, X: Tensor, box: Tensor) -> Tensor:
    return from_model_space(model, X).to(box)
