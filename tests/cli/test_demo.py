"""The demonstration runs, tells the truth about its run, and leaves pictures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from PIL import Image

from botorch_ubo.boxes import contains
from botorch_ubo.cli import demo

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(autouse=True)
def _threads():
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def both() -> tuple[demo.Run, demo.Run]:
    """The default and the fixed box, as they are by default."""
    runs = [demo.run(name, 3, 30, 2.0, quiet=True) for name in ("EI-Turns", demo.FIXED)]
    return runs[0], runs[1]


@pytest.mark.parametrize("seed", range(20))
def test_the_first_box_is_a_fifth_of_the_domain_without_an_optimum(seed: int):
    box = demo.first_box(seed)
    assert torch.allclose(box[1] - box[0], torch.full((2,), 3.0, dtype=torch.double))
    assert contains(demo.DOMAIN, box).all()
    assert not contains(box, demo.OPTIMIZERS).any()


def test_the_objective_is_branin_beyond_its_domain_too():
    X = torch.tensor([[torch.pi, 2.275], [0.0, 0.0], [0.0, 26.0]], dtype=torch.double)
    far = 10 - 10 / (8 * torch.pi)  # of what does not depend on the second coordinate at 0
    expected = [0.397887, 36 + 10 + far, 400 + 10 + far]
    assert demo.objective(X).tolist() == pytest.approx(expected, abs=1e-5)


@pytest.mark.slow
def test_the_default_finds_what_a_fixed_box_cannot(both: tuple[demo.Run, demo.Run]):
    ours, fixed = both
    assert ours.regret[-1] < 0.05 < 10 < fixed.regret[-1]
    first = ours.box.initial_bounds
    assert not contains(first, ours.X[ours.best])
    assert torch.equal(fixed.box.bounds, first) and contains(first, fixed.X).all()
    assert [step.num_observations for step in ours.steps] == list(range(6, 37))
    sides = [float((step.region[1] - step.region[0]).max()) for step in ours.steps]
    assert sides[-1] < sides[0] / 4  # it has closed in
    assert contains(ours.steps[-1].bounds, ours.steps[-1].region.mean(dim=0))


@pytest.mark.slow
def test_the_certificate_is_in_units_of_the_function(both: tuple[demo.Run, demo.Run]):
    """As far as the box goes, nothing is more than epsilon better than the best point by then."""
    ours = demo.run("GPUCB-UBO", 3, 30, 2.0, quiet=True)
    certificate = ours.box.certificate
    assert certificate is not None and certificate.epsilon == pytest.approx(2.0)
    bounds = torch.tensor(certificate.bounds, dtype=torch.double)
    unit = torch.rand(20_000, 2, dtype=torch.double, generator=torch.Generator().manual_seed(0))
    lowest = demo.objective(bounds[0] + (bounds[1] - bounds[0]) * unit).min()
    assert ours.Y[: certificate.num_observations].min() - lowest <= 2.0
    assert str(certificate) in demo.summarize(ours, both[1])


@pytest.mark.slow
def test_main_reports_and_draws(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
):
    picture, film = tmp_path / "demo.png", tmp_path / "demo.gif"
    demo.main(["--budget", "3", "--seed", "1", "--output", str(picture), "--animate", str(film)])
    captured = capsys.readouterr()
    assert picture.read_bytes().startswith(PNG)
    assert picture.stat().st_size > 20_000
    with Image.open(film) as image:
        assert image.n_frames == 4  # after the initial points, and after each other
    lines = captured.out.splitlines()
    assert lines[0].startswith("iteration 1: TurnsBox moved the box, every step; ")
    begin = next(i for i, line in enumerate(lines) if line.startswith("found"))
    summary = dict(re.split(r"\s{2,}", line, maxsplit=1) for line in lines[begin:])
    assert list(summary) == [
        "found", "optimum", "regret", "fixed box", "box", "picture", "animation",
    ]  # fmt: skip
    assert "in 9 evaluations, 6 of them initial" in summary["found"]
    assert summary["optimum"].startswith("0.3979, at (-3.142, 12.28)")
    assert summary["box"].startswith("from [-4.27, -1.27] x [2.69, 5.69] to ")
    found, regret = (
        float(re.search(pattern, summary[key]).group(1))
        for key, pattern in (("found", r"\) = (\S+) in"), ("regret", r"^(\S+), of"))
    )
    assert found - regret == pytest.approx(0.397887, rel=1e-2)
    assert torch.get_num_threads() == 1
    assert not [str(w.message) for w in recwarn if "botorch" in w.filename]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_run():
    first, second, other = (demo.run("EI-Turns", seed, 2, 2.0, quiet=True) for seed in (2, 2, 3))
    assert torch.equal(first.X, second.X)
    assert not torch.equal(first.X, other.X)


def test_the_picture_of_the_readme_is_small_and_moves():
    path = Path(__file__).parents[2] / "docs" / "static" / "demo.gif"
    assert path.stat().st_size < 2_000_000
    with Image.open(path) as image:
        assert image.n_frames == 31
