"""One table a term: what the look-ups add up to."""

from __future__ import annotations

import numpy as np
from samples import problem_of

from boolcomp.measure.bench.states import draw_states
from boolcomp.measure.bench.term_tables import SUM, TermTables, gather_c, term_tables, term_tables_c
from boolcomp.problem.robot import load_robot


def test_looked_up_terms_sum_to_the_torques() -> None:
    robot = load_robot("machado-2r")
    made = term_tables(robot, 8)
    assert isinstance(made, TermTables)
    states = draw_states(problem_of(robot), 4000)
    words = [states.coded("int8", k).astype(np.int64) + 128 for k in range(6)]
    words.append((words[0] + words[1]) % 256)
    total = np.zeros(4000, np.int64)
    for table, columns in zip(made.tables, made.words, strict=True):
        index = np.zeros(4000, np.int64)
        for column, bits in columns:
            index = index << bits | words[column] >> 8 - bits
        total += table[index]
    first = (total + 32768) % 65536 - 32768
    second = total - first >> 16
    found = np.stack([first * 200 / 32768, second * 100 / 32768], axis=1)
    error = (found - states.outputs) / np.array([200 / 128, 100 / 128])
    assert np.sqrt((error**2).mean(axis=0)).max() < 0.55
    assert np.abs(error).max() < 2.5


def test_gravity_of_both_links_reads_the_sum_of_the_words() -> None:
    made = term_tables(load_robot("machado-2r"), 8)
    assert isinstance(made, TermTables)
    assert any((columns[0][0],) == SUM for columns in made.words)
    assert "b0[i] + b1[i]" in term_tables_c(made)
    assert gather_c(made).count("i32gather") == len(made.tables)


def test_three_joints_have_none() -> None:
    assert "two joints" in str(term_tables(load_robot("elbow-3r"), 8))
