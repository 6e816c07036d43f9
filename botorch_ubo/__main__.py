"""``botorch-ubo COMMAND`` or ``python -m botorch_ubo COMMAND``; one module of cli per command."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

import torch

COMMANDS = {
    "init": "begin a run in a file",
    "ask": "propose trials",
    "tell": "hand in the result of a trial",
    "tell-failed": "say that a trial has no value",
    "status": "how a run stands",
    "report": "make a web page of a run",
    "export": "write a run file as JSON Lines, or its trials as JSON or CSV",
    "import": "make a run file of JSON Lines",
    "demo": "minimise Branin's function from a box that does not hold a minimum",
}
MODULES = {
    **{name: name.replace("-", "_") for name in COMMANDS},
    "export": "export_run",
    "import": "import_run",
}
EXAMPLE = """
a run file is driven from a shell like this:
  botorch-ubo init run.db --param "lr=1e-4:1e-2,log" --param "layers=1:3,int,limits=1:"
  botorch-ubo ask run.db                    prints 0 lr=0.0012 layers=2
  botorch-ubo tell run.db 0 0.25
  botorch-ubo report run.db
"""


def main(argv: Sequence[str] | None = None) -> None:
    """Run a command."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    parser = argparse.ArgumentParser(
        prog="botorch-ubo",
        description="Bayesian optimisation when nobody knows the right bounds.",
        epilog="\n".join(f"{name}: {what}" for name, what in COMMANDS.items()) + "\n" + EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=COMMANDS, help="what to do; COMMAND --help tells more")
    command = parser.parse_args(arguments[:1]).command
    importlib.import_module(f"botorch_ubo.cli.{MODULES[command]}").main(arguments[1:])


def run() -> None:
    """Run a command as a program of its own."""
    # Matrices of this size gain nothing from threads, and waiting for one another makes the fits
    # many times slower where cores are shared.
    torch.set_num_threads(1)
    main()


if __name__ == "__main__":
    run()
