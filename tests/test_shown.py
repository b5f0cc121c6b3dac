"""What programs show of their words and loads: masses as short decimals, units or a dash."""

from pathlib import Path

from conftest import Run
from targets.exported import tiny

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
    assert "  payload 1.8 kg" in str(program).splitlines()
    assert "payload 0.333333333333 kg" in str(tiny(payload=1 / 3))


def test_a_word_without_a_unit_has_a_dash(warm_run: Run) -> None:
    text = 'name = "f"\n[inputs.q]\nangle = true\n[outputs.y]\nexpression = "cos(q)"\n'
    Path("f.toml").write_text(text)
    asked = ("--mode", "paper", "--bits", "4", "--minimizer", "isop")
    printed = warm_run("compile", "f.toml", *asked).out.splitlines()
    assert ["y", "0.15", "–"] in [line.split()[:3] for line in printed], printed
    html = tiny()._repr_html_()
    assert "<tr><td>b</td><td>-1 .. 1</td><td>–</td>" in html
    assert "<tr><td>c</td><td>-1 .. 1</td><td>m/s</td>" in html
