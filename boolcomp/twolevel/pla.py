"""Berkeley PLA files, read in every dialect and written in one; `parse(render(pla))` is `pla`.

Output letters are those of Espresso: `1` or `4` ON, `0` or `3` OFF, `-` or `2` don't-care, `~`
nothing. The type lists the sets that the file gives (f: ON, d: don't-care, r: OFF; fd by default);
letters of other sets have no effect. In the input part of a row `-` or `2` is no literal; `?` and
`3` are no value at all, so the row has no points. Where ON and don't-care overlap, don't-care wins;
OFF must not overlap either. Outputs that `.phase` marks with 0 are complemented: their ON is the
function's OFF. `.pair` does not change the function and is ignored.
"""

from __future__ import annotations

import re
import stat
import sys
from array import array
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.base.errors import DataError, listing, suggestion, warn
from boolcomp.base.files import unreadable
from boolcomp.twolevel.cubes import Cubes, Shape, pack, points_of, unpack
from boolcomp.twolevel.function import Function, in_phase

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


STANDARD = Path("-")
KINDS = ("f", "fd", "fr", "fdr")
MOST_COLUMNS = 1 << 16
MOST_BYTES = 1 << 28  # a row of few letters takes seven times its size while it is read

_KNOWN = (".i", ".o", ".p", ".type", ".ilb", ".ob", ".phase", ".pair", ".e", ".end")
_SYMBOLIC = {
    ".mv": "multiple-valued variables",
    ".symbolic": "symbolic inputs",
    ".symbolic-output": "symbolic outputs",
    ".kiss": "state machines",
    ".label": "labels of multiple-valued variables",
}
_SPACE = b" \t|\r\f\v"
_NO = 255
_CELLS = 1 << 20  # letters that are decoded at a time


def _codes(*groups: str) -> NDArray[np.uint8]:
    table = np.full(256, _NO, np.uint8)
    for code, letters in enumerate(groups):
        table[np.frombuffer(letters.encode(), np.uint8)] = code
    return table


_INPUT = _codes("?3", "0", "1", "-2")  # bit 0: may be 0; bit 1: may be 1
_OUTPUT = _codes("~", "14", "03", "-2")  # nothing, ON, OFF, don't-care
_SETS = ((1, "f"), (3, "d"), (2, "r"))  # in the order ON, don't-care, OFF


@dataclass(frozen=True, slots=True, eq=False)
class Pla:
    """The content of a PLA file: `on`, `dc` and `off` have the file's rows, in its order.

    All three have the same input parts; the `out` bits of a row mark the outputs that it puts into
    the set. `phase` is False for outputs whose sets are those of the complement. `notes` are
    remarks on doubtful but harmless lines, such as a wrong `.p`.
    """

    kind: str
    on: Cubes
    dc: Cubes
    off: Cubes
    input_names: tuple[str, ...] | None = None
    output_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    phase: tuple[bool, ...] | None = None

    @property
    def inputs(self) -> int:
        return self.on.inputs

    @property
    def outputs(self) -> int:
        return self.on.outputs

    def __repr__(self) -> str:
        return render(self)

    def function(self, name: str = "<pla>") -> Function:
        """Return the function; DataError with a witness where its sets contradict each other."""
        off = self.off if "r" in self.kind else None
        try:
            given = Function.from_cubes(self.on, self.dc, off)
        except DataError as error:
            raise DataError.around(error, name) from error
        return given if self.phase is None else in_phase(given, self.phase)


def from_cubes(
    cubes: Cubes,
    input_names: tuple[str, ...] | None = None,
    output_names: tuple[str, ...] | None = None,
) -> Pla:
    """Return a cover as a PLA of type f with rows in canonical order."""
    none = Cubes.empty(cubes.inputs, cubes.outputs)
    return from_sets("f", (cubes, none, none), input_names, output_names)


def from_sets(
    kind: str,
    sets: tuple[Cubes, Cubes, Cubes],
    input_names: tuple[str, ...] | None = None,
    output_names: tuple[str, ...] | None = None,
    phase: tuple[bool, ...] | None = None,
) -> Pla:
    """Return ON, don't-care and OFF as a PLA; sets that the type does not give are dropped."""
    kept = [
        one.valid().canonical() if letter in kind else Cubes.empty(one.inputs, one.outputs)
        for (_, letter), one in zip(_SETS, sets, strict=True)
    ]
    rows = kept[0].joined(kept[1]).joined(kept[2])
    ends = np.cumsum([0, *map(len, kept)])
    planes = []
    for first, last in pairwise(ends):
        packed = rows.packed.copy()
        packed[:first, rows.shape.out_at :] = packed[last:, rows.shape.out_at :] = 0
        planes.append(Cubes(rows.inputs, rows.outputs, packed))
    on, dc, off = planes
    return Pla(kind, on, dc, off, input_names, output_names, phase=phase)


def read(path: Path) -> Pla:
    """Read a PLA file (`-`: standard input); DataError if it is invalid, DataWarning for notes."""
    try:
        data = _standard_input() if path == STANDARD else _content(path)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(data) > MOST_BYTES:
        raise DataError(f"larger than the maximum of {MOST_BYTES >> 20} MiB", where=path)
    pla = parse(data, str(path))
    for note in pla.notes:
        warn(f"{path}: {note}")
    return pla


def _content(path: Path) -> bytes:
    found = path.stat()
    if stat.S_ISCHR(found.st_mode):  # such as /dev/zero; pipes are allowed
        raise DataError("cannot be read: a device, not a file", where=path)
    with path.open("rb") as stream:
        return bytes(MOST_BYTES + 1) if found.st_size > MOST_BYTES else stream.read(MOST_BYTES + 1)


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise DataError("standard input is closed", where=STANDARD)
    return sys.stdin.buffer.read(MOST_BYTES + 1)


def parse(text: str | bytes, name: str = "<pla>") -> Pla:
    """Parse the text of a PLA file; messages begin with `name`."""
    data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    return _Parser(name).parse(data.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))


class _Parser:
    """The state of a parser within one file."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.line = 0
        self.sizes: dict[str, int] = {}
        self.kind: str | None = None
        self.names: dict[str, tuple[str, ...]] = {}
        self.letters = bytearray()
        self.starts = array("I")  # the line in which each row begins
        self.pending = 0  # letters of a row that goes on
        self.phase: tuple[bool, ...] | None = None
        self.notes: tuple[str, ...] = ()
        self.ended = False

    def fail(self, message: str, hint: str = "", line: int | None = None) -> DataError:
        return DataError(message, hint, where=f"{self.name}:{self.line if line is None else line}")

    def parse(self, data: bytes) -> Pla:
        at = 0
        while at <= len(data) and not self.ended:  # a list of all lines would be large
            end = data.find(b"\n", at)
            end = len(data) if end < 0 else end
            self.line += 1
            line = data[at:end].partition(b"#")[0].strip(_SPACE)
            at = end + 1
            if line[:1] == b".":
                self.directive(line)
            elif line:
                self.row(line)
        for needed in (".i", ".o"):
            if needed not in self.sizes:
                raise self.fail(f"no {needed} line (the number of {_column_kind(needed)})")
        if self.pending:
            width = self.sizes[".i"] + self.sizes[".o"]
            text = f"a row of {self.pending} letters, but {width} are needed"
            raise self.fail(text, line=self.starts[-1])
        return self.build(self.check_labels())

    def row(self, line: bytes) -> None:
        """Append the letters of a row, which may span several lines."""
        if len(self.sizes.keys() & {".i", ".o"}) < 2:
            self.refuse_early_row(line)
        width = self.sizes[".i"] + self.sizes[".o"]
        if width == 0:
            raise self.fail("a row in a file of no inputs and no outputs")
        letters = line.translate(None, _SPACE)
        if letters and not self.pending:
            self.starts.append(self.line)
        self.pending += len(letters)
        if self.pending > width:
            raise self.fail(
                f"a row of {self.pending} letters (begun in line {self.starts[-1]}); "
                f"{self.sizes['.i']} inputs and {self.sizes['.o']} outputs make {width}"
            )
        self.pending %= width
        self.letters += letters

    def refuse_early_row(self, line: bytes) -> None:
        if set(line) <= set(b"01-~234? \t|"):
            raise self.fail("a row before .i and .o have been given")
        raise self.fail(f"neither a row nor a directive, {_excerpt(line)}")

    def directive(self, line: bytes) -> None:
        # Longer lines than all labels and a .p after them are invalid anyway.
        pieces = line.split(None, MOST_COLUMNS + 3)
        key, *rest = (piece.decode("utf-8", "replace") for piece in pieces)
        if key in _SYMBOLIC:
            raise self.fail(
                f"{key} ({_SYMBOLIC[key]}) is not supported", "PLA files must be two-valued"
            )
        handlers: dict[str, Callable[[str, list[str]], None]] = {
            ".i": self.size, ".o": self.size, ".p": self.size, ".type": self.type,
            ".ilb": self.labels, ".ob": self.labels, ".e": self.end, ".end": self.end,
            ".phase": self.phases, ".pair": self.pairs,
        }  # fmt: skip
        if key not in handlers:
            raise self.fail(f"unknown directive {key[:40]!r}", suggestion(key[:40], _KNOWN))
        handlers[key](key, rest)

    def size(self, key: str, rest: list[str]) -> None:
        if len(rest) != 1 or not _is_count(rest[0]):
            raise self.fail(f"{key} takes one whole number, not {_words(rest)}")
        value = int(rest[0])
        if key != ".p":
            if self.sizes.get(key, value) != value:
                raise self.fail(f"{key} is given twice, with different numbers")
            if value > MOST_COLUMNS:
                raise self.fail(
                    f"{key} {value} is too large", f"at most {MOST_COLUMNS} columns are supported"
                )
        self.sizes[key] = value

    def type(self, key: str, rest: list[str]) -> None:
        if len(rest) != 1 or rest[0] not in KINDS:
            raise self.fail(f"unknown {key} {_words(rest)}", f"types are {listing(KINDS)}")
        if self.starts and self.kind != rest[0]:
            raise self.fail(".type must come before the first row")
        self.kind = rest[0]

    def labels(self, key: str, rest: list[str]) -> None:
        self.names[key] = tuple(rest)

    def phases(self, key: str, rest: list[str]) -> None:
        """Read one letter per output: 1 direct, 0 complemented."""
        text = "".join(rest)
        if not text or set(text) - {"0", "1"}:
            raise self.fail(
                f"{key} {_words(rest)} is wrong", "give 1 or 0 for every output, as in .phase 101"
            )
        self.phase = tuple(letter == "1" for letter in text)

    def pairs(self, key: str, _: list[str]) -> None:  # which inputs share a decoder
        self.notes += (f"{key} is ignored: every input is a variable of its own",)

    def end(self, key: str, rest: list[str]) -> None:
        if rest:
            raise self.fail(f"{key} takes no values")
        self.ended = True

    def check_labels(self) -> tuple[str, ...]:
        """Compare the numbers of labels and columns; separate a `.p` at the end of a label line."""
        notes = []
        for key, of in ((".ilb", ".i"), (".ob", ".o")):
            names, size = self.names.get(key, ()), self.sizes[of]
            if len(names) == size + 2 and names[-2] == ".p" and _is_count(names[-1]):
                notes.append(f"the {key} line ends in .p {names[-1]}: read as a line of its own")
                self.sizes.setdefault(".p", int(names[-1]))
                self.names[key] = names = names[:-2]
            if key in self.names and 0 < len(names) < size:
                notes.append(f"{key} names {len(names)} of {size} {_column_kind(of)}: ignored")
                del self.names[key]
            elif key in self.names and len(names) != size:
                raise self.fail(f"{key} has {len(names)} names for {size} {_column_kind(of)}")
        if self.phase is not None and len(self.phase) != self.sizes[".o"]:
            raise self.fail(f".phase has {len(self.phase)} letters for {self.sizes['.o']} outputs")
        return (*notes, *self.notes)

    def build(self, notes: tuple[str, ...]) -> Pla:
        inputs, outputs, count = self.sizes[".i"], self.sizes[".o"], len(self.starts)
        announced = self.sizes.get(".p")
        if announced is not None and announced != count:
            if announced > count and not self.ended:
                raise self.fail(
                    f".p announces {announced} rows, but there are {count} and no .e",
                    "is it cut off?",
                )
            notes += (f".p announces {announced} rows, the file has {count}",)
        kind = self.kind or "fd"
        letters = np.frombuffer(self.letters, np.uint8).reshape(count, inputs + outputs)
        shape = Shape(inputs, outputs)
        sets = {letter: np.zeros((count, shape.width), np.uint64) for _, letter in _SETS}
        step = _CELLS // max(1, inputs + outputs) + 1
        for at in range(0, count, step):
            rows = slice(at, at + step)
            terms, values = _INPUT[letters[rows, :inputs]], _OUTPUT[letters[rows, inputs:]]
            self.refuse_letters(letters, at, terms, 0, "input", "0 1 - 2 3 ?")
            self.refuse_letters(letters, at, values, inputs, "output", "0 1 - ~ 2 3 4")
            zero, one = pack(terms & 1 != 0), pack(terms & 2 != 0)
            for code, letter in _SETS:
                out = pack((values == code) & (letter in kind))
                sets[letter][rows] = np.concatenate([zero, one, out], axis=1)
        on, dc, off = (Cubes(inputs, outputs, packed) for packed in sets.values())
        names = self.names.get(".ilb"), self.names.get(".ob")
        return Pla(kind, on, dc, off, *names, notes, self.phase)

    def refuse_letters(
        self, letters: NDArray[np.uint8], first: int, codes: NDArray[np.uint8], left: int,
        part: str, allowed: str,
    ) -> None:  # fmt: skip
        """Raise DataError for an invalid letter; `codes` belong to the rows from `first` on."""
        invalid = np.argwhere(codes == _NO)
        if len(invalid):
            row, column = first + int(invalid[0, 0]), int(invalid[0, 1])
            letter = letters[row, left + column : left + column + 1].tobytes()
            text = f"{part} {column} is {_excerpt(letter)}"
            raise self.fail(text, f"use one of {allowed}", self.starts[row])


def _is_count(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= 12


def _words(words: list[str]) -> str:
    return repr(" ".join(word[:40] for word in words[:40])[:40])


def _excerpt(line: bytes) -> str:
    return repr(line[:24].decode("ascii", "backslashreplace"))


def _column_kind(key: str) -> str:
    return "inputs" if key == ".i" else "outputs"


def render(pla: Pla) -> str:
    """Write a PLA file that `parse` reads as the same `Pla` (up to `notes`)."""
    lines = [f".i {pla.inputs}", f".o {pla.outputs}"]
    for key, names in ((".ilb", pla.input_names), (".ob", pla.output_names)):
        if names is not None:
            lines.append(" ".join([key, *names]))
    if pla.phase is not None:
        lines.append(f".phase {''.join('01'[one] for one in pla.phase)}")
    lines += [f".type {pla.kind}", f".p {len(pla.on)}"]
    terms = pla.on.letters()
    values = np.zeros((len(pla.on), pla.outputs), np.uint8)
    for code, plane in ((1, pla.on), (2, pla.off), (3, pla.dc)):
        values[unpack(plane.out, pla.outputs)] = code
    # Without an OFF set 0 has the meaning of ~ and is more usual.
    owners = np.frombuffer(b"~10-" if "r" in pla.kind else b"010-", np.uint8)[values]
    space = np.full((len(terms), 1), ord(" "), np.uint8)
    newline = np.full((len(terms), 1), ord("\n"), np.uint8)
    body = np.concatenate([terms, space, owners, newline], axis=1).tobytes().decode("ascii")
    return "\n".join(lines) + "\n" + body + ".e\n"


# --------------------------------------------------------------------------------------------------
# A cover as a netlist of two levels, in BLIF or Verilog; shared products occur once.
# --------------------------------------------------------------------------------------------------

ONE = "1'b1"
_SIMPLE = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*")
# Verilog's keywords match this. Names that match it are escaped, which does not change them.
_LIKE_A_WORD = re.compile(r"[a-z][a-z_]+[01]?")


class Signals(NamedTuple):
    """Names of inputs and outputs, of the PLA or x0…, y0…, and of products."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    products: tuple[str, ...]


def signals(
    cubes: Cubes,
    input_names: tuple[str, ...] | None = None,
    output_names: tuple[str, ...] | None = None,
) -> Signals:
    """Return unique names of all signals; none continues a line of BLIF."""
    taken: set[str] = set()
    return Signals(
        _unique(input_names or [f"x{k}" for k in range(cubes.inputs)], taken),
        _unique(output_names or [f"y{k}" for k in range(cubes.outputs)], taken),
        _unique([f"p{k}" for k in range(len(cubes))], taken),
    )


def _unique(names: Sequence[str], taken: set[str]) -> tuple[str, ...]:
    found = []
    for name in map(_closed, names):
        own, count = name, 1
        while own in taken:
            count += 1
            own = f"{name}_{count}"
        taken.add(own)
        found.append(own)
    return tuple(found)


def _closed(name: str) -> str:
    return f"{name}_" if name.endswith("\\") else name


def blif(cubes: Cubes, names: Signals, phase: Sequence[bool], title: str) -> str:
    """Return a BLIF model with a node for every shared product and for every output."""
    rows = cubes.rows()
    shared = {k for k, (_, owners) in enumerate(rows) if owners.count("1") > 1}
    lines = [
        f".model {_closed(title)}",
        " ".join([".inputs", *names.inputs]),
        " ".join([".outputs", *names.outputs]),
    ]
    for k in sorted(shared):
        lines += _node(rows[k][0], names.inputs, names.products[k])
    for j, output in enumerate(names.outputs):
        mine = [k for k, (_, owners) in enumerate(rows) if owners[j] == "1"]
        common = [k for k in mine if k in shared]
        read = [names.products[k] for k in common]
        lines.append(" ".join([".names", *names.inputs, *read, output]))
        value = "1" if phase[j] else "0"
        for k in mine:
            term = "-" * cubes.inputs if k in shared else rows[k][0]
            flags = "".join("1" if other == k else "-" for other in common)
            lines.append(f"{term}{flags} {value}".strip())
        if not mine and not phase[j]:
            lines.append(f"{'-' * cubes.inputs} 1".strip())
    return "\n".join([*lines, ".end", ""])


def _node(term: str, inputs: Sequence[str], product: str) -> list[str]:
    """Return the lines of a product over the inputs that it reads."""
    read = [k for k, letter in enumerate(term) if letter != "-"]
    head = " ".join([".names", *(inputs[k] for k in read), product])
    return [head, f"{''.join(term[k] for k in read)} 1".strip()]


def verilog(cubes: Cubes, names: Signals, phase: Sequence[bool], title: str) -> str:
    """Return a Verilog module with a wire for every product and an assignment for every output."""
    rows = cubes.rows()
    inputs, outputs, products = (tuple(map(legal, own)) for own in names)
    ports = [f"  input wire {name}" for name in inputs]
    ports += [f"  output wire {name}" for name in outputs]
    lines = [f"module {legal(title)} (", ",\n".join(ports), ");"]
    for (term, _), product in zip(rows, products, strict=True):
        literals = [
            name if letter == "1" else f"~{name}"
            for letter, name in zip(term, inputs, strict=True)
            if letter != "-"
        ]
        lines.append(f"  wire {product} = {' & '.join(literals or [ONE])};")
    for j, output in enumerate(outputs):
        mine = [products[k] for k, (_, owners) in enumerate(rows) if owners[j] == "1"]
        total = " | ".join(mine) or "1'b0"
        lines.append(f"  assign {output} = {total if phase[j] else f'~({total})'};")
    return "\n".join([*lines, "endmodule", ""])


def legal(name: str) -> str:
    """Return a Verilog identifier; an escaped one ends with its space."""
    if _SIMPLE.fullmatch(name) and not _LIKE_A_WORD.fullmatch(name):
        return name
    printable = "".join(letter if "!" <= letter <= "~" else "_" for letter in name)
    return f"\\{printable} "


# --------------------------------------------------------------------------------------------------
# Statistics of a PLA file.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlaStatistics:
    """Sizes of a file and of its function.

    `unate` counts the inputs that ON rows read in one phase only, `unread` those that no row reads.
    `on_share` and `dc_share` are shares of all points of all outputs, None for large functions.
    """

    kind: str
    inputs: int
    outputs: int
    rows: int
    on_rows: int
    dc_rows: int
    off_rows: int
    literals: int
    unate: int
    unread: int
    on_share: float | None
    dc_share: float | None


def statistics(pla: Pla, name: str) -> PlaStatistics:
    """Return the statistics; DataError with a witness where the sets contradict each other."""
    function = pla.function(name)
    zero, one = unpack(pla.on.zero, pla.inputs), unpack(pla.on.one, pla.inputs)
    negative, positive = (zero & ~one).any(axis=0), (one & ~zero).any(axis=0)
    shares: list[float | None] = [None, None]
    if function.is_dense and pla.outputs:
        table = function.dense
        shares = [float(points_of(plane, pla.inputs).mean()) for plane in (table.on, table.dc)]
    on_rows, dc_rows, off_rows = (
        int(np.any(plane.out, axis=1).sum()) for plane in (pla.on, pla.dc, pla.off)
    )
    return PlaStatistics(
        kind=pla.kind, inputs=pla.inputs, outputs=pla.outputs, rows=len(pla.on),
        on_rows=on_rows, dc_rows=dc_rows, off_rows=off_rows, literals=pla.on.literals,
        unate=int((negative ^ positive).sum()), unread=int((~negative & ~positive).sum()),
        on_share=shares[0], dc_share=shares[1],
    )  # fmt: skip
