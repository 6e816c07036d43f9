r"""A demonstration: minimise Branin's function from a box that does not hold a minimum.

``python -m botorch_ubo demo`` runs the default method, and beside it a search in the first box,
which stays; it says when and why the box grew, and draws both. ``--animate`` draws every step.
``--method GPUCB-UBO`` shows the paper's method instead, whose certificate is in units of the
function: epsilon is 2, of values that run from 0.4 to 300 in Branin's domain. ``--seed`` picks
another first box and other initial points.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from botorch.test_functions import Branin
from torch import Tensor
from tqdm.auto import tqdm

from botorch_ubo.boxes import contains
from botorch_ubo.compat.botorch_private import evaluate_anywhere
from botorch_ubo.controller import DEFAULT_METHOD, ExpandingBounds, available_methods
from botorch_ubo.records import ExpansionRecord
from botorch_ubo.run import UnboundedOptimizer

PROBLEM = Branin()
DOMAIN, OPTIMIZERS = PROBLEM.get_buffer("bounds"), PROBLEM.get_buffer("optimizers")
FRACTION = 0.2  # of the domain's side: the first box, as in the paper
NUM_INITIAL = 6  # 3 d, as in the paper
FIXED = "EI-Vanilla"
CERTIFYING = ("GPUCB-UBO", "GPUCB-UBO (as published)")
_WORTH_A_LINE = 1.1  # ratio of sides
_NO_CERTIFICATE = "none was issued: no box was found exhausted"


@dataclass(frozen=True)
class Step:
    """The box after some evaluations, and the smaller region that is searched in turn with it."""

    num_observations: int
    bounds: Tensor
    region: Tensor | None


@dataclass(frozen=True)
class Run:
    """What a method found, and how its box moved."""

    method: str
    box: ExpandingBounds
    X: Tensor
    Y: Tensor
    steps: tuple[Step, ...]

    @property
    def best(self) -> int:
        """Index of the best evaluation."""
        return int(self.Y.argmin())

    @property
    def regret(self) -> Tensor:
        """How far the best value so far is from the optimum, after each evaluation."""
        return self.Y.cummin(dim=0).values - PROBLEM.optimal_value


def objective(X: Tensor) -> Tensor:
    """Branin's function anywhere: ``forward`` refuses points outside of the nominal domain."""
    return evaluate_anywhere(PROBLEM, X)


def first_box(seed: int) -> Tensor:
    """A random box in Branin's domain that contains no minimum (``2 x 2``)."""
    generator = torch.Generator().manual_seed(seed)
    lower, upper = DOMAIN
    side = FRACTION * (upper - lower)
    while True:
        corner = lower + torch.rand(2, generator=generator, dtype=torch.double) * (
            upper - lower - side
        )
        box = torch.stack([corner, corner + side])
        if not contains(box, OPTIMIZERS).any():
            return box


def run(method: str, seed: int, budget: int, epsilon: float, quiet: bool = False) -> Run:
    """Minimise with ``budget`` evaluations after the initial ones, reporting on the way."""
    optimizer = UnboundedOptimizer(
        first_box(seed),
        method=method,
        num_initial=NUM_INITIAL,
        seed=seed,
        epsilon=(epsilon, "raw") if method in CERTIFYING else 0.05,
    )
    steps, told = [], 0
    with tqdm(total=budget, desc=method, unit="evaluation", disable=quiet) as progress:
        for n in range(1, NUM_INITIAL + budget + 1):
            trial = optimizer.ask()
            for record in optimizer.box.history[told:]:
                if _grew(record) and not quiet:
                    tqdm.write(str(record))
            told = len(optimizer.box.history)
            optimizer.tell(trial, float(objective(torch.tensor([trial.X], dtype=torch.double))))
            if n >= NUM_INITIAL:
                steps.append(_step(optimizer, n))
            if n > NUM_INITIAL:
                progress.update()
    X = torch.tensor([trial.X for trial in optimizer.trials], dtype=torch.double)
    return Run(method, optimizer.box, X, objective(X), tuple(steps))


def _step(optimizer: UnboundedOptimizer, n: int) -> Step:
    box = optimizer.box
    context = box.context(optimizer.fit())
    boxes = box.strategy.propose(context).boxes if box.strategy.takes_turns else None
    return Step(n, box.bounds, None if boxes is None else context.to_raw(boxes[0]))


def summarize(result: Run, fixed: Run) -> str:
    """What was found, and what is known about it, in a few lines."""
    box, best = result.box, float(result.Y[result.best])
    lines = [
        f"found        f({_point(result.X[result.best])}) = {best:.4g} "
        f"in {len(result.Y)} evaluations, {NUM_INITIAL} of them initial",
        f"optimum      {PROBLEM.optimal_value:.4g}, at "
        + ", ".join(f"({_point(x)})" for x in OPTIMIZERS),
        f"regret       {float(result.regret[-1]):.4g}, of the best initial point "
        f"{float(result.regret[NUM_INITIAL - 1]):.4g}",
        f"fixed box    regret {float(fixed.regret[-1]):.4g} after as many evaluations",
        f"box          from {_box(box.initial_bounds)} to {_box(box.bounds)}",
    ]
    if result.method in CERTIFYING:
        lines.append(f"certificate  {box.certificate or _NO_CERTIFICATE}")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the demonstration from the command line."""
    parser = argparse.ArgumentParser(prog="python -m botorch_ubo demo", description=__doc__)
    parser.add_argument(
        "--method", default=DEFAULT_METHOD, choices=[method.name for method in available_methods()],
        metavar="NAME", help="of the method to show",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=3, help="of box, points and search")
    parser.add_argument("--budget", type=int, default=30, help="evaluations after the initial ones")
    parser.add_argument(
        "--epsilon", type=float, default=2.0,
        help="accuracy at which GPUCB-UBO takes a box for exhausted, in units of the function",
    )  # fmt: skip
    parser.add_argument("--output", type=Path, default=Path("demo.png"), help="the picture")
    parser.add_argument("--animate", type=Path, metavar="FILE.gif", help="draw every step, too")
    arguments = parser.parse_args(argv)
    # Matrices of this size gain nothing from threads, and waiting for one another makes the fits
    # many times slower where cores are shared.
    torch.set_num_threads(1)
    result = run(arguments.method, arguments.seed, arguments.budget, arguments.epsilon)
    fixed = run(FIXED, arguments.seed, arguments.budget, arguments.epsilon, quiet=True)
    print(summarize(result, fixed))
    from botorch_ubo.cli.demo_picture import animate, draw  # which need matplotlib

    draw(result, fixed, arguments.output)
    print(f"picture      {arguments.output}")
    if arguments.animate is not None:
        animate(result, fixed, arguments.animate)
        print(f"animation    {arguments.animate}")


def _grew(record: ExpansionRecord) -> bool:
    old, new = torch.tensor(record.old_bounds), torch.tensor(record.new_bounds)
    return bool(((new[1] - new[0]) > _WORTH_A_LINE * (old[1] - old[0])).any())


def _point(x: Tensor) -> str:
    return ", ".join(f"{value:.4g}" for value in x.tolist())


def _box(bounds: Tensor) -> str:
    return " x ".join(f"[{lower:.3g}, {upper:.3g}]" for lower, upper in bounds.T.tolist())


if __name__ == "__main__":
    main()
