"""Several objectives, to be minimised: BoTorch's, and textbook ones with a front in closed form.

Hard limits are the domain where a function ends there or its front lies on the edge of it.
"""

import math

import torch
from botorch.test_functions import multi_objective as functions
from botorch.utils.multi_objective.hypervolume import Hypervolume
from torch import Tensor

from benchmarks.problems.outcomes import OutcomeProblem


def _of_botorch(
    name: str, function: functions.MultiObjectiveTestProblem, max_hypervolume: float | None = None
) -> OutcomeProblem:
    bounds = torch.as_tensor(function.bounds).double()
    return OutcomeProblem(
        name=name,
        outcomes=function._evaluate_true,
        bounds=bounds,
        num_objectives=function.num_objectives,
        hard_limits=bounds,
        reference_point=torch.as_tensor(function.ref_point).double(),
        max_hypervolume=max_hypervolume or function.max_hv,
    )


def _with_front(
    name: str,
    outcomes: object,
    bounds: Tensor,
    front: Tensor,
    reference: list[float],
    num_constraints: int = 0,
    hard_limits: Tensor | None = None,
) -> OutcomeProblem:
    """A problem whose Pareto set is known: ``n x d`` points of it."""
    point = torch.tensor(reference, dtype=torch.double)
    values = outcomes(front)[:, : len(reference)]  # type: ignore[operator]
    return OutcomeProblem(
        name=name,
        outcomes=outcomes,  # type: ignore[arg-type]
        bounds=bounds,
        num_objectives=len(reference),
        num_constraints=num_constraints,
        hard_limits=hard_limits,
        reference_point=point,
        max_hypervolume=float(Hypervolume(-point).compute(-values)),
    )


def _fonseca(X: Tensor) -> Tensor:
    shift = 1 / math.sqrt(X.shape[-1])
    return torch.stack([1 - (-(X - s).square().sum(dim=-1)).exp() for s in (shift, -shift)], dim=-1)


def _two_bowls(X: Tensor) -> Tensor:
    """Distances from two points, squared: the front is the line between them."""
    return torch.stack([(X - a).square().mean(dim=-1) for a in (0.0, 2.0)], dim=-1)


def _binh_korn(X: Tensor) -> Tensor:
    x, y = X.unbind(-1)
    return torch.stack(
        [
            4 * x**2 + 4 * y**2,
            (x - 5) ** 2 + (y - 5) ** 2,
            (x - 5) ** 2 + y**2 - 25,
            7.7 - (x - 8) ** 2 - (y + 3) ** 2,
        ],
        dim=-1,
    )


def _line(low: float, high: float, d: int) -> Tensor:
    return torch.linspace(low, high, 1000, dtype=torch.double).unsqueeze(-1).expand(-1, d)


def _cube(low: float, high: float, d: int) -> Tensor:
    return torch.tensor([[low] * d, [high] * d], dtype=torch.double)


_binh_korn_bounds = torch.tensor([[0.0, 0.0], [5.0, 3.0]], dtype=torch.double)
_binh_korn_front = torch.cat(
    [
        _line(0, 3, 2),
        torch.stack([torch.linspace(3, 5, 1000).double(), torch.full((1000,), 3.0).double()], -1),
    ]
)
PROBLEMS: dict[str, OutcomeProblem] = {
    problem.name: problem
    for problem in (
        _of_botorch("branin_currin2", functions.BraninCurrin()),
        _with_front(
            *("zdt1_4", functions.ZDT1(4)._evaluate_true, _cube(0, 1, 4)),
            _line(0, 1, 4) * torch.tensor([1.0, 0.0, 0.0, 0.0]).double(),
            [1.1, 3.0],
            hard_limits=_cube(0, 1, 4),
        ),
        _of_botorch("dtlz2_4", functions.DTLZ2(4, num_objectives=2)),
        _of_botorch("vehicle_safety5", functions.VehicleSafety()),
        _with_front(
            "fonseca3", _fonseca, _cube(-4, 4, 3), _line(-(3**-0.5), 3**-0.5, 3), [1.0, 1.0]
        ),
        _with_front("two_bowls3", _two_bowls, _cube(-10, 10, 3), _line(0, 2, 3), [6.0, 6.0]),
        _with_front(
            *("binh_korn2", _binh_korn, _binh_korn_bounds, _binh_korn_front, [140.0, 50.0]),
            num_constraints=2,
            hard_limits=_binh_korn_bounds,
        ),
    )
}
