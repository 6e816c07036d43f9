"""A step on a device: how long fit, geometry and search take, and whether it equals the CPU's.

The models, data and start points are the same on every device: hyper-parameters are set, not
fitted, wherever a result depends on them, and both optimisations take a fixed number of steps. The
default method is timed as it is, and its suggestion judged by what the CPU's model says of it.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import torch
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from botorch.optim.fit import fit_gpytorch_mll_scipy
from gpytorch.mlls import ExactMarginalLogLikelihood
from linear_operator.utils.errors import NotPSDError
from torch import Tensor

from benchmarks.runs.metadata import peak_memory
from benchmarks.runs.operations import synchronize
from botorch_ubo import ExpandingBounds, SearchSettings
from botorch_ubo.models.quick import QuickLogExpectedImprovement

DTYPES = {"double": torch.double, "float": torch.float}
WARM_UP = 2
FIT_STEPS = 10
SEARCH_STEPS = 20
RAW_SAMPLES = 512
# Single precision: values of the acquisition function are differences of nearly equal numbers.
RTOL = {"double": 1e-6, "float": 1e-2}
DEFAULT_BEHIND = 0.05  # nats of log expected improvement by which a suggestion may be worse
_POINTS = 32
_RESTARTS = 2


@dataclass(frozen=True)
class Case:
    """Size and precision of a problem."""

    n: int
    dim: int
    dtype: str

    def box(self, device: str) -> Tensor:
        unit = torch.tensor([[0.0] * self.dim, [1.0] * self.dim])
        return unit.to(device, DTYPES[self.dtype])

    def data(self, device: str) -> tuple[Tensor, Tensor]:
        """Drawn in double precision on the CPU."""
        generator = torch.Generator().manual_seed(self.n)
        X = torch.rand(self.n, self.dim, generator=generator, dtype=torch.double)
        noise = 0.1 * torch.randn(self.n, 1, generator=generator, dtype=torch.double)
        Y = torch.sin(4 * X).sum(dim=-1, keepdim=True) + noise
        return X.to(device, DTYPES[self.dtype]), Y.to(device, DTYPES[self.dtype])

    def model(self, device: str) -> SingleTaskGP:
        """With hyper-parameters that suit the data."""
        transform = Normalize(self.dim, bounds=self.box(device))
        model = SingleTaskGP(*self.data(device), input_transform=transform)
        model.covar_module.lengthscale = 0.5 * self.dim**0.5
        model.likelihood.noise = 0.02
        return model.eval()

    def controller(self, device: str, restarts: int = 10) -> ExpandingBounds:
        search = SearchSettings(restarts, RAW_SAMPLES, {"maxiter": SEARCH_STEPS})
        return ExpandingBounds(self.box(device), method="GPUCB-UBO", search=search)


def clock(device: str) -> float:
    """The time when the device has finished what it was given; else a clock sees launches only."""
    synchronize(device)
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
    """The maximisation of the acquisition function, once the geometry is known."""
    model, controller = case.model(device), case.controller(device, restarts)
    controller.update(model)
    began = clock(device)
    controller.suggest(model, q=q)
    return clock(device) - began


def time_default_fit(case: Case, device: str) -> float:
    """The whole fit of the default method."""
    (X, Y), controller = case.data(device), ExpandingBounds(case.box(device))
    began = clock(device)
    controller.fit(X, Y)
    return clock(device) - began


def time_default_suggestion(case: Case, device: str) -> float:
    """Box and search of the default method."""
    controller = ExpandingBounds(case.box(device))
    model = controller.fit(*case.data(device))
    began = clock(device)
    controller.suggest(model)
    return clock(device) - began


def measure(
    case: Case, device: str, stage: str, repeats: int, q: int = 1, restarts: int = 10
) -> dict[str, Any]:
    """Time a stage ``repeats`` times, after some rounds that do not count.

    Stages are those of the command; ``q`` and ``restarts`` are a search's. Peak memory is in
    MiB: of the device's tensors in this stage, or, on the CPU, of the process so far. An error
    says why there are no seconds, if there are none.
    """
    once: Callable[[], float] = {
        "fit": partial(time_fit, case, device),
        "geometry": partial(time_geometry, case, device),
        "search": partial(time_search, case, device, q, restarts),
        "default: fit": partial(time_default_fit, case, device),
        "default: suggestion": partial(time_default_suggestion, case, device),
    }[stage]
    seconds: list[float] = []
    error = None
    on_gpu = device == "cuda"
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
    try:
        seconds = [once() for _ in range(WARM_UP + repeats)][WARM_UP:]
    except (torch.OutOfMemoryError, torch.linalg.LinAlgError, NotPSDError) as failure:
        # No room, or a matrix that single precision cannot factorise: a result as well.
        error = f"{type(failure).__name__}: {str(failure).splitlines()[0]}"
    memory = torch.cuda.max_memory_allocated() / 2**20 if on_gpu else peak_memory()
    searched = {"q": q, "restarts": restarts} if stage == "search" else {}
    found = {"device": device, "seconds": seconds, "peak_memory": memory, "error": error}
    return {"stage": stage, **asdict(case), **searched, **found}


def compare(case: Case, device: str) -> dict[str, Any]:
    """How far a device is from the CPU, per quantity, relative to the largest value."""
    there, here = _compute(case, device), _compute(case, "cpu")
    differences = {}
    for name, expected in here.items():
        error = (there[name].to("cpu", torch.double) - expected.double()).abs().max()
        differences[name] = float(error / expected.double().abs().max())
    behind = _default_behind(case, device)
    equal = max(differences.values()) <= RTOL[case.dtype] and behind <= DEFAULT_BEHIND
    return {"device": device, **asdict(case), **differences, "default": behind, "equal": equal}


def _default_behind(case: Case, device: str) -> float:
    """Nats by which the default's suggestion is worse than the CPU's, by the CPU's model."""
    found = []
    for at in (device, "cpu"):
        controller = ExpandingBounds(case.box(at))
        model = controller.fit(*case.data(at))
        found.append(controller.suggest(model).cpu().unsqueeze(-2))
    acqf = QuickLogExpectedImprovement(model, best_f=case.data("cpu")[1].max())
    there, here = (float(acqf(X)) for X in found)
    return max(0.0, here - there)


def _compute(case: Case, device: str) -> dict[str, Tensor]:
    model = case.model(device)
    controller = case.controller(device, _RESTARTS)
    controller.update(model)
    context = controller.context(model)
    generator = torch.Generator().manual_seed(1)
    unit = torch.rand(_POINTS, 1, case.dim, generator=generator, dtype=torch.double)
    X = (2 * unit - 0.5).to(model.train_targets).requires_grad_(True)
    values = context.confidence.ucb(X)
    (gradient,) = torch.autograd.grad(values.sum(), X)
    suggestion = controller.suggest(model)
    with torch.no_grad():  # where the search ends may differ, how good that is may not
        suggested = context.confidence.ucb(suggestion.unsqueeze(-2))
    return {
        "box": controller.bounds,
        "acquisition": values.detach(),
        "gradient": gradient,
        "suggestion": suggested,
    }
