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

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import asdict
from pathlib import Path
from statistics import median

from scipy.stats import binomtest
from tqdm.auto import tqdm

from benchmarks.coverage_search import SCALES, Key, Search, Settings, search_path
from benchmarks.metadata import collect_metadata
from benchmarks.pool import local_executor

NAME = "coverage"
HELP = "how often the certificate holds on sample paths of a known GP"

_SAVE_EVERY = 10.0  # seconds
_HEADERS = (
    "d", "beta", "paths", "fired", "within epsilon", "coverage", "95 % interval", "evaluations",
    "sqrt(beta)", "largest regret / epsilon",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--paths", type=int, default=200, help="per dimension; default: 200")
    parser.add_argument(
        "--dims", type=int, nargs="+", default=[1, 2], choices=(1, 2, 3), help="default: 1 2"
    )
    parser.add_argument("--delta", type=float, default=0.1, help="default: %(default)s")
    parser.add_argument(
        "--epsilon", type=float, default=0.05,
        help="in standard deviations of the values seen; default: %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--lengthscale", type=float, default=0.25, help="in sides of the box; default: %(default)s"
    )
    parser.add_argument(
        "--max-evaluations", type=int, default=200, metavar="N",
        help="give a search up after so many; default: %(default)s",
    )  # fmt: skip
    parser.add_argument("--jobs", type=int, default=1, help="processes; default: %(default)s")
    parser.add_argument(
        "--output", type=Path, metavar="FILE.json",
        help="keep the searches here and the table in FILE.md; an existing file is continued",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Search all paths, print the table, write the files."""
    if arguments.paths < 1 or arguments.jobs < 1:
        raise SystemExit("expected --paths and --jobs of 1 or more")
    output: Path | None = arguments.output
    if output is not None and output.suffix != ".json":
        raise SystemExit(f"expected --output FILE.json (the table goes to FILE.md); got {output}")
    settings = Settings(
        arguments.delta, arguments.epsilon, arguments.lengthscale, arguments.max_evaluations
    )
    wanted: list[Key] = [
        (dim, path, beta)
        for dim in arguments.dims for path in range(arguments.paths) for beta in SCALES
    ]  # fmt: skip
    done = {} if output is None else read_searches(output, settings)
    missing = [key for key in wanted if key not in done]
    saved = time.monotonic()
    for search in tqdm(_search_all(missing, settings, arguments.jobs), total=len(missing)):
        done[search.key] = search
        if output is not None and time.monotonic() - saved > _SAVE_EVERY:
            _write(output, done.values(), settings)
            saved = time.monotonic()
    report = format_report([done[key] for key in wanted], settings)
    print(report)
    if output is not None:
        _write(output, done.values(), settings)
        about = (__doc__ or "").split("\n\n", 1)[1].rsplit("\n\n", 1)[0]
        text = f"# Coverage of the certificate\n\n{about}\n\n{report}\n"
        output.with_suffix(".md").write_text(text)
    return 0


def format_report(searches: Sequence[Search], settings: Settings) -> str:
    """A Markdown table, and whether the promise was kept."""
    lines = ["| " + " | ".join(_HEADERS) + " |", "|" + " --: |" * len(_HEADERS)]
    verdicts = []
    for dim in sorted({search.dim for search in searches}):
        for beta, scale in SCALES.items():
            own = [s for s in searches if (s.dim, s.beta) == (dim, beta)]
            fired = [s for s in own if s.fired]
            cells = [str(dim), beta, str(len(own)), str(len(fired))]
            if fired:
                covered = sum(s.covered for s in fired)
                share = covered / len(fired)
                interval = binomtest(covered, len(fired)).proportion_ci(0.95, method="exact")
                counts = [s.evaluations for s in fired]
                cells += [
                    str(covered),
                    f"{share:.3f}",
                    f"{interval.low:.3f} to {interval.high:.3f}",
                    f"{median(counts):g} ({min(counts)} to {max(counts)})",
                    f"{median(s.sqrt_beta for s in fired):.2f}",
                    f"{max(s.regret / s.epsilon for s in fired if s.epsilon):.2f}",
                ]
                if scale == 1:
                    kept = "met" if share >= 1 - settings.delta else "MISSED"
                    verdicts.append(
                        f"- d = {dim}, beta of the theorem: coverage {share:.3f}, promised at "
                        f"least {1 - settings.delta:g}: {kept}."
                    )
            cells += ["–"] * (len(_HEADERS) - len(cells))
            lines.append("| " + " | ".join(cells) + " |")
    about = (
        f"epsilon {settings.epsilon:g} standard deviations of the values seen, delta "
        f"{settings.delta:g}, length-scale {settings.lengthscale:g} sides of the box, at most "
        f"{settings.max_evaluations} evaluations. Evaluations and sqrt(beta) when the trigger "
        "fired: median (and range), initial points included."
    )
    return "\n".join([*lines, "", about, "", *verdicts])


def read_searches(output: Path, settings: Settings) -> dict[Key, Search]:
    """The searches that a file holds already; it must be of the same settings."""
    if not output.exists():
        return {}
    content = json.loads(output.read_text())
    if content["settings"] != asdict(settings):
        raise SystemExit(
            f"expected {output} to be of settings {asdict(settings)}; it is of "
            f"{content['settings']}. Give another --output, or the same settings"
        )
    searches = [Search(**values) for values in content["searches"]]
    return {search.key: search for search in searches}


def _write(output: Path, searches: Iterable[Search], settings: Settings) -> None:
    """In one piece: a process that is killed here leaves the file as it was."""
    content = {
        "metadata": collect_metadata(),
        "settings": asdict(settings),
        "searches": [asdict(search) for search in sorted(searches, key=lambda s: s.key)],
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    part = output.with_suffix(".json.part")
    part.write_text(json.dumps(content, indent=1))
    os.replace(part, output)


def _search_all(keys: Sequence[Key], settings: Settings, jobs: int) -> Iterator[Search]:
    if jobs == 1:
        yield from (search_path(key, settings) for key in keys)
        return
    with local_executor(jobs) as executor:
        futures = [executor.submit(search_path, key, settings) for key in keys]
        yield from (future.result() for future in as_completed(futures))
