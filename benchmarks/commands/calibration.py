"""How small beta can be before certificates are wrong: GP sample paths, a sweep of factors.

A path is drawn from a Gaussian process of variance 1. The paper's method searches the unit box, of
5 to 50 length-scales, from 3 d Latin hypercube points until its regret bound is epsilon, with
beta_t of Theorem 5.1 times a factor: 1 is the theorem's, 1/5 that of the paper's experiments, the
others less. A certificate is right if its point is within epsilon of the maximum over its box. In
some cases hyper-parameters are fitted, observations are noisy, the kernel is another, or the box
grows and has three certificates.

"Bound held" is the share of paths on which the upper confidence bound at the true maximiser, with
the theorem's slack of 1/t^2, was at no step below the maximum, certificate or not. Intervals are
Clopper-Pearson's. The maximum is the best of 8192 points, ten of them polished; where it is missed,
certificates look better than they are.

Started again with the same --output, the command does only what is missing.
"""

import argparse
from pathlib import Path

from tqdm.auto import tqdm

from benchmarks.commands.options import json_file
from benchmarks.report.calibration import draw_calibration, format_calibration
from benchmarks.runs.calibration import CASES, SCALES, Key, case_key, search_case
from benchmarks.runs.kept import map_keys, read_kept
from benchmarks.runs.metadata import save_json

HELP = "how often certificates hold as beta is made smaller, by kind of path, box and model"
SETTINGS = ("delta", "epsilon", "max_evaluations")
_SAVE_EVERY = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("--paths", type=int, default=16, help="of every case; default: %(default)s")
    text = f"default: all; {'; '.join(CASES)}"
    add("--cases", nargs="+", default=[*CASES], choices=CASES, metavar="CASE", help=text)
    add("--scales", type=float, nargs="+", default=SCALES, help="factors; default: %(default)s")
    add("--delta", type=float, default=0.1, help="default: %(default)s")
    add("--epsilon", type=float, default=0.05, help="in standard deviations of the values seen")
    add("--max-evaluations", type=int, default=60, metavar="N", help="of a search; default: 60")
    add("--jobs", type=int, default=1, help="processes; default: %(default)s")
    add("--output", type=json_file, metavar="FILE.json", help="searches; also FILE.md, FILE.png")


def run(arguments: argparse.Namespace) -> int:
    """Search all paths, print the tables, write the files."""
    if arguments.paths < 1 or arguments.jobs < 1:
        raise SystemExit("expected --paths and --jobs of 1 or more")
    settings = {name: getattr(arguments, name) for name in SETTINGS}
    # Path by path, so that what is done when the command is stopped has every case equally often.
    wanted: list[Key] = [
        (case, path, scale)
        for path in range(arguments.paths)
        for case in arguments.cases
        for scale in arguments.scales
    ]
    output: Path | None = arguments.output
    done = read_kept(output, settings, "searches", case_key)
    missing = [key for key in wanted if key not in done]
    found = tqdm(map_keys(search_case, missing, settings, arguments.jobs), total=len(missing))
    for number, search in enumerate(found, start=1):
        done[case_key(search)] = search
        if number % _SAVE_EVERY == 0 or number == len(missing):
            save_json(output, settings=settings, searches=sorted(done.values(), key=case_key))
    chosen = [done[key] for key in sorted(wanted, key=lambda key: (list(CASES).index(key[0]),
                                                                   -key[2], key[1]))]  # fmt: skip
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
