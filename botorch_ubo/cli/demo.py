r"""A demonstration: minimise Beale's function from a box that does not hold its minimum.

``python -m botorch_ubo demo`` runs GPUCB-UBO in a plain BoTorch loop, says when and why the box
grows, and draws what happened. ``--seed`` picks another first box and other initial points.
Beale's values span five orders of magnitude, so the model sees ``log(1 + f)``; epsilon is 0.2
standard deviations of it, coarser than the default, to exhaust a box within a short run.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from botorch.models.utils.gpytorch_modules import get_covar_module_with_dim_scaled_prior
from botorch.test_functions import Beale
from botorch.utils.sampling import draw_sobol_samples
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor
from tqdm.auto import tqdm

from botorch_ubo.acquisition.search import SearchSettings
from botorch_ubo.boxes import contains
from botorch_ubo.compat.botorch_private import evaluate_anywhere
from botorch_ubo.controller import ExpandingBounds

PROBLEM = Beale()
DOMAIN, OPTIMIZERS = PROBLEM.get_buffer("bounds"), PROBLEM.get_buffer("optimizers")
FRACTION = 0.2  # of the domain's side: the first box, as in the paper
NUM_INITIAL = 6  # 3 d, as in the paper
EPSILON = 0.2
_NO_CERTIFICATE = "none was issued: no box was found exhausted"


@dataclass(frozen=True)
class Run:
    """What the demonstration found."""

    box: ExpandingBounds
    X: Tensor
    Y: Tensor

    @property
    def best(self) -> int:
        """Index of the best evaluation."""
        return int(self.Y.argmin())


def objective(X: Tensor) -> Tensor:
    """Beale's function anywhere: ``forward`` refuses points outside of the nominal domain."""
    return evaluate_anywhere(PROBLEM, X)


def first_box(seed: int) -> Tensor:
    """A random box in Beale's domain that does not contain the minimum (``2 x 2``)."""
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


def make_model(X: Tensor, Y: Tensor, bounds: Tensor) -> SingleTaskGP:
    """BoTorch's default GP in units of the first box."""
    return SingleTaskGP(
        X,
        Y,
        # The default, spelled out: it then does not warn of points outside the unit cube.
        covar_module=get_covar_module_with_dim_scaled_prior(ard_num_dims=2),
        input_transform=Normalize(2, bounds=bounds),
    )


def run(seed: int, budget: int, epsilon: float = EPSILON) -> Run:
    """Minimise with ``budget`` evaluations after the initial ones, reporting on the way."""
    bounds = first_box(seed)
    X = draw_sobol_samples(bounds, n=NUM_INITIAL, q=1, seed=seed).squeeze(-2)
    Y = objective(X).unsqueeze(-1)
    box = ExpandingBounds(
        bounds,
        method="GPUCB-UBO",
        epsilon=epsilon,
        maximize=False,
        search=SearchSettings(num_restarts=10),
        seed=seed,
    )
    with tqdm(total=budget, desc="Beale", unit="evaluation") as progress:
        for _ in range(budget):
            model = make_model(X, torch.log1p(Y), bounds)
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
            if record := box.update(model):
                tqdm.write(str(record))
            x = box.suggest(model)
            X, Y = torch.cat([X, x]), torch.cat([Y, objective(x).unsqueeze(-1)])
            progress.set_postfix_str(f"best so far {float(Y.min()):.4g}", refresh=False)
            progress.update()
    return Run(box, X, Y)


def summarize(result: Run) -> str:
    """What was found, and what is known about it, in a few lines."""
    box, best = result.box, float(result.Y[result.best])
    lines = [
        f"found        f({_point(result.X[result.best])}) = {best:.4g} "
        f"in {len(result.Y)} evaluations, {NUM_INITIAL} of them initial",
        f"optimum      f({_point(OPTIMIZERS[0])}) = {PROBLEM.optimal_value:.4g}",
        f"regret       {best - PROBLEM.optimal_value:.4g}, of the best initial point "
        f"{float(result.Y[:NUM_INITIAL].min()) - PROBLEM.optimal_value:.4g}",
        f"expansions   {len(box.history)}: from {_box(box.initial_bounds)} to {_box(box.bounds)}",
        "certificate  "
        + (f"{box.certificate} (in log(1 + f))" if box.certificate else _NO_CERTIFICATE),
    ]
    last = box.trace[-1]
    bound = last.regret_bound
    state = (
        "not computed yet, its slack alone exceeds" if bound is None else f"{bound:.3g}, against"
    )
    return "\n".join(
        [*lines, f"current box  regret bound {state} epsilon = {last.epsilon:.3g} (in log(1 + f))"]
    )


def draw(result: Run, path: Path) -> None:
    """Write the picture of a run."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "Expected matplotlib, which the demonstration draws with; it is not installed. Use "
            "`pip install 'botorch-ubo[plot]'`."
        ) from error
    from botorch_ubo.plotting import plot_best, plot_boxes, plot_regret_bound

    box, X, Y = result.box, result.X, result.Y
    figure = Figure(figsize=(10, 4.8), layout="constrained")
    axes = figure.subplot_mosaic([["boxes", "best"], ["boxes", "bound"]], width_ratios=[1.3, 1])
    optimum = OPTIMIZERS[0].tolist()
    axes["boxes"].plot(*optimum, "X", ms=9, mfc="black", mec="white", label="optimum", zorder=7)
    plot_boxes(box, X, Y, objective=objective, ax=axes["boxes"])
    plot_best(Y, False, NUM_INITIAL, ax=axes["best"], optimum=PROBLEM.optimal_value)
    plot_regret_bound(box, ax=axes["bound"]).set_xlim(axes["best"].get_xlim())
    figure.savefig(path, dpi=110, pil_kwargs={"optimize": True})


def main(argv: Sequence[str] | None = None) -> None:
    """Run the demonstration from the command line."""
    parser = argparse.ArgumentParser(prog="python -m botorch_ubo demo", description=__doc__)
    parser.add_argument("--seed", type=int, default=2, help="of box, points and search")
    parser.add_argument("--budget", type=int, default=40, help="evaluations after the initial ones")
    parser.add_argument(
        "--epsilon", type=float, default=EPSILON, help="accuracy at which a box counts as exhausted"
    )
    parser.add_argument("--output", type=Path, default=Path("demo.png"), help="the picture")
    arguments = parser.parse_args(argv)
    # Matrices of this size gain nothing from threads, and waiting for one another makes the fits
    # many times slower where cores are shared.
    torch.set_num_threads(1)
    result = run(arguments.seed, arguments.budget, arguments.epsilon)
    print(summarize(result))
    draw(result, arguments.output)
    print(f"picture      {arguments.output}")


def _point(x: Tensor) -> str:
    return ", ".join(f"{value:.4g}" for value in x.tolist())


def _box(bounds: Tensor) -> str:
    return " x ".join(f"[{lower:.3g}, {upper:.3g}]" for lower, upper in bounds.T.tolist())


if __name__ == "__main__":
    main()
