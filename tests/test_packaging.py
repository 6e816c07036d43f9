"""The package as it is released: one version, a wheel with all that it needs, licences that fit."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, files, metadata
from pathlib import Path

import pytest

import botorch_ubo
from tests.support.requirements import installed_with

ROOT = Path(botorch_ubo.__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# By these licences call themselves that ask nothing of those who use a library under MIT; LGPL and
# MPL ask for their own files only, and nothing of them is copied here.
PERMISSIVE = re.compile(
    r"\b(MIT|BSD|0BSD|Apache|PSF|Python Software Foundation|ISC|MPL|LGPL)\b|"
    "Permission is hereby granted, free of charge"
)
STRONG = re.compile(r"\bA?GPL|GNU (Affero )?General Public")
# Extras of users; the others are tools for work on the package, which no user installs.
USERS = ("plot", "report", "dask", "scipy", "gest", "optuna", "ax")


def test_the_version_stands_in_one_place() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", botorch_ubo.__version__)
    assert "version" not in PROJECT and PROJECT["dynamic"] == ["version"]
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert cited is not None and cited[1] == botorch_ubo.__version__
    told = re.findall(r"^## \[(\d+\.\d+\.\d+)\]", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert told[0] == botorch_ubo.__version__


def test_the_command_is_declared_and_exists() -> None:
    module, _, name = PROJECT["scripts"]["botorch-ubo"].partition(":")
    assert module == "botorch_ubo.__main__"
    from botorch_ubo import __main__

    assert callable(getattr(__main__, name))


def licence_of(name: str) -> str:
    """What a distribution says of its licence, in whichever field or file it says so."""
    told = metadata(name)
    classifiers = [text for text in told.get_all("Classifier") or [] if "License" in text]
    said = [told.get("License-Expression"), *classifiers, (told.get("License") or "")[:400]]
    if not any(text and text != "UNKNOWN" for text in said):
        said = [it.read_text()[:400] for it in files(name) or () if it.stem == "LICENSE"]
    return " ".join(text for text in said if text)


def test_licences_of_what_users_install_are_compatible() -> None:
    licences = {}
    for name in installed_with(*USERS):
        with suppress(PackageNotFoundError):  # for other platforms
            licences[name] = licence_of(name)
    assert {"torch", "botorch", "plotly", "optuna"} <= set(licences)
    unclear = {name: it for name, it in licences.items() if not PERMISSIVE.search(it)}
    assert unclear == {}
    assert {name: it for name, it in licences.items() if STRONG.search(it)} == {}


@pytest.mark.slow
def test_wheel_and_source_archive(tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(
        ROOT / "botorch_ubo", source / "botorch_ubo", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    run = [sys.executable, "-m"]
    build = [*run, "build", "--no-isolation", "--outdir", str(tmp_path / "dist"), str(source)]
    done = subprocess.run(build, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    wheel, archive = sorted((tmp_path / "dist").iterdir())
    version = botorch_ubo.__version__
    assert wheel.name == f"botorch_ubo-{version}-py3-none-any.whl"
    assert archive.name == f"botorch_ubo-{version}.tar.gz"
    check = [*run, "twine", "check", "--strict", str(wheel), str(archive)]
    done = subprocess.run(check, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(wheel) as content:
        names = content.namelist()
        scripts = content.read(f"botorch_ubo-{version}.dist-info/entry_points.txt").decode()
    assert "botorch-ubo = botorch_ubo.__main__:run" in scripts
    shipped = {path.relative_to(source).as_posix() for path in source.rglob("botorch_ubo/**/*.*")}
    shipped = {name for name in shipped if "__pycache__" not in name}
    assert shipped <= set(names) and "botorch_ubo/run/page/page.js" in names
    assert all(name.startswith(("botorch_ubo/", "botorch_ubo-")) for name in names)
