"""The forms in which outputs are written and tried out, by place."""

from __future__ import annotations

from dataclasses import replace

from boolcomp.compact.sketch_terms import Form

FORMS = tuple(
    Form(speeds, accelerations, chained, exact=exact)
    for exact in (False, True)
    for speeds in (False, True)
    for accelerations in (False, True)
    for chained in (False, True)
)
PLAIN = range(len(FORMS) // 2)
EXACT = range(len(FORMS) // 2, len(FORMS))  # sums of angles lose no bit, which takes more logic
DIRECT, DIRECT_EXACT = len(FORMS), len(FORMS) + 1  # not of terms
FORMS = (*FORMS, Form(direct=True), Form(direct=True, exact=True))
TABLED = range(len(FORMS), len(FORMS) + len(PLAIN))  # for code, where tables and products are cheap
FORMS = (*FORMS, *(replace(FORMS[k], shared=False, tabled=True) for k in PLAIN))
