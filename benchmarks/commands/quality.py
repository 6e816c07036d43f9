"""How near the default's fit and search come to what many more starts find.

Data are those of whole runs of the default, rippled functions among them. Every so many steps

  fit     the density of the hyper-parameters is compared with the best of ten long descents, of the
          density that was chosen (noise inferred, or observations exact), in nats; ten further
          descents are compared with them, too, to show what chance there is in such a best
  search  log EI of the candidate is compared with the best of many more: 144 restarts from
          8192 samples are asked for, of which a formula makes ten and three times as many

With --batched, fit and search are those of `BatchedRuns`, of the same data.

Targets: within 0.05 nats in 95 % of fits, within 0.01 in 99 % of searches, with --batched in 95 %.
"""

import argparse

from benchmarks.commands.options import json_file, parse_seeds
from benchmarks.report.measured import format_quality
from benchmarks.runs.metadata import save_json
from benchmarks.runs.quality import measure_quality

HELP = "how near fit and search come to what many more starts find"
PROBLEMS = (
    "beale", "hartmann6", "levy10", "ackley10", "other_rosenbrock3", "other_griewank2",
    "other_rastrigin3", "other_styblinski3", "other_powell8", "far_rippled5_d3",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("--problems", nargs="+", default=PROBLEMS, help=f"default: {' '.join(PROBLEMS)}")
    add("--seeds", type=parse_seeds, default=[0, 1], help="default: 0-1")
    add("--budget", type=int, default=48, help="steps of a run; default: %(default)s")
    add("--every", type=int, default=4, help="steps between measurements; default: %(default)s")
    text = "measure fits and searches of many runs at once, on the same data"
    add("--batched", action="store_true", help=text)
    add("--output", type=json_file, metavar="FILE.json", help="all losses; the table is FILE.md")


def run(arguments: argparse.Namespace) -> int:
    """Measure, print the table, write the files."""
    found = measure_quality(
        arguments.problems,
        arguments.seeds,
        arguments.budget,
        arguments.every,
        arguments.batched,
    )
    report = format_quality(found, arguments.batched)
    print(report)
    save_json(arguments.output, measured=found)
    if arguments.output is not None:
        text = f"# Quality of fits and searches\n\n```\n{__doc__.strip()}\n```\n\n{report}\n"
        arguments.output.with_suffix(".md").write_text(text)
    return 0
