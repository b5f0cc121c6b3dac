"""Product terms dealt to shares: together they are the whole, and loads are balanced."""

import pytest
from small_programs import stages

from boolcomp.base import UsageError
from boolcomp.scale import deal_terms, make_shares, terms_of

PROGRAM = stages(4)[2]


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 5])
def test_shares_have_as_much_to_do_as_each_other(count: int) -> None:
    program = stages(5)[2]
    terms = terms_of(program.load(), program.wiring())
    shares = deal_terms(terms, [0] * count)
    loads = [share.load for share in shares]
    assert max(loads) <= 1.15 * sum(loads) / count
    cut = {call for share in shares for call in share.parts}
    assert len(cut) <= count
    whole = [call for share in shares for call in share.whole]
    assert sorted([*whole, *cut]) == sorted(terms.calls)
    assert make_shares(PROGRAM, 3) == make_shares(PROGRAM, 3)


@pytest.mark.parametrize("count", [0, 2000])
def test_a_senseless_number_of_shares_is_refused(count: int) -> None:
    with pytest.raises(UsageError, match="1 to 1024 processes"):
        make_shares(PROGRAM, count)
