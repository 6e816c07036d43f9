"""``python -m botorch_ubo COMMAND``; one module of :mod:`botorch_ubo.cli` per command."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

COMMANDS = {
    "demo": "minimise Branin's function from a box that does not hold a minimum",
    "export": "write a run file as JSON Lines",
    "import": "make a run file of JSON Lines",
}
MODULES = {"demo": "demo", "export": "export_run", "import": "import_run"}


def main(argv: Sequence[str] | None = None) -> None:
    """Run a command."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    parser = argparse.ArgumentParser(
        prog="python -m botorch_ubo",
        description="Bayesian optimisation when nobody knows the right bounds.",
        epilog="\n".join(f"{name}: {what}" for name, what in COMMANDS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=COMMANDS, help="what to do; COMMAND --help tells more")
    command = parser.parse_args(arguments[:1]).command
    importlib.import_module(f"botorch_ubo.cli.{MODULES[command]}").main(arguments[1:])


if __name__ == "__main__":
    main()
