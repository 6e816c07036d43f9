"""``botorch-ubo status run.db``: how a run stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from botorch_ubo.cli.shell import (
    add_json,
    make_parser,
    print_json,
    refusals,
    trial_to_json,
    trial_to_line,
)
from botorch_ubo.run import UnboundedOptimizer
from botorch_ubo.run.recorded import RecordedRun, as_run
from botorch_ubo.run.words import advice_of, describe_found, describe_moves

DESCRIPTION = "How a run stands. Reading never disturbs whoever works on it."


def main(argv: Sequence[str]) -> None:
    """Print how a run stands."""
    parser = make_parser("status", DESCRIPTION)
    add_json(parser)
    arguments = parser.parse_args(argv)
    with refusals("status"):
        optimizer = UnboundedOptimizer.open(arguments.path)
        run = as_run(optimizer)
        status = summarize(optimizer, run)
    if arguments.json:
        print_json({"path": arguments.path, **status})
        return
    print(f"{arguments.path}: {status['method']}, {', '.join(status['directions'])}")
    counts = status["trials"]
    print("trials   " + ", ".join(f"{count} {what}" for what, count in counts.items()))
    print(f"found    {status['found']}")
    print(f"box      {run.space.show_box(run.box.bounds.tolist())}; {status['moves']}")
    print(f"advice   {status['advice']}")
    for trial in optimizer.pending:
        print(f"pending  {trial_to_line(trial)}")


def summarize(optimizer: UnboundedOptimizer, run: RecordedRun) -> dict[str, Any]:
    """How a run stands, as JSON values."""
    return {
        "method": optimizer.method,
        "directions": list(run.goal.directions),
        "constraints": run.goal.num_constraints,
        "trials": {
            "completed": len(run.completed),
            "pending": len(optimizer.pending),
            "failed": len(run.failed),
        },
        "found": describe_found(run),
        "best": None if run.best is None else trial_to_json(run.completed[run.best]),
        "front": [trial_to_json(run.completed[i]) for i in run.front],
        "first_box": _ends(run, run.box.initial_bounds.tolist()),
        "box": _ends(run, run.box.bounds.tolist()),
        "moves": describe_moves(run),
        "advice": advice_of(run),
        "pending": [trial_to_json(trial) for trial in optimizer.pending],
    }


def _ends(run: RecordedRun, box: list[list[float]]) -> dict[str, list[Any]]:
    """The ends of a box by name, in the user's units; all values of a list."""
    parameters = run.space.parameters
    ends = zip(parameters.items(), *box, strict=True)
    return {
        name: list(getattr(p, "values", ())) or [p.decode(low), p.decode(high)]
        for (name, p), low, high in ends
    }
