"""How hard to search for the maximum of an acquisition function."""

from __future__ import annotations

from dataclasses import dataclass

from botorch.exceptions.errors import InputDataError

Options = dict[str, bool | float | int | str]


@dataclass(frozen=True)
class SearchSettings:
    r"""How hard to search.

    Args:
        num_restarts: Restarts of an acquisition optimisation, from the best samples well apart
            from each other; several times as many where a formula makes them cheap.
        raw_samples: Samples from which the restarts are chosen; likewise.
        options: Options of ``optimize_acqf``.
    """

    num_restarts: int = 4
    raw_samples: int = 512
    options: Options | None = None

    def __post_init__(self) -> None:
        """Validate."""
        if self.num_restarts < 1 or self.raw_samples < 4:
            raise InputDataError(
                "Expected `num_restarts` of at least 1 and `raw_samples` of at least 4; got "
                f"{self.num_restarts} and {self.raw_samples}."
            )
