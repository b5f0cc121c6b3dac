"""Problems: robots and their functions, functions of users, dynamics, files of states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base import lazy

if TYPE_CHECKING:
    from boolcomp.problem.algebra import Operations as Operations
    from boolcomp.problem.build import enclosures as enclosures
    from boolcomp.problem.dynamics import gravity_torques as gravity_torques
    from boolcomp.problem.dynamics import inertia_matrix as inertia_matrix
    from boolcomp.problem.dynamics import inverse_dynamics as inverse_dynamics
    from boolcomp.problem.function_files import parse_function as parse_function
    from boolcomp.problem.functions import function_name as function_name
    from boolcomp.problem.functions import function_of as function_of
    from boolcomp.problem.functions import inverse_dynamics_problem as inverse_dynamics_problem
    from boolcomp.problem.functions import robot_problem as robot_problem
    from boolcomp.problem.printers import statements as statements
    from boolcomp.problem.problem import AngleInputs as AngleInputs
    from boolcomp.problem.problem import Group as Group
    from boolcomp.problem.problem import Problem as Problem
    from boolcomp.problem.problem import angles_of as angles_of
    from boolcomp.problem.problem import degrees_question as degrees_question
    from boolcomp.problem.problem import name_order as name_order
    from boolcomp.problem.problem import numbered as numbered
    from boolcomp.problem.problem import promise_of as promise_of
    from boolcomp.problem.problem import with_exact_words as with_exact_words
    from boolcomp.problem.problem import with_words as with_words
    from boolcomp.problem.robot.library import load_robot as load_robot
    from boolcomp.problem.robot.library import load_urdf as load_urdf
    from boolcomp.problem.robot.library import robot_names as robot_names
    from boolcomp.problem.robot.library import robot_of as robot_of
    from boolcomp.problem.robot.model import Link as Link
    from boolcomp.problem.robot.model import Pose as Pose
    from boolcomp.problem.robot.model import Robot as Robot
    from boolcomp.problem.robot.model import with_payload as with_payload
    from boolcomp.problem.robot.toml import parse_robot as parse_robot
    from boolcomp.problem.samples import CHUNK as CHUNK
    from boolcomp.problem.samples import read_states as read_states
    from boolcomp.problem.samples import write_results as write_results
    from boolcomp.problem.sources import load_source as load_source
    from boolcomp.problem.sources import problem_of as problem_of
    from boolcomp.problem.tape import Straight as Straight
    from boolcomp.problem.tape import Tape as Tape
    from boolcomp.problem.tape import task as task
    from boolcomp.problem.word_codes import CODE_KINDS as CODE_KINDS
    from boolcomp.problem.word_codes import CodeKind as CodeKind
    from boolcomp.problem.words import ZEROS as ZEROS
    from boolcomp.problem.words import Input as Input
    from boolcomp.problem.words import Interval as Interval
    from boolcomp.problem.words import Output as Output
    from boolcomp.problem.words import WordFormat as WordFormat
    from boolcomp.problem.words import formats as formats
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "algebra": "Operations",
            "build": "enclosures",
            "dynamics": "gravity_torques inertia_matrix inverse_dynamics",
            "function_files": "parse_function",
            "functions": "function_name function_of inverse_dynamics_problem robot_problem",
            "printers": "statements",
            "problem": "AngleInputs Group Input Output Problem angles_of degrees_question "
            "name_order numbered promise_of with_exact_words with_words",
            "robot.library": "load_robot load_urdf robot_names robot_of",
            "robot.model": "Link Pose Robot with_payload",
            "robot.toml": "parse_robot",
            "samples": "CHUNK read_states write_results",
            "sources": "load_source problem_of",
            "tape": "Straight Tape task",
            "word_codes": "CODE_KINDS CodeKind",
            "words": "Interval WordFormat ZEROS formats",
        },
    )
