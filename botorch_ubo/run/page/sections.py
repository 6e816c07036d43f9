"""The parts of a page, in the order in which a reader asks: what was found, where, why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from botorch.exceptions.errors import BotorchError

from botorch_ubo.records import ExpansionRecord
from botorch_ubo.run.advice import failure_kind, is_flat
from botorch_ubo.run.page.box_figures import box_figures
from botorch_ubo.run.page.coordinates_figure import coordinates_figure
from botorch_ubo.run.page.model_figures import importance_figure, outcome_names, slice_figures
from botorch_ubo.run.page.points import ShownPoints, show
from botorch_ubo.run.page.progress_figures import progress_figures
from botorch_ubo.run.page.style import Figure, legend
from botorch_ubo.run.recorded import RecordedRun
from botorch_ubo.run.trials import Trial
from botorch_ubo.run.words import describe_moves, how_moved, what_stopped, why_moved

MOST_OPEN = 12
"""Figures of parameters that are shown; of more parameters the others unfold."""
MOST_ROWS = 200


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it, in order: HTML, or figures side by side."""

    title: str
    parts: Sequence[str | Sequence[Figure]]


def sections_of(run: RecordedRun) -> list[Section]:
    """All parts that a run has something to say in."""
    points = ShownPoints(run)
    note = [paragraph(points.note.capitalize() + ".", "note")] if points.note else []
    found = [
        Section("What was found", [*note, *_single(progress_figures(points)), *_best_table(run)]),
        Section("The box over time", _boxes(points)),
        Section("What moved the box, and why", _moves(run)),
    ]
    if run.completed:
        found.append(
            Section(
                "All evaluations",
                [
                    paragraph(
                        "Every line is an evaluation, dark ones are the best. Drag along an axis "
                        "to pick lines, click to let go."
                    ),
                    [coordinates_figure(points)],
                ],
            )
        )
    found.append(Section("What the model thinks", _model(points)))
    found.append(Section("Failures", _failures(run)))
    return found


def paragraph(text: str, kind: str = "") -> str:
    """Some text, whatever is in it."""
    mark = f' class="{kind}"' if kind else ""
    return f"<p{mark}>{escape(text)}</p>"


def bullets(lines: Iterable[str]) -> str:
    """A list of texts."""
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def table(head: Iterable[str], rows: Iterable[Iterable[str | Sequence[str]]]) -> str:
    """A table; several texts of a cell are below each other."""
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>" for row in rows
    )
    return (
        f'<div class="scroll"><table><thead><tr>{cells}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cell(value: str | Sequence[str]) -> str:
    return "<br>".join(map(escape, [value] if isinstance(value, str) else value))


def _summary(title: str) -> str:
    """The beginning of a part that unfolds."""
    return f"<details><summary>{escape(title)}</summary>"


def _unfolding(title: str, content: str) -> str:
    return f"{_summary(title)}{content}</details>"


def _single(figures: list[Figure]) -> list[str | Sequence[Figure]]:
    if not figures:
        return [paragraph("Nothing has been evaluated yet.")]
    return [figures[:1], figures[1:]] if len(figures) > 1 else [figures]


def _best_table(run: RecordedRun) -> list[str | Sequence[Figure]]:
    """The best point, or the front, with its parameters."""
    if run.best is None:
        return []
    several = run.goal.num_objectives > 1
    shown = [run.completed[i] for i in (run.front if several else [run.best])][:MOST_ROWS]
    head = ["trial", *outcome_names(run), *run.space.names]
    found = table(head, ([str(it.id), *_values(it), *_params(it)] for it in shown))
    if not several:
        return [found]
    return [_unfolding(f"The {len(run.front)} points of the front", found)]


def _values(trial: Trial) -> list[str]:
    values = trial.value if isinstance(trial.value, tuple) else (trial.value,)
    return [f"{value:.6g}" for value in values if value is not None]


def _params(trial: Trial) -> list[str]:
    return [show(value) for value in (trial.params or {}).values()]


def _boxes(points: ShownPoints) -> list[str | Sequence[Figure]]:
    figures = box_figures(points)
    if not figures:
        return [paragraph("No trial has been asked for yet.")]
    words = describe_moves(points.run)
    return [
        paragraph(f"{words[:1].upper()}{words[1:]}. A band is the box at the time."),
        legend("box", "initial points", "evaluations", "best", "failed", "hard limit"),
        *_folded(figures, "parameters"),
    ]


def _folded(figures: list[Figure], what: str) -> list[str | Sequence[Figure]]:
    """The first figures, and the rest below a line that unfolds."""
    parts: list[str | Sequence[Figure]] = [figures[:MOST_OPEN]]
    if len(figures) > MOST_OPEN:
        count = len(figures) - MOST_OPEN
        parts += [
            _summary(f"{count} more {what}"),
            figures[MOST_OPEN:],
            "</details>",
        ]
    return parts


def _moves(run: RecordedRun) -> list[str | Sequence[Figure]]:
    records = [record for record in run.box.history if record.notable]
    changed = [
        f"After {it.num_observations} evaluations the hard limits were changed by hand."
        for it in run.box.limits
    ]
    if not records:
        return [paragraph("The box has not moved yet."), *map(paragraph, changed)]
    reasons = Counter(why_moved(run, record) for record in records)
    told = [f"{count} x {why}" for why, count in reasons.most_common(6)]
    shown = records[-MOST_ROWS:]
    left = len(records) - len(shown)
    note = f"The first {left} of {len(records)} moves are left out." if left else ""
    return [
        bullets(told),
        *map(paragraph, changed),
        "<h3>Each move, the latest first</h3>"
        + (paragraph(note, "note") if note else "")
        + table(
            ("evaluations", "why", "the box now", "stopped by"),
            (_move(run, record) for record in reversed(shown)),
        ),
    ]


def _move(run: RecordedRun, record: ExpansionRecord) -> list[str | Sequence[str]]:
    how, stopped = how_moved(run, record), what_stopped(run, record)
    return [str(record.num_observations), why_moved(run, record), how, stopped]


def _model(points: ShownPoints) -> list[str | Sequence[Figure]]:
    run = points.run
    if not run.completed:
        return [paragraph("There is no model before the first result.")]
    try:
        outcomes = slice_figures(points)
    except BotorchError as error:  # which is no reason to show nothing of the run
        return [paragraph(f"There is no model of these data: {error}", "note")]
    parts: list[str | Sequence[Figure]] = []
    if run.modelled is not None:
        parts.append(
            paragraph(
                f"The model of this page is fitted to the {len(run.modelled)} evaluations nearest "
                f"to the best of {len(run.completed):,}.",
                "note",
            )
        )
    several = run.goal.num_objectives > 1
    point = "the front's best point in objective 0" if several else "the best point"
    parts.append(
        paragraph(
            f"Through {point}, one parameter at a time, with all others held there. Where the "
            "model is unsure, the band is wide."
        )
    )
    parts.append(legend("mean", "95 % of the model", "best"))
    for row, (name, figures) in enumerate(outcomes):
        folded = _folded(figures, "parameters")
        plain = run.goal.is_plain
        if not plain and row:
            parts += [_summary(name.capitalize()), *folded, "</details>"]
        else:
            parts += [*([] if plain else [f"<h3>{escape(name.capitalize())}</h3>"]), *folded]
    if len(run.completed) < 3 or (run.goal.is_plain and is_flat(run.Y)):
        return [*parts, paragraph("Too little is known to tell which parameters matter.")]
    return [
        *parts,
        "<h3>Importance by length-scale</h3>",
        paragraph(
            "How many length-scales of the model the first box measures. The longer a bar, the "
            "more the outcome changes along the parameter; next to nothing means that no effect "
            "was seen. Of categories it is the distance between two of them."
        ),
        [importance_figure(points)],
    ]


def _failures(run: RecordedRun) -> list[str | Sequence[Figure]]:
    if not run.failed:
        return [paragraph("No evaluation has failed.")]
    kinds = Counter(failure_kind(trial.reason) for trial in run.failed).most_common()
    shown = run.failed[-MOST_ROWS:]
    rows = ([str(it.id), it.reason[:300], *_params(it)] for it in reversed(shown))
    left = len(run.failed) - len(shown)
    return [
        bullets(f"{count} x {kind}" for kind, count in kinds[:10]),
        *([paragraph(f"The latest {len(shown)} of {len(run.failed):,}:", "note")] if left else []),
        table(("trial", "why", *run.space.names), rows),
    ]
