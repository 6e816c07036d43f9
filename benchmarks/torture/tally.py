"""Counts of an attack: what was tried, survived, refused in words, lost, or ended opaquely.

An error is in words if it is one of BoTorch's classes and was raised by the package itself, with a
text that says what was expected. Whatever comes from deeper down, or does not come back, is opaque.
"""

import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from botorch.exceptions.errors import BotorchError

import botorch_ubo

PATIENCE = 120
"""Seconds for one attempt, on a busy machine too."""
_EXAMPLES = 20
_PACKAGE = Path(botorch_ubo.__file__).parent


class LostError(Exception):
    """Data are gone or are others, a limit is crossed, or nonsense was taken for sense."""


class HungError(Exception):
    """An attempt did not come back."""


@dataclass
class Tally:
    """The counts, with some examples of what went wrong."""

    attack: str
    tried: int = 0
    survived: int = 0
    refused: int = 0
    losses: int = 0
    opaque: int = 0
    examples: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @contextmanager
    def attempt(self, what: str, may_refuse: bool = True) -> Iterator[None]:
        """Count what happens within; nothing of it gets out.

        Args:
            what: Which attempt, for the examples.
            may_refuse: Whether an error in words is an answer. Where the input is sound, it is as
                bad as any other.
        """
        self.tried += 1
        try:
            with _patience(what):
                yield
        except LostError as error:
            self.lose(f"{what}: {error}")
        except BotorchError as error:
            if may_refuse and in_words(error):
                self.refused += 1
                self.survived += 1
            else:
                self.obscure(what, error)
        except (Exception, KeyboardInterrupt, SystemExit, GeneratorExit) as error:
            self.obscure(what, error)
        else:
            self.survived += 1

    def add(self, tried: int, bad: int, what: str) -> None:
        """Count many attempts at once, of which some were lost."""
        self.tried += tried
        self.survived += tried - bad
        if bad:
            self.lose(f"{what}: {bad} times", bad)

    def lose(self, example: str, count: int = 1) -> None:
        """Count losses."""
        self.losses += count
        self._show(f"lost: {example}")

    def obscure(self, what: str, error: BaseException) -> None:
        """Count an opaque error."""
        self.opaque += 1
        at = traceback.extract_tb(error.__traceback__)[-1:]
        where = f" at {Path(at[0].filename).name}:{at[0].lineno}" if at else ""
        self._show(f"opaque: {what}: {type(error).__name__}: {_text(error)[:300]}{where}")

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)

    def _show(self, example: str) -> None:
        if len(self.examples) < _EXAMPLES:
            self.examples.append(example)


def in_words(error: BaseException) -> bool:
    """Whether an error says in the package's own words what was expected."""
    frames = traceback.extract_tb(error.__traceback__)
    own = bool(frames) and _PACKAGE in Path(frames[-1].filename).parents
    return isinstance(error, BotorchError) and own and len(_text(error)) > 20


def expect(condition: bool, text: str) -> None:
    """Raise that something is lost, unless a condition holds."""
    if not condition:
        raise LostError(text)


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "(which cannot be printed)"


@contextmanager
def _patience(what: str) -> Iterator[None]:
    """Raise in the middle of an attempt that does not come back; in a main thread."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise HungError(f"{what} took more than {PATIENCE} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
