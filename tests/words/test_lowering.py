"""The operations that graphs are lowered to: their numbers, which decide speed and size."""

import hashlib
from collections import Counter
from typing import Any

import pytest
from wordgraphs import random_graph
from words.test_operations import lowered

import boolcomp as bc
from boolcomp.words import MACHINES

KINDS = ["sum", "product", "shift", "xor", "bits", "entry", "clamp", "choose"]
# For every machine: operations of each kind and entries of tables of the 2R at 8 bits, and a digest
# of all operations of it and of thirty random graphs.
OPERATIONS: dict[str, tuple[tuple[int, ...], int, str]] = {
    "mcu8": ((9, 1, 9, 0, 7, 13, 0, 0), 4864, "da34b91c4e7a"),
    "mcu32": ((9, 1, 9, 0, 7, 13, 0, 0), 4864, "589ba4daae25"),
    "simd": ((9, 1, 9, 0, 7, 13, 0, 0), 4864, "589ba4daae25"),
    "scalar": ((4, 0, 6, 0, 5, 14, 0, 0), 20384, "dac993b1c30a"),
    "lanes": ((9, 3, 10, 0, 5, 19, 0, 0), 2160, "15c452305fe6"),
}


@pytest.mark.parametrize("machine", MACHINES)
def test_graphs_are_lowered_to_the_operations_that_they_always_were(machine: str) -> None:
    graph = bc.compile("machado-2r", bits=8).graph
    assert graph is not None
    made = lowered(graph, MACHINES[machine])
    counts = Counter(one.op for one in made.ops)
    others: list[Any] = [lowered(random_graph(seed), MACHINES[machine]) for seed in range(30)]
    digest = hashlib.sha256(repr([made, *others]).encode()).hexdigest()[:12]
    found = tuple(counts[kind] for kind in KINDS), sum(map(len, made.tables)), digest
    assert found == OPERATIONS[machine]
