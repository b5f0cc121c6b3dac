"""Networks of covers, kept in the user's cache: factoring twenty thousand products takes seconds.

Keyed by the content of the cover; a file that is damaged or from another version is made anew.
"""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING

from boolcomp.common.caches import read_kept, user_cache
from boolcomp.common.errors import BoolcompError, DataError
from boolcomp.common.files import write_text
from boolcomp.common.version import VERSION
from boolcomp.logic.networktext import parse_network, render_network
from boolcomp.paper.coverlogic import network_of_cover

if TYPE_CHECKING:
    from boolcomp.logic.network import Network
    from boolcomp.twolevel.cubes import Cubes

WORTH_KEEPING = 200  # products; smaller covers are factored faster than a file is read


def stored_network(cubes: Cubes) -> Network:
    """Return `network_of_cover(cubes)`, from the cache where it is there."""
    if len(cubes) < WORTH_KEEPING:
        return network_of_cover(cubes)
    content = f"{VERSION} {cubes.inputs} {cubes.outputs}".encode()
    content += b"".join(array.tobytes() for array in (cubes.zero, cubes.one, cubes.out))
    path = user_cache("networks") / f"{hashlib.sha256(content).hexdigest()[:32]}.txt"
    if path.is_file():
        try:
            seal, _, text = read_kept(path).partition("\n")
            if seal == _seal(text):
                return parse_network(text, str(path))
        except BoolcompError:
            pass
    network = network_of_cover(cubes)
    text = render_network(network)
    with contextlib.suppress(DataError):  # a cache that cannot be written only costs time again
        write_text(path, f"{_seal(text)}\n{text}", durable=False)
    return network


def _seal(text: str) -> str:
    return f"# sha256 {hashlib.sha256(text.encode()).hexdigest()}"
