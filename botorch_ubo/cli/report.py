"""``botorch-ubo report run.db``: a web page of a run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from botorch_ubo.cli.shell import add_json, make_parser, print_json, refusals
from botorch_ubo.run.page.write import watch, write_page

DESCRIPTION = """\
Make a web page of a run: what was found, the box over time and why it moved, what the model thinks,
failures, advice. The page is one file that needs no network. A run that is going on is not
disturbed. Needs plotly: pip install 'botorch-ubo[report]'.
"""


def main(argv: Sequence[str]) -> None:
    """Write the page of a run."""
    parser = make_parser("report", DESCRIPTION)
    parser.add_argument("--output", type=Path, metavar="FILE", help="run.html of run.db by default")
    parser.add_argument(
        "--watch",
        type=float,
        nargs="?",
        const=5.0,
        metavar="SECONDS",
        help="look again every so often (5), until Ctrl-C; the page loads itself anew",
    )
    add_json(parser)
    arguments = parser.parse_args(argv)
    if arguments.watch is not None and not arguments.watch > 0:
        parser.error(f"Expected a positive number of seconds for --watch; got {arguments.watch}.")
    page = arguments.output or Path(arguments.path).with_suffix(".html")
    with refusals("report"):
        if arguments.watch is not None:
            print(f"{page}: written anew whenever something happens; Ctrl-C ends it", flush=True)
            with suppress(KeyboardInterrupt):
                watch(arguments.path, page, arguments.watch)
        else:
            write_page(arguments.path, page)
    if arguments.json:
        print_json({"page": str(page)})
    else:
        print(page)
