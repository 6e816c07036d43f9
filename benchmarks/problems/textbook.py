"""Test functions, all for maximisation and defined anywhere in R^d, also outside their domain.

BoTorch's test functions raise outside their bounds, where an expanding box may well look, unless
evaluated beneath that check. Two functions of the paper's experiments are not the textbook's
(``levy3_authors``, ``hartmann6_authors``), and are run from the authors' starts only.
``other_*`` are functions that the paper does not have. None of them was run while the default was
chosen; Ackley, Dixon-Price, Griewank, Levy, Powell, Rastrigin, Rosenbrock and Styblinski-Tang were,
in other dimensions.
"""

import math
from dataclasses import replace

import torch
from botorch import test_functions as functions
from torch import Tensor

from benchmarks.problems.problem import Family, Problem, Sources
from botorch_ubo.compat.botorch_private import evaluate_anywhere


def _textbook(
    name: str, function: functions.SyntheticTestFunction, unbounded: bool = False
) -> Problem:
    return Problem(
        name=name,
        function=lambda X: -evaluate_anywhere(function, X),
        bounds=torch.as_tensor(function.bounds).double(),
        optimal_value=-function.optimal_value,
        optimizer=torch.as_tensor(function.optimizers)[0].double(),
        unbounded=unbounded,
    )


def _levy_authors(X: Tensor) -> Tensor:
    """Levy as in the authors' code: the middle sum over 2..d, without the "+ 1" in the sine.

    The first coordinate enters through ``sin^2(pi w_1)`` alone, so ``x_1 = 1 + 4 k`` is optimal
    for every integer ``k``.
    """
    w = 1 + (X - 1) / 4
    first = torch.sin(math.pi * w[..., 0]).square()
    rest = w[..., 1:]
    middle = ((rest - 1).square() * (1 + 10 * torch.sin(math.pi * rest).square())).sum(dim=-1)
    last = (w[..., -1] - 1).square() * (1 + torch.sin(2 * math.pi * w[..., -1]).square())
    return -(first + middle + last)


PROBLEMS: dict[str, Problem] = {
    problem.name: problem
    for problem in (
        _textbook("beale", functions.Beale()),
        # Unbounded: |x| <= 1000 already holds values twice the nominal optimum.
        _textbook("eggholder", functions.EggHolder(), unbounded=True),
        _textbook("hartmann3", functions.Hartmann(3)),
        _textbook("hartmann6", functions.Hartmann(6)),
        _textbook("levy3", functions.Levy(3)),
        _textbook("levy10", functions.Levy(10)),
        _textbook("ackley10", functions.Ackley(10)),
        _textbook("other_camel3", functions.ThreeHumpCamel()),
        _textbook("other_griewank2", functions.Griewank(2)),
        _textbook("other_ackley3", functions.Ackley(3)),
        _textbook("other_rastrigin3", functions.Rastrigin(3)),
        _textbook("other_rosenbrock3", functions.Rosenbrock(3)),
        _textbook("other_styblinski3", functions.StyblinskiTang(3)),
        _textbook("other_dixon4", functions.DixonPrice(4)),
        _textbook("other_levy4", functions.Levy(4)),
        _textbook("other_powell8", functions.Powell(8)),
    )
}
_levy, _hartmann = PROBLEMS["levy3"], PROBLEMS["hartmann6"]
AUTHORS_VARIANTS: dict[str, Problem] = {
    "levy3_authors": replace(_levy, function=_levy_authors),
    "hartmann6_authors": replace(
        _hartmann,
        function=lambda X: (2.58 + _hartmann.function(X)) / 1.94,
        optimal_value=(2.58 + _hartmann.optimal_value) / 1.94,
    ),
}
_OTHERS = tuple(name for name in PROBLEMS if name.startswith("other_"))
_PAPER = tuple(name for name in PROBLEMS if name not in _OTHERS)


def _find(name: str, seed: int, sources: Sources) -> Problem:
    return PROBLEMS[name]


FAMILIES = (
    Family("paper", "The paper's protocol", _PAPER, _find),
    Family("others", "Functions that are not the paper's, under its protocol", _OTHERS, _find),
)
