"""How small beta can be before certificates are wrong: GP sample paths, a sweep of levels.

A path is drawn from a Gaussian process of variance 1. The paper's method searches a box of 5 to 50
length-scales, from 3 d Latin hypercube points until its regret bound is epsilon. A certificate is
right if its point is within epsilon of the maximum over its box.

Two levels of beta are each multiplied by some factors. "theorem" is beta_t of Theorem 5.1: factor 1
is its own, 1/5 that of the paper's experiments. "calibrated" is the square of the level that the
prior exceeds somewhere in the box with probability delta (`policies/excursion.py`), the same at
every step. The cases are those of a squared exponential kernel, by which a factor is chosen, and
those of four other kernels, by which it is judged; in some of either, hyper-parameters are fitted
at every step (by the default model, whose kernel is squared exponential whatever that of the path),
observations have noise of standard deviation 0.05, or the box grows and has three certificates. The
rule: the smallest factor on the calibrated level with which, as with all larger ones, at least 90 %
of the certificates are right in every case that it is chosen on, with known hyper-parameters, as
the theorem assumes, and a box that stays. It carries over if no such case of the other half is
below 90 % by its whole interval, which of 50 certificates it is with 39 right ones or fewer. Where
hyper-parameters are fitted a certificate can be wrong because the model is, whatever beta; these
cases are told beside, and so are boxes that grow, of which the certificates of one path depend on
each other, so that their intervals are too narrow.

"d = 2, 5" is a box of five length-scales to a side in two dimensions. "Bound held" is the share of
paths on which the upper confidence bound at the true maximiser, with the theorem's slack of 1/t^2,
was at no step below the maximum, certificate or not. Evaluations, initial ones included, and
sqrt(beta) at the end are means over paths. Intervals are Clopper-Pearson's. The maximum is the best
of 8192 points, 16 of them polished; where it is missed, certificates look better than they are.
Boxes that stay are searched without the refinement of appendix B, many paths at once.

Started again with the same --output, the command does only what is missing.
"""

import argparse
import math
from pathlib import Path

from tqdm.auto import tqdm

from benchmarks.commands.options import json_file
from benchmarks.report.calibration import draw_calibration, format_calibration
from benchmarks.runs.calibration import CASES, Key, block_key, search_block
from benchmarks.runs.kept import map_keys, read_kept, refuse_other_code
from benchmarks.runs.metadata import save_json

HELP = "how often certificates hold as beta is made smaller, by kind of path, box and model"
SETTINGS = ("delta", "epsilon")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    text = f"default: all; {'; '.join(CASES)}"
    add("--cases", nargs="+", default=[*CASES], choices=CASES, metavar="CASE", help=text)
    text = "blocks of paths of every case, at most; default: all"
    add("--blocks", type=int, metavar="N", help=text)
    add("--delta", type=float, default=0.1, help="default: %(default)s")
    add("--epsilon", type=float, default=0.05, help="in standard deviations of the values seen")
    add("--jobs", type=int, default=1, help="processes; default: %(default)s")
    add("--output", type=json_file, metavar="FILE.json", help="counts; also FILE.md, FILE.png")
    add("--report-only", action="store_true", help="search nothing; write what --output has")


def run(arguments: argparse.Namespace) -> int:
    """Search all paths, print the tables, write the files."""
    if arguments.jobs < 1 or (arguments.blocks is not None and arguments.blocks < 1):
        raise SystemExit("expected --blocks and --jobs of 1 or more")
    if not 0 < arguments.delta < 0.5 or not 0 < arguments.epsilon < math.inf:
        raise SystemExit("expected --delta between 0 and 1/2, and a positive --epsilon")
    settings = {name: getattr(arguments, name) for name in SETTINGS}
    output: Path | None = arguments.output
    done = read_kept(output, settings, "blocks", block_key)
    # Block by block, so that what is done when the command is stopped has every case.
    most = max(case.num_blocks for case in CASES.values())
    wanted: list[Key] = [
        (name, block)
        for block in range(min(most, arguments.blocks or most))
        for name in arguments.cases
        if block < CASES[name].num_blocks
    ]
    if arguments.report_only:
        wanted = [key for key in wanted if key in done]
    missing = [key for key in wanted if key not in done]
    if missing:
        refuse_other_code(output)
    found = map_keys(search_block, missing, settings, arguments.jobs)
    for block in tqdm(found, total=len(missing)):
        done[block_key(block)] = block
        save_json(output, settings=settings, blocks=sorted(done.values(), key=block_key))
    if not wanted:
        raise SystemExit("expected at least one block; there is none to report")
    chosen = [done[key] for key in sorted(wanted, key=lambda key: ([*CASES].index(key[0]), key[1]))]
    report = format_calibration(chosen)
    print(report)
    if output is not None:
        draw_calibration(chosen, output.with_suffix(".png"))
        about = __doc__.split("\n\n", 1)[1].rsplit("\n\n", 1)[0]
        words = ", ".join(f"{name} {value:g}" for name, value in settings.items())
        text = f"# Certificates as beta is made smaller\n\n{about}\n\nSettings: {words}.\n\n"
        figure = f"![Coverage against the factor on beta]({output.stem}.png)"
        output.with_suffix(".md").write_text(f"{text}{figure}\n\n{report}\n")
    return 0
