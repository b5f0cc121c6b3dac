"""What is to be computed: robots, their dynamics, files of states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base.lazy import lazy

if TYPE_CHECKING:
    from boolcomp.problem.dynamics.kinematics import forward_kinematics as forward_kinematics
    from boolcomp.problem.dynamics.kinematics import jacobian as jacobian
    from boolcomp.problem.dynamics.newton_euler import bias_torques as bias_torques
    from boolcomp.problem.dynamics.newton_euler import evaluated_states as evaluated_states
    from boolcomp.problem.dynamics.newton_euler import gravity_torques as gravity_torques
    from boolcomp.problem.dynamics.newton_euler import inertia_matrix as inertia_matrix
    from boolcomp.problem.dynamics.newton_euler import inverse_dynamics as inverse_dynamics
    from boolcomp.problem.dynamics.newton_euler import newton_euler as newton_euler
    from boolcomp.problem.dynamics.regrouped import regrouped as regrouped
    from boolcomp.problem.expressions.algebra import UNARY_FUNCTIONS as UNARY_FUNCTIONS
    from boolcomp.problem.expressions.algebra import Constant as Constant
    from boolcomp.problem.expressions.algebra import Folding as Folding
    from boolcomp.problem.expressions.algebra import Operations as Operations
    from boolcomp.problem.expressions.fourier import Harmonics as Harmonics
    from boolcomp.problem.expressions.fourier import Spectra as Spectra
    from boolcomp.problem.expressions.tape import Operation as Operation
    from boolcomp.problem.expressions.tape import Returned as Returned
    from boolcomp.problem.expressions.tape import Straight as Straight
    from boolcomp.problem.expressions.tape import Tape as Tape
    from boolcomp.problem.expressions.tape import task as task
    from boolcomp.problem.functions import ALL as ALL
    from boolcomp.problem.functions import NAMES as NAMES
    from boolcomp.problem.functions import USUAL as USUAL
    from boolcomp.problem.functions import function_name as function_name
    from boolcomp.problem.functions import function_of as function_of
    from boolcomp.problem.functions import gravity_problem as gravity_problem
    from boolcomp.problem.functions import inverse_dynamics_problem as inverse_dynamics_problem
    from boolcomp.problem.functions import is_linear_in_load as is_linear_in_load
    from boolcomp.problem.functions import robot_problem as robot_problem
    from boolcomp.problem.problem import Angles as Angles
    from boolcomp.problem.problem import Group as Group
    from boolcomp.problem.problem import Input as Input
    from boolcomp.problem.problem import Output as Output
    from boolcomp.problem.problem import PartHint as PartHint
    from boolcomp.problem.problem import Problem as Problem
    from boolcomp.problem.problem import Seen as Seen
    from boolcomp.problem.problem import SumHint as SumHint
    from boolcomp.problem.problem import angles_of as angles_of
    from boolcomp.problem.problem import extremes as extremes
    from boolcomp.problem.problem import name_order as name_order
    from boolcomp.problem.problem import numbered as numbered
    from boolcomp.problem.problem import promise_of as promise_of
    from boolcomp.problem.problem import stopped as stopped
    from boolcomp.problem.problem import with_exact_words as with_exact_words
    from boolcomp.problem.problem import with_words as with_words
    from boolcomp.problem.robot.library import load_robot as load_robot
    from boolcomp.problem.robot.library import load_urdf as load_urdf
    from boolcomp.problem.robot.library import robot_names as robot_names
    from boolcomp.problem.robot.library import robot_of as robot_of
    from boolcomp.problem.robot.model import Body as Body
    from boolcomp.problem.robot.model import Link as Link
    from boolcomp.problem.robot.model import Pose as Pose
    from boolcomp.problem.robot.model import Robot as Robot
    from boolcomp.problem.robot.model import roll_pitch_yaw as roll_pitch_yaw
    from boolcomp.problem.robot.model import rotation_rows as rotation_rows
    from boolcomp.problem.robot.model import with_body as with_body
    from boolcomp.problem.robot.model import with_payload as with_payload
    from boolcomp.problem.robot.toml import parse_robot as parse_robot
    from boolcomp.problem.samples import CHUNK as CHUNK
    from boolcomp.problem.samples import column_names as column_names
    from boolcomp.problem.samples import read_states as read_states
    from boolcomp.problem.samples import write_results as write_results
    from boolcomp.problem.sources import Source as Source
    from boolcomp.problem.sources import load_source as load_source
    from boolcomp.problem.sources import problem_of as problem_of
    from boolcomp.problem.words import CODE_KINDS as CODE_KINDS
    from boolcomp.problem.words import ZEROS as ZEROS
    from boolcomp.problem.words import CodeKind as CodeKind
    from boolcomp.problem.words import Interval as Interval
    from boolcomp.problem.words import WordFormat as WordFormat
    from boolcomp.problem.words import exact_cosine as exact_cosine
    from boolcomp.problem.words import exact_sine as exact_sine
    from boolcomp.problem.words import formats as formats
    from boolcomp.problem.written.algebra import clip as clip
    from boolcomp.problem.written.build import enclosures as enclosures
    from boolcomp.problem.written.build import function_problem as function_problem
    from boolcomp.problem.written.files import is_function as is_function
    from boolcomp.problem.written.files import parse_function as parse_function
    from boolcomp.problem.written.tracing import word as word
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "dynamics.kinematics": "forward_kinematics jacobian",
            "dynamics.newton_euler": "bias_torques evaluated_states gravity_torques inertia_matrix "
            "inverse_dynamics newton_euler",
            "dynamics.regrouped": "regrouped",
            "expressions.algebra": "Constant Folding Operations UNARY_FUNCTIONS",
            "expressions.fourier": "Harmonics Spectra",
            "expressions.tape": "Operation Returned Straight Tape task",
            "functions": "ALL NAMES USUAL function_name function_of gravity_problem "
            "inverse_dynamics_problem is_linear_in_load robot_problem",
            "problem": "Angles Group Input Output PartHint Problem Seen SumHint "
            "angles_of extremes name_order numbered promise_of stopped "
            "with_exact_words with_words",
            "robot.library": "load_robot load_urdf robot_names robot_of",
            "robot.model": "Body Link Pose Robot roll_pitch_yaw rotation_rows with_body "
            "with_payload",
            "robot.toml": "parse_robot",
            "samples": "CHUNK column_names read_states write_results",
            "sources": "load_source problem_of",
            "words": "CODE_KINDS CodeKind Interval WordFormat ZEROS exact_cosine "
            "exact_sine formats",
            "written.algebra": "clip",
            "written.build": "enclosures function_problem",
            "written.files": "is_function parse_function",
            "written.tracing": "word",
        },
    )
