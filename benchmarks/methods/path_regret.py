"""Whether points are within epsilon of the optimum of functions drawn from a posterior.

A draw is a function: a prior path by random Fourier features, moved onto the data by Matheron's
rule. Its maximum over the box is the best of many points, the best few of which are polished.
What the search misses makes a maximum too small, and a point look better than it is. Draws of one
batch share their features, so that they are independent only up to the error of these.
"""

import warnings
from dataclasses import dataclass
from functools import partial

import torch
from botorch.generation.gen import gen_candidates_scipy
from botorch.models.model import Model
from botorch.sampling.pathwise import draw_kernel_feature_paths, draw_matheron_paths
from botorch.sampling.pathwise.paths import SamplePath
from botorch.utils.sampling import draw_sobol_samples, manual_seed
from torch import Tensor

BATCH = 256  # draws that are held at once
NUM_FILLING = 1024  # Sobol points of the box
NUM_AROUND = 64  # points about each of those that are tested
NUM_POLISHED = 2  # of a draw
_STEPS = 20  # of a polish: what is left to gain then is far below any epsilon of use
_NEAREST, _FARTHEST = -4.0, -1.0  # of the points around, as powers of ten, in sides of the box


@dataclass(frozen=True)
class PathRegret:
    """Draws of a posterior, by which some points of a box are judged.

    Attributes:
        model: A GP, for maximisation.
        box: ``2 x d``, where the optimum of a draw is looked for.
        points: ``k x d``, those to judge.
        epsilon: Regret up to which a point is good, in the model's units.
        seed: Of all draws.
    """

    model: Model
    box: Tensor
    points: Tensor
    epsilon: float
    seed: int

    def fails(self, start: int, count: int) -> Tensor:
        """``count x k``: which points have more regret than epsilon, in draws from ``start`` on."""
        found = []
        for first in range(start, start + count, BATCH):
            with manual_seed(self.seed + first):
                found.append(self._fail(min(BATCH, start + count - first)))
        return torch.cat(found)

    def _fail(self, count: int) -> Tensor:
        # The default weights, a Sobol sequence of so many dimensions, take a while to set up.
        prior = partial(draw_kernel_feature_paths, weight_generator=torch.randn)
        paths = draw_matheron_paths(self.model, torch.Size([count]), prior)
        paths.requires_grad_(False)
        candidates = self._candidates()
        with torch.no_grad():
            own = paths(self.points)
            values = paths(candidates)
        best, at = values.topk(NUM_POLISHED, dim=-1)
        top = best[:, :1]
        # A maximum only grows by a polish, so that those who have failed have failed.
        if bool((top - own <= self.epsilon).any()):
            top = torch.maximum(top, self._polish(paths, candidates[at]))
        return top - own > self.epsilon

    def _candidates(self) -> Tensor:
        """Points all over the box, and at several distances about those that are judged."""
        filling = draw_sobol_samples(self.box, n=NUM_FILLING, q=1).squeeze(-2)
        shape = (NUM_AROUND, *self.points.shape)
        size = 10 ** (_NEAREST + (_FARTHEST - _NEAREST) * torch.rand(*shape[:2], 1).to(self.box))
        steps = size * torch.randn(shape, dtype=self.box.dtype) * (self.box[1] - self.box[0])
        around = (self.points + steps).flatten(0, 1)
        return torch.cat([filling, around, self.points]).clamp(self.box[0], self.box[1])

    def _polish(self, paths: SamplePath, starts: Tensor) -> Tensor:
        """``count x 1``: the best value reached from ``count x r x d`` starts."""
        with warnings.catch_warnings():
            # That it ends at its number of steps is meant.
            warnings.filterwarnings("ignore", "Optimization failed in", RuntimeWarning)
            _, values = gen_candidates_scipy(
                starts,
                paths,
                lower_bounds=self.box[0],
                upper_bounds=self.box[1],
                options={"maxiter": _STEPS},
                use_parallel_mode=False,
            )
        return values.detach().amax(dim=-1, keepdim=True)
