"""Compare methods with a baseline: run what is missing, then print tables as Markdown.

The arguments are those of `run`, with a --baseline, the default method unless given. Intervals
resample functions, not seeds. With --dry-run nothing is run: the tables are of what there is.

  python -m benchmarks compare --suite families-look --seeds 0-4 --methods HuBO-EI --output out
  python -m benchmarks compare --suite families-look --plugin mine.py --methods plugin --output out

The suite families-judge is for decisions, not for looking around: it prints a line for the list of
looks in benchmarks/README.md.
"""

import argparse

from benchmarks.commands import run as run_command
from benchmarks.runs.table import KEY, read_table
from benchmarks.runs.versions import describe_mixed, mixed_versions
from botorch_ubo.methods import DEFAULT_METHOD

HELP = "compare methods with a baseline over functions, running what is missing"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    run_command.add_arguments(parser)
    text = "default: %(default)s"
    parser.add_argument("--baseline", default=DEFAULT_METHOD, metavar="METHOD", help=text)


def run(arguments: argparse.Namespace) -> int:
    """Run, then compare."""
    # Here, since statistics take seconds to import and workers of other commands need none.
    from benchmarks.report.comparison import write_comparison
    from benchmarks.report.measures import summarize

    if arguments.methods:
        arguments.methods = [arguments.baseline, *arguments.methods]
    status = run_command.run(arguments)
    if status == 0:
        table = read_table([arguments.output])
        wanted = {job.key for job in run_command.plan(arguments)[1]}
        keys = table[KEY].itertuples(index=False, name=None)
        chosen = table[[key in wanted for key in keys]]
        for line in describe_mixed(mixed_versions(chosen)):
            print(f"**runs of several code versions are mixed**: {line}\n")
        print(write_comparison(summarize(chosen), arguments.baseline))
    return status
