"""From the text of a machine file to a checked `Machine`; the machines that ship."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from boolcomp.base.errors import parse_toml
from boolcomp.base.files import read_text
from boolcomp.common.errors import DataError, UsageError, cut, listing, shown, suggestion
from boolcomp.parallel.schedule.machine import TOPOLOGIES, Costs, Links, Machine, Shared

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).parent / "machines"
MEASURED = "this-machine"
MOST_BYTES = 1 << 18
MOST_PROCESSORS = 1 << 16
MOST_COST = 1e12  # µs: a fortnight for one operation
_TOP = ("name", "title", "source", "processors", "operations", "links", "shared")
_OPERATIONS = ("multiplication", "addition", "division", "root", "function", "dispatch")
_LINKS = ("topology", "count", "latency", "word", "overlap")
_SHARED = ("latency", "word", "lock", "queue", "poll", "own")


def machine_names() -> tuple[str, ...]:
    """Return the names that `load_machine` knows."""
    return (*sorted(path.stem for path in FOLDER.glob("*.toml")), MEASURED)


def load_machine(name: str) -> Machine:
    """Return a machine that ships, this machine as measured now, or the one in a TOML file."""
    if name == MEASURED:
        from boolcomp.parallel.schedule.measured import measured_machine  # noqa: PLC0415 (it takes a while)

        return measured_machine()
    path = Path(name)
    if path.suffix != ".toml":
        if name not in machine_names():
            raise UsageError(
                f"unknown machine {shown(name)}{suggestion(name, machine_names())}; known are "
                f"{listing(machine_names())}, or the path of a .toml file"
            )
        path = FOLDER / f"{name}.toml"
    return parse_machine(read_text(path, MOST_BYTES), str(path))


def parse_machine(text: str, where: str = "machine") -> Machine:
    """Read the text of a machine file; `where` names it in messages."""
    document = parse_toml(text, where)
    top = _Table(where, "", document)
    top.check_keys(_TOP)
    if ("links" in document) == ("shared" in document):
        top.fail("links", "a machine has either a [links] or a [shared] section")
    costs = top.section("operations", _OPERATIONS)
    return Machine(
        name=top.string("name"),
        title=top.string("title", ""),
        source=top.string("source", ""),
        processors=top.count("processors"),
        costs=Costs(
            multiplication=costs.cost("multiplication"),
            addition=costs.cost("addition"),
            division=costs.cost("division"),
            root=costs.cost("root"),
            function=costs.cost("function"),
            dispatch=costs.cost("dispatch", 0.0),
        ),
        memory=_links(top) if "links" in document else _shared(top),
    )


def _links(top: _Table) -> Links:
    section = top.section("links", _LINKS)
    text = section.string("topology")
    topology = next((known for known in TOPOLOGIES if known == text), None)
    if topology is None:
        hint = suggestion(text, TOPOLOGIES) or f" (allowed: {listing(TOPOLOGIES)})"
        section.fail("topology", f"unknown topology {shown(text)}{hint}")
    return Links(
        topology,
        section.count("count"),
        section.cost("latency"),
        section.cost("word"),
        section.truth("overlap"),
    )


def _shared(top: _Table) -> Shared:
    section = top.section("shared", _SHARED)
    return Shared(
        latency=section.cost("latency"),
        word=section.cost("word"),
        lock=section.cost("lock"),
        queue=section.cost("queue"),
        poll=section.truth("poll"),
        own=section.truth("own", default=False),
    )


@dataclass(frozen=True, slots=True)
class _Table:
    """One table of the file, for messages that name file and key."""

    where: str
    path: str
    table: Mapping[str, Any]

    def fail(self, key: str, problem: str) -> NoReturn:
        raise DataError(f"{self.where}: {self.path}{cut(key)}: {problem}")

    def check_keys(self, allowed: tuple[str, ...]) -> None:
        for key in self.table:
            if key not in allowed:
                hint = suggestion(key, allowed) or f" (allowed: {listing(allowed)})"
                self.fail(key, f"unknown key{hint}")

    def value(self, key: str, default: Any = None) -> Any:
        if key not in self.table and default is None:
            self.fail(key, "missing")
        return self.table.get(key, default)

    def section(self, key: str, allowed: tuple[str, ...]) -> _Table:
        table = self.value(key)
        if not isinstance(table, dict):
            self.fail(key, f"must be a section, [{key}]")
        section = _Table(self.where, f"{self.path}{key}.", table)
        section.check_keys(allowed)
        return section

    def string(self, key: str, default: str | None = None) -> str:
        value = self.value(key, default)
        if not isinstance(value, str):
            self.fail(key, f"must be text, not {shown(value)}")
        return str(value)

    def truth(self, key: str, *, default: bool | None = None) -> bool:
        value = self.value(key, default)
        if not isinstance(value, bool):
            self.fail(key, f"must be true or false, not {shown(value)}")
        return bool(value)

    def count(self, key: str) -> int:
        value = self.value(key)
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not 1 <= value <= MOST_PROCESSORS:
            self.fail(
                key, f"must be a whole number from 1 to {MOST_PROCESSORS}, not {shown(value)}"
            )
        return int(value)

    def cost(self, key: str, default: float | None = None) -> float:
        value = self.value(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fail(key, f"must be a number of µs, not {shown(value)}")
        if not 0 <= value <= MOST_COST:
            self.fail(key, f"must be a cost of 0 to {MOST_COST:g} µs, not {shown(value)}")
        return float(value)
