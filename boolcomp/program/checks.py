"""Whether the parts of a program fit together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.program.parts import CodedOutput, JointNetwork, Load, Slice, TermUse
    from boolcomp.program.program import Program

STEP_SLACK = 1e-9  # relative: steps that differ by less are one step


def check_program(program: Program) -> None:
    """Raise a `ValueError` where the parts do not fit together."""
    payloads = [load.payload for load in program.loads]
    if not payloads or len(set(payloads)) != len(payloads):
        raise ValueError("a program has one load or several that differ")
    names = [name for group in program.groups for name in group.members]
    if len(set(names)) != len(names):
        raise ValueError("inputs are repeated")
    read = [word.name for word in program.inputs]
    if len(set(read)) != len(read) or not {*read, *(x.name for x in program.stops)} <= {*names}:
        raise ValueError("an input word, or a stop, is repeated or belongs to no input")
    _check_changes(program)
    for load in program.loads:
        if tuple(output.name for output in load.outputs) != program.returned.members:
            raise ValueError("the outputs are not those that are returned, in order")
        for output in load.outputs:
            for term in output.terms:
                _check_term(program, output, term)
        words = () if load.graph is None else load.graph.nodes
        if len(load.meanings) != len(words) or (words and load.joint is None):
            raise ValueError("a word graph has no network, or words without meanings")
        if load.joint is not None:
            _check_joint(program, load, load.joint)


def _check_changes(program: Program) -> None:
    given = program.per_kilogram
    if len(given) not in (0, len(program.returned.members)) or any(more < 0 for more in given):
        raise ValueError("what a kilogram changes is not said of every output")


def _check_term(program: Program, output: CodedOutput, term: TermUse) -> None:
    _check_use(program, term.name, term.network, term.words, term.code.bits)
    centred = term.code.range.low == -term.code.range.high
    if not centred or abs(term.code.step / output.step - 1) > STEP_SLACK:
        raise ValueError(f"{term.name} is not aligned with {output.name}")


def _check_joint(program: Program, load: Load, joint: JointNetwork) -> None:
    if any(output.terms for output in load.outputs):
        raise ValueError("a load has terms, or one network for all, not both")
    wide = sum(output.code.bits + 1 for output in load.outputs)
    _check_use(program, f"all {program.plural}", joint.network, joint.words, wide)
    inputs = {word.name for word in program.inputs}
    for output in load.outputs:
        if output.rest is not None and (not output.code.tread or not {*output.rest} <= inputs):
            raise ValueError(f"{output.name} has no cell at zero, or rests with no input")
    if load.graph is not None:
        read = [(program.inputs[word.input].name, word.bits, word.dropped) for word in joint.words]
        words = [(node.name, node.bits, 0) for node in load.graph.inputs]
        made = [result.bits for result in load.graph.results]
        if read != words or made != [output.code.bits for output in load.outputs]:
            raise ValueError("a word graph does not fit its network")


def _check_use(
    program: Program, name: str, place: int, words: Sequence[Slice], outputs: int
) -> None:
    if not 0 <= place < len(program.networks):
        raise ValueError(f"{name} has no network")
    network, inputs = program.networks[place], program.inputs
    for word in words:
        known = 0 <= word.input < len(inputs)
        if not known or not 0 <= word.dropped <= word.bits <= inputs[word.input].code.bits:
            raise ValueError(f"{name} reads bits that no input word has")
    width = sum(word.bits - word.dropped for word in words)
    if (network.inputs, len(network.outputs)) != (width, outputs):
        raise ValueError(f"the network of {name} does not fit its words")
