"""How hard to search: defaults, and what is refused."""

import pytest
from botorch.exceptions.errors import InputDataError

from botorch_ubo import SearchSettings


def test_defaults() -> None:
    settings = SearchSettings()
    assert (settings.num_restarts, settings.raw_samples, settings.options) == (4, 512, None)


@pytest.mark.parametrize("numbers", [(0, 512), (4, 3), (-1, -1)])
def test_too_little_is_refused_in_words(numbers: tuple[int, int]) -> None:
    with pytest.raises(InputDataError, match=f"at least 1 and.*at least 4; got {numbers[0]} and"):
        SearchSettings(*numbers)
    assert SearchSettings(1, 4).raw_samples == 4
