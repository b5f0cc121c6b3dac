"""The worst errors of plans, kept in the user's cache: seeking them takes most of a report's time.

Keyed by all that the search depends on. The states at which errors are the worst are kept as well:
what is read is believed only where the plan errs so at these very states.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import parse_json
from boolcomp.base.store import keep, sealed, unsealed, user_cache
from boolcomp.base.version import VERSION
from boolcomp.common.errors import DataError
from boolcomp.common.places import find
from boolcomp.common.workers import ALONE
from boolcomp.paper.known import plan_subject
from boolcomp.paper.quantised import NOTHING
from boolcomp.proof.worst import Worst, find_worst, worst_of

if TYPE_CHECKING:
    from boolcomp.common.workers import Workers
    from boolcomp.paper.plan import Plan
    from boolcomp.paper.quantised import Said
    from boolcomp.proof.worst import Subject

FOLDER = "worst"
CLIMBS = 3  # of what climbing finds: raised whenever it finds others


def worst_of_plan(
    plan: Plan, evaluations: int, workers: Workers = ALONE, said: Said = NOTHING
) -> Worst:
    """Return the worst errors of a plan's tables: those that were found before, or found now.

    Of tables whose rounding is free their words are `said`.
    """
    subject = plan_subject(plan, said)
    content = repr((VERSION, CLIMBS, plan.problem.key, plan.outputs, evaluations))
    for term in plan.terms if said else ():
        content += hashlib.sha256(said[term].tobytes()).hexdigest()
    name = f"{hashlib.sha256(content.encode()).hexdigest()[:32]}.json"
    folder = user_cache(FOLDER)
    for worst in find([folder], name, lambda entry, text: _read(text, str(entry), subject)):
        return worst
    worst = find_worst(subject, evaluations, workers=workers)
    keep(folder / name, sealed(_text(worst)), durable=False)
    return worst


def _text(worst: Worst) -> str:
    found = {
        "errors": worst.errors.tolist(),
        "states": worst.states.tolist(),
        "evaluations": worst.evaluations,
    }
    return json.dumps(found)


def _read(text: str, where: str, subject: Subject) -> Worst:
    """Return what a file says, if the plan errs so."""
    found = parse_json(unsealed(text), where)
    errors = np.array(found["errors"], dtype=np.float64)
    states = np.array(found["states"], dtype=np.float64)
    outputs, inputs = len(subject.codes), len(subject.axes)
    if errors.shape != (outputs, 2) or states.shape != (outputs, 2, inputs):
        raise DataError("errors of something else")
    for place in range(outputs):
        there = worst_of(subject, states[place]).errors[place]
        if not np.array_equal(there, errors[place]):
            raise DataError("the plan does not err so")
    none = np.empty((outputs, 0, inputs))
    return Worst(errors, states, int(found["evaluations"]), none)
