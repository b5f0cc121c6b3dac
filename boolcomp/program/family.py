"""Programs of one problem with different loads, as one program: what is equal is there once."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

from boolcomp.common.errors import UsageError
from boolcomp.program.parts import JointNetwork

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from boolcomp.logic.network import Network
    from boolcomp.program.parts import CodedInput, Load, Slice
    from boolcomp.program.program import Program


def family_of(programs: Iterable[Program]) -> Program:
    """Return one program with the loads of several of the same problem; equal networks once."""
    members = list(programs)
    if not members or any(_head(program) != _head(members[0]) for program in members):
        raise UsageError("a family is made of programs of one robot, word length and mode")
    first = members[0]
    finest: dict[str, CodedInput] = {}
    for word in (word for program in members for word in program.inputs):
        known = finest.setdefault(word.name, word)
        if replace(known.code, bits=2) != replace(word.code, bits=2):
            raise UsageError(f"the programs of a family differ in the range or code of {word.name}")
        if known.code.bits < word.code.bits:
            finest[word.name] = word
    order = [name for group in first.groups for name in group.members if name in finest]
    networks: dict[Network, int] = {}
    loads: list[Load] = []
    for program in members:
        for network in program.networks:
            networks.setdefault(network, len(networks))
        loads += _moved(program, {name: k for k, name in enumerate(order)}, networks)
    return replace(
        first, inputs=tuple(finest[name] for name in order), networks=tuple(networks),
        loads=tuple(loads), certificate="", per_kilogram=(),
    )  # fmt: skip


def with_loads(program: Program, masses: Iterable[float]) -> Program:
    """Return a program with some of its loads, in their order, and what they need."""
    wanted = {program.load(mass).payload for mass in masses}  # what it has not is a sentence
    kept = [load for load in program.loads if load.payload in wanted]
    parts = [replace(program, loads=(load,), per_kilogram=(), certificate="") for load in kept]
    made = family_of(_trimmed(one) for one in parts)
    return replace(made, per_kilogram=program.per_kilogram if len(kept) > 1 else ())


def _trimmed(program: Program) -> Program:
    """Return a program of one load without the networks of others."""
    (load,) = program.loads
    used = {use.network for output in load.outputs for use in output.terms}
    used |= {load.joint.network} if load.joint else set()
    order = sorted(used)
    to = {place: k for k, place in enumerate(order)}
    outputs = tuple(
        replace(one, terms=tuple(replace(use, network=to[use.network]) for use in one.terms))
        for one in load.outputs
    )
    joint = load.joint and replace(load.joint, network=to[load.joint.network])
    networks = tuple(program.networks[place] for place in order)
    return replace(program, networks=networks, loads=(replace(load, outputs=outputs, joint=joint),))


def _head(program: Program) -> tuple[object, ...]:
    """Return what the programs of a family share."""
    skipped = ("inputs", "networks", "loads", "certificate", "per_kilogram")
    return tuple(
        getattr(program, one.name) for one in fields(program)
        if one.init and one.name not in skipped
    )  # fmt: skip


def _moved(
    program: Program, places: dict[str, int], networks: dict[Network, int]
) -> Iterator[Load]:
    """Yield a program's loads with input words and networks renumbered."""
    at = [networks[network] for network in program.networks]
    to = [places[word.name] for word in program.inputs]

    def moved(words: Iterable[Slice]) -> tuple[Slice, ...]:
        return tuple(replace(word, input=to[word.input]) for word in words)

    for load in program.loads:
        outputs = tuple(
            replace(
                output,
                terms=tuple(
                    replace(use, network=at[use.network], words=moved(use.words))
                    for use in output.terms
                ),
            )
            for output in load.outputs
        )
        joint = load.joint
        if joint is not None:
            joint = JointNetwork(at[joint.network], moved(joint.words))
        yield replace(load, outputs=outputs, joint=joint)
