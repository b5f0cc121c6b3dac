"""The bound that is shown: the tighter of the compiler's and the checker's plain bound."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from shippedarms import built_of

from boolcomp.checker.errors.plain import Plain
from boolcomp.checker.steps import NotCoveredError
from boolcomp.common.errors import DataError
from boolcomp.compact.result.explained import explained
from boolcomp.compact.result.proved import proved
from boolcomp.proof.bound import checked
from boolcomp.proof.bound.checked import claim_of, met_with_checker
from boolcomp.proof.bound.plain import plain_bounds


def test_every_output_has_the_tighter_end_of_both_bounds() -> None:
    built = built_of("machado-2r", 8)
    said = explained(built.compact, built.ends)
    own, plain = plain_bounds(said), Plain(claim_of(said))
    shown = proved(built.compact, built.ends, {}, "plain", 1)
    assert shown is not None
    for k, (one, alone) in enumerate(zip(shown.outputs, own.outputs, strict=True)):
        low, high = plain.error(plain.claim.outputs[k], k).ends
        assert (one.low, one.high) == (max(low, alone.low), min(high, alone.high))
        assert one.steps < 0.96 * alone.steps
        assert built.worst.most[k] <= one.steps


def test_what_the_checker_does_not_cover_has_the_compilers_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built = built_of("machado-2r", 5)
    said = explained(built.compact, built.ends)

    def refuse(_: object) -> Plain:
        raise NotCoveredError("not this")

    monkeypatch.setattr(checked, "Plain", refuse)
    own = plain_bounds(said)
    assert met_with_checker(said, own) == own


def test_only_heaps_that_neither_bound_proves_are_named() -> None:
    built = built_of("elbow-3r", 8)
    said = explained(built.compact, built.ends)
    own, plain = plain_bounds(said), Plain(claim_of(said))
    assert own.unproved
    assert plain.overflow
    every = tuple(range(len(said.graph.nodes)))
    assert met_with_checker(said, replace(own, unproved=every)).unproved == tuple(plain.overflow)
    assert met_with_checker(said, replace(own, unproved=())).unproved == ()


def test_bounds_that_exclude_each_other_are_refused() -> None:
    built = built_of("machado-2r", 5)
    said = explained(built.compact, built.ends)
    own = plain_bounds(said)
    away = [replace(one, low=Fraction(90), high=Fraction(99)) for one in own.outputs]
    with pytest.raises(DataError, match="exclude each other"):
        met_with_checker(said, replace(own, outputs=tuple(away)))
