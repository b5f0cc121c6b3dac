"""Finished and unfinished compilations as files.

`puma560-8.<digest>.compact.json` holds everything of a result but the seconds; the digest is that
of the problem's text, the demand and this package's version. A file is written whole or not at all,
begins with the checksum of the rest, and is made anew where it is damaged. Beside it, while a
search runs, `….partial.json` holds the stages that are done, and `nets/` the networks of tables.
A place that was named may be shared: what lies there is proved before it is believed, unless this
user put it there, and what is not finished stays in the user's cache.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.errors import DataError, parse_json
from boolcomp.base.store import (
    Folder,
    find,
    keep,
    own_place,
    place_of,
    put,
    sealed,
    shipped_place,
    unsealed,
    user_cache,
    vouch,
)
from boolcomp.compact.demand import SEARCH_VERSION, Demand, digest
from boolcomp.compact.errors import Errors, Sampling, is_worst, measure_many
from boolcomp.compact.network import Ends
from boolcomp.compact.realisation import realised_places
from boolcomp.compact.result import Compact
from boolcomp.compact.sketch import widths_of, widths_text
from boolcomp.compact.sketch_terms import Form, build_sketch
from boolcomp.logic.network import parse_network, render_network
from boolcomp.logic.synthesis import abc
from boolcomp.logic.synthesis.optimise import Step
from boolcomp.proof.worst import Worst
from boolcomp.terms.extract import resting
from boolcomp.words.graph import Cone, parse_cone, parse_graph

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from boolcomp.base.store import Entry, Place, Where
    from boolcomp.logic.network import Network
    from boolcomp.problem.problem import Problem
    from boolcomp.terms.extract import Terms

CHECKED, CHECK_SEED, CHECK_SLACK = 16_384, 0x5EED, 0.08  # states; relative rms
NOT_USED = "{path}: damaged, or not what it says: it is not used"
TITLE = f"boolcomp compact result, format {SEARCH_VERSION}"


@dataclass(frozen=True, slots=True, eq=False)
class StoredResult:
    """What is kept of a result; `worst` is None in files of before it was sought.

    Errors are those of words decoded at the middles of cells, as the search saw them. The network
    is its graph's but for `cones`.
    """

    compact: Compact
    network: Network
    steps: tuple[Step, ...]
    lut6: int
    errors: Errors
    worst: Worst | None = None
    cones: tuple[Cone, ...] = ()


def unproved(_: StoredResult, results: ResultStore) -> StoredResult:
    """Refuse what comes from a place that others may have written to."""
    raise DataError(f"nobody has proved that {results.name} is what it says")


@dataclass(frozen=True, slots=True)
class ResultStore:
    """Where the result of one demand is looked for, and where it is written: the first place."""

    terms: Terms
    demand: Demand
    places: tuple[Place, ...]
    with_abc: bool

    @property
    def name(self) -> str:
        """The file's name without its ending: passes by ABC find less, so they are told apart."""
        problem = self.terms.problem
        name = f"{problem.name}-{self.demand.bits}.{digest(problem, self.demand)}"
        return name if self.with_abc else f"{name}.builtin"

    @property
    def _names(self) -> tuple[str, ...]:
        """The names under which a result is looked for: one that ABC made will do for all."""
        return tuple(dict.fromkeys((self.name.removesuffix(".builtin"), self.name)))

    @property
    def tables(self) -> Path | None:
        """The folder of the networks of tables, each verified when read; None where none can be.

        Stores of objects have none: thousands of small ones are nearer in the user's cache.
        """
        first = self.places[0]
        folder = (first.path if isinstance(first, Folder) else user_cache("compact")) / "nets"
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            return folder if os.access(folder, os.W_OK) else None
        return None

    def find(
        self, prove: Callable[[StoredResult, ResultStore], StoredResult] = unproved
    ) -> StoredResult | None:
        """Return the finished result, if one is stored whole and is what it says.

        One from a place that others may have written to goes through `prove`, which returns what
        is true of it, and raises a `DataError` where that is not enough.
        """

        def read(entry: Entry, text: str) -> StoredResult:
            document = _document(entry, text)
            if document.get("same") == self.demand.exact.key:
                return self._same(prove)
            kept = self._read(document)
            if entry.believed:
                return kept
            proved = prove(kept, self)
            if proved is kept:
                vouch(entry.name, text)
            return proved

        for name in self._names:
            pattern = glob.escape(f"{name}.compact.json")
            for kept in find(self.places, pattern, read, NOT_USED):
                return kept
        return None

    def _same(self, prove: Callable[[StoredResult, ResultStore], StoredResult]) -> StoredResult:
        """Return the exact result, where approximation gained nothing."""
        kept = replace(self, demand=self.demand.exact).find(prove)
        if kept is None:
            raise DataError("the result that it is the same as is not there")
        return replace(kept, compact=replace(kept.compact, demand=self.demand))

    def put_same(self) -> None:
        """Write down that approximation gained nothing: the exact result is the one."""
        document = {
            "title": TITLE, "robot": self.terms.problem.name, "demand": self.demand.key,
            "same": self.demand.exact.key,
        }  # fmt: skip
        name = f"{self.name}.compact.json"
        put(self.places[0], name, _sealed(document), "that nothing was gained is not kept")

    def _read(self, document: dict[str, Any]) -> StoredResult:
        kept = _read(document, self.terms, self.demand)
        if not _is_true(kept, Ends(rest=resting(self.terms))):
            raise DataError("not what it says")
        return kept

    def put(self, result: StoredResult) -> None:
        """Write a finished result, and forget what led to it; it is a warning if that fails."""
        name = f"{self.name}.compact.json"
        if put(self.places[0], name, render(result), "the result is not kept") is not None:
            with contextlib.suppress(OSError):
                self._partial.unlink(missing_ok=True)

    @property
    def _partial(self) -> Path:
        """The file of what is not finished: beside the result, or in the user's cache."""
        first = self.places[0]
        if first.trusted and isinstance(first, Folder):
            return first.path / f"{self.name}.partial.json"
        whose = hashlib.sha256(str(first).encode()).hexdigest()[:16]
        return user_cache("compact") / f"{self.name}.{whose}.partial.json"

    def stages(self) -> dict[str, Any]:
        """Return the stages that an interrupted search had done, by name."""
        partial = self._partial
        name = glob.escape(partial.name)
        own = Folder(partial.parent, trusted=True)
        return next(find([own], name, _document), {})

    def note(self, stages: dict[str, Any]) -> None:
        """Write down the stages that are done; what cannot be written only costs time."""
        keep(self._partial, _sealed(stages))


def result_store(
    terms: Terms, demand: Demand, store: Where | None, *, also_shipped: bool = True
) -> ResultStore:
    """Return the store of a place (by default the user's cache) and of what ships."""
    demand = demand.completed(terms.problem)
    first = own_place("compact") if store is None else place_of(store)
    with_abc = abc.find() is not None
    if not also_shipped:
        return ResultStore(terms, demand, (first,), with_abc)
    return ResultStore(terms, demand, (first, shipped_place("tables")), with_abc)


def _is_true(kept: StoredResult, ends: Ends) -> bool:
    """Check on states of its own that a network is its graph's, and errs as the file says.

    A demanded maximum is searched for again; of a file that does not name the worst it is doubted.
    """
    demand, compact = kept.compact.demand, kept.compact
    if kept.worst is None and demand.max:
        return False
    sampling = Sampling(compact.problem, demand.input_bits, demand.bits, CHECKED, CHECK_SEED)
    try:
        found = measure_many(sampling, compact.graph, kept.network, alone=not demand.keeps_graph)
    except AssertionError:
        return False
    if not np.allclose(found.rms, kept.errors.rms, rtol=CHECK_SLACK, atol=0.01):
        return False
    given = (compact.problem, demand, compact.graph, kept.network)
    return kept.worst is None or is_worst(*given, kept.worst, ends)


def render(kept: StoredResult) -> str:
    """Return the text of a result: the same for the same result."""
    compact = kept.compact
    demand, errors = compact.demand, kept.errors
    form = compact.form
    document = {
        "title": TITLE,
        "robot": compact.problem.name,
        "demand": demand.key,
        "form": [form.speeds, form.accelerations, form.chained, form.shared]
        + [form.exact] * (form.exact or form.direct or form.tabled)
        + [form.direct] * (form.direct or form.tabled)
        + [True] * form.tabled,
        "widths": widths_text(compact.widths),
        "biases": _numbers(compact.biases),
        "demanded": _numbers(compact.allowed),
        "built": compact.nodes,
        "predicted cost": compact.predicted_cost,
        "predicted rms": _numbers(compact.predicted_rms),
        "search": _errors_out(compact.errors),
        "fresh": _errors_out(errors),
        "worst": None if kept.worst is None else _worst_out(kept.worst),
        "lut6": kept.lut6,
        "steps": [[s.name, s.nodes, s.depth, s.note] for s in kept.steps],
        "graph": str(compact.graph).splitlines(),
        **({"cones": [str(cone) for cone in kept.cones]} if kept.cones else {}),
        "network": render_network(kept.network).splitlines(),
    }
    return _sealed(document)


def _sealed(document: dict[str, Any]) -> str:
    return sealed(json.dumps(document, indent=0))


def _document(entry: Entry, text: str) -> dict[str, Any]:
    document = parse_json(unsealed(text), str(entry))
    if not isinstance(document, dict):
        raise DataError(f"{entry}: not a result")
    return document


def _read(document: dict[str, Any], terms: Terms, demand: Demand) -> StoredResult:
    if document["title"] != TITLE or document["demand"] != demand.key:
        raise DataError("a result of another demand")
    form = Form(*document["form"])
    problem = terms.problem
    steps = problem.steps(demand.bits)
    graph = parse_graph(_text(document["graph"]))
    compact = Compact(
        problem, demand, form, build_sketch(terms, demand.input_bits, steps, form),
        widths_of(document["widths"]), graph, np.asarray(document["biases"]),
        np.asarray(document["demanded"]), document["built"], document["predicted cost"],
        np.asarray(document["predicted rms"]), _errors_in(document["search"]),
    )  # fmt: skip
    realised_places(compact.sketch, compact.widths, graph)  # or it is a graph of something else
    network = parse_network(_text(document["network"]))
    inputs, outputs = sum(n.bits for n in graph.inputs), sum(r.bits + 1 for r in graph.results)
    if (network.inputs, len(network.outputs)) != (inputs, outputs):
        raise DataError("a network of another graph")
    taken = tuple(Step(*step) for step in document["steps"])
    errors, worst = _errors_in(document["fresh"]), document.get("worst")
    found = None if worst is None else _worst_in(worst, problem)
    cones = tuple(parse_cone(line) for line in document.get("cones", ()))
    return StoredResult(compact, network, taken, document["lut6"], errors, found, cones)


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _numbers(values: Any) -> list[float]:
    return [float(value) for value in values]


def _errors_out(errors: Errors) -> dict[str, Any]:
    return {
        "samples": errors.samples,
        "rms": _numbers(errors.rms),
        "max": _numbers(errors.max),
        "mean": _numbers(errors.mean),
        "wrapped": list(errors.wrapped),
        "saturated": errors.saturated,
        **({} if errors.ends is None else {"ends": errors.ends.tolist()}),
    }


def _errors_in(document: dict[str, Any]) -> Errors:
    rms, ends = np.asarray(document["rms"]), document.get("ends")
    return Errors(
        rms, np.asarray(document["max"]), np.asarray(document["mean"]),
        tuple(document["wrapped"]), int(document["saturated"]), int(document["samples"]),
        None if ends is None else np.asarray(ends, np.float64).reshape(len(rms), 2),
    )  # fmt: skip


def _worst_out(worst: Worst) -> dict[str, Any]:
    return {
        "evaluations": worst.evaluations,
        "errors": worst.errors.tolist(),
        "states": worst.states.tolist(),
    }


def _worst_in(document: dict[str, Any], problem: Problem) -> Worst:
    inputs, outputs = len(problem.inputs), len(problem.outputs)
    errors = np.asarray(document["errors"], np.float64).reshape(outputs, 2)
    states = np.asarray(document["states"], np.float64).reshape(outputs, 2, inputs)
    return Worst(errors, states, int(document["evaluations"]), states[:, :0])
