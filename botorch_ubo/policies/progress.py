"""Whether the search gets anywhere: what counts as an improvement, and since when none came."""

from __future__ import annotations

from scipy.spatial import cKDTree

from botorch_ubo.policies.context import Context

PLATEAU_SHARE = 1 / 3
PLATEAU_PLACES = 3.0
ONE_PLACE = 0.5  # sides of the first box


def notable_improvement(context: Context) -> float:
    """An improvement that counts: more than epsilon, and than what noise makes of nothing."""
    return context.epsilon + context.view.noise_std


def evaluations_without_improvement(context: Context) -> int:
    """Evaluations of the run since a value about as good as the best was first seen."""
    first = context.view.last_improvement(notable_improvement(context))
    return min(context.n - 1 - first, context.t - 1)


def on_plateau(context: Context) -> bool:
    r"""Whether the best is found all over the place, and has been for a while.

    That is so if ``d`` evaluations have brought nothing notable, and a third of all places, three
    at least, are as good as the best, to what noise and epsilon can tell. Places count, not points:
    a search that has converged has many good points in one place, and a function whose values span
    decades has a few good places among many. Points within half a side of the first box share one.

    Args:
        context: The fitted model and the controller's state.

    Returns:
        Whether there is a plateau; of several objectives, never.
    """
    if context.view.is_multi or evaluations_without_improvement(context) < context.d:
        return False
    first = context.first_box
    points = (context.X / (first[1] - first[0])).cpu().numpy()
    near = cKDTree(points).query_ball_point(points, ONE_PLACE, p=float("inf"), return_length=True)
    equal = context.view.as_good_as_best(notable_improvement(context)).cpu().numpy()
    places = (1 / near)[equal].sum()
    return bool(places >= max(PLATEAU_PLACES, PLATEAU_SHARE * (1 / near).sum()))
