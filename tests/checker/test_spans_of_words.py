"""What the checker says of words node by node, to the last digit."""

from __future__ import annotations

from fractions import Fraction

from shippedarms import built_of

from boolcomp.checker import ONE, Plain
from boolcomp.compact import explained
from boolcomp.proof import claim_of
from boolcomp.words import Lookup, Scale


def value(scale: Scale, bits: int, word: int) -> Fraction:
    """Return what a word stands for."""
    return (
        Fraction(scale.offset) + Fraction(2 * word + 1 - (1 << bits), 2) * Fraction(2) ** scale.lsb
    )


def test_a_table_says_no_less_and_no_more_than_its_entries() -> None:
    built = built_of("machado-2r", 5)
    claim = claim_of(explained(built.compact, built.ends))
    plain, held = Plain(claim), 0
    for place, seen in enumerate(plain.seen):
        stands = claim.places[place]
        if len(stands.words) == 1 and not stands.product:
            (k,) = stands.words
            node = claim.graph.nodes[k]
            if isinstance(node, Lookup) and seen.words is not None:
                said = {value(claim.graph.scales[k], node.bits, e) for e in node.entries}
                assert (seen.said.low, seen.said.high) == (min(said) * ONE, max(said) * ONE)
                held += 1
    assert held > 1
