"""When to stop in a box that stays: rules without memory, which look at the same data.

- ``regret bound, beta`` and ``beta/5``: the certificate of this package. Stop when
  ``max UCB - max LCB + 1/t^2 <= epsilon``, with ``beta_t`` of Theorem 5.1, and with a fifth of it;
- ``Wilson``: stop when some evaluated point is within epsilon of the optimum with probability
  ``1 - delta`` under the model [Wilson2024], judged by draws from the posterior;
- ``Optuna``: its terminator with a regret bound [Makarova2022] and epsilon for the error;
- ``never``: the whole budget.

Differences from [Wilson2024], whose settings are those of the author's experiments otherwise:
candidates are the five evaluated points with the best posterior means, not the five that are
likeliest to be the best, and the search for the maximum of a draw has fewer points and starts.

References:
    [Wilson2024] J. T. Wilson. Stopping Bayesian Optimization with Probabilistic Regret Bounds.
    Advances in Neural Information Processing Systems 37, 2024.

    [Makarova2022] A. Makarova, H. Shen, V. Perrone, A. Klein, J. B. Faddoul, A. Krause, M. Seeger,
    and C. Archambeau. Automatic Termination for Hyperparameter Optimization. First Conference on
    Automated Machine Learning, 2022.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from scipy.stats import binomtest
from torch import Tensor

from benchmarks.methods.path_regret import PathRegret
from botorch_ubo import TheoremBeta
from botorch_ubo.controller.certify import as_whole_box, certify
from botorch_ubo.policies.context import Context

NUM_TESTED = 5
FIRST_DRAWS, MORE_DRAWS, MOST_DRAWS = 32, 1.5, 1000
MIN_TRIALS = 20  # Optuna's default, below which its terminator does not answer


@dataclass(frozen=True)
class Look:
    """What rules see at one step of a run.

    Attributes:
        context: The fitted model and the box.
        X: ``n x d`` evaluated points.
        Y: ``n x 1`` values, for maximisation.
        box: ``2 x d``.
        epsilon: The regret at which to stop, in the function's units.
        num_steps: How often a rule is asked in the whole run, at most.
        seed: Of random choices.
    """

    context: Context
    X: Tensor
    Y: Tensor
    box: Tensor
    epsilon: float
    num_steps: int
    seed: int


Rule = Callable[[Look], bool]


@dataclass(frozen=True)
class RegretBoundRule:
    """The certificate: the regret bound is at most epsilon, with ``scale`` times ``beta_t``."""

    delta: float
    scale: float

    def __call__(self, look: Look) -> bool:
        """Ask for the certificate."""
        old = look.context
        settings = replace(old.settings, beta=TheoremBeta(self.delta, self.scale))
        return certify(as_whole_box(Context(old.view, old.state, settings))) is not None


@dataclass(frozen=True)
class WilsonRule:
    """Some evaluated point is within epsilon of the optimum with probability ``1 - delta``.

    Half of ``delta`` is for the model, half for what draws leave uncertain. The latter is split
    evenly over the steps of a run and the points that are tested.
    """

    delta: float

    def __call__(self, look: Look) -> bool:
        """Test the points with the best posterior means."""
        context = look.context
        points = context.view.X_raw  # in the order of the values
        best = context.values.topk(min(NUM_TESTED, len(points))).indices
        draws = PathRegret(context.model, look.box, points[best], context.epsilon, context.seed)
        risk = self.delta / 2 / look.num_steps / len(best)
        return is_any_below(draws.fails, self.delta / 2, risk)


def is_any_below(fails: Callable[[int, int], Tensor], level: float, risk: float) -> bool:
    """Whether the probability that a point fails is at most ``level``, for any of the points.

    Clopper and Pearson's intervals of more and more draws, until one is below the level or all are
    above it. If that does not come, the shares decide.

    Args:
        fails: The first draw and how many to ``count x k``, which of the points fail.
        level: The probability that is allowed.
        risk: Of a wrong answer; split over the tests as ``j^-1.1``, which adds up to less.
    """
    failed, size, test = torch.zeros(0), 0, 0
    while size < MOST_DRAWS:
        target = min(int(FIRST_DRAWS * MORE_DRAWS**test), MOST_DRAWS)
        more = fails(size, target - size).sum(dim=0)
        failed, size, test = more if size == 0 else failed + more, target, test + 1
        confidence = 1 - risk * (0.1 / 1.1) * test**-1.1
        ends = [
            binomtest(int(count), size).proportion_ci(confidence, method="exact")
            for count in failed
        ]
        if any(end.high <= level for end in ends):
            return True
        if all(end.low >= level for end in ends):
            return False
    return bool((failed / size <= level).any())


def optuna_rule(look: Look) -> bool:
    """Optuna's terminator, which fits a model of its own to the better half of the trials."""
    if len(look.X) < MIN_TRIALS:
        return False
    import optuna
    from optuna.terminator import RegretBoundEvaluator, StaticErrorEvaluator, Terminator

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space: dict[str, optuna.distributions.BaseDistribution] = {
        f"x{i}": optuna.distributions.FloatDistribution(lower, upper)
        for i, (lower, upper) in enumerate(look.box.T.tolist())
    }
    with warnings.catch_warnings():
        # The terminator is experimental, and is to move out of Optuna: known, and no news to users.
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        warnings.filterwarnings("ignore", ".*terminator", FutureWarning)
        study = optuna.create_study(direction="maximize")
        for x, y in zip(look.X.tolist(), look.Y.flatten().tolist(), strict=True):
            params = dict(zip(space, x, strict=True))
            study.add_trial(optuna.trial.create_trial(params=params, distributions=space, value=y))
        terminator = Terminator(
            RegretBoundEvaluator(seed=look.seed),
            StaticErrorEvaluator(look.epsilon),
            min_n_trials=MIN_TRIALS,
        )
        return bool(terminator.should_terminate(study))


def never(look: Look) -> bool:
    """Do not stop."""
    return False


def make_rules(delta: float) -> dict[str, Rule]:
    """All rules by name. Optuna's has ``delta = 0.1``, whatever is asked for."""
    return {
        "regret bound, beta": RegretBoundRule(delta, 1.0),
        "regret bound, beta/5": RegretBoundRule(delta, 0.2),
        "Wilson": WilsonRule(delta),
        "Optuna": optuna_rule,
        "never": never,
    }
