"""CPU seconds of one suggestion, fit included, of the default and of what it is compared with.

All contenders are given the same data, as a run leaves them, and are timed in turn on one thread,
so that all meet the same machine. The first round of each case does not count. Seconds of the
package are means over the last five steps of a run.

  default  the default method with its own model
  before   an older version of it: --before FOLDER, a checkout (git worktree add FOLDER COMMIT)
  stock    a stock BoTorch iteration: SingleTaskGP, fit_gpytorch_mll, LogEI, optimize_acqf
  optuna   Optuna's GP sampler (with greenlet, which it needs to be fast)
  ax       Ax's client with its default strategy, which is BoTorch's in its hands

By n at one d, by d at one n, for many data in many dimensions, and by what is asked for: several
points, pending ones, failures. A contender that took more than 4 s is asked for nothing larger.
Ratios are what to read; seconds depend on the machine.
"""

import argparse
from importlib.util import find_spec
from pathlib import Path

from benchmarks.commands.options import json_file
from benchmarks.report.speed import draw_speed, format_speed
from benchmarks.runs.metadata import save_json
from benchmarks.runs.rivals import RIVALS
from benchmarks.runs.speed import Case, measure_speed

HELP = "seconds per suggestion by n, d, q, pending and failed points, beside others"
SIZES = (20, 50, 100, 200, 500, 1000, 2000, 5000)
DIMS = (2, 6, 20, 50, 100)
SIZE, DIM = 50, 6
LARGE = (200, 100)  # data and dimensions
REQUESTS = (
    {"pending": 1}, {"pending": 4}, {"pending": 16}, {"failed": 4}, {"failed": 4, "pending": 4},
    {"q": 4}, {"q": 16}, {"q": 64},
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("--sizes", type=int, nargs="*", default=SIZES, metavar="N", help=f"at d = {DIM}")
    add("--dims", type=int, nargs="*", default=DIMS, metavar="D", help=f"at n = {SIZE}")
    add("--requests", type=int, default=len(REQUESTS), help="how many; default: all")
    add("--repeats", type=int, default=5, help="default: %(default)s")
    add("--before", type=Path, metavar="FOLDER", help="of an older version")
    add("--rivals", nargs="*", choices=RIVALS, default=list(RIVALS), help="default: all")
    add("--output", type=json_file, metavar="FILE.json", help="also FILE.md and FILE.png")


def run(arguments: argparse.Namespace) -> int:
    """Measure, print the tables, write the files."""
    if "optuna" in arguments.rivals and find_spec("greenlet") is None:
        raise SystemExit("expected greenlet, without which Optuna is several times slower: install")
    cases = [Case(n, DIM) for n in sorted(arguments.sizes)]
    requests = REQUESTS[: arguments.requests]
    cases += [Case(SIZE, d) for d in sorted(arguments.dims) if Case(SIZE, d) not in cases]
    if max(arguments.dims, default=0) >= LARGE[1]:
        cases.append(Case(*LARGE))
    if requests and Case(SIZE, DIM) not in cases:
        cases.append(Case(SIZE, DIM))
    cases += [Case(SIZE, DIM, **request) for request in requests]
    if not cases or arguments.repeats < 1:
        raise SystemExit("expected some --sizes, --dims or --requests, and --repeats of 1 or more")
    if "ax" in arguments.rivals and find_spec("ax") is None:
        raise SystemExit("expected ax-platform: install it, or leave ax out of --rivals")
    rivals = {name: RIVALS[name] for name in arguments.rivals}
    measured = measure_speed(cases, arguments.repeats, arguments.before, rivals)
    report = format_speed(measured)
    print(report)
    save_json(arguments.output, measured=measured)
    if arguments.output is not None:
        figure = arguments.output.with_suffix(".png")
        draw_speed(measured, figure)
        text = f"# Seconds per suggestion\n\n```\n{__doc__.strip()}\n```\n\n{report}\n"
        text += f"\n![seconds against n]({figure.name})\n"
        arguments.output.with_suffix(".md").write_text(text)
    return 0
