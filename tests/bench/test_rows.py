"""What a bench prints and draws."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from boolcomp.measure.bench.chart import draw_bench
from boolcomp.measure.bench.roofline import spills
from boolcomp.measure.bench.rows import Bench, Host, Timing, text_report

ROWS = (
    Timing(
        "boolcomp, compact logic", "int8", 4096, 1, 0.2, (0.2, 0.22), 1.0, 1.9, 0.5, (1.9, 1.5),
        (0.5, 0.4), 0.0, 0.001, logic=True,
    ),
    Timing("rival", "int8", 4096, 1, 0.6, (0.6, 0.6), 3.0, 2.0, 0.6, (2.0, 1.0), (0.6, 0.5),
        0.5, 1.0, break_even=4096),
    Timing("rival", "int8", 1, 1, 5.0, (5.0, 6.0), 0.05, 2.0, 0.6, (2.0, 1.0), (0.6, 0.5),
        0.5, 1.0),
    Timing("broken", "float32", 4096, 1, 0.1, (0.1, 0.1), 0.5, 90.0, 9.0, (90.0, 9.0), (9.0, 9.0),
        90.0, 1.0, wrong=True),
    Timing("absent", "int8", 0, 1, skipped="no clang"),
)  # fmt: skip
MACHINE = Host("a processor", ("L2 1024K",), ("avx2",), ("gcc: gcc 12",), 4.0, 2)
BENCH = Bench("out/x", "an-arm", 8, "compact", 600, MACHINE, ROWS, {"nodes a cycle": 2.5})


def test_a_table_says_what_is_wrong_and_what_is_missing() -> None:
    text = text_report(BENCH)
    assert "an-arm, 8 bits, compact mode: 600 nodes" in text
    assert "a processor, 2 cores, 4.00 GHz" in text
    assert "skipped: absent (int8): no clang" in text
    assert "0.600*" in text
    (line,) = [x for x in text.splitlines() if x.startswith("broken") and "WRONG" in x]
    assert "90" in line
    assert BENCH.wrong == ("broken (float32)",)


def test_rivals_stand_in_the_order_of_their_times() -> None:
    lines = text_report(BENCH).splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("batch 4096"))
    names = [line.split("  ")[0] for line in lines[start + 2 : start + 5]]
    assert names == ["broken", "boolcomp, compact logic", "rival"]


def test_json_has_the_promised_keys() -> None:
    document = json.loads(json.dumps(BENCH.document(), allow_nan=False))
    promised = {"rival", "ns_per_sample", "ratio", "max_error", "rms_error", "batch", "cores"}
    assert all(promised | {"types", "skipped"} <= set(row) for row in document["rows"])
    assert document["rows"][1]["types"] == {"in": "int8", "out": "int8"}


def test_a_bench_says_of_each_figure_whether_it_is_sampled_searched_or_proved() -> None:
    known = replace(
        BENCH, worst_found=(2.5, 3.0), evaluations=1000, sampled_max=(1.9, 1.5),
        bound=(3.0001, None), lsb=(1.5625, 0.5), units=("N·m", "N·m"),
    )  # fmt: skip
    text = text_report(known)
    assert "worst found of the program: 2.50 3.00, searched with 1000 evaluations, not" in text
    assert "no error of the program exceeds: 3.001 -, proved" in text
    assert "last bits of the program's words: 1.5625 N·m, 0.5 N·m" in text
    document = json.loads(json.dumps(known.document(), allow_nan=False))
    assert document["sampled_max"] == [1.9, 1.5]
    assert document["bound"] == [3.0001, None]
    assert "proved" not in text_report(BENCH)


@pytest.mark.check
def test_the_chart_is_drawn_and_repeats_itself() -> None:
    assert draw_bench(BENCH, "svg") == draw_bench(BENCH, "svg")
    assert draw_bench(BENCH, "png").startswith(b"\x89PNG")


def test_spills_are_counted() -> None:
    text = """\
vmovdqa64 64(%rsp), %zmm1
vpternlogq $8, 128(%rsp), %zmm2, %zmm3
vmovdqa64 %zmm1, 64(%rbp)
vpandq %zmm1, %zmm2, %zmm3
vmovdqa64 %zmm1, %zmm2
mov 8(%rsp), %rax"""
    assert spills(text) == {
        "vector instructions": 5.0,
        "vector loads from the stack": 2.0,
        "vector stores to the stack": 1.0,
        "vector copies": 1.0,
    }
