"""Networks of covers, kept in the user's cache: factoring twenty thousand products takes seconds.

Keyed by the content of the cover; a file that is damaged or from another version is made anew.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from boolcomp.base.store import keep, sealed, unsealed, user_cache
from boolcomp.base.version import VERSION
from boolcomp.common.places import find
from boolcomp.logic.networktext import parse_network, render_network
from boolcomp.paper.program import network_of_cover

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
    folder, name = user_cache("networks"), f"{hashlib.sha256(content).hexdigest()[:32]}.txt"
    found = find([folder], name, lambda path, text: parse_network(unsealed(text), str(path)))
    for network in found:
        return network
    network = network_of_cover(cubes)
    keep(folder / name, sealed(render_network(network)), durable=False)
    return network
