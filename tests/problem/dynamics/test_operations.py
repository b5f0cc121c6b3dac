"""Operations add up and print as the papers write them."""

from __future__ import annotations

from boolcomp.problem.dynamics.operations import Operations


def test_operations_add_kind_by_kind() -> None:
    total = Operations(12, 9) + Operations(additions=1, divisions=2, roots=3, functions=4)
    assert total == Operations(12, 10, 2, 3, 4)
    assert total.total == 31


def test_operations_print_what_there_is() -> None:
    assert str(Operations(12, 9)) == "12 mul 9 add"
    assert str(Operations(divisions=1, roots=2, functions=3)) == "1 div 2 root 3 fun"
    assert str(Operations()) == "0"
