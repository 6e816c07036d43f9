"""The pretend device models all but one in-place write, which the tests here do without."""

from collections.abc import Iterator

import pytest

from tests.support.on_devices import simgpu


@pytest.fixture(autouse=True)
def _no_view_writes() -> Iterator[None]:
    if simgpu is None:
        yield
    else:
        with simgpu.without_view_writes():
            yield
