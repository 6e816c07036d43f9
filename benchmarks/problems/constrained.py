"""One objective under constraints: BoTorch's and the textbooks', to be minimised.

Hard limits are given where a function or the physics ends, or where a better feasible point lies
beyond the domain, so that the known optimum is the optimum.
"""

import math

import torch
from botorch.test_functions import synthetic as functions
from torch import Tensor

from benchmarks.problems.outcomes import OutcomeProblem


def _stack(*columns: Tensor) -> Tensor:
    return torch.stack(columns, dim=-1)


def _box(*pairs: tuple[float, float]) -> Tensor:
    return torch.tensor(pairs, dtype=torch.double).mT.contiguous()


def _branin_disk(X: Tensor) -> Tensor:
    disk = (X[:, 0] - 2.5) ** 2 + (X[:, 1] - 7.5) ** 2 - 50
    return _stack(functions.Branin()._evaluate_true(X), disk)


def _rosenbrock_disk(X: Tensor) -> Tensor:
    x, y = X.unbind(-1)
    return _stack((1 - x) ** 2 + 100 * (y - x**2) ** 2, x**2 + y**2 - 2)


def _townsend(X: Tensor) -> Tensor:
    x, y = X.unbind(-1)
    value = -(torch.cos((x - 0.1) * y) ** 2) - x * torch.sin(3 * x + y)
    t = torch.atan2(x, y)
    edge = (
        2 * torch.cos(t) - torch.cos(2 * t) / 2 - torch.cos(3 * t) / 4 - torch.cos(4 * t) / 8
    ) ** 2 + (2 * torch.sin(t)) ** 2
    return _stack(value, x**2 + y**2 - edge)


def _bird(X: Tensor) -> Tensor:
    x, y = X.unbind(-1)
    value = (
        torch.sin(y) * torch.exp((1 - torch.cos(x)) ** 2)
        + torch.cos(x) * torch.exp((1 - torch.sin(y)) ** 2)
        + (x - y) ** 2
    )
    return _stack(value, (x + 5) ** 2 + (y + 5) ** 2 - 25)


def _simionescu(X: Tensor) -> Tensor:
    x, y = X.unbind(-1)
    edge = (1 + 0.2 * torch.cos(8 * torch.atan2(x, y))) ** 2
    return _stack(0.1 * x * y, x**2 + y**2 - edge)


def _ackley_ball(X: Tensor) -> Tensor:
    """As in the experiments of SCBO: the optimum lies on the plane."""
    value = functions.Ackley(X.shape[-1])._evaluate_true(X)
    return _stack(value, X.sum(dim=-1), X.norm(dim=-1) - 5)


def _of_botorch(
    name: str,
    function: functions.ConstrainedSyntheticTestFunction,
    optimizer: list[float],
    limits: Tensor,
) -> OutcomeProblem:
    def outcomes(X: Tensor) -> Tensor:
        # BoTorch's are feasible where the slack is not negative.
        slack = function._evaluate_slack_true(X)
        return torch.cat([function._evaluate_true(X).unsqueeze(-1), -slack], dim=-1)

    at = torch.tensor([optimizer], dtype=torch.double)
    return OutcomeProblem(
        name=name,
        outcomes=outcomes,
        bounds=torch.as_tensor(function.bounds).double(),
        num_constraints=function.num_constraints,
        hard_limits=limits,
        optimal_value=float(outcomes(at)[0, 0]),
        optimizer=at[0],
    )


def _textbook(
    name: str,
    outcomes: object,
    bounds: Tensor,
    optimizer: list[float],
    num_constraints: int = 1,
) -> OutcomeProblem:
    at = torch.tensor([optimizer], dtype=torch.double)
    return OutcomeProblem(
        name=name,
        outcomes=outcomes,  # type: ignore[arg-type]
        bounds=bounds,
        num_constraints=num_constraints,
        optimal_value=float(outcomes(at)[0, 0]),  # type: ignore[operator]
        optimizer=at[0],
    )


_welded = functions.WeldedBeamSO()
_string = functions.TensionCompressionString()
_gramacy = functions.ConstrainedGramacy()
_hartmann = functions.ConstrainedHartmannSmooth()
_inf = math.inf
PROBLEMS: dict[str, OutcomeProblem] = {
    problem.name: problem
    for problem in (
        _textbook("branin_disk2", _branin_disk, _box((-5, 10), (0, 15)), [math.pi, 2.275]),
        _textbook("rosenbrock_disk2", _rosenbrock_disk, _box((-1.5, 1.5), (-1.5, 1.5)), [1.0, 1.0]),
        _textbook(
            "townsend2", _townsend, _box((-2.25, 2.25), (-2.5, 1.75)), [2.0052938, 1.1944509]
        ),
        _textbook("bird2", _bird, _box((-10, 0), (-6.5, 0)), [-3.1302468, -1.5821422]),
        _textbook(
            "simionescu2",
            _simionescu,
            _box((-1.25, 1.25), (-1.25, 1.25)),
            [0.84852812, -0.84852812],
        ),
        _textbook("ackley_ball3", _ackley_ball, _box(*[(-5, 10)] * 3), [0.0, 0.0, 0.0], 2),
        _of_botorch("gramacy2", _gramacy, [0.1954, 0.4044], _box((0, _inf), (0, _inf))),
        _of_botorch(
            "string3", _string, [0.0516891, 0.3567177, 11.288966], _box(*[(1e-3, _inf)] * 3)
        ),
        _of_botorch(
            "welded_beam4",
            _welded,
            [0.2057296, 3.4704887, 9.0366239, 0.2057297],
            _box((0.125, 10), *[(0.1, 10)] * 3),  # beyond, better ones are feasible
        ),
        _of_botorch(
            "hartmann_sphere6",
            _hartmann,
            [0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573],
            _box(*[(-_inf, _inf)] * 6),
        ),
    )
}
