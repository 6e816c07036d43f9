"""A run in words, for a page, a notebook or a terminal: what was found, what moved the box, why."""

from __future__ import annotations

from collections.abc import Sequence

from botorch.exceptions.errors import BotorchError

from botorch_ubo.controller.failures import failing_sides
from botorch_ubo.records import ExpansionRecord, Side
from botorch_ubo.run.advice import advise, advise_flat, advise_noise, is_flat, may_be_noise
from botorch_ubo.run.recorded import RecordedRun
from botorch_ubo.run.trials import as_tensor
from botorch_ubo.spaces import Parameter

_SMALL = 1e-9  # of a side: a face that has moved by less has stayed


def describe_found(run: RecordedRun) -> str:
    """The best so far in a few words."""
    if not run.completed:
        return "nothing yet"
    if run.best is None:
        return "nothing feasible yet"
    told = run.goal.describe_best(run.Y)
    if run.goal.num_objectives > 1:
        return f"{told} points"
    return f"{told} at {run.space.show(run.X[run.best].tolist())}"


def advice_of(run: RecordedRun) -> str:
    """What the run tells about the user's box."""
    if not run.completed:
        if run.failed:
            return (
                "every evaluation has failed so far: try the objective on a point of the box by "
                "hand, and begin with a box in which it can be evaluated"
            )
        return "nothing has been evaluated yet"
    if run.best is None:
        return (
            "no evaluation has met all constraints: the search goes on towards where they are "
            "likely to be met; a first box that holds a feasible point helps"
        )
    if run.goal.num_objectives > 1:
        return _advise_front(run)
    if run.goal.is_plain and is_flat(run.Y):
        return advise_flat(run.Y)
    if _shows_noise_alone(run):
        return advise_noise(run.Y)
    box = run.box
    held = failing_sides(run.X, as_tensor(run.failed) if run.failed else None)
    return advise(run.X, run.best, box.initial_bounds, box.bounds, box.hard_limits, held, run.space)


def _shows_noise_alone(run: RecordedRun) -> bool:
    if not run.goal.is_plain or run.modelled is not None:
        return False
    try:
        view = run.box.context(run.model).view
    except BotorchError:  # data that no model takes, which is no reason to say nothing of the run
        return False
    return may_be_noise(view)


def describe_moves(run: RecordedRun) -> str:
    """How often the box moved, and when it did so last."""
    moves = [record for record in run.box.history if record.moved]
    if not moves:
        return "the box has not moved"
    times = "once" if len(moves) == 1 else f"{len(moves)} times"
    last = moves[-1].num_observations
    return f"the box has moved {times}, the last time after {last} evaluations"


def why_moved(run: RecordedRun, record: ExpansionRecord) -> str:
    """The reason of a move: what fired, and what the strategy went by."""
    reasons = [record.trigger]
    if record.regret_bound is not None:
        reasons[0] += (
            f": nothing in the box can be better by more than {record.regret_bound:.3g} "
            f"(epsilon {record.epsilon:.3g})"
        )
    reasons += [str(record.details[key]) for key in ("why", "constrained") if key in record.details]
    text = "; ".join(reasons)
    if "names" not in record.details:
        text = run.space.in_names(text)
    return text[:1].upper() + text[1:]


def how_moved(run: RecordedRun, record: ExpansionRecord) -> list[str]:
    """What a move changed, one sentence for each parameter whose interval is another."""
    told = []
    ends = zip(*record.old_bounds, *record.new_bounds, strict=True)
    for (name, parameter), (a, b, low, high) in zip(
        run.space.parameters.items(), ends, strict=True
    ):
        side = b - a
        if max(abs(low - a), abs(high - b)) <= _SMALL * side:
            continue
        change = (high - low) / side
        times = "" if abs(change - 1) < 0.005 else f"{change:.3g} times "
        size = f"{times}as wide as before"
        told.append(f"{name} {_short(parameter, low)} to {_short(parameter, high)}, {size}")
    return told


def what_stopped(run: RecordedRun, record: ExpansionRecord) -> list[str]:
    """What kept a move from going further."""
    kinds = (
        ("a hard limit", record.stopped_by_limit),
        ("the growth cap", record.capped),
        ("failures beyond", record.held),
    )
    # Of a list there is nothing beyond its ends.
    growing = [
        (what, [side for side in sides if side[0] not in run.space.listed]) for what, sides in kinds
    ]
    told = [f"{what}: {_sides(run, sides)}" for what, sides in growing if sides]
    return told if record.decision == "accepted" else [*told, f"{record.decision} by on_expand"]


def _short(parameter: Parameter, u: float) -> str:
    value = parameter.decode(u)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _sides(run: RecordedRun, sides: Sequence[Side]) -> str:
    return ", ".join(f"{run.space.names[dim]} ({side})" for dim, side in sides)


def _advise_front(run: RecordedRun) -> str:
    """Of a front: how much of it lies outside of the first box, and in which parameters."""
    first, front = run.box.initial_bounds, run.X[run.front]
    beyond = (front < first[0]) | (front > first[1])
    outside = int(beyond.any(dim=-1).sum())
    if not outside:
        return f"your box was enough: all {len(front)} points of the front lie in it"
    names = [run.space.names[dim] for dim in beyond.any(dim=0).nonzero().flatten().tolist()]
    return (
        f"your box was too small: {outside} of the {len(front)} points of the front lie outside "
        f"it, in {', '.join(names)}"
    )
