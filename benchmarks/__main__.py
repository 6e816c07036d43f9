"""Entry point: ``python -m benchmarks COMMAND``."""

import argparse
import logging
import shlex
import sys
import warnings

import torch
from botorch.exceptions.warnings import InputDataWarning

from benchmarks.commands import (
    agree,
    calibration,
    compare,
    endurance,
    gpu,
    hosts,
    known,
    outcomes,
    quality,
    reference,
    report,
    results,
    run,
    speed,
    stopping,
    targets,
    torture,
)

# A command is a module with HELP, `add_arguments(parser)` and `run(arguments) -> int`.
COMMANDS = {
    module.__name__.rpartition(".")[2]: module
    for module in (
        *(run, compare, report, outcomes, speed, quality, gpu, reference, endurance),
        *(known, hosts, torture, agree, targets, results, calibration, stopping),
    )
}


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        subparser = subparsers.add_parser(
            name,
            help=module.HELP,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(subparser)
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    parsed = build_parser().parse_args(words)
    parsed.command_line = shlex.join(["python", "-m", "benchmarks", *words])
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        # The authors' model takes raw inputs; the scaling that the warning asks for is not theirs.
        warnings.simplefilter("ignore", InputDataWarning)
        return COMMANDS[parsed.command].run(parsed)


if __name__ == "__main__":
    sys.exit(main())
