"""How often the certificate is right: GP sample paths with known hyper-parameters.

A path is drawn from an RBF Gaussian process of variance 1 (BoTorch's pathwise sampling). The
paper's method searches the unit box, which hard limits keep as it is, with that very process as
its model, from 3 d Latin hypercube points, until its trigger fires: the regret bound has fallen
to epsilon. A path is covered if the best evaluated point then is within epsilon of the maximum
over the box, which a dense grid and local optimisation find.

With beta_t of Theorem 5.1 at least 1 - delta of the paths should be covered. The factor 1/5 of
the paper's experiments comes without a promise. Intervals are Clopper-Pearson's.

Started again with the same --output, the command does only what is missing.
"""

import argparse

from tqdm.auto import tqdm

from benchmarks.commands.options import json_file
from benchmarks.report.measured import format_coverage
from benchmarks.runs.coverage import SCALES, key_of, search_path
from benchmarks.runs.kept import map_keys, read_kept
from benchmarks.runs.metadata import save_json

HELP = "how often the certificate holds on sample paths of a known GP"
SETTINGS = ("delta", "epsilon", "lengthscale", "max_evaluations")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("--paths", type=int, default=200, help="per dimension; default: 200")
    add("--dims", type=int, nargs="+", default=[1, 2], choices=(1, 2, 3), help="default: 1 2")
    add("--delta", type=float, default=0.1, help="default: %(default)s")
    add("--epsilon", type=float, default=0.05, help="in standard deviations of the values seen")
    add("--lengthscale", type=float, default=0.25, help="in sides of the box; default: %(default)s")
    add("--max-evaluations", type=int, default=200, metavar="N", help="of a search; default: 200")
    add("--jobs", type=int, default=1, help="processes; default: %(default)s")
    add("--output", type=json_file, metavar="FILE.json", help="searches; the table goes to FILE.md")


def run(arguments: argparse.Namespace) -> int:
    """Search all paths, print the table, write the files."""
    if arguments.paths < 1 or arguments.jobs < 1:
        raise SystemExit("expected --paths and --jobs of 1 or more")
    settings = {name: getattr(arguments, name) for name in SETTINGS}
    numbers = range(arguments.paths)
    wanted = [(dim, path, beta) for dim in arguments.dims for path in numbers for beta in SCALES]
    done = read_kept(arguments.output, settings, "searches", key_of)
    missing = [key for key in wanted if key not in done]
    results = map_keys(search_path, missing, settings, arguments.jobs)
    for search in tqdm(results, total=len(missing)):
        done[key_of(search)] = search
        ordered = sorted(done.values(), key=key_of)
        save_json(arguments.output, settings=settings, searches=ordered)
    report = format_coverage([done[key] for key in wanted], settings)
    print(report)
    if arguments.output is not None:
        about = __doc__.split("\n\n", 1)[1].rsplit("\n\n", 1)[0]
        text = f"# Coverage of the certificate\n\n{about}\n\n{report}\n"
        arguments.output.with_suffix(".md").write_text(text)
    return 0
