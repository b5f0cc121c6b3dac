"""Expressions of code: moving and cutting are simplified only where no bit is lost."""

from __future__ import annotations

from itertools import product

from boolcomp.targets import Moved, Name, Number, Padded, Python, low, moved

X = Name("x", 8)


def value(expression: object, x: int) -> int:
    return int(eval(Python([]).show(expression), {"x": x}))  # type: ignore[arg-type]  # noqa: S307


def test_moving_twice_and_cutting_give_the_value_of_doing_so() -> None:
    def by(number: int, places: int) -> int:
        return number << places if places >= 0 else number >> -places

    for first, second in product(range(-5, 6), repeat=2):
        for x in (0, 77, 178, 255):
            once = moved(X, first)
            assert value(moved(once, second), x) == by(by(x, first), second)
            assert value(low(once, 3), x) == by(x, first) % 8
    for second, x in product(range(-9, 1), (0, 77, 255)):
        padded = (x << 4) + 9
        assert value(moved(Padded(X, 4, 9), second), x) == padded >> -second
        assert value(low(Padded(X, 4, 9), -second), x) == padded % (1 << -second)


def test_moving_back_and_forth_is_nothing_where_no_bit_is_lost() -> None:
    assert moved(moved(X, 3), -3) == X
    assert moved(moved(X, -3), -3) == Moved(X, -6)
    assert moved(Padded(X, 4, 9), -4) == X
    assert low(Padded(X, 4, 9), 3) == Number(1)
