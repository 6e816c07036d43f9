"""Run constrained problems and several objectives, resumably, and report on them.

Every run becomes one JSON file of --output; what is there is not run again. The report is written
after every run, from all files that are there.

  python -m benchmarks outcomes --suite constrained multi --seeds 0-9 --output records
  python -m benchmarks outcomes --output records --report-only
"""

import argparse
from pathlib import Path

from benchmarks.commands.options import parse_seeds
from benchmarks.methods.outcomes import CONTENDERS, DEFAULT_CONTENDERS
from benchmarks.report.outcomes import outcome_report
from benchmarks.runs.outcomes import (
    OUTCOME_SUITES,
    find_outcome_problem,
    first_evaluations,
    read_outcomes,
    run_outcomes,
)

HELP = "run constrained problems and several objectives, and report on them"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    names = "; ".join(f"{suite}: {', '.join(found)}" for suite, found in OUTCOME_SUITES.items())
    add("--suite", nargs="+", default=[], choices=OUTCOME_SUITES, help=names)
    add("--problems", nargs="+", default=[], metavar="NAME", help="besides those of the suites")
    methods = f"default: {', '.join(DEFAULT_CONTENDERS)}; all: {', '.join(CONTENDERS)}"
    add("--methods", nargs="+", default=DEFAULT_CONTENDERS, choices=CONTENDERS, help=methods)
    add("--seeds", type=parse_seeds, default=tuple(range(10)), help="like 0-9; default: 0-9")
    add("--budget", type=int, help="evaluations after the initial ones; default: 10 d")
    add("--output", type=Path, required=True, metavar="DIR", help="of the records")
    add("--report", type=Path, metavar="FILE", help="default: report.md in --output")
    add("--after", type=int, metavar="N", help="report on the first N evaluations; default: all")
    add("--report-only", action="store_true", help="run nothing")


def run(arguments: argparse.Namespace) -> int:
    """Run what is missing, seed by seed, and report."""
    names = [name for suite in arguments.suite for name in OUTCOME_SUITES[suite]]
    names += arguments.problems
    try:
        for name in names:
            find_outcome_problem(name)
    except KeyError as error:
        raise SystemExit(error.args[0]) from None
    report = arguments.report or arguments.output / "report.md"
    if not arguments.report_only:
        for seed in arguments.seeds:
            for name in dict.fromkeys(names):
                for method in arguments.methods:
                    record = run_outcomes(name, method, seed, arguments.output, arguments.budget)
                    print(
                        f"{name}, {method}, seed {seed}: {record['status']}, "
                        f"{record['measure'][-1]}, {record['seconds']} s",
                        flush=True,
                    )
    records = read_outcomes(arguments.output)
    if arguments.after is not None:
        records = [first_evaluations(record, arguments.after) for record in records]
    if not records:
        raise SystemExit(f"expected records in {arguments.output}; there are none")
    report.write_text(outcome_report(records))
    print(f"wrote {report} from {len(records)} records")
    return 0
