"""Results of cells in a folder: a cell is done, or it is not.

`cells/KEY.json` is a finished result with its checksum, `exports/KEY/` what it exported,
`failed/KEY.json` why there is none, `costs/KEY.json` how long it took. Files are written whole, the
result last, so that whatever ends a run leaves finished cells and no others; what is damaged is
made anew. So nothing waits for the disk: a power failure may damage what the last half minute
finished. Nothing but costs depends on who made a cell, or when.
"""

from __future__ import annotations

import base64
import contextlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from boolcomp.base.files import check_place, read_bytes, read_json, write_bytes, write_text
from boolcomp.base.store import DAMAGE
from boolcomp.common.errors import DataError
from boolcomp.scale.sweep_spec import canonical, digest_of

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.scale.sweep_spec import Cell, Outcome

Document = dict[str, Any]
PARTS = {"depth", "files", "input_bits", "lut6", "nodes", "outputs", "program"}  # of a result


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a cell has no result; `lost` where that was a worker's end, not the cell's fault."""

    why: str
    lost: bool


@dataclass(frozen=True, slots=True)
class Folder:
    """Where a sweep keeps what it finds."""

    path: Path

    def check(self) -> None:
        """Raise a `DataError` where nothing can be written, before work that takes long."""
        check_place(self._place("cells", "any"))

    def _place(self, kind: str, key: str) -> Path:
        return self.path / kind / f"{key}.json"

    def result(self, cell: Cell) -> Document | None:
        """Return the result of a cell that is done, exports and all."""
        asked = cell.asked
        try:
            document = read_json(self._place("cells", cell.key))
            found: Document = document["result"]
            whole = found.keys() >= PARTS and document["sha256"] == _seal(asked, found)
            if whole and document["asked"] == asked and self._exported(cell, found):
                return found
        except DAMAGE:  # whatever else lies there
            pass
        return None

    def _exported(self, cell: Cell, found: Document) -> bool:
        return all(
            digest_of(read_bytes(self.path / "exports" / cell.key / name)) == digest
            for name, digest in found["files"].items()
        )

    def put(self, cell: Cell, outcome: Outcome) -> None:
        """Write a finished cell: what it exported, what it cost, then the result."""
        key, asked = cell.key, cell.asked
        for name, text in outcome.files.items():
            place = self.path / "exports" / key / name
            write_bytes(place, base64.b64decode(text), durable=False)
        cost = {"seconds": outcome.seconds, "stored": outcome.stored, "asked": asked}
        write_text(self._place("costs", key), _rendered(cost), durable=False)
        seal = _seal(asked, outcome.result)
        document = {"asked": asked, "result": outcome.result, "sha256": seal}
        write_text(self._place("cells", key), _rendered(document), durable=False)
        self._forget(key)

    def failure(self, cell: Cell) -> Failure | None:
        """Return why a cell had no result when it was tried last."""
        try:
            document = read_json(self._place("failed", cell.key))
            return Failure(str(document["why"]), bool(document["lost"]))
        except DAMAGE:
            return None

    def fail(self, cell: Cell, failure: Failure) -> None:
        """Write down why a cell has no result."""
        document = {"asked": cell.asked, "why": failure.why, "lost": failure.lost}
        write_text(self._place("failed", cell.key), _rendered(document), durable=False)

    def _forget(self, key: str) -> None:
        """Forget a failure."""
        with contextlib.suppress(OSError):
            self._place("failed", key).unlink(missing_ok=True)

    def costs(self) -> list[Document]:
        """Return what cells took that were searched for, whatever sweep they were of."""
        found = []
        with contextlib.suppress(OSError):
            for path in sorted((self.path / "costs").glob("*.json")):
                with contextlib.suppress(*DAMAGE):
                    one = read_json(path)
                    if not one["stored"] and float(one["seconds"]) >= 0 and one["asked"]["bits"]:
                        found.append(one)
        return found


def _seal(asked: Document, result: Document) -> str:
    return digest_of(canonical([asked, result]).encode())


def _rendered(document: Document) -> str:
    try:
        return json.dumps(document, sort_keys=True, allow_nan=False) + "\n"
    except ValueError as error:
        raise DataError("a result with a number that JSON cannot say") from error
