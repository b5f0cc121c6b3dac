"""Every design of a program on every board that is asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.common.errors import require_name
from boolcomp.measure.cycles.avr import AVR
from boolcomp.measure.cycles.board import DEADLINE, fastest
from boolcomp.measure.cycles.boards import M0, M3
from boolcomp.measure.cycles.design import Design
from boolcomp.measure.cycles.host import HOST
from boolcomp.measure.cycles.rivals import rivals
from boolcomp.measure.cycles.rows import CyclesRow
from boolcomp.measure.cycles.words import words_design

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boolcomp.measure.cycles.board import Board
    from boolcomp.measure.cycles.subject import Subject

BOARDS = {board.name: board for board in (AVR, M0, M3, HOST)}


def boards(names: Sequence[str]) -> list[Board]:
    """Return boards by name."""
    for name in names:
        require_name("target", name, BOARDS)
    return [BOARDS[name] for name in dict.fromkeys(names)]


def cycles_rows(
    subject: Subject,
    targets: Sequence[Board],
    progress: Callable[[str], None] = lambda _: None,
    deadline: float = DEADLINE,
    *,
    rivalled: bool = True,
) -> list[CyclesRow]:
    """Return a row for every board and design; what is not installed, or cannot be, is skipped."""
    missing = {board.name: board.missing() for board in targets}
    rows = [CyclesRow(name, "", skipped=why) for name, why in missing.items() if why]
    here = [board for board in targets if not missing[board.name]]
    if not here:
        return rows
    progress("words")
    found: list[Design] = [words_design(subject)]
    judged = replace(subject, own=found[0].rms)
    for name, made in rivals(judged, deadline, progress) if rivalled else ():
        if isinstance(made, Design):
            found.append(made)
        else:
            rows.append(CyclesRow("", name, skipped=made))
    measured = []
    for board in here:
        for design in found:
            progress(f"{board.name}: {design.name}")
            measured.append(_row(board, design, deadline))
    return [*measured, *rows]


def _row(board: Board, design: Design, deadline: float) -> CyclesRow:
    found, option = fastest(board, design, deadline)
    return CyclesRow(
        board.name, design.name, found.cycles, found.instructions, found.nanoseconds,
        found.flash, found.ram, design.rms, option, found.wrong,
    )  # fmt: skip
