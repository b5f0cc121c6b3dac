"""Writes the section `bound`: the proven errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boolcomp.proof.certificate.known import Known


def section(known: Known) -> str:
    """Return the lines of a section; none where there is nothing to say."""
    del known
    return ""
