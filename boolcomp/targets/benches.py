"""A VHDL test bench that checks itself, and that it can fail: one of its vectors is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.targets.vectors import vectors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.program.program import Program
    from boolcomp.targets.gates import Framed, Pin


def vhdl_bench(program: Program, load: float | None, gates: Framed) -> str:
    """Return the text of a bench; it reports PASS, or fails with severity failure."""
    found = vectors(program, load, gates)
    count, ins, outs = len(found.given), len(found.given[0]), len(found.wanted[0])
    lines = [
        f"-- {count} vectors of {gates.module}; vector {found.wrong} is wrong on purpose: the",
        "-- bench passes where it, and no other, is found to differ",
        "library ieee;",
        "use ieee.std_logic_1164.all;",
        f"entity {gates.module}_tb is",
        f"end {gates.module}_tb;",
        f"architecture bench of {gates.module}_tb is",
        f"    type givens is array (0 to {count - 1}) of std_logic_vector({ins - 1} downto 0);",
        f"    type results is array (0 to {count - 1}) of std_logic_vector({outs - 1} downto 0);",
        *_table("given : givens", found.given),
        *_table("wanted : results", found.wanted),
        f"    signal inputs : std_logic_vector({ins - 1} downto 0) := (others => '0');",
        f"    signal outputs : std_logic_vector({outs - 1} downto 0);",
    ]
    if gates.stages:
        lines += [
            "    signal clock, enable, valid_in : std_logic := '0';",
            "    signal valid_out : std_logic;",
        ]
    lines += ["begin", f"    dut : entity work.{gates.module} port map ("]
    lines += [",\n".join(f"        {one}" for one in _vhdl_connections(gates, ins, outs)), "    );"]
    lines += ["    process", "        variable caught, seen, place : integer := 0;"]
    lines += ["        variable differ : integer := -1;", "    begin"]
    lines += _vhdl_clocked_loop(gates, count) if gates.stages else _vhdl_loop(count)
    lines += [
        f"        if caught = 1 and differ = {found.wrong} then",
        f'            report "PASS: {count - 1} vectors hold, the wrong one differs";',
        "        else",
        '            report "FAIL: " & integer\'image(caught) & " vectors differ, the last is "',
        "                & integer'image(differ) severity failure;",
        "        end if;",
        "        wait;",
        "    end process;",
        "end bench;",
    ]
    return "\n".join(lines) + "\n"


def _table(head: str, rows: tuple[str, ...]) -> Iterator[str]:
    yield f"    constant {head} := ("
    yield ",\n".join(f'        {k} => "{row}"' for k, row in enumerate(rows))
    yield "    );"


def _vhdl_connections(gates: Framed, ins: int, outs: int) -> Iterator[str]:
    if gates.stages:
        for name in ("clock", "enable", "valid_in", "valid_out"):
            yield f"{name} => {name}"
    yield from _bundle(gates.inputs, "inputs", ins)
    yield from _bundle(gates.outputs, "outputs", outs)


def _bundle(pins: tuple[Pin, ...], name: str, place: int) -> Iterator[str]:
    for pin in pins:
        high, place = place - 1, place - pin.port.bits
        span = f"{high}" if pin.port.bits == 1 else f"{high} downto {place}"
        yield f"{pin.name} => {name}({span})"


def _vhdl_loop(count: int) -> list[str]:
    return [
        f"        for k in 0 to {count - 1} loop",
        "            inputs <= given(k);",
        "            wait for 10 ns;",
        "            if outputs /= wanted(k) then",
        "                caught := caught + 1;",
        "                differ := k;",
        "            end if;",
        "        end loop;",
    ]


def _vhdl_clocked_loop(gates: Framed, count: int) -> list[str]:
    """Return a loop that stalls every fifth clock, and counts what comes out as valid."""
    return [
        f"        for k in 1 to {2 * (count + gates.stages) + 10} loop",
        "            clock <= '0';",
        "            wait for 5 ns;",
        "            if enable = '1' and valid_out = '1' then",
        f"                if seen >= {count} then",
        f"                    caught := caught + {count};",
        "                elsif outputs /= wanted(seen) then",
        "                    caught := caught + 1;",
        "                    differ := seen;",
        "                end if;",
        "                seen := seen + 1;",
        "            end if;",
        "            enable <= '1';",
        "            valid_in <= '0';",
        f"            if place < {count} then",
        "                inputs <= given(place);",
        "                valid_in <= '1';",
        "            end if;",
        "            if k mod 5 = 0 then",
        "                enable <= '0';",
        "            else",
        "                place := place + 1;",
        "            end if;",
        "            wait for 1 ns;",
        "            clock <= '1';",
        "            wait for 4 ns;",
        "        end loop;",
        f"        if seen /= {count} then",
        "            caught := -1;",
        "        end if;",
    ]
