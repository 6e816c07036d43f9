"""A page is one file, whole, safe and true for runs of every kind."""

from __future__ import annotations

import builtins
import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from botorch.exceptions.errors import InputDataError

from botorch_ubo import UnboundedOptimizer
from botorch_ubo.run.page import document, write, write_page
from botorch_ubo.run.page.document import make_page
from botorch_ubo.run.recorded import as_run
from botorch_ubo.run.words import advice_of
from tests.support.recorded_runs import QUICK, RUNS, long_run, plain_result


@pytest.fixture(autouse=True)
def without_plotly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five megabytes that are the same on every page, and would hide what is not."""
    monkeypatch.setattr(document, "_plotly", lambda: "")


def figures_in(page: str) -> list[dict[str, Any]]:
    found = re.search(r'id="figures">(.*?)</script>', page, re.S)
    assert found is not None
    return json.loads(found[1])


def drawn(figure: dict[str, Any], name: str) -> dict[str, Any]:
    (trace,) = [it for it in figure["data"] if it.get("name") == name]
    return trace


@pytest.mark.parametrize("kind", RUNS)
def test_every_kind_of_run_has_a_page(kind: str) -> None:
    run = RUNS[kind]()
    page = make_page(run)
    places = re.findall(r'data-figure="(\d+)"', page)
    figures = figures_in(page)
    assert [int(it) for it in places] == list(range(len(figures)))
    assert advice_of(run) in unescape(page)
    assert page.count("<section>") == (6 if run.completed else 5)
    assert page.count("<details") == page.count("</details>")
    assert not re.search(r"(src|href)=", page)  # nothing is loaded
    assert bool(figures) == bool(run.trials)


def test_texts_of_users_are_texts() -> None:
    page = make_page(RUNS["named"]())
    assert "<script>alert" not in page and "&lt;script&gt;alert(1)" in page
    assert "x &amp; y" in page
    outside = re.sub(r"<script type.*?</script>", "", page, flags=re.S)
    assert "<b>32" not in outside and "&lt;b&gt;" in outside + page


def test_figures_hold_the_run_in_the_users_units() -> None:
    run = RUNS["named"]()
    figures = figures_in(make_page(run))
    lr = figures[1]  # after the best so far
    assert lr["layout"]["yaxis"]["type"] == "log"
    told = [dict(trial.params)["lr"] for trial in run.completed]
    assert drawn(lr, "initial points")["y"] == pytest.approx(told, rel=1e-6)
    box = [it for it in lr["data"] if it.get("name") == "box"]
    assert [it["y"][0] for it in box] == pytest.approx([1e-4, 1e-2])
    act = figures[3]
    assert act["layout"]["yaxis"]["ticktext"] == ["relu", "tanh", "&lt;b&gt;"]
    (lines,) = [it["data"][0] for it in figures if it["data"][0]["type"] == "parcoords"]
    assert [axis["label"] for axis in lines["dimensions"]][-2:] == ["x &amp; y", "outcome"]
    assert lines["dimensions"][2]["ticktext"] == ["relu", "tanh", "<b>"]
    assert len(drawn(lr, "failed")["x"]) == 2
    # trial 3 failed after the results of trials 0, 1 and 2
    assert drawn(lr, "failed")["x"][0] == 3.5


def test_the_best_so_far_and_the_boxes_of_a_plain_run() -> None:
    result = plain_result()
    figures = figures_in(make_page(RUNS["plain"]()))
    best = drawn(figures[0], "best so far")
    assert best["y"] == pytest.approx(result.Y.cummin(0).values.tolist(), rel=1e-6)
    assert drawn(figures[0], "best")["y"] == pytest.approx([result.best_value])
    lower, upper = (it for it in figures[1]["data"] if it.get("name") == "box")
    moves = [record for record in result.expansions if record.moved]
    assert lower["x"][1:-1] == [record.num_observations + 0.5 for record in moves]
    assert upper["y"][1:-1] == pytest.approx([record.new_bounds[1][0] for record in moves])


def test_moves_are_told_with_their_reasons() -> None:
    page = make_page(RUNS["plain"]())
    assert len(plain_result().expansions) >= 3
    assert "Every step; " in page and "times as wide as before" in page


def test_worse_values_leave_the_frame_where_they_would_squeeze_the_others() -> None:
    optimizer = UnboundedOptimizer([(0.0, 1.0)])
    X = [[i / 20] for i in range(20)]
    optimizer.add_data(X, [-1.0 + x[0] for x in X[:-1]] + [1e9])
    run = as_run(optimizer)
    page = make_page(run)
    low, high = figures_in(page)[0]["layout"]["yaxis"]["range"]
    assert low < -1 and high < 10 and "beyond the frame" in page
    assert len(drawn(figures_in(page)[0], "initial points")["x"]) == len(run.completed)


@pytest.mark.parametrize("scale", [1e-200, 1e140])
def test_numbers_of_any_size_can_be_drawn(scale: float) -> None:
    optimizer = UnboundedOptimizer([(0.0, 1.0)])
    optimizer.add_data([[0.1], [0.4], [0.9]], [3 * scale, scale, 2 * scale])
    figure = figures_in(make_page(as_run(optimizer)))[0]
    assert drawn(figure, "best so far")["y"] == pytest.approx([3 * scale, scale, scale], rel=1e-6)


def test_data_that_no_model_takes_are_shown_all_the_same() -> None:
    optimizer = UnboundedOptimizer([(0.0, 1.0)])
    optimizer.add_data([[1e200]], [1.0])
    page = make_page(as_run(optimizer))
    assert "There is no model of these data: Expected some datum within" in page
    assert drawn(figures_in(page)[0], "best")["y"] == [1.0]


def test_long_runs_are_thinned_and_say_so() -> None:
    run = long_run(5000)
    page = make_page(run)
    figure = figures_in(page)[0]
    shown = len(drawn(figure, "initial points")["x"])
    assert 1500 <= shown <= 2000
    assert f"{shown:,} of 5,000 evaluations are drawn" in page
    assert "fitted to the 400 evaluations nearest to the best of 5,000" in page
    assert drawn(figure, "best so far")["y"][-1] == pytest.approx(float(run.Y.min()), rel=1e-6)


def test_refreshing_pages_say_so() -> None:
    assert 'data-refresh="2.5"' in make_page(RUNS["empty"](), refresh=2.5)
    assert "data-refresh" not in make_page(RUNS["empty"]())


class TestWriting:
    def test_a_result_an_optimizer_and_a_file_have_the_same_page(self, tmp_path: Path) -> None:
        optimizer = UnboundedOptimizer([(0.0, 1.0)], checkpoint=tmp_path / "run.db")
        optimizer.tell(optimizer.ask(), 1.0)
        before = (tmp_path / "run.db").read_bytes()
        pages = [tmp_path / f"{name}.html" for name in ("result", "optimizer", "file")]
        sources = (optimizer.result(), optimizer, tmp_path / "run.db")
        for page, source in zip(pages, sources, strict=True):
            assert write_page(source, page) == page
        first, *others = (figures_in(page.read_text()) for page in pages)
        assert all(other == first for other in others)
        assert (tmp_path / "run.db").read_bytes() == before
        assert sorted(it.name for it in tmp_path.iterdir()) == [
            "file.html", "optimizer.html", "result.html", "run.db",
        ]  # fmt: skip
        assert optimizer.result().report(tmp_path / "again.html").exists()

    def test_refusals(self, tmp_path: Path) -> None:
        optimizer = UnboundedOptimizer([(0.0, 1.0)], checkpoint=tmp_path / "run.db")
        with pytest.raises(InputDataError, match="another file than the run file"):
            write_page(optimizer, tmp_path / "run.db")
        with pytest.raises(InputDataError, match="folder that exists"):
            write_page(optimizer, tmp_path / "no" / "run.html")
        with pytest.raises(InputDataError, match="is a folder"):
            write_page(optimizer, tmp_path)
        with pytest.raises(InputDataError, match="got int"):
            write_page(3, tmp_path / "run.html")  # type: ignore[arg-type]


def test_watching_writes_when_something_has_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, page = tmp_path / "run.db", tmp_path / "run.html"
    optimizer = UnboundedOptimizer([(0.0, 1.0)], num_initial=2, search=QUICK, checkpoint=path)
    written = []

    def note(source: Any, target: Any, refresh: float | None = None) -> Path:
        written.append((len(as_run(source).completed), refresh))
        return write_page(source, target, refresh)

    looks = iter(range(7))

    def work_between_looks() -> bool:
        look = next(looks, None)
        if look is not None and look % 2:  # twice the same, then one more
            trial = optimizer.ask()  # from the third on, the box moves
            optimizer.tell(trial, -trial.X[0])
        return look is not None

    monkeypatch.setattr(write, "write_page", note)
    write.watch(path, page, 0.01, work_between_looks)
    assert written == [(0, 0.01), (1, 0.01), (2, 0.01), (3, 0.01), (3, None)]
    assert optimizer.box.history and "data-refresh" not in page.read_text()


def test_without_plotly_the_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("plotly"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.undo()  # of the fixture
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"botorch-ubo\[report\]"):
        write_page(UnboundedOptimizer([(0.0, 1.0)]), tmp_path / "run.html")
    assert not list(tmp_path.iterdir())
