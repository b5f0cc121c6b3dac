"""Task graphs, small machines and a small program for the tests of schedules."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from boolcomp.parallel import Edge, Task, TaskGraph, load_machine
from boolcomp.problem import Operations, Tape, task

LINKED: Any = load_machine("t800")
SHARED: Any = load_machine("encore")
COSTS = replace(
    LINKED.costs, multiplication=0.5, addition=0.25, division=1.0, root=2.0, function=4.0
)


def named_graph(
    tasks: Mapping[str, Operations], edges: Iterable[tuple[str, str, int]]
) -> TaskGraph:
    """Return a graph of tasks by name, and of edges with their words."""
    made = tuple(Task(name, operations) for name, operations in tasks.items())
    return TaskGraph("g", made, tuple(Edge(*one) for one in edges))


def graph_of(times: str, edges: str = "") -> TaskGraph:
    """Return a graph: `a2 b1` are tasks and µs of a free machine, `ab4` is an edge of 4 words."""
    tasks = tuple(Task(x[0], Operations(2 * int(x[1:]))) for x in times.split())
    return TaskGraph("g", tasks, tuple(Edge(x[0], x[1], int(x[2:])) for x in edges.split()))


def random_graph(size: int, seed: int, density: float = 0.2, words: int = 3) -> TaskGraph:
    draw = random.Random(seed)  # noqa: S311
    tasks = tuple(
        Task(f"t{k}", Operations(draw.randint(0, 30), draw.randint(0, 30))) for k in range(size)
    )
    edges = tuple(
        Edge(f"t{a}", f"t{b}", draw.randint(0, words))
        for b in range(size)
        for a in range(b)
        if draw.random() < density
    )
    return TaskGraph(f"random-{seed}", tasks, edges)


def linked(
    topology: Any = "full", *, overlap: bool = True, count: int = 4, word: float = 1.5
) -> Any:
    """Return a machine of 64 processors with links."""
    links = replace(
        LINKED.memory, topology=topology, count=count, latency=0.5, word=word, overlap=overlap
    )
    return replace(LINKED, name="linked", processors=64, costs=COSTS, memory=links)


def shared(*, poll: bool = True, own: bool = False) -> Any:
    """Return a machine of 64 processors with memory in common."""
    memory = replace(
        SHARED.memory, latency=0.25, word=0.125, lock=1.0, queue=2.0, poll=poll, own=own
    )
    costs = replace(COSTS, dispatch=0.5)
    return replace(SHARED, name="shared", processors=64, costs=costs, memory=memory)


def free() -> Any:
    """Return a machine whose messages take no time."""
    one = linked(count=99, word=0.0)
    return replace(one, name="free", memory=replace(one.memory, latency=0.0))


@st.composite
def graphs(draw: st.DrawFn, most: int = 14) -> TaskGraph:
    size = draw(st.integers(1, most))
    counts = st.integers(0, 12)
    tasks = tuple(Task(f"t{k}", Operations(draw(counts), draw(counts))) for k in range(size))
    pairs = [(a, b) for b in range(size) for a in range(b)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=30)) if pairs else []
    edges = tuple(Edge(f"t{a}", f"t{b}", draw(st.integers(0, 4))) for a, b in chosen)
    return TaskGraph("drawn", tasks, edges)


def machines() -> st.SearchStrategy[Any]:
    return st.one_of(
        st.builds(
            linked,
            st.sampled_from(("full", "ring", "line", "star")),
            overlap=st.booleans(),
            count=st.integers(1, 3),
        ),
        st.builds(shared, poll=st.booleans(), own=st.booleans()),
    )


def there_and_back() -> tuple[Any, list[str]]:
    """Three tasks of all operations: the second uses the first, the third both."""
    tape = Tape()
    x, y = tape.input("x"), tape.input("y")
    with task(tape, "out"):
        a = tape.sine(x) * y - 0.5
        own = tape.cosine(x) + y * y
    with task(tape, "beyond"):
        b = tape.root(a * a + 1.0) / (2.0 + tape.sign(y))
    with task(tape, "back"):
        c = -(b * own) + a
    straight = tape.finish([("c", c), ("own", own), ("x", x)])
    return straight, [node.task for node in straight.nodes]
