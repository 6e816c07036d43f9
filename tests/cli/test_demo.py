"""The demonstration runs, tells the truth about its run, and leaves a picture."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import torch

from botorch_ubo import ConstantBeta, ExpandingBounds, get_method
from botorch_ubo.boxes import contains
from botorch_ubo.cli import demo

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(autouse=True)
def _threads():
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("seed", range(20))
def test_the_first_box_is_a_fifth_of_the_domain_without_the_optimum(seed):
    box = demo.first_box(seed)
    assert torch.allclose(box[1] - box[0], torch.full((2,), 1.8, dtype=torch.double))
    assert contains(demo.DOMAIN, box).all()
    assert not contains(box, demo.OPTIMIZERS).any()


def test_the_objective_is_beale_beyond_its_domain_too():
    X = torch.tensor([[3.0, 0.5], [0.0, 0.0], [20.0, 1.0]], dtype=torch.double)
    expected = [0.0, 1.5**2 + 2.25**2 + 2.625**2, 1.5**2 + 2.25**2 + 2.625**2]
    assert demo.objective(X).tolist() == pytest.approx(expected)


@pytest.mark.slow
def test_main_reports_and_draws(tmp_path, capsys, recwarn):
    picture = tmp_path / "demo.png"
    demo.main(["--budget", "3", "--seed", "1", "--output", str(picture)])
    captured = capsys.readouterr()
    assert picture.read_bytes().startswith(PNG)
    assert picture.stat().st_size > 20_000
    assert "best so far" in captured.err
    lines = captured.out.splitlines()
    assert lines[0].startswith("iteration 1: TheoremBox moved the box, first step; radius")
    summary = dict(re.split(r"\s{2,}", line, maxsplit=1) for line in lines[1:])
    assert list(summary) == [
        "found", "optimum", "regret", "expansions", "certificate", "current box", "picture",
    ]  # fmt: skip
    assert "in 9 evaluations, 6 of them initial" in summary["found"]
    assert summary["optimum"] == "f(3, 0.5) = 0"
    assert summary["expansions"].startswith("1: from [-4.0")
    assert summary["certificate"].startswith("none was issued")
    assert re.fullmatch(r"regret bound .* epsilon = \d.*", summary["current box"])
    assert summary["picture"] == str(picture)
    found, regret = (
        float(re.search(pattern, summary[key]).group(1))
        for key, pattern in (("found", r"\) = (\S+) in"), ("regret", r"^(\S+), of"))
    )
    assert found == regret >= 0
    assert torch.get_num_threads() == 1
    assert not [str(w.message) for w in recwarn if "botorch" in w.filename]


def test_the_summary_quotes_the_certificate():
    bounds = demo.first_box(0)
    X = bounds[0] + (bounds[1] - bounds[0]) * torch.rand(
        7, 2, dtype=torch.double, generator=torch.Generator().manual_seed(0)
    )
    method = replace(get_method("GPUCB-UBO"), beta=ConstantBeta(100.0))
    box = ExpandingBounds(bounds, method=method, maximize=False, epsilon=20.0)
    for n in (6, 7):  # at the second step the slack is a quarter: epsilon of 20 is reached
        Y = demo.objective(X[:n]).unsqueeze(-1)
        box.update(demo.make_model(X[:n], Y, bounds).eval())
    result = demo.Run(box, X, demo.objective(X).unsqueeze(-1))
    assert box.certificate is not None
    assert str(box.certificate) in demo.summarize(result)
    assert "expansions   2: from" in demo.summarize(result)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_run():
    first, second = demo.run(seed=2, budget=2), demo.run(seed=2, budget=2)
    assert torch.equal(first.X, second.X)
    assert not torch.equal(first.X, demo.run(seed=3, budget=2).X)
