"""Measurements: verification, reports, pages, benchmarks, FPGA area, cycles, closed loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base import lazy

if TYPE_CHECKING:
    from boolcomp.measure.control import Called as Called
    from boolcomp.measure.control import LoopSettings as LoopSettings
    from boolcomp.measure.control import Variant as Variant
    from boolcomp.measure.control import called as called
    from boolcomp.measure.control import compiled as compiled
    from boolcomp.measure.control import exact_of as exact_of
    from boolcomp.measure.control import law_of_program as law_of_program
    from boolcomp.measure.control import referred_variant as referred_variant
    from boolcomp.measure.control import rounded_block as rounded_block
    from boolcomp.measure.control import study as study
    from boolcomp.measure.control_loop import inverse_dynamics as inverse_dynamics
    from boolcomp.measure.control_loop import plant_of as plant_of
    from boolcomp.measure.control_loop import trajectory_of as trajectory_of
    from boolcomp.measure.report import ReportRequest as ReportRequest
    from boolcomp.measure.report import documents as documents
    from boolcomp.measure.report import draw_samples as draw_samples
    from boolcomp.measure.report import error_rows as error_rows
    from boolcomp.measure.report import program_rows as program_rows
    from boolcomp.measure.report import report_rows as report_rows
    from boolcomp.measure.report_page import text_table as text_table
    from boolcomp.measure.show_page import ShownProgram as ShownProgram
    from boolcomp.measure.show_page import program_page as program_page
    from boolcomp.measure.show_page import table_page as table_page
    from boolcomp.measure.show_scripts import arm_steps as arm_steps
    from boolcomp.measure.show_scripts import effects_of as effects_of
    from boolcomp.measure.show_scripts import minimised as minimised
    from boolcomp.measure.show_scripts import shown_trajectory as shown_trajectory
    from boolcomp.measure.show_scripts import straight_function as straight_function
    from boolcomp.measure.verify import SIMULATIONS as SIMULATIONS
    from boolcomp.measure.verify import Check as Check
    from boolcomp.measure.verify import chain_tools as chain_tools
    from boolcomp.measure.verify import compared as compared
    from boolcomp.measure.verify import read_back as read_back
    from boolcomp.measure.verify import simulated as simulated
    from boolcomp.measure.verify_file import file_checked as file_checked
    from boolcomp.measure.verify_text import read_gates as read_gates
    from boolcomp.measure.verify_words import word_checks as word_checks
    from boolcomp.measure.verify_words import words_compared as words_compared
    from boolcomp.measure.verify_words import words_read_back as words_read_back
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "control": "Called LoopSettings Variant called compiled exact_of "
            "law_of_program referred_variant rounded_block study",
            "control_loop": "inverse_dynamics plant_of trajectory_of",
            "report": "ReportRequest documents draw_samples error_rows program_rows report_rows",
            "report_page": "text_table",
            "show_page": "ShownProgram program_page table_page",
            "show_scripts": "arm_steps effects_of minimised shown_trajectory straight_function",
            "verify": "Check SIMULATIONS chain_tools compared read_back simulated",
            "verify_file": "file_checked",
            "verify_text": "read_gates",
            "verify_words": "word_checks words_compared words_read_back",
        },
    )
