"""``botorch-ubo init run.db --param "x=0:1"``: begin a run in a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from botorch.exceptions.errors import InputDataError

from botorch_ubo.cli.parameters import HELP, parse_space
from botorch_ubo.cli.shell import add_json, keep_negative_numbers, make_parser, print_json, refusals
from botorch_ubo.controller import DEFAULT_METHOD, available_methods
from botorch_ubo.run import UnboundedOptimizer

DESCRIPTION = """\
Begin a run in a file: what is to be found, in which parameters, from which first box.

A run that is there already, with the same arguments, is left as it is; with others it is an error.
"""
EXAMPLE = """
example:
  botorch-ubo init run.db --param "lr=1e-4:1e-2,log" --param "layers=1:3,int,limits=1:"
"""


def main(argv: Sequence[str]) -> None:
    """Begin a run."""
    parser = make_parser("init", DESCRIPTION, HELP + EXAMPLE, "the run file to begin")
    parser.add_argument(
        "--param",
        action="append",
        default=[],
        required=True,
        metavar="SPEC",
        help="a parameter, see below; repeat it for more",
    )
    parser.add_argument(
        "--direction",
        action="append",
        choices=("minimize", "maximize"),
        help="what is sought, minimize by default; repeat it for several objectives",
    )
    parser.add_argument(
        "--constraints",
        type=int,
        default=0,
        metavar="N",
        help="an evaluation tells N more numbers, each met where it is not positive",
    )
    parser.add_argument(
        "--method", default=DEFAULT_METHOD, metavar="NAME", help="one of: " + _methods()
    )
    parser.add_argument(
        "--num-initial",
        type=int,
        metavar="N",
        help="trials before the first model; 3 d, but no more than 30, by default",
    )
    parser.add_argument("--seed", type=int, default=0, help="of all random choices")
    add_json(parser)
    arguments = parser.parse_args(keep_negative_numbers(argv))
    directions = arguments.direction or ["minimize"]
    with refusals("init"):
        wanted: dict[str, Any] = {
            "bounds": parse_space(arguments.param),
            "direction": directions[0] if len(directions) == 1 else directions,
            "constraints": arguments.constraints,
            "method": arguments.method,
            "num_initial": arguments.num_initial,
            "seed": arguments.seed,
        }
        _check_same(arguments.path, UnboundedOptimizer(**wanted))
        optimizer = UnboundedOptimizer(**wanted, checkpoint=arguments.path)
    if arguments.json:
        print_json({"path": arguments.path, "trials": len(optimizer.trials)})
    elif optimizer.trials:
        print(f"{arguments.path}: the run is there already, with {len(optimizer.trials)} trials")
    else:
        print(f"{arguments.path}: ready; `botorch-ubo ask {arguments.path}` proposes a trial")


def _check_same(path: str, wanted: UnboundedOptimizer) -> None:
    """Refuse another run than the one that is there, if there is one."""
    if not os.path.exists(path) or not os.path.getsize(path):
        return
    known = UnboundedOptimizer.open(path)
    parts: dict[str, Callable[[UnboundedOptimizer], Any]] = {
        "--param": lambda run: run.space,
        "--direction": lambda run: run.goal.directions,
        "--constraints": lambda run: run.goal.num_constraints,
        "--method": lambda run: run.method,
        "--num-initial": lambda run: run.num_initial,
        "--seed": lambda run: run.box.settings.seed,
    }
    other = [name for name, part in parts.items() if part(known) != part(wanted)]
    if other:
        raise InputDataError(
            f"Expected a new file, or the run that is in {path} already; {', '.join(other)} "
            "differ. Give another path for another run."
        )


def _methods() -> str:
    return ", ".join(method.name for method in available_methods()).replace("%", "%%")
