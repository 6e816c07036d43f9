"""Write a report of records: Markdown, figures and a table of all runs.

Reads what `run` wrote (directories, .jsonl, or packed .json.xz) and writes into --output

  report.md    curves, final regret, normalised log-regret, oracle ratio, ranks, tests,
               evaluations against distance, box growth, seconds; the figures beside it
  summary.csv  one row per problem, method and seed

`--table` prints the compact table of the project's README instead, or as well.

Of several records of one run the last counts. Others are compared with the --default. Curves and
the table show the oracle, the default, the best three others and the paper's unless --methods are
given; the report's tables have all. Failed runs are listed and left out. Methods that lack runs
that others have are left out of what is paired, and named. Methods called like the default and
more, `X (no cap)` beside `X`, are its variants: they have a table of what each costs, and no place
in the ranks.

Runs of one method that are of several code versions are refused: the sources' fingerprint in the
records tells them apart, or the commit where there is none. --mixed-versions reports them all the
same, with a warning at the head and a mark at these methods in every table.
"""

import argparse
from pathlib import Path

from botorch_ubo.methods import DEFAULT_METHOD

HELP = "write a report of records: tables, figures, statistics"
ORACLE = "LogEI-oracle"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("--records", type=Path, nargs="+", required=True, metavar="PATH", help="the last counts")
    add("--output", type=Path, metavar="DIR", help="where to write the report")
    add("--table", action="store_true", help="print the table of the docs; needs no --output")
    add("--methods", nargs="+", default=[], metavar="NAME", help="of curves and of --table")
    add("--oracle", default=ORACLE, metavar="METHOD", help="told the domain; default: %(default)s")
    add("--default", default=DEFAULT_METHOD, metavar="METHOD", help="default: %(default)s")
    text = "report methods whose runs are of several code versions, marked"
    add("--mixed-versions", action="store_true", help=text)


def run(arguments: argparse.Namespace) -> int:
    """Read the records, write the report, print the table."""
    if arguments.output is None and not arguments.table:
        raise SystemExit("expected --output DIR or --table; got neither: say where to write")
    # Here, since statistics take seconds to import and workers of other commands need none.
    from benchmarks.report.compact import write_compact
    from benchmarks.report.document import mark_mixed, write_report
    from benchmarks.report.study import load_study

    try:
        study = load_study(
            arguments.records,
            arguments.oracle,
            arguments.default,
            arguments.methods,
            arguments.mixed_versions,
        )
    except (KeyError, ValueError, FileNotFoundError) as error:
        raise SystemExit(error.args[0] if isinstance(error, KeyError) else str(error)) from error
    if arguments.output is not None:
        path = write_report(study, arguments.output, arguments.command_line)
        print(f"{len(study.frame)} records: {path}")
    if arguments.table:
        print(mark_mixed(write_compact(study), study))
    return 0
