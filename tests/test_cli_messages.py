"""Mistakes on the command line: an error and a hint, nothing printed, exit code 2 or 1."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import Result, Run
from small_programs import stages

from boolcomp.commands import COMMANDS

FORM = re.compile(r"((?:warning: )?[^\n]+\n)*error: [^\n]+\n(  hint: [^\n]+\n)?")
HUGE, NINES = "9" * 20, "9" * 5000
ADDER = ".i 3\n.o 2\n.ilb a b c\n.ob carry sum\n001 01\n010 01\n011 10\n100 01\n101 10\n110 10\n"
FUNCTION = 'name = "{}"\n[inputs.x]\nrange = [{}, 1]\n[outputs.u]\nexpression = "{}"\n'
FILES = {
    "a.pla": f"{ADDER}111 11\n.e\n",
    "a.esp": ".i 2\n.o 1\n.type fr\n00 1\n01 0\n.e\n",
    "bad.pla": f"{ADDER}111 1x\n.e\n",
    "wide.pla": f".i 19\n.o 1\n{'1' * 19} 1\n.e\n",
    "mv.pla": f".mv 4 2 3 2\n{ADDER}.e\n",
    "bad.toml": "name = = 1\n",
    "ur5.sdf": "<html/>",
    "machine.toml": 'name = "x"\nprocessors = 4\n[operations]\nmultiplication = -1\n',
    "nan.csv": "q1,q2,qd1,qd2,qdd1,qdd2\n0,0,0,nan,0,0\n",
    "text.csv": "q1,q2,qd1,qd2,qdd1,qdd2\n0,0,0,x,0,0\n",
    "far.csv": "q1,q2,qd1,qd2,qdd1,qdd2\n0,0,1e308,0,0,1e308\n",
    "square.toml": FUNCTION.format("square", -1, "x*x"),
    "root.toml": FUNCTION.format("root", 0, "sqrt(x)"),
    "zero.toml": FUNCTION.format("zero", -1, "1/x"),
}

USAGE = {  # exit code 2
    "missing files": [
        ("evaluate machado-2r -i no.csv", "no such file or folder (no.csv) hint: did you mean"),
        ("evaluate machado-2r -i txet.csv", "no such file or folder (txet.csv) hint: did you mean"),
        ("minimize a.eps", "no such file or folder (a.eps) hint: did you mean 'a.esp'?"),
        ("verify progam", "no such file or folder (progam) hint: did you mean 'program'?"),
        ("minimize no.pla", "no such file or folder (no.pla)"),
    ],
    "names": [
        ("plann machado-2r", "unknown command 'plann' hint: did you mean 'plan'?"),
        ("plan", "missing argument 'ROBOT|FUNCTION' hint: boolcomp plan --help"),
        ("plan machado-2r --bit 8", "--bits"),
        ("plan nowhere.toml", "no such robot file (nowhere.toml) hint: boolcomp robots lists the"),
        ("plan sqare.toml", "no such robot file (sqare.toml) hint: did you mean 'square.toml'?"),
        ("evaluate progam", "and no robot has this name (progam) hint: did you mean 'program'?"),
        ("terms ''", "unknown robot ''"),
        ("terms machado-2r --form group", "unknown form 'group' hint: did you mean 'grouped'?"),
        ("terms machado-2r --of jacobi", "function 'jacobi' hint: did you mean 'jacobian'?"),
        ("plan machado-2r --of control --elbow up", "control has no elbow"),
        ("report machado-2r --of forward-dynamics --mode paper", "compact mode compiles it"),
        ("completion bsh", "unknown shell 'bsh' hint: did you mean 'bash' or 'zsh'?"),
        ("schedule chrat puma560", "no sub-command 'chrat' hint: did you mean 'chart'?"),
        ("plan machado-2r --store ''", "the name is empty: give a file or folder"),
        ("plan machado-2r --store a.pla", "'a.pla' is a file"),
        ("show out -o x.pdf", "-o x.pdf is no name of a page hint: give a name that ends in .html"),
        ("show nothing -o x.html", "neither a program folder nor a PLA file (nothing)"),
        ("show a.pla --payload 1 -o x.html", "--payload has no effect: a.pla is not a"),
        ("show program --robot puma560 -o x.html", "was compiled for machado-2r with 2 outputs"),
        ("show program --load 7 -o x.html", "no payload 7"),
        ("cycles program --on cortex-m1", "hint: did you mean 'cortex-m3' or 'cortex-m0'?"),
        ("cycles program --states 0", "--states must be 1 to 2000, not 0"),
        ("cycles program --deadline 0", "--deadline must be above 0 and at most 3600, not 0"),
        ("cycles program --load 3", "no payload 3.0"),
        ("cycles program --robot puma560", "was compiled for machado-2r"),
        ("bench machado-2r --cores inf", "is not a list of whole numbers from 1 to 1024 hint:"),
        ("bench program --batches 0", "whole numbers"),
        ("bench program --batches 1.5", "whole numbers"),
    ],
    "simulate": [
        ("simulate machado-2r --bits 40", "--bits must be 2 to 16, not 40"),
        ("simulate program --bits 4", "--bits has no effect: program is a compiled program"),
        ("simulate machado-2r --rate 0", "the control rate must be 1 to 1e+06 Hz, not 0"),
        ("simulate machado-2r -t pont", "unknown trajectory 'pont' hint: did you mean 'point'?"),
        ("simulate machado-2r --mode papr", "unknown mode 'papr' hint: did you mean 'paper'?"),
        ("simulate machado-2r --controller pd", "--controller 'pd'"),
        ("simulate machado-2r --controller none.py:f", "a file that does not exist, 'none.py'"),
        ("simulate machado-2r -o x.pdf", "-o x.pdf has an unknown ending hint: use .html, .svg,"),
        ("simulate machado-2r --friction some", "friction 'some'"),
        (
            "simulate machado-2r --integrator adams-multon",
            "unknown integrator 'adams-multon' hint: did you mean 'adams-moulton'?",
        ),
        ("simulate machado-2r --time -1", "not -1"),
        ("simulate machado-2r --time 1e5 --bits 4-12", "must have 2 to"),
        ("simulate machado-2r --tolerance 0", "--tolerance must be above 0"),
        ("simulate machado-2r --bandwidth 0", "the bandwidth must be above 0"),
        ("simulate machado-2r --robot scara", "--robot needs a PROGRAM"),
    ],
    "plans and tables": [
        ("plan machado-2r --bits 3", "bits must be 4 to 16, not 3"),
        ("plan machado-2r --bits x", "'x' is not a valid integer"),
        ("plan machado-2r --code grey", "unknown code 'grey' hint: did you mean 'gray'?"),
        ("plan machado-2r --error 1lsb", "--accuracy proved belongs to --mode compact"),
        ("plan machado-2r --mode compact --graph g.png", "a picture hint: give a name that ends"),
        ("plan square.toml", "u has the range 0 .. 1.2, but in paper mode terms share a scale"),
        ("plan root.toml", "root is no sum of waves and powers of its inputs"),
        (f"tables machado-2r --splits {HUGE}", "splits must be 0 to 200"),
        ("report machado-2r --no-logic --bits 3-5", "bits must be 4 to 16, not 3"),
        ("report machado-2r --extra 11 --no-logic", "are too many hint: at most 12 are allowed"),
        (f"report machado-2r --widest {HUGE}", "--widest must be 0 to 24"),
    ],
    "compile": [
        ("compile machado-2r --mode papers", "unknown mode 'papers' hint: did you mean 'paper'?"),
        ("compile machado-2r --code gray", "--code belongs to --mode paper"),
        ("compile machado-2r --mode paper --effort 3", "--effort belongs to --mode compact"),
        ("compile machado-2r --mode paper --word q1=gray", "--word belongs to --mode compact"),
        ("compile machado-2r --word q1", "is no NAME=FORMAT hint: give, for example, q1=gray:12"),
        ("compile machado-2r --word q1=grey", "'grey' is no code, width, range or place of zero"),
        ("compile machado-2r --word q7=gray", "machado-2r has no word 'q7'"),
        ("compile machado-2r --of gravity --friction", "friction belongs to inverse-dynamics, no"),
        ("compile machado-2r --bits automatic", "'automatic' is neither a whole number nor auto"),
        ("compile root.toml --bits 1", "bits must be 2 to 16, not 1"),
        ("compile machado-2r --rms-error .5,nan", "is not a list of numbers up to 1e+06 hint:"),
        (f"compile machado-2r --rms-error {HUGE}", "is not a list of numbers up to"),
        ("compile machado-2r --rms-error .2", "the rms error must be at least 0.289 LSB"),
        ("compile machado-2r --max-error -1", "the largest error must be above 0.5 LSB (rounding)"),
        ("compile machado-2r --accuracy found=1,,2", "is not a list of numbers up to 1e+06 hint:"),
        (f"compile machado-2r --seed {HUGE}", "a seed is 0 to"),
        (f"compile machado-2r --processes {HUGE}", "--processes must be 1 to 256"),
        ("compile machado-2r --effort nan", "effort is 0 to"),
        ("compile machado-2r --input-bits qq=9", "unknown input 'qq' hint: did you mean 'q'?"),
        (f"compile machado-2r --input-bits q={NINES}", "--input-bits 'q=999"),
        ("compile machado-2r --payloads 0,inf", "is not a list of numbers up to 1e+06 hint:"),
        ("compile machado-2r --payloads 0:5", "give masses in kg"),
        ("compile machado-2r --payload 1 --load-range 0..5", "are the same hint: give one"),
        ("compile machado-2r --payload 5..1", "a range of kg that rises"),
        ("area program --payload 0..5", "'0..5' is not a valid float"),
        ("compile machado-2r --accuracy prooved=1lsb", "hint: did you mean 'proved'?"),
        ("compile machado-2r --accuracy rms=.5 --accuracy rms=.6", "'rms' is given twice"),
        ("compile machado-2r --accuracy rms=.5 --rms-error .6", "--rms-error and --accuracy rms"),
        ("compile machado-2r --accuracy 1lsb", "has no kind hint: give proved=1lsb"),
        ("compile machado-2r --mode paper --accuracy rms=.5", "--accuracy rms belongs to --mode"),
        ("report machado-2r --splits 3", "--splits belongs to --mode paper"),
        ("compile machado-2r --of gravity:friction", "friction belongs to inverse-dynamics"),
        ("compile machado-2r --of control:kq=3", "choices are friction, smoothing, kp"),
        ("compile machado-2r --cluster nofile.json", "no such scheduler file (nofile.json) hint:"),
        (f"compile machado-2r -o {'x' * 300}", "is not a valid file name"),
        ("compile machado-2r --store s4://lab/x", "hint: did you mean 's3' or 'gs'?"),
        ("compile machado-2r --error 1", "'1' has no unit hint: give one, such as 1lsb or 0.5Nm,"),
        ("compile machado-2r --error 1lsb --rms-error 1", "give one of them"),
        ("compile machado-2r --bits auto --error 1lsb", "a guaranteed error in a unit"),
        ("compile machado-2r --mode paper --bits auto", "give --accuracy proved=0.5Nm"),
    ],
    "evaluate": [
        ("evaluate program -i s.npy --engine lvm", "engine 'lvm' hint: did you mean 'llvm'?"),
        ("evaluate program -i s.npy --shard term", "shard 'term' hint: did you mean 'terms'?"),
        ("evaluate program -i s.npy --payload 3", "no payload 3.0 hint: this program has 0 kg"),
        ("evaluate program -i s.npy --json", "--json uses standard output"),
        ("evaluate program -i s.npy -o ./s.npy", "s.npy is the input"),
        ("evaluate program -i s.npy -o t.txt", "unknown ending '.txt' hint: endings are .csv,"),
        ("evaluate program -i s.npy --of gravity", "--of has no effect: program is a"),
        ("evaluate machado-2r -i s.npy --payload 1 --interpolate", "--interpolate needs a program"),
        ("evaluate machado-2r -i ''", "the name is empty: give a file or folder"),
        (f"evaluate machado-2r --threads {HUGE}", "threads must be 1 to"),
        ("evaluate machado-2r --payload nan", "a payload is a mass in kg"),
        ("evaluate /dev/zero -i s.npy", "folder and no robot has this name (/dev/zero) hint:"),
        ("evaluate program -i nan.csv -o t.npy --cluster local:2", "files in chunks"),
        ("evaluate program -i npys -o t.csv", "in chunks, which needs an output file (-o)"),
        ("evaluate program -i npys -o t.npz", "in chunks, which needs an output file (-o)"),
        ("evaluate machado-2r -i npys -o t", "which needs a program folder"),
        ("evaluate program -i npys -o t --shard terms --processes 2", "--shard"),
    ],
    "minimize": [
        ("minimize", "missing argument 'FILES...' hint: boolcomp minimize --help lists"),
        ("minimize a.pla --method fast", "method 'fast'"),
        ("minimize a.pla --deadline -3", "a deadline is a positive number"),
        ("minimize a.pla a.pla -o -", "-o - writes one PLA file"),
        ("minimize a.pla a.pla -o a.pla", "is a file, but there are several results hint: give a"),
        ("minimize a.pla a.esp --output-type blif -o folder.toml", "hint: rename one of the"),
        ("minimize a.pla --output-type veriog", "type 'veriog' hint: did you mean 'verilog'?"),
        ("minimize a.pla --primes some", "primes 'some'"),
        ("minimize a.pla --cost 3,1", "cost '3,1' hint: give products, literals, or prices of"),
        ("minimize a.pla --cost 0:0 --method exact", "cost '0:0' has an invalid price hint: use 0"),
        ("minimize a.pla --cost literals", "--cost literals needs --method exact"),
        ("minimize a.pla --verify", "--verify compares two files, not 1"),
        ("minimize a.pla --verify --stats", "--verify and --stats exclude each other"),
        ("minimize a.pla --primes all --output-type blif", "has no effect with --primes"),
    ],
    "schedule": [
        ("schedule", "missing robot hint: give its name or file, or a sub-command, such"),
        ("schedule puma560 --paper zeng", "--paper zeng takes no robot"),
        ("schedule --paper zengg", "did you mean 'zeng'"),
        ("schedule --paper zeng --machine t800", "--machine has no effect with --paper"),
        ("schedule puma560 --engine numpy", "--engine has no effect without --run"),
        ("schedule puma560 --run --samples 0", "--samples must be 1 to 10000000, not 0"),
        (f"schedule puma560 --run --samples {HUGE}", "--samples must be 1 to 10000000"),
        ("schedule puma560 --run --engine nump", "did you mean 'numpy'"),
        ("schedule machado-2r --method boolean --folded", "--folded has no effect with"),
        ("schedule puma560 --method customised --folded", "it always folds constants"),
        ("schedule puma560 --bits 6", "--bits has no effect with --method newton-euler"),
        ("schedule puma560 --assignment x.toml --scheduler optimal", "--scheduler has no effect"),
        ("schedule puma560 --assignment ''", "the name is empty: give a file or folder"),
        ("schedule puma560 --method lagrange", "did you mean 'lagrangian'"),
        ("schedule puma560 --scheduler cpmisf", "did you mean 'cp-misf'"),
        ("schedule puma560 --machine t80", "did you mean 't800'"),
        (f"schedule puma560 --processors {HUGE}", f"processors, not {HUGE}"),
        (f"schedule puma560 --points {HUGE}", "--points must be 1 to 151515"),
        ("schedule machado-2r --method symbolic-cycle --run", "symbolic-cycle does not calculate"),
        *((f"schedule puma560 --chart {option}", f"{option.split()[0]} has no effect with --chart")
          for option in ("--method boolean", "--run", "--processors 2", "--folded")),
    ],
}  # fmt: skip
DATA = [  # exit code 1
    ("robots folder.toml", "cannot be read: Is a directory (folder.toml)"),
    ("robots bad.toml", "not a TOML file: Invalid value (at line 1, column 8) (bad.toml)"),
    ("robots latin.toml", "not UTF-8 text (byte 8) (latin.toml)"),
    ("robots root.toml", "a function, not a robot (root.toml) hint: compile, evaluate,"),
    ("schedule simulate root.toml", "a function, not a robot (root.toml) hint: compile, evaluate,"),
    (f"terms {'x' * 5000}/y", "cannot be read: File name too long"),
    *((f"{command} zero.toml", "it divides by zero at x = 0 (zero.toml:5: outputs.u.expression:")
      for command in ("compile", "terms", "plan", "tables", "report", "evaluate")),
    ("tables machado-2r -o bad.toml", "cannot be written: Not a directory (bad.toml/any)"),
    ("compile planar-3r --bits 12 --mode paper", "needs a table of"),
    ("compile machado-2r --error 0.4lsb", "rounding alone causes an error of half a step"),
    ("compile machado-2r --mode paper --error 0.4lsb", "rounding alone causes an error of half"),
    ("compile machado-2r --error 1lsb --input-bits 8", "use --input-bits q="),
    ("evaluate machado-2r -i nan.csv", "qd2 of sample 0 is nan, not finite (nan.csv)"),
    ("evaluate machado-2r -i text.csv", "'x' is not a number"),
    ("evaluate machado-2r -i far.csv", "too large"),
    ("evaluate program -i nan.csv", "qd2 of sample 0 is nan, not finite (nan.csv)"),
    ("minimize bad.pla", "bad.pla:"),
    ("show bad.pla -o x.html", "bad.pla:"),
    ("show wide.pla -o x.html", "19 inputs and 1 outputs hint: a page has at most 18 and 64"),
    ("minimize mv.pla", ".mv (multiple-valued variables) is not supported (mv.pla:1) hint:"),
    ("schedule puma560 --machine machine.toml", "machine.toml"),
]  # fmt: skip


LATE = [  # likewise, after some work
    ("compile machado-2r --mode paper --error 0.50001lsb", "the best that was reached"),
    ("compile puma560 --mode paper --bits 4", "minimisation takes 22 inputs and 2^25 bits"),
    ("schedule puma560 --method boolean", "needs a table of"),
]


@pytest.fixture(name="said")
def files_and_a_program(run: Run) -> Callable[[str], Result]:
    """Return what runs a command line beside files, a program and a folder."""
    for name, text in FILES.items():
        Path(name).write_text(text)
    Path("latin.toml").write_bytes("name = 'é'\n".encode("latin-1"))
    Path("folder.toml").mkdir()
    np.save("s.npy", np.zeros((2, 6)))
    Path("npys").mkdir()
    for name in ("q", "qd", "qdd"):
        np.save(f"npys/{name}.npy", np.zeros((2, 2)))
    stages(4)[2].save("program")
    return lambda line: run(*shlex.split(line))


def wrong(said: Callable[[str], Result], code: int, rows: list[tuple[str, str]]) -> list[str]:
    """Return the lines that do not end in such a code and one short sentence with these words."""
    found = []
    for line, sentence in rows:
        result = said(line)
        text = " ".join(result.err.split())
        right = (result.code, result.out) == (code, "") and sentence in text
        if not right or FORM.fullmatch(result.err) is None or len(result.err) > 1500:
            found.append(f"{line[:60]}: {result.code} {result.out[:60]} {text[-300:]}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("topic", USAGE)
def test_wrong_usage_is_a_sentence(said: Callable[[str], Result], topic: str) -> None:
    assert wrong(said, 2, USAGE[topic]) == []


def test_bad_data_is_a_sentence(said: Callable[[str], Result]) -> None:
    assert wrong(said, 1, DATA) == []


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
def test_an_output_that_cannot_be_written_is_refused_before_the_work(
    said: Callable[[str], Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("boolcomp.pipeline.run", begin)
    lines = ("compile machado-2r --bits 5 -o /proc/x", "tables machado-2r -o /proc/x",
             "plan machado-2r --mode compact --graph /proc/x.svg")  # fmt: skip
    assert wrong(said, 1, [(line, "cannot be written: No such file") for line in lines]) == []


@pytest.mark.check
def test_what_is_found_out_after_some_work_is_a_sentence(said: Callable[[str], Result]) -> None:
    assert wrong(said, 1, LATE) == []


TAKES_A_ROBOT = set(COMMANDS) - {
    "minimize", "export", "verify", "import", "cycles", "area", "build", "sweep", "show", "doctor",
    "completion", "paper",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(TAKES_A_ROBOT))
def test_every_command_that_takes_a_robot_says_what_is_none(
    said: Callable[[str], Result], name: str
) -> None:
    assert wrong(said, 2, [(f"{name} machado2r", "hint: did you mean 'machado-2r'?")]) == []
    assert (
        wrong(said, 1, [(f"{name} ur5.sdf", "<html>: not a robot (ur5.sdf:1) hint: URDF files")])
        == []
    )


@pytest.mark.parametrize("name", ["x" * 100_000, "--" + "x" * 100_000])
def test_long_words_are_cut_in_messages(run: Run, name: str) -> None:
    for arguments in ((name,), ("terms", name), ("evaluate", name), ("terms", "machado-2r", name)):
        result = run(*arguments)
        assert result.code == 2
        assert len(result.err) < 1500


def test_too_little_memory_is_a_sentence(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def invoke(_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("boolcomp.commands.group.cli.invoke", invoke)
    result = run("robots")
    assert (result.code, result.out) == (1, "")
    assert result.err == "error: not enough memory\n  hint: use fewer --processes\n"
