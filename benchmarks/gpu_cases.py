"""What is timed on each device: the fit, the geometry and the search of one step.

The models, data and start points are the same on every device: hyper-parameters are set, not
fitted, wherever a result depends on them, and both optimisations take a fixed number of steps.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from botorch.optim.fit import fit_gpytorch_mll_scipy
from gpytorch.mlls import ExactMarginalLogLikelihood
from linear_operator.utils.errors import NotPSDError
from torch import Tensor

from botorch_ubo import ExpandingBounds
from botorch_ubo.context import Context
from botorch_ubo.factories import q_ucb

DTYPES = {"double": torch.double, "float": torch.float}
WARM_UP = 2
FIT_STEPS = 10
SEARCH_STEPS = 20
RAW_SAMPLES = 512


@dataclass(frozen=True)
class Case:
    """Size and precision of a problem."""

    n: int
    dim: int
    dtype: str

    def box(self, device: str) -> Tensor:
        unit = torch.tensor([[0.0] * self.dim, [1.0] * self.dim])
        return unit.to(device, DTYPES[self.dtype])

    def model(self, device: str) -> SingleTaskGP:
        """On data drawn in double precision on the CPU, with hyper-parameters that suit them."""
        generator = torch.Generator().manual_seed(self.n)
        X = torch.rand(self.n, self.dim, generator=generator, dtype=torch.double)
        noise = 0.1 * torch.randn(self.n, 1, generator=generator, dtype=torch.double)
        Y = torch.sin(4 * X).sum(dim=-1, keepdim=True) + noise
        options: dict[str, Any] = {"device": device, "dtype": DTYPES[self.dtype]}
        model = SingleTaskGP(
            X.to(**options), Y.to(**options),
            input_transform=Normalize(self.dim, bounds=self.box(device)),
        )  # fmt: skip
        model.covar_module.lengthscale = 0.5 * self.dim**0.5
        model.likelihood.noise = 0.02
        return model.eval()

    def controller(self, device: str, restarts: int = 10, **options: Any) -> ExpandingBounds:
        return ExpandingBounds.corrected(
            self.box(device),
            num_restarts=restarts,
            raw_samples=RAW_SAMPLES,
            options={"maxiter": SEARCH_STEPS},
            **options,
        )


@dataclass(frozen=True)
class Timing:
    """Seconds of every repeat of one stage of one case on one device."""

    case: Case
    device: str
    stage: str
    """``"fit"``, ``"geometry"`` or ``"search"``."""
    q: int | None = None
    """Candidates at once; for a search only."""
    restarts: int | None = None
    seconds: list[float] = field(default_factory=list)
    peak_memory: float | None = None
    """In MiB: of the device's tensors in this stage, or, on the CPU, of the process so far."""
    error: str | None = None
    """Why there are no times, if there are none."""


def clock(device: str) -> float:
    """The time when the device has finished what it was given; else a clock sees launches only."""
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def time_fit(case: Case, device: str) -> float:
    """A few steps of the hyper-parameters' fit, with BoTorch's L-BFGS-B."""
    model = case.model(device).train()
    mll = ExactMarginalLogLikelihood(model.likelihood, model).train()
    began = clock(device)
    fit_gpytorch_mll_scipy(mll, options={"maxiter": FIT_STEPS})
    return clock(device) - began


def time_geometry(case: Case, device: str) -> float:
    """Posterior summary, radius, beta and box of a first step."""
    model, controller = case.model(device), case.controller(device)
    began = clock(device)
    controller.update(model)
    return clock(device) - began


def time_search(case: Case, device: str, q: int, restarts: int) -> float:
    """The maximisation of the acquisition function, from the moment that the geometry is known."""
    begun: list[float] = []

    def begin(build: Callable[[Context], AcquisitionFunction]) -> Any:
        def factory(context: Context) -> AcquisitionFunction:
            _ = context.radius  # the geometry, for the places where the search begins
            begun.append(clock(device))
            return build(context)

        return factory

    model = case.model(device)
    controller = case.controller(
        device, restarts, acquisition=begin(lambda c: c.ucb), batch_acquisition=begin(q_ucb)
    )
    controller.suggest(model, q=q)
    return clock(device) - begun[-1]


def measure(
    case: Case, device: str, stage: str, repeats: int, q: int = 1, restarts: int = 10
) -> Timing:
    """Time a stage ``repeats`` times, after some rounds that do not count."""
    searching = stage == "search"

    def once() -> float:
        if searching:
            return time_search(case, device, q, restarts)
        return (time_fit if stage == "fit" else time_geometry)(case, device)

    seconds: list[float] = []
    error = None
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    try:
        for _ in range(WARM_UP):
            once()
        seconds = [once() for _ in range(repeats)]
    except (torch.OutOfMemoryError, torch.linalg.LinAlgError, NotPSDError) as failure:
        # No room, or a matrix that single precision cannot factorise: a result as well.
        error = f"{type(failure).__name__}: {str(failure).splitlines()[0]}"
    return Timing(
        case=case,
        device=device,
        stage=stage,
        q=q if searching else None,
        restarts=restarts if searching else None,
        seconds=seconds,
        peak_memory=peak_memory(device),
        error=error,
    )


def peak_memory(device: str) -> float:
    """In MiB; see :class:`Timing`."""
    if device == "cuda":
        return torch.cuda.max_memory_allocated() / 2**20
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, KiB elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
