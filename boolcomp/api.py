"""The Python interface: robots, functions, options as values, and programs with their methods.

Every function and method calls what the command of the same name calls. The files of measurements
and of the compiler are imported when they are used, so that loaded programs start fast.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, Unpack, cast

from boolcomp.base.errors import UsageError, require_name, shown, spelled, warn, whole
from boolcomp.base.files import temporary_folder, write_output
from boolcomp.base.results import Results
from boolcomp.base.workers import all_cores
from boolcomp.options import OPTIONS, CompileOptions, GivenOptions, reference
from boolcomp.problem.build import function_problem
from boolcomp.problem.function_files import expressions
from boolcomp.problem.problem import Problem
from boolcomp.problem.robot.library import load_robot, robot_of
from boolcomp.problem.robot.model import Robot
from boolcomp.problem.sources import load_source, problem_of
from boolcomp.program import files
from boolcomp.program.program import MODES, Program
from boolcomp.values import GROUPED, merged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from boolcomp.base.errors import Number
    from boolcomp.compact.demand import Listener
    from boolcomp.measure.control import Study
    from boolcomp.measure.report import Pictured
    from boolcomp.measure.report_page import Report
    from boolcomp.measure.verify import Verification
    from boolcomp.paper.passes import ProgressListener
    from boolcomp.pipeline import CompactCompilation, PaperCompilation
    from boolcomp.problem.sources import Source
    from boolcomp.problem.words import Word
    from boolcomp.program.program import Mode
    from boolcomp.proof.bound.bounds import Grade
    from boolcomp.values import Cost, OptionValues, Search

    Accuracy: TypeAlias = OptionValues | Sequence[OptionValues] | None
    Outputs: TypeAlias = Mapping[str, Word | None] | Sequence[str] | str

Made = TypeVar("Made")
__all__ = ["compile", "load_program", "load_robot"]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RobotArm(Robot):
    """A robot, with methods: its functions as problems, and a check of its ranges."""

    def __eq__(self, other: object) -> bool:
        return _equal(Robot, self, other)

    __hash__ = Robot.__hash__

    def problem(
        self, of: str = "inverse-dynamics", payload: float = 0.0, **choices: Any
    ) -> Problem:
        """Return a function of the robot with a payload (kg); `of` and `choices` as in `compile`.

        Calling it returns exact outputs in doubles, here the torques g(q) in N·m.

        >>> import boolcomp as bc
        >>> gravity = bc.robot("machado-2r").problem("gravity")
        >>> gravity(q=[0.3, -0.7]).round(2).tolist()
        [108.33, 45.13]
        """
        known = [name for name, one in OPTIONS.items() if one.group == "function" and name != "of"]
        for name in choices:
            require_name("choice", name, known)
        return problem_of(self, GivenOptions.read({**choices, "of": of}).of, payload)

    def check(self) -> Results:
        """Return a table of the torques reached over the ranges: a row for each joint, in N·m or N.

        The extremes are searched, not proved. A row tells whether the torque range saturates, or
        wastes bits; `row.better` is a range that does neither, if there is one.

        >>> import boolcomp as bc
        >>> [str(row) for row in bc.robot("machado-2r").check().rows]
        ['suits: 76.2 % of it is used', 'suits: 69.1 % of it is used']
        """
        from boolcomp.terms import extract  # noqa: PLC0415 (start-up time)

        return Results(extract.VERDICTS, extract.judge_outputs(problem_of(self)))


def _equal(kind: type[Any], one: object, other: object) -> bool:
    """Compare two values as those of a class, whichever of them have methods."""
    compared = [of.name for of in fields(kind) if of.compare]
    return isinstance(other, kind) and all(getattr(one, x) == getattr(other, x) for x in compared)


def _as(kind: type[Made], value: Any, *more: Any) -> Made:
    """Return a value as one of a class with methods, and with more fields."""
    return kind(*(getattr(value, one.name) for one in fields(value) if one.init), *more)


@spelled
def robot(
    source: Robot | str | Path, tip: str | Sequence[str] | None = None, base: str | None = None
) -> RobotArm:
    """Return a robot by shipped name, from a file (URDF, MJCF, SDF, TOML), or from a value.

    `base` and `tip` name the links between which the arm of a model lies; several tips are a tree.

    >>> import boolcomp as bc
    >>> arm = bc.robot("machado-2r")
    >>> arm.name, arm.joints, round(arm.mass, 1)  # kg
    ('machado-2r', 2, 6.8)
    """
    if tip is not None or base is not None:
        if not str(source).endswith((".urdf", ".mjcf", ".xml", ".sdf")):
            raise UsageError(
                "base and tip select an arm of a URDF, MJCF or SDF", where=shown(source)
            )
        tips = [tip] if isinstance(tip, str) else tip or ()
        source = f"{source}#{base or ''}..{','.join(tips)}"
    return _as(RobotArm, robot_of(source))


def function(
    given: Callable[..., Any] | str | Mapping[str, str], /, *,
    out: Outputs | None = None, name: str | None = None, **inputs: Word,
) -> Problem:  # fmt: skip
    """Return the problem of a function of bounded words: inputs by name, outputs by `out`.

    It is a Python function of + - * / and boolcomp's functions (sin, sqrt, clip …), an expression
    as text, or expressions by the names of outputs. `out` names the outputs, which may have words;
    ranges of others are found. Calling the problem returns exact outputs in doubles.

    >>> import boolcomp as bc
    >>> x = bc.word(-1, 1, bits=10)
    >>> distance = bc.function(lambda x, y: bc.sqrt(x*x + y*y), x=x, y=x, out="d")
    >>> float(distance(x=0.6, y=0.8))
    1.0
    """
    if isinstance(given, Mapping):
        out = list(given) if out is None else out
    if out is None:
        raise UsageError("outputs of a function are missing", 'name them, such as out="d"')
    if isinstance(given, str | Mapping):
        names = [out] if isinstance(out, str) else list(out)
        given = expressions({names[0]: given} if isinstance(given, str) else given)
        name = name or "function"
    return function_problem(given, inputs, out, name)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class CompiledProgram(Program):
    """The logic of all outputs of a problem, with methods that prove, check and export it.

    `program(q=…, qd=…)` evaluates the logic. `source` is the robot or problem that it was compiled
    from, None for a program from a folder, and `options` are the keywords of its compilation.

    >>> import boolcomp as bc
    >>> program = bc.compile("machado-2r", bits=8)
    >>> program(q=[0.3, -0.7], qd=[0.4, 0.9], qdd=[-0.5, 0.2]).tolist()  # N·m
    [103.90625, 42.48046875]
    """

    source: Robot | Problem | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        return _equal(Program, self, other)

    __hash__ = Program.__hash__

    @spelled
    def prove(self, grade: Grade = "tight", effort: int | None = None) -> CompiledProgram:
        """Return the program with the error |logic - exact| ≤ `bound` proved to another grade.

        Grades are plain, tables and tight, with an `effort` as in `compile`. Bounds are in the
        units of the outputs.

        >>> import boolcomp as bc
        >>> program = bc.compile("machado-2r", bits=8).prove("tight", effort=20)
        >>> [round(one, 2) for one in program.bound]  # N·m
        [5.68, 2.87]
        """
        if self.source is None:
            raise UsageError(
                f"{self.name} was loaded from a folder, which lacks the sketch of its bounds",
                f"compile it with proof={grade!r}",
            )
        known = {**self.options, "proof": grade, "proof_effort": effort}
        return compile(self.source, self.bits, self.mode, **known)

    @spelled
    def verify(
        self, *, robot: Source | None = None, load: float | None = None, tools: bool = False,
        deadline: float = 60.0, file: str | Path | None = None, top: str | None = None,
    ) -> Verification:  # fmt: skip
        """Check the network against word graph, engine and exports, and a certificate, if any.

        With `file` (.v, .vhd, .blif, .aig, .aag) and its module `top`, only that file is checked.

        `robot` is that of a loaded program's certificate, `load` a payload (kg; default: all),
        `deadline` the seconds of one proof. `tools` adds ABC, Yosys and simulators.

        >>> import boolcomp as bc
        >>> bc.compile("machado-2r", bits=8).verify().ok
        True
        """
        from boolcomp.measure import (  # noqa: PLC0415 (start-up time)
            solved,
            verify,
            verify_file,
            verify_words,
        )

        if file is not None:
            one = verify_file.file_checked(self, load, Path(file), top, deadline)
            return verify.Verification(rows=[one])
        with temporary_folder() as folder:
            self.save(folder / "program")
            known = robot or self.source
            claim = solved.claim_source(known) if known and self.certificate else None
            own = verify.chain(str(folder / "program"), lambda _: None, claim, needed=False).steps
        found = verify_words.all_checks(self, load, deadline, lambda _: None, tools=tools)
        return verify.Verification(rows=(*own, *found))

    @spelled
    def export(
        self, path: str | Path, target: str | None = None, *, load: float | None = None,
        level: str | None = None, pipeline: int = 0, luts: int = 0, test_bench: bool = False,
        cocotb: bool = False, interface: str | None = None, clock: float | str = 0,
        device: str = "",
    ) -> list[Path]:  # fmt: skip
        """Write the program for other tools, by the ending of `path`; return the files' paths.

        The endings are .v, .vhd, .blif, .aig, .c, .h, .py and others; `target` names those that
        share one. Options are those of the command `boolcomp export`.

        >>> import boolcomp as bc, tempfile
        >>> program = bc.compile("machado-2r", bits=8)
        >>> [file.name for file in program.export(f"{tempfile.mkdtemp()}/2r.v", pipeline=4)]
        ['2r.v']
        """
        from boolcomp.targets import target as targets  # noqa: PLC0415 (start-up time)

        return targets.export(
            self, target or targets.target_of(path), path, load=load, level=level,
            pipeline=pipeline, luts=luts, test_bench=test_bench, cocotb=cocotb, interface=interface,
            clock=clock, device=device,
        )  # fmt: skip

    @spelled
    def show(
        self, path: str | Path, *, robot: Source | None = None, load: float | None = None
    ) -> Path:
        """Write an interactive page of the program with a payload (kg), and return its path.

        `robot` is that of a loaded program, unless it is built-in: exact outputs and the arm need
        it.

        >>> import boolcomp as bc, tempfile
        >>> bc.compile("machado-2r", bits=8).show(f"{tempfile.mkdtemp()}/2r.html").name
        '2r.html'
        """
        from boolcomp.measure import show_page, solved  # noqa: PLC0415 (start-up time)

        known = robot or self.source or solved.shipped(self.name)
        page = show_page.program_page(show_page.shown_program(self, known, load))
        write_output(Path(path), page)
        return Path(path)

    @spelled
    def report(
        self, *, samples: int = 1_000_000, seed: int = 0, evaluations: int | None = None,
        robot: Source | None = None, load: float | None = None,
    ) -> Report:  # fmt: skip
        """Measure the errors logic - exact on random states, and search the largest.

        Rows are those of `bc.report`. `robot` is that of a loaded program, unless it is built-in.

        >>> import boolcomp as bc
        >>> found = bc.compile("machado-2r", bits=8).report(samples=1000, evaluations=0)
        >>> [round(row.rms / row.lsb, 1) for row in found.rows]
        [0.4, 0.6]
        """
        from boolcomp.measure import report, solved  # noqa: PLC0415 (start-up time)

        known = robot or self.source or solved.shipped_or_refused("the program", self.name)
        mass = self.load(load).payload
        problem, _ = solved.solved_problem(self, "the program", known, mass)
        return _measured(
            problem, samples, seed, lambda to: report.measure_program(self, to, mass, evaluations)
        )


@spelled
def load_program(folder: str | Path, payload: float | None = None) -> CompiledProgram:
    """Read a program; an unusable one raises a `DataError`.

    With a `payload` (kg) only the loads next to it are read, if they can answer for it.

    >>> import boolcomp as bc, tempfile
    >>> bc.compile("machado-2r", bits=8).save(folder := f"{tempfile.mkdtemp()}/2r")
    >>> bc.load_program(folder).bits
    8
    """
    return _as(CompiledProgram, files.load_program(folder, payload))


def compile(  # noqa: A001  # the name is meant
    robot: Source | Callable[..., Any], bits: Number | str | None = None,
    mode: Mode | str = "compact", *,
    accuracy: Accuracy = None, cost: Cost | None = None, search: Search | None = None,
    inputs: Mapping[str, Word] | None = None, outputs: Outputs | None = None,
    name: str | None = None, **options: Unpack[CompileOptions],
) -> CompiledProgram:  # fmt: skip
    """Compile a robot or a function to a program of logic.

    The subject is a problem (`bc.robot(…).problem(…)`, `bc.function(…)`), a robot, its shipped name
    or path, the path of a function file, or a Python function with its `inputs`, `outputs` and
    `name`. The result has its errors by output: `program.errors["tau1"].rms` of random states,
    `.found` by search and `.bound`, which is proved, in the unit of the output.

    >>> import boolcomp as bc
    >>> program = bc.compile("machado-2r", bits=8)
    >>> program.errors["tau1"].bound <= 5.68  # N·m
    True

    `bits` are by default those of the words of a function, or 8; with `Proved` they may be "auto".
    `accuracy` is `Rms`, `Found` or `Proved`, or several of them. The keywords of these values, of
    `Cost` and of `Search` (`rms_error`, `max_error`, `error`; `target`, `effort` …) are accepted,
    too. Other options are those of the command `boolcomp compile`. Numbers, sequences and mappings
    are accepted as well as texts: `input_bits={"q": 12, "qdd3": 8}`, `payloads=[0, 1, 2.5]`. With
    several `payloads` the program has one part for each. `deadline=None` is no limit.
    """
    require_name("mode", mode, MODES)
    source = _source(robot, inputs, outputs, name)
    given = merged(mode, source, options, accuracy, cost, search)
    compiled = compiled_words if mode == "compact" else compiled_tables
    program = compiled(source, GivenOptions.read({**given, "bits": bits})).program
    given.pop("cluster", None)  # which is not a part of the program
    return _as(CompiledProgram, program, source, given)


compile.__doc__ = f"{compile.__doc__}\n{reference(one for one in OPTIONS if one not in GROUPED)}\n"


def compiled_words(
    source: Robot | Problem, given: GivenOptions, progress: Listener | None = None
) -> CompactCompilation:
    """Compile in compact mode; if bits are `auto`, search them for the guaranteed error."""
    from boolcomp.pipeline import compile_compact, with_bits_found  # noqa: PLC0415 (start-up time)

    choices = given.compact(
        given.bits(source), **({} if progress is None else {"progress": progress})
    )
    masses = given.values["payloads"]
    with choices.workers.opened() as opened:
        choices = replace(choices, workers=opened)
        if given.auto:
            choices = with_bits_found(source, choices, masses, given.of)
        return compile_compact(source, choices, masses, given.of)


def compiled_tables(
    source: Robot | Problem, given: GivenOptions, progress: ProgressListener | None = None
) -> PaperCompilation:
    """Compile in paper mode."""
    from boolcomp.pipeline import compile_paper  # noqa: PLC0415 (start-up time)

    choices = given.paper(source, **({} if progress is None else {"progress": progress}))
    return compile_paper(source, choices, given.values["payloads"], given.of)


def _source(
    given: Any, inputs: Any = None, outputs: Any = None, name: str | None = None
) -> Robot | Problem:
    """Return the robot or problem that is meant: a Python function becomes one."""
    if callable(given) and not isinstance(given, Problem):
        return function_problem(given, inputs, outputs, name)
    for keyword, value in (("inputs", inputs), ("outputs", outputs), ("name", name)):
        if value is not None:
            raise UsageError(
                f"{keyword} have no effect: only a Python function has words given with compile"
            )
    return given if isinstance(given, Robot | Problem) else load_source(given)


def report(
    robot: Source, bits: int | Iterable[int] | None = None, mode: str = "compact", *,
    samples: int = 1_000_000, evaluations: int | None = None,
    accuracy: Accuracy = None, cost: Cost | None = None, search: Search | None = None,
    **options: Unpack[CompileOptions],
) -> Report:  # fmt: skip
    """Compile a problem or a robot at several word lengths, and measure each.

    A row for each output has `bits`, `program_luts`, and in the unit of the output `rms` of random
    states, `found` by a search, `bound` and `lsb`. States have a number (`samples`) and a `seed`.
    `mode` is compact, paper or both; other arguments are those of `compile`.

    >>> import boolcomp as bc
    >>> found = bc.report("machado-2r", bits=[8], samples=1000)
    >>> [(row.bits, row.program_luts, round(row.bound / row.lsb, 1)) for row in found.rows]
    [(8, 559, 3.6), (8, 559, 3.7)]
    """
    from boolcomp.measure import report  # noqa: PLC0415 (start-up time)

    require_name("mode", mode, (*MODES, "both"))
    source, seed = _source(robot), options.pop("seed", 0)
    given = GivenOptions.read(merged(mode, source, options, accuracy, cost, search))
    problem = problem_of(source, given.of)
    lengths = given.bits(problem) if bits is None else bits
    request = report.ReportRequest(
        (lengths,) if isinstance(lengths, int) else tuple(lengths),
        tuple(one for one in MODES if mode in (one, "both")), options=given.plan(),
        recipe=given.recipe, compact=given.compact, workers=given.workers or all_cores(),
        evaluations=report.SEARCHED if evaluations is None else evaluations,
    )  # fmt: skip

    def measure(made: Pictured) -> None:
        report.report_rows(made.surveyor.samples, request, given.covers, pictured=made)

    return _measured(problem, samples, whole("seed", seed), measure)


def _measured(
    problem: Problem, samples: int, seed: int, measure: Callable[[Pictured], object]
) -> Report:
    """Return the report of a measurement on random states."""
    from boolcomp.measure import report, report_page  # noqa: PLC0415 (start-up time)

    made = report.Pictured(report.Surveyor(report.draw_samples(problem, samples, seed)))
    measure(made)
    facts = report_page.page_facts(problem.name, f"{problem.name}, from Python", samples, seed)
    return report_page.Report(facts, made)


def simulate(
    what: Program | Robot | str | Path, trajectories: str | Sequence[str] = "point", *,
    robot: Robot | str | Path | None = None, bits: int | Iterable[int] = 8,
    modes: str = "compact", law: str = "computed-torque", **settings: Any,
) -> Study:  # fmt: skip
    """Simulate an arm in closed loop, with torques by exact arithmetic and by logic.

    `what` is a program (of `robot`, which a built-in one or a compiled robot need not name), or a
    robot whose `law` is compiled at all `bits`. Trajectories are point, circle, sine, hold or a CSV
    file. `settings` are those of the command: seconds=10, rate (Hz), encoder_bits, bandwidth
    (rad/s) … A row for each run and joint has the tracking error in rad or m.

    >>> import boolcomp as bc
    >>> found = bc.simulate(bc.compile("machado-2r", bits=8), seconds=0.2)
    >>> [(row.variant.mode, row.joint) for row in found.rows][-1]
    ('compact', 2)
    """
    from boolcomp.measure import control  # noqa: PLC0415 (start-up time)
    from boolcomp.measure.solved import shipped_or_refused  # noqa: PLC0415 (start-up time)

    for name in settings:
        require_name("setting", name, [one.name for one in fields(control.LoopSettings)])
    if isinstance(what, Program):
        own = getattr(what, "source", None)
        known = robot or (own if isinstance(own, Robot) else shipped_or_refused("it", what.name))
        arm, subject = robot_of(known), cast("Program | control.StudyRequest", what)
    else:
        arm, lengths = robot_of(what), (bits,) if isinstance(bits, int) else tuple(bits)
        subject = control.StudyRequest(arm, law, control.modes_of(modes), lengths, compile)
    texts = [trajectories] if isinstance(trajectories, str) else trajectories
    return control.simulated(subject, arm, control.LoopSettings(**settings), texts)


@spelled
def area(
    program: Program, on: str | Sequence[str] = ("ice40", "ecp5", "xilinx7", "lut4", "lut6"), *,
    level: str = "luts", load: float | None = None, pipeline: int = 0, dsp: bool = False,
    seeds: int = 1, clock: float | str = 0, close: bool = False, interface: str | None = None,
) -> Results:  # fmt: skip
    """Return a table of FPGA cells: a row for each family or size of look-up tables in `on`.

    Yosys synthesises; nextpnr estimates the clock in MHz, as the median of its `seeds` (0: none).
    lut4 and lut6 are counted by boolcomp's own mapping. A missing tool is a `DataWarning`. With a
    `clock` the stages follow from it; nextpnr corrects them with `close`.

    >>> import boolcomp as bc
    >>> found = bc.area(bc.compile("machado-2r", bits=8), on="lut4")
    >>> [row.cells.luts for row in found.rows]
    [458]
    """
    from boolcomp.measure import fpga  # noqa: PLC0415 (start-up time)
    from boolcomp.targets import megahertz  # noqa: PLC0415 (start-up time)
    from boolcomp.targets.target import INTERFACES, checked  # noqa: PLC0415 (start-up time)

    require_name("level", level, ("gates", "luts", "words"))
    families = [fpga.device(one) for one in ([on] if isinstance(on, str) else on)]
    found, skipped = fpga.areas(
        program, load, families, [level], stages=pipeline, dsp=dsp, seeds=seeds,
        clock=megahertz(clock) if clock else 0.0, close=close,
        interface=checked("interface", interface, INTERFACES),
    )  # fmt: skip
    for sentence in skipped:
        warn(f"skipped: {sentence}")
    return Results(fpga.COLUMNS, found)
