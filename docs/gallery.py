"""Make the gallery of the site: programs that ship, their pages, pictures and files to download."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import sys
import zlib
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import boolcomp

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
PAGES, FILES = "demo", "downloads"  # folders of the site
SIDE = 96  # pixels of a picture
DARK, LIGHT = (28, 55, 92), (255, 221, 140)  # of the smallest and the largest output
MAJORITY = ".i 3\n.o 1\n.ilb a b c\n.ob most\n11- 1\n1-1 1\n-11 1\n.e\n"
MAP = ((0, 1, 3, 2), (4, 5, 7, 6))  # values of three bits as a Karnaugh map shows them


@dataclass(frozen=True, slots=True)
class Card:
    """A program: the words of `compile`, and an output drawn over two inputs."""

    name: str
    title: str
    asked: str
    output: int
    across: tuple[str, str]
    certified: bool = True


CARDS = (
    Card("2r", "2R arm of 1988, inverse dynamics", "machado-2r --bits 8", 0, ("q1", "q2")),
    Card("puma560", "PUMA 560, inverse dynamics", "puma560 --bits 8 --rms-error .505", 1,
         ("q2", "q3")),
    Card("panda", "Franka Panda, gravity", "panda --of gravity --effort 0", 1, ("q2", "q4"),
         certified=False),
    Card("pid", "PID controller with anti-windup", "examples/functions/pid.toml", 0, ("e", "i")),
    Card("park", "Clarke and Park transforms", "examples/functions/park.toml", 0,
         ("theta", "ia")),
)  # fmt: skip


def make(site: Path) -> str:
    """Write pages, pictures and files into the site's pages; return the cards as HTML."""
    for folder in (PAGES, FILES):
        (site / folder).mkdir()
    cards = "\n".join([*(_program(card, site) for card in CARDS), _majority(site)])
    return f'<div class="cards">\n{cards}\n</div>\n'


def _run(*words: str) -> str:
    command = [sys.executable, "-P", "-m", "boolcomp", *words]
    return subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True).stdout


def _program(card: Card, site: Path) -> str:
    files = site / FILES
    place = files / card.name
    asked = ("compile", *card.asked.split())
    extra = ("--certify",) if card.certified else ()
    found = json.loads(_run(*asked, *extra, "-o", str(place), "--json"))
    _run("show", str(place), "-o", str(site / PAGES / f"{card.name}.html"))
    links = [(f"{PAGES}/{card.name}.html", "live page")]
    for name, suffix, options in (
        ("Verilog", "v", ("--to", "verilog")),
        ("BLIF", "blif", ("--to", "blif")),
    ):
        _run("export", str(place), *options, "-o", str(files / f"{card.name}.{suffix}"))
        links.append((f"{FILES}/{card.name}.{suffix}", name))
    if card.certified:
        shutil.copyfile(place / "certificate.txt", files / f"{card.name}.certificate.txt")
        links.append((f"{FILES}/{card.name}.certificate.txt", "certificate"))
    _picture(_field(boolcomp.load_program(place), card), files / f"{card.name}.png")
    shutil.rmtree(place)
    return _html(card.name, card.title, f"boolcomp compile {card.asked}", _figures(found), links)


def _figures(found: dict[str, Any]) -> list[tuple[str, str]]:
    outputs = found["joints"]
    bounds = [one["bound_lsb"] for one in outputs]
    return [
        ("LUT3, depth", f"{found['luts']}, {found['depth']}"),
        ("LUT6", f"{found['lut6']}"),
        ("rms error", f"{max(one['rms_error_lsb'] for one in outputs):.2f} LSB"),
        ("largest found", f"{max(one['worst_found_lsb'] for one in outputs):.1f} LSB"),
        ("proved limit", "none" if None in bounds else f"{max(bounds) + 0.05:.1f} LSB"),
    ]


def _majority(site: Path) -> str:
    path = site / FILES / "majority.pla"
    path.write_text(MAJORITY)
    _run("show", str(path), "-o", str(site / PAGES / "majority.html"))
    minimal = _run("minimize", str(path), "--method", "exact", "-q", "-o", "-")
    products = [line.split()[0] for line in minimal.splitlines() if line[:1] in "01-"]
    most = [[any(_covers(one, f"{k:03b}") for one in products) for k in row] for row in MAP]
    _picture(np.array(most, float), site / FILES / "majority.png")
    figures = [("products", f"{len(products)}"), ("errors", "none")]
    links = [(f"{PAGES}/majority.html", "live page"), (f"{FILES}/majority.pla", "PLA")]
    return _html("majority", "Majority of three, a Karnaugh map", "boolcomp show majority.pla",
                 figures, links)  # fmt: skip


def _covers(product: str, bits: str) -> bool:
    return all(one in {"-", bit} for one, bit in zip(product, bits, strict=True))


def _field(program: boolcomp.Program, card: Card) -> NDArray[Any]:
    """Return an output over two inputs by logic; others are in the middle of their ranges."""
    ranges = {word.name: word.code.range for word in program.inputs}
    ranges |= {stop.name: stop.range for stop in program.stops}
    columns = {name: np.full(SIDE * SIDE, (x.low + x.high) / 2) for name, x in ranges.items()}
    down, right = np.divmod(np.arange(SIDE * SIDE), SIDE)
    for name, place in zip(card.across, (right, down), strict=True):
        of = ranges[name]
        columns[name] = of.low + (of.high - of.low) * place / (SIDE - 1)
    none = np.zeros(SIDE * SIDE)  # of what no network reads
    groups = [
        np.stack([columns.get(k, none) for k in group.members], axis=-1) for group in program.groups
    ]
    made = np.asarray(program(*groups))
    return made.reshape(SIDE, SIDE, -1)[:, :, card.output]


def _picture(field: NDArray[Any], path: Path) -> None:
    """Write values as a PNG file, from dark to light."""
    field = np.repeat(np.repeat(field, SIDE // len(field), axis=0), SIDE // len(field[0]), axis=1)
    part = (field - field.min()) / (field.max() - field.min() or 1)
    colours = np.array(DARK) + part[:, :, None] * (np.array(LIGHT) - np.array(DARK))
    rows = b"".join(b"\0" + row.tobytes() for row in colours.round().astype(np.uint8))
    height, width = field.shape
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))


def _html(
    name: str, title: str, command: str, figures: list[tuple[str, str]],
    links: list[tuple[str, str]],
) -> str:  # fmt: skip
    rows = "".join(f"<dt>{escape(a)}</dt><dd>{escape(b)}</dd>" for a, b in figures)
    ends = " · ".join(f'<a href="{path}">{escape(text)}</a>' for path, text in links)
    return (
        f'<article><h2 id="{name}">{escape(title)}</h2>'
        f'<a href="{PAGES}/{name}.html"><img src="{FILES}/{name}.png" width="{SIDE}" '
        f'height="{SIDE}" alt="{escape(title)}: an output over two inputs"></a>'
        f"<dl>{rows}</dl><p><code>{escape(command)}</code></p><p>{ends}</p></article>"
    )
