"""Words that a language keeps for itself, and those that our texts in it use.

Keywords force other names of inputs and outputs. Steps and tables avoid all `WORDS`, too, which are
those that our texts use, and names of libraries that are better not hidden; in lower case.
"""

from __future__ import annotations

import builtins
import keyword


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Of C, of C++, which may include the header, and what compilers and headers define as macros.
C_KEYWORDS = _set(
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while asm typeof typeof_unqual bool true false "
    "alignas alignof and and_eq bitand bitor catch char8_t char16_t char32_t class co_await "
    "co_return co_yield compl concept const_cast consteval constexpr constinit decltype delete "
    "dynamic_cast explicit export friend mutable namespace new noexcept not not_eq nullptr "
    "operator or or_eq private protected public reinterpret_cast requires static_assert "
    "static_cast template this thread_local throw try typeid typename using virtual wchar_t xor "
    "xor_eq int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t "
    "linux unix near far interrupt errno stdin stdout stderr NAN INFINITY I SP SREG EOF NULL"
)
C_WORDS = _set(
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while asm typeof bool true false main given made saturated "
    "table read8 read16 read32 progmem word words count counts first range full sum left "
    "load plane planes samples input output lanes errno signal stdin stdout stderr nan "
    "infinity i linux unix near far interrupt y0 y1 yn j0 j1 jn int8_t int16_t int32_t int64_t "
    "uint8_t uint16_t uint32_t uint64_t size_t intptr_t uintptr_t sp sreg "
    # of C++, which may include the header
    "alignas alignof and and_eq bitand bitor catch class compl concept constexpr decltype delete "
    "dynamic_cast explicit export friend mutable namespace new noexcept not not_eq nullptr "
    "operator or or_eq private protected public reinterpret_cast requires static_assert "
    "static_cast template this thread_local throw try typeid typename using virtual wchar_t xor "
    "xor_eq"
)  # fmt: skip
PYTHON_KEYWORDS = frozenset([*keyword.kwlist, "agreement"])  # a function that ours call
PYTHON_WORDS = frozenset([*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "saturated"])
# Of modules, which are strict, and globals that our texts use.
JAVASCRIPT_KEYWORDS = _set(
    "arguments await break case catch class const continue debugger default delete do else enum "
    "eval export extends false finally for function if implements import in instanceof interface "
    "let new null package private protected public return static super switch this throw true try "
    "typeof undefined var void while with yield Math NaN Infinity agreement"
)
JAVASCRIPT_WORDS = _set(
    "abstract arguments async await boolean break byte case catch char class const continue "
    "debugger default delete do double else enum eval export extends false final finally float "
    "for function get goto if implements import in instanceof int interface let long native new "
    "null of package private protected public return set short static super switch synchronized "
    "this throw throws transient true try typeof undefined var void volatile while with yield "
    "nan infinity math object array number string symbol saturated"
)  # fmt: skip
