"""The Dockerfile of deploy/image keeps the rules of hadolint, and the image's promises stand in it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IMAGE = ROOT / "deploy" / "image"
DOCKERFILE = IMAGE / "Dockerfile"
HADOLINT = Path(sys.executable).with_name("hadolint")


def lint(file: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([HADOLINT, "--no-color", file], capture_output=True, text=True, check=False)


def test_hadolint_finds_nothing():
    done = lint(DOCKERFILE)
    assert (done.returncode, done.stdout) == (0, "")


def test_hadolint_would_find_something(tmp_path):
    careless = tmp_path / "Dockerfile"
    careless.write_text("FROM debian\nRUN apt-get update && apt-get install curl\n")
    assert "DL3006" in lint(careless).stdout


def test_the_last_user_is_a_number_and_not_root():
    *_, user = re.findall(r"^USER (.*)$", DOCKERFILE.read_text(), re.MULTILINE)
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", user)


@pytest.mark.parametrize("word", ["HEALTHCHECK", "ENTRYPOINT", "LABEL", "STOPSIGNAL SIGTERM", "EXPOSE 8700 8701 8702"])
def test_the_image_says(word):
    assert f"\n{word}" in DOCKERFILE.read_text()
