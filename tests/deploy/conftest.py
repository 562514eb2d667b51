"""The image for the full-size tests, built once for all of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.containers import IMAGE, Podman, private_podman


@pytest.fixture(scope="package")
def podman(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Podman]:
    """A podman of its own, with the image of this tree in it."""
    with private_podman() as engine:
        engine.build_image(IMAGE, Path(tmp_path_factory.mktemp("dist")))
        yield engine
