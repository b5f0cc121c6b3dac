"""What programs show of their words and loads: masses as short decimals, units or a dash."""

from __future__ import annotations

from dataclasses import replace

from targets.exported import tiny

from boolcomp.base import mass_text
from boolcomp.commands import error_table
from boolcomp.program import family_of
from boolcomp.targets import export_texts

MASS = 3 * 0.6  # 1.7999999999999998


def test_masses_are_short_wherever_a_program_is_shown() -> None:
    program = family_of([tiny(), tiny(payload=MASS)])
    shown = [repr(program), str(program), program._repr_html_(), str(program.chosen(MASS))]
    shown += map(str, export_texts(program, "verilog").values())
    shown += map(str, export_texts(tiny(payload=MASS), "verilog").values())
    assert all("1.8" in text for text in shown[:5])
    assert not any("1.79" in text for text in shown)
    assert f"  payload {mass_text(MASS)} kg" in str(program).splitlines()
    assert [mass_text(x) for x in (0.0, 2.0, 1 / 3)] == ["0", "2", "0.333333333333"]


def test_a_word_without_a_unit_has_a_dash() -> None:
    (output,) = tiny().outputs
    plain = replace(output, unit="")
    assert error_table([plain], "output", steps=False).splitlines()[2].split()[:3] == [
        "T1",
        "0.5",
        "–",
    ]
    assert error_table([output], "output", steps=False).splitlines()[2].split()[2] == "N·m"
    html = tiny()._repr_html_()
    assert "<tr><td>b</td><td>-1 .. 1</td><td>–</td>" in html
    assert "<tr><td>c</td><td>-1 .. 1</td><td>m/s</td>" in html
