"""Children of an attack, forked from a process that has imported everything."""

import os
import traceback
from collections.abc import Callable


def fork(work: Callable[[], object]) -> int:
    """Run something in a child, which shows its traceback and exits with 1 if it fails."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    return child


def wait_for(child: int) -> int:
    """The exit code of a child."""
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)
