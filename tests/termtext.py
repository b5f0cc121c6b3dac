"""Read a term of a robot back from its text: `(15.75 + 10 cos q2) qdd1`, `-5 sin q2 qd2^2`."""

import re
from collections.abc import Mapping

from boolcomp.problem import Input, name_order
from boolcomp.terms import Term, collect

WAVE = re.compile(r"(-?[\d.e+-]+)((?: q\d+(?:\^\d+)?)*)(?: (cos|sin) ?\(?([^()]*)\)?)?")


def parse_term(text: str, name: str, output: str, variables: Mapping[str, Input]) -> Term:
    """Return the term of a robot with this text; `variables` gives each name its range."""
    whole = re.fullmatch(r"(?:\((.*)\)|(.*?))((?: qd+\d+(?:\^\d+)?)*)", text)
    assert whole, text
    parts = re.split(r" ([+-]) (?![^(]*\))", whole[1] or whole[2])
    signs = ["+", *parts[1::2]]
    waves = []
    for sign, part in zip(signs, parts[::2], strict=True):
        wave = WAVE.fullmatch(part)
        assert wave, part
        size = float(wave[1]) * (-1.0 if sign == "-" else 1.0)
        angles = re.findall(r"([+-]?) ?(\d*) ?(q\d+)", wave[4] or "")
        multiples = tuple((one, int(minus + (times or "1"))) for minus, times, one in angles)
        coefficient = complex(0, -size) if wave[3] == "sin" else complex(size)
        waves.append((multiples, powers_in(wave[2]), coefficient))
    made = collect(waves)
    names = {one for wave in made for one in wave.names}
    known = sorted(variables.values(), key=lambda one: name_order(one.name))
    factor = [variables[one] for one, times in powers_in(whole[3]) for _ in range(times)]
    arguments = tuple(one for one in known if one.name in names)
    return Term(name, output, made, arguments, tuple(factor))


def powers_in(text: str) -> tuple[tuple[str, int], ...]:
    """Return the names in a text with their powers."""
    return tuple((one, int(power or 1)) for one, power in re.findall(r"(q\w+)(?:\^(\d+))?", text))
