"""Values of outputs as a NumPy array whose columns also have names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from boolcomp.base.errors import require_name, suggestion, unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

T = TypeVar("T")


class NamedOutputs(np.ndarray[Any, np.dtype[Any]]):
    """Outputs at one state, (outputs,), or at many, (samples, outputs), in their units.

    It is a NumPy array. A name selects a column: `tau["tau1"]`, or `tau.tau1` for a name that
    arrays do not have as an attribute. Results of calculations and slices have no names.

    >>> import boolcomp as bc
    >>> both = bc.function({"r": "sqrt(x*x + 1)", "s": "2*x"}, x=bc.word(-1, 1))
    >>> both(x=0.75)
    array([1.25, 1.5 ])
    >>> both(x=0.75)["r"].round(2), both(x=[0.75, 0]).s.tolist()
    (np.float64(1.25), [1.5, 0.0])
    """

    names: tuple[str, ...] = ()

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return np.asarray(self)[key]
        require_name("output", key, self.names)
        return np.asarray(self)[..., self.names.index(key)][()]

    def __getattr__(self, name: str) -> Any:
        if name not in self.names:
            near = suggestion(name, self.names)
            raise AttributeError(f"these outputs have no attribute {name!r}; {near}".rstrip("; "))
        return self[name]

    def __repr__(self) -> str:
        return repr(np.asarray(self))


class ByName(dict[str, T]):
    """Values by the names of things of a kind; the error of a wrong name has the nearest one."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind

    def __missing__(self, name: str) -> T:
        raise unknown(self._kind, name, self)


def with_names(values: NDArray[Any], names: Sequence[str]) -> NamedOutputs:
    """Return values with the names of two or more outputs; those of one output are unchanged."""
    if len(names) < 2:
        return cast("NamedOutputs", values)
    found = values.view(NamedOutputs)
    found.names = tuple(names)
    return found
