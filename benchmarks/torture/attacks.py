"""All attacks by name, with how much of each is tried."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.torture.acknowledged import attack_writes
from benchmarks.torture.damage import attack_bytes, attack_values
from benchmarks.torture.degenerate import attack_arguments, attack_data
from benchmarks.torture.killed_run import attack_kills
from benchmarks.torture.limits import attack_algebra, attack_designs
from benchmarks.torture.readers import attack_reads
from benchmarks.torture.returned import attack_errors, attack_returns
from benchmarks.torture.suggestions import attack_suggest
from benchmarks.torture.tally import Tally
from benchmarks.torture.units import attack_units
from benchmarks.torture.writers import attack_rivals, attack_shared


@dataclass(frozen=True)
class Attack:
    """What to call, with how many attempts or kills, and with how few at least."""

    run: Callable[[int, int], Tally]
    count: int
    least: int = 1


# The long ones first, so that two processes end together.
ATTACKS = {
    "designs": Attack(attack_designs, 100_000),
    "suggest": Attack(attack_suggest, 1_200),
    "units": Attack(attack_units, 360),
    "mutations": Attack(attack_bytes, 10_000),
    "kills": Attack(attack_kills, 50),
    "data": Attack(attack_data, 400),
    "values": Attack(attack_values, 1_500),
    "shared": Attack(attack_shared, 200, 12),
    "readers": Attack(attack_reads, 500, 5),
    "writes": Attack(attack_writes, 200),
    "returns": Attack(attack_returns, 100, 3),
    "errors": Attack(attack_errors, 100, 3),
    "arguments": Attack(attack_arguments, 1_000, 10),
    "rivals": Attack(attack_rivals, 200, 5),
    "algebra": Attack(attack_algebra, 2_000_000),
}


def run_attack(name: str, scale: float, seed: int) -> Tally:
    """One attack, in this process and children of it; what ends it is opaque."""
    attack, began = ATTACKS[name], time.perf_counter()
    try:
        tally = attack.run(max(attack.least, round(scale * attack.count)), seed)
    except Exception as error:
        tally = Tally(name, tried=1)
        tally.obscure("the attack itself", error)
    tally.seconds = round(time.perf_counter() - began, 1)
    return tally
