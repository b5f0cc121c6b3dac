"""Small programs for the tests of parallel execution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.problem.expressions.tape import Tape, task

if TYPE_CHECKING:
    from boolcomp.problem.expressions.straight import Straight


def there_and_back() -> tuple[Straight, list[str]]:
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
