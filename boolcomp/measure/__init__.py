"""What compiled programs err by: the worst error, sought by climbing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base.lazy import lazy

if TYPE_CHECKING:
    from boolcomp.measure.bench.harness import Bench as Bench
    from boolcomp.measure.bench.harness import Host as Host
    from boolcomp.measure.bench.harness import Timing as Timing
    from boolcomp.measure.control.blocks import Called as Called
    from boolcomp.measure.control.blocks import Settings as Settings
    from boolcomp.measure.control.blocks import Variant as Variant
    from boolcomp.measure.control.blocks import called as called
    from boolcomp.measure.control.blocks import compiled as compiled
    from boolcomp.measure.control.blocks import exact_of as exact_of
    from boolcomp.measure.control.blocks import law_of_program as law_of_program
    from boolcomp.measure.control.blocks import referred_variant as referred_variant
    from boolcomp.measure.control.blocks import rounded_block as rounded_block
    from boolcomp.measure.control.loop import inverse_dynamics as inverse_dynamics
    from boolcomp.measure.control.loop import plant_of as plant_of
    from boolcomp.measure.control.study import study as study
    from boolcomp.measure.control.trajectories import trajectory_of as trajectory_of
    from boolcomp.measure.installed import health as health
    from boolcomp.measure.report.page import text_table as text_table
    from boolcomp.measure.report.rows import Question as Question
    from boolcomp.measure.report.rows import documents as documents
    from boolcomp.measure.report.rows import draw_samples as draw_samples
    from boolcomp.measure.report.rows import error_rows as error_rows
    from boolcomp.measure.report.rows import program_rows as program_rows
    from boolcomp.measure.report.rows import report_rows as report_rows
    from boolcomp.measure.show.page import Subject as Subject
    from boolcomp.measure.show.page import picture as picture
    from boolcomp.measure.show.page import program_page as program_page
    from boolcomp.measure.show.page import split as split
    from boolcomp.measure.show.page import table_page as table_page
    from boolcomp.measure.show.scripts import arm_steps as arm_steps
    from boolcomp.measure.show.scripts import data as data
    from boolcomp.measure.show.scripts import effects_of as effects_of
    from boolcomp.measure.show.scripts import in_script as in_script
    from boolcomp.measure.show.scripts import minimised as minimised
    from boolcomp.measure.show.scripts import minterms as minterms
    from boolcomp.measure.show.scripts import shown_trajectory as shown_trajectory
    from boolcomp.measure.show.scripts import straight_function as straight_function
    from boolcomp.measure.stages import tables_page as tables_page
    from boolcomp.measure.stages import terms_page as terms_page
    from boolcomp.measure.verify import SIMULATIONS as SIMULATIONS
    from boolcomp.measure.verify import Check as Check
    from boolcomp.measure.verify import chain_tools as chain_tools
    from boolcomp.measure.verify import compared as compared
    from boolcomp.measure.verify import own_checks as own_checks
    from boolcomp.measure.verify import read_back as read_back
    from boolcomp.measure.verify import simulated as simulated
    from boolcomp.measure.verify import tool_checks as tool_checks
    from boolcomp.measure.verify import verilated as verilated
    from boolcomp.measure.verify_text import read_gates as read_gates
    from boolcomp.measure.verify_text import read_words as read_words
    from boolcomp.measure.verify_words import word_checks as word_checks
    from boolcomp.measure.verify_words import words_compared as words_compared
    from boolcomp.measure.verify_words import words_read_back as words_read_back
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "bench.harness": "Bench Host Timing",
            "control.blocks": "Called Settings Variant called compiled exact_of "
            "law_of_program referred_variant rounded_block",
            "control.loop": "inverse_dynamics plant_of",
            "control.study": "study",
            "control.trajectories": "trajectory_of",
            "installed": "health",
            "report.page": "text_table",
            "report.rows": "Question documents draw_samples error_rows program_rows report_rows",
            "show.page": "Subject picture program_page split table_page",
            "show.scripts": "arm_steps data effects_of in_script minimised minterms "
            "shown_trajectory straight_function",
            "stages": "tables_page terms_page",
            "verify": "Check SIMULATIONS chain_tools compared own_checks read_back "
            "simulated tool_checks verilated",
            "verify_text": "read_gates read_words",
            "verify_words": "word_checks words_compared words_read_back",
        },
    )
