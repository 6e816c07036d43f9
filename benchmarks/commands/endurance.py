"""One long run: does memory stay flat, and does a suggestion stay as quick as it was?

UnboundedOptimizer on Hartmann6 from a box of a fifth of the domain's side, one thread, with a
checkpoint. A suggestion is `ask`: fit, box, acquisition, file. Initial points are not counted.

Targets: the slowest suggestion takes at most 3 times the median; memory at the end is at most
1.25 times what it was at evaluation 50. Seconds are the process's, not the wall's: other
processes on the machine have a say in the latter. What is not the model's of a step, an `ask` and
a `tell`, takes at most 1.5 times as long in the last quarter of the run as in the first.

With --record there is no model, so that what is left of a step, an `ask` and a `tell`, is the
record. Targets: a step late in the run writes as many bytes as an early one, within 5 %, and takes
at most twice its seconds.
"""

import argparse
from pathlib import Path

from benchmarks.report.measured import format_endurance, format_record
from benchmarks.runs.metadata import save_json
from benchmarks.runs.timing import measure_endurance, measure_record

HELP = "memory and seconds per suggestion over one long run"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--evaluations", type=int, default=200)
    parser.add_argument("--method", default="EI-UBO")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", action="store_true", help="the run file alone, without a model")
    parser.add_argument("--output", type=Path, help="write the figures as JSON, the text as .md")


def run(arguments: argparse.Namespace) -> int:
    """Measure, print the summary, write the steps."""
    if arguments.record:
        steps = measure_record(arguments.evaluations, arguments.seed)
        text = format_record(steps)
        print(text)
        columns = steps.reset_index().to_dict("list")
        save_json(arguments.output, seed=arguments.seed, steps=columns)
        if arguments.output is not None:
            about = __doc__.rsplit("\n\n", 1)[1].strip()
            arguments.output.with_suffix(".md").write_text(f"# The record\n\n{about}\n\n{text}\n")
        return 0
    steps = measure_endurance(arguments.method, arguments.evaluations, arguments.seed)
    text = format_endurance(steps)
    print(text)
    columns = steps.reset_index().to_dict("list")
    save_json(arguments.output, method=arguments.method, seed=arguments.seed, steps=columns)
    if arguments.output is not None:
        about = __doc__.rsplit("\n\n", 1)[0].strip()
        head = f"# One long run\n\n{about}\n\n{arguments.method}, {len(steps)} evaluations:"
        arguments.output.with_suffix(".md").write_text(f"{head}\n\n{text}\n")
    return 0
