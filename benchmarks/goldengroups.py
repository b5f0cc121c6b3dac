"""What the golden net runs, group by group (see golden.py)."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args
from unittest import mock

import docblocks
import numpy as np
from worst import demand_of, problem_of

from boolcomp.base.errors import BoolcompError
from boolcomp.base.store import Folder
from boolcomp.base.workers import ALONE
from boolcomp.commands import COMMANDS
from boolcomp.compact.demand import ignore_progress
from boolcomp.compact.limits import FORMS
from boolcomp.compact.passes import search_for
from boolcomp.compact.result import result_store
from boolcomp.compact.search import Candidate, search_of
from boolcomp.compact.widths import Ledger
from boolcomp.engines.choice import engine_name
from boolcomp.logic import lutmapping
from boolcomp.logic.network import render_network
from boolcomp.measure import report as measured
from boolcomp.paper.program import network_of_cover
from boolcomp.problem.robot.library import robot_names
from boolcomp.program.files import load_program
from boolcomp.scale.pool import ProcessPool, Sharding
from boolcomp.targets.target import WRITERS, ExportOptions, Target, export_texts
from boolcomp.terms.extract import split
from boolcomp.twolevel import pla

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from golden import Bench

    from boolcomp.compact.result import StoredResult
    from boolcomp.engines.engine import Evaluation
    from boolcomp.program.program import Program
    from boolcomp.terms.extract import Terms

ROOT = Path(__file__).resolve().parent.parent
GROUPS: dict[str, Callable[[Bench], None]] = {}
DEAR = ("panda", "puma560-8.f4", "indy7", "stanford")  # never in a third
COUNT = 1 << 16  # states of engines
YOSYS = "0.70"  # with which areas are recorded
STATES = "q1,q2,qd1,qd2,qdd1,qdd2\n0.3,-0.7,0.4,0.9,-0.5,0.2\n2.1,0.9,-0.8,0.3,0.1,-0.6\n"
PLA = ".i 4\n.o 2\n.ilb a b c d\n.ob x y\n0--1 10\n1-0- 11\n-110 01\n0-1- 1-\n.e\n"
BLEND = """\
name = "blend"

[inputs.x]
range = [-1, 1]
bits = 4

[inputs.y]
range = [0, 2]
bits = 4

[outputs.z]
expression = "0.5*x*y + 0.25*y"
range = [-1, 1.5]
bits = 4
"""
PROGRAMS = {  # by name, what `boolcomp compile` is given
    "c8": "machado-2r --bits 8",
    "p4": "machado-2r --bits 4 --mode paper --minimizer isop --processes 1",
    "family": "machado-2r --bits 4 --mode paper --minimizer isop --processes 1 --payloads 0,1,2.5",
    "blend": "blend.toml --effort 0 --processes 1 --approximate off",
    "c4": "machado-2r --bits 4",
    "elbow": "elbow-3r --bits 8 --rms-error .505",
}


class MissingError(Exception):
    """What a group needs is not there."""


def group(make: Callable[[Bench], None]) -> Callable[[Bench], None]:
    """Enter a function as a group of its name."""
    GROUPS[make.__name__.rstrip("_")] = make
    return make


def in_third(name: str) -> bool:
    """Tell whether the quick form has this one of many things."""
    return not name.startswith(DEAR) and hashlib.sha256(name.encode()).digest()[0] % 3 == 0


def split_by_form(bench: Bench, names: Iterable[str]) -> Iterator[str]:
    """Yield a third of the names, and in the whole form the others, which are entered as such."""
    for name in names:
        bench.only_whole = not in_third(name)
        if bench.whole or not bench.only_whole:
            yield name
    bench.only_whole = False


def wholly(bench: Bench) -> bool:
    """Enter what follows as of the whole form only; tell whether that is what runs."""
    bench.only_whole = True
    return bench.whole


@cache
def _made(folder: Path, name: str) -> Program:
    del folder

    return load_program(name)


def program(bench: Bench, name: str) -> Program:
    """Return a program, compiled in the group's folder where it is not there."""
    if not Path(name).exists():
        Path("blend.toml").write_text(BLEND)
        bench.quietly(f"compile {PROGRAMS[name]} -o {name}")
    return _made(bench.folder, name)


def compiled_here(bench: Bench, *names: str) -> list[str]:
    """Return the names of programs that can be made; one is searched for from nothing, with ABC."""
    if lutmapping.find() is not None:
        return list(names)
    bench.skip("the program blend", "ABC is not installed, without which its logic is another")
    return [name for name in names if name != "blend"]


def has(package: str) -> bool:
    """Tell whether an optional package is there."""
    return find_spec(package) is not None


@group
def help_(bench: Bench) -> None:
    """Help of all commands."""
    bench.run("--help")
    for name in COMMANDS:
        bench.run(f"{name} --help")
    for name in ("chart", "paper", "run", "simulate"):
        bench.run(f"schedule {name} --help")
    for name in ("compile", "plan", "report", "simulate", "paper plan", "paper compile"):
        bench.run(f"{name} --help-all")
    for name in ("terms", "plan", "tables", "compile"):
        bench.run(f"paper {name} --help")
    for line in ("compile machado-2r --bits 99", "terms machado-3r", "export c --to verilogg -o x"):
        bench.run(line)


SLOW_BLOCKS = {  # in the whole form only
    "how-to-choose-word-lengths.md-1", "how-to-guarantee-an-error.md-3",
    "how-to-minimise-pla-files.md-2", "research-parallel-papers.md-1",
    "research-parallel-papers.md-2",
    "tutorials-truth-tables-in-class.md-5", "tutorials-your-own-robot.md-3",
}  # fmt: skip


@group
def docs(bench: Bench) -> None:
    """Run the examples of the README and the pages, and those that take --json with it, too."""
    for block, page, name in docblocks.blocks("console"):
        bench.only_whole = name in SLOW_BLOCKS
        if (bench.only_whole and not bench.whole) or block in docblocks.needs(page):
            continue  # what needs tools prints other figures on other machines
        folder = bench.folder / name
        folder.mkdir()
        os.chdir(folder)
        for path, text in docblocks.files(page).items():
            Path(path).write_text(text, encoding="utf-8")
        for count, ((_, *words), _) in enumerate(docblocks.commands(block)):
            title = f"{name} {count}: boolcomp {' '.join(words)}"
            bench.run(words, title)
            if {"plan", "terms", "robots", "compile"} & {*words[:2]} and "--json" not in words:
                bench.run([*words, "--json"], f"{title} --json")
    bench.only_whole = False


@group
def robots(bench: Bench) -> None:
    """Robots, their terms and plans."""
    for line in ("robots", "robots --json", "terms machado-2r", "terms machado-2r --form products",
                 "terms scara --form amplitude-phase", "plan machado-2r --code twos --json",
                 "plan machado-2r --mode compact --graph g.svg"):  # fmt: skip
        bench.run(line)
    for name in split_by_form(bench, robot_names()):
        bench.run(f"robots {name}")
        bench.run(f"robots {name} --json")
    for name in ("elbow-3r", "planar-3r", "scara"):
        bench.run(f"plan {name} --bits 6 --json")
        bench.run(f"terms {name} --json")
    if wholly(bench):
        for name in robot_names():
            bench.run(f"terms {name} --form grouped")
        for name in ("machado-2r", "elbow-3r", "puma560"):
            bench.run(f"plan {name} --bits 8")


@group
def tables(bench: Bench) -> None:
    """Write truth tables."""
    bench.run("tables machado-2r --bits 4 -o t4")
    bench.run("tables machado-2r --bits 4 --rounding faithful --signs outside --sums outside -o f4")
    if wholly(bench):
        bench.run("tables machado-2r --bits 6 --code sign-magnitude -o t6 --json")


@group
def minimize(bench: Bench) -> None:
    """Minimise a PLA file with every method and output type."""
    Path("a.pla").write_text(PLA)
    Path("r.pla").write_text(".i 4\n.o 1\n.type fr\n0--1 1\n1-0- 1\n-110 0\n0010 0\n.e\n")
    methods = [name for name, needs in (("exact", "ortools"), ("own", ""), ("espresso", "pyeda"),
               ("isop", "")) if not needs or has(needs)]  # fmt: skip
    for name in {"exact", "own", "espresso", "isop"} - set(methods):
        bench.skip(f"minimize --method {name}", "its package is not installed")
    for method in methods:
        bench.run(f"minimize a.pla r.pla --method {method}")
        bench.run(f"minimize a.pla --method {method} --json")
        for kind in ("f", "fd", "fr", "fdr", "blif", "verilog"):
            bench.run(f"minimize a.pla --method {method} --output-type {kind} -q -o -")
    for more in ("--phase", "--primes all", "--primes essential", "--stats", "--stats --json"):
        bench.run(f"minimize a.pla {more}")
    bench.quietly("minimize a.pla -o small.pla")
    bench.run("minimize small.pla a.pla --verify")
    bench.run("minimize r.pla a.pla --verify")
    if has("ortools"):
        bench.run("minimize a.pla --method exact --cost 3:1 -o -")


@group
def programs(bench: Bench) -> None:
    """Compile and evaluate: text, JSON, and the files of programs."""
    Path("states.csv").write_text(STATES)
    Path("blend.toml").write_text(BLEND)
    for name in compiled_here(bench, "c8", "p4", "family", "blend"):
        bench.run(f"compile {PROGRAMS[name]} -o {name}")
    for name in compiled_here(bench, "c8", "p4", "blend"):
        bench.run(f"compile {PROGRAMS[name]} --json")
    bench.run("compile puma560 --rms-error .505 --proof plain")
    for line in ("c8", "p4 --engine numpy", "family --payload 1 --engine numpy", "machado-2r",
                 "p4 --engine bdd", "family --payload 2 --interpolate --engine numpy"):  # fmt: skip
        bench.run(f"evaluate {line} -i states.csv")
    bench.run("evaluate c8 -i states.csv -o t.npy --json")
    if wholly(bench):
        for line in ("puma560 --rms-error .505 --json", "elbow-3r --rms-error .505 --json",
                     "machado-2r --bits 10 --json", "machado-2r --word tau=twos",
                     "machado-2r --bits 6 --mode paper --processes 1 --json"):  # fmt: skip
            bench.run(f"compile {line}")


def variants(writer: Target) -> dict[str, ExportOptions]:
    """Return the options with which a target is written, by how a command says them."""
    found = {"": ExportOptions()}
    found |= {f" --level {level}": ExportOptions(level=level) for level in writer.levels[1:]}
    if writer.pipelined:
        found |= {f"{key} --pipeline 3": replace(one, pipeline=3) for key, one in found.items()}
    if writer.benched:
        found |= {
            f"{key} --test-bench": replace(one, test_bench=True) for key, one in found.items()
        }
    if writer.pipelined:
        found[" --interface stream"] = ExportOptions(interface="stream")
    if writer.mapped:
        found[" --luts 4"] = ExportOptions(luts=4)
    if writer.cocotb:
        found[" --cocotb"] = ExportOptions(cocotb=True)
    return found


@group
def exports(bench: Bench) -> None:
    """Export four programs to every target, with every option that it has."""
    for name in compiled_here(bench, "c8", "p4", "family", "blend"):
        made = program(bench, name)
        for target, writer in WRITERS.items():
            for said, options in variants(writer).items():
                title = f"export {name} --to {target}{said}"
                bench.only_whole = name == "c8" and bool(said) and not in_third(title)
                bench.only_whole |= target == "c-sliced" and name != "p4"
                bench.only_whole |= target in ("fusesoc", "amaranth") and bool(said)
                bench.only_whole |= options.luts > 0 and name != "blend"
                if not bench.wants(title):
                    continue
                try:
                    files = export_texts(made, target, None, options)
                except BoolcompError as error:
                    bench.keep(title, **{"": f"{error}\n"})
                else:
                    bench.keep(title, **{"": "written\n"}, **files)
    bench.only_whole = False
    bench.run("export family --to verilog --load 1 --level gates -o one.v --json")
    bench.run("export c8 --to verilog --test-bench --pipeline 4 -o rtl --json")


@group
def proofs(bench: Bench) -> None:
    """Certificates, verify, and import of what was exported."""
    bench.run("compile machado-2r --bits 4 --certify -o certified")
    bench.run("verify certified --chain-only --robot machado-2r")
    bench.run("verify certified --chain-only --json")
    bench.run(f"verify {ROOT}/certified/machado-2r-8 --chain-only --robot machado-2r")
    for name in compiled_here(bench, "c4", "p4", "blend"):
        program(bench, name)
        bench.run(f"verify {name}")
    for ending, target in ((".blif", "blif"), (".aig", "aiger"), (".aag", "aiger-ascii")):
        bench.quietly(f"export c4 --to {target} -o c4{ending}")
        bench.run(f"import c4{ending} -o read{ending}.txt --json")
    bench.run("import c4.blif -o again.aig")
    bench.run("import c4.aig -o again.blif")
    bench.run("import c4.aig -o again.aag")
    if wholly(bench):
        bench.run(f"verify {ROOT}/certified/elbow-3r-8 --robot elbow-3r --json")
        bench.run(f"verify {ROOT}/certified/machado-2r-8 --robot machado-2r --json")
        bench.run("compile machado-2r --bits 6 --certify --proof tables -o tabled")
        _area(bench)


def _area(bench: Bench) -> None:
    try:
        found = version("pyosys")
    except PackageNotFoundError:
        found = "no"
    if found.startswith(YOSYS):
        bench.run("area c4 --on lut4,lut6 --seeds 0 --level luts,words --json")
    else:
        bench.skip("area", f"recorded with pyosys {YOSYS}; here is {found}")


@group
def pages(bench: Bench) -> None:
    """Pages and studies: show, report, simulate, sweep."""
    Path("most.pla").write_text(".i 3\n.o 1\n11- 1\n1-1 1\n-11 1\n.e\n")
    Path("sweep.toml").write_text(
        'name = "small"\nrobots = ["machado-2r"]\nfunctions = ["gravity"]\nbits = [4]\n'
        'payloads = [0, [0, 2.5]]\neffort = 0\nexports = ["c"]\n'
    )
    for name in ("c4", "p4"):
        program(bench, name)
        bench.run(f"show {name} -o {name}.html --json")
    bench.run("show most.pla -o most.html")
    bench.run("simulate machado-2r -t point --time 0.2 --mode rounded --bits 4,6 -o s.csv")
    bench.run("simulate machado-2r -t circle --time 0.1 --mode rounded --bits 5 --json")
    searched = bool(compiled_here(bench, "blend"))  # keys of sweeps say whether ABC is there
    if searched:
        bench.run("sweep sweep.toml -o out --dry-run --json")
    if not has("vl_convert"):
        bench.skip("report", "vl-convert-python is not installed")
    elif wholly(bench):
        with mock.patch.object(measured, "timed", return_value=(10.0, 0.5)):  # ns a sample, s
            bench.run("report c4 --samples 2000 --evaluations 2000 -o program")
        bench.run("report machado-2r --bits 4 --mode paper --samples 2000 --evaluations 2000 "
                  "--no-logic -o robot --json")  # fmt: skip
        bench.run("simulate machado-2r -t sine --time 1 --mode paper,rounded --bits 4 -o s.html")
        if searched:
            bench.run("sweep sweep.toml -o out")


@group
def schedules(bench: Bench) -> None:
    """Schedules of the parallel papers."""
    for name in ("machado", "zomaya", "zeng", "zalzala", "schaefer"):
        bench.run(f"schedule paper {name}")
    bench.run("schedule simulate puma560 --method lagrangian --machine t800 --json")
    for name in ("improved", "dynamic", "static", "first-fit", "best-fit"):
        bench.run(f"schedule simulate machado-2r --scheduler {name} --processors 3")
    bench.run("schedule simulate machado-2r --method boolean --bits 4 -o chart")
    if wholly(bench):
        for name in ("newton-euler", "semi-customised", "customised", "regrouped",
                     "lagrangian-rows", "zeng-19", "symbolic", "symbolic-forward", "wrench",
                     "recursive-forward"):  # fmt: skip
            bench.run(f"schedule simulate puma560 --method {name} --points 4")
        bench.run("schedule chart machado-2r -o all --json")
        bench.run("schedule run machado-2r --method customised --processors 2 --samples 2000")


@group
def shipped(bench: Bench) -> None:
    """Read every file of tables/, and compare its graph with what its widths make."""
    folder = Folder(ROOT / "tables", trusted=True)
    paths = {path.name: path for path in sorted((ROOT / "tables").glob("*.compact.json"))}
    for name in split_by_form(bench, list(paths)):
        if not bench.wants(name):
            continue
        document = json.loads(paths[name].read_text().partition("\n")[2])
        if "same" in document:
            bench.keep(name, **{"": f"the same as {document['same']}\n"})
            continue
        terms = split(problem_of(document["robot"]))
        store = result_store(terms, demand_of(document["demand"]), folder, also_shipped=False)
        kept = store.find()
        if kept is None:
            bench.keep(name, **{"": "is not read\n"})
            continue
        bench.keep(name, **{"": f"read as {store.name}\n", "graph": str(kept.compact.graph)},
                   network=render_network(kept.network), made=made_again(terms, kept))  # fmt: skip


@group
def covers(bench: Bench) -> None:
    """Read every cover of tables/; digests of the networks that they make."""
    for path in sorted((ROOT / "tables").glob("*.pla")):
        bench.only_whole = "-T16-8." in path.name
        if bench.wants(path.name):
            cover = pla.read(path)
            bench.keep(path.name, **{"": f"{cover.inputs} inputs, {cover.outputs} outputs\n"},
                       network=str(network_of_cover(cover.on)))  # fmt: skip
    bench.only_whole = False


def made_again(terms: Terms, kept: StoredResult) -> str:
    """Return the graph that the widths and biases of a result make."""
    compact = kept.compact
    goal = search_for(terms, compact.demand.exact, Ledger(0.0, ignore_progress, None, ALONE))
    form = FORMS.index(compact.form)
    none = np.zeros(len(goal.squares))
    choice = Candidate(form, dict(compact.widths), none, compact.biases, 0, 0.0)
    return str(search_of(goal.sampling, form).graph(choice))


def ways(name: str) -> dict[str, Callable[..., Evaluation]]:
    """Return every way to evaluate a program, as functions of it, its load and states."""

    def here(made: Program, load: float, *state: Any, engine: Any, threads: int) -> Evaluation:
        return made.evaluate(*state, payload=load, engine=engine, threads=threads)

    def shared(made: Program, load: float, *state: Any, shard: Sharding) -> Evaluation:
        with ProcessPool(made, 2, shard=shard, engine="numpy", payload=load) as pool:
            return pool.evaluate(*state)

    paper = "--mode paper" in PROGRAMS[name]
    names = {"numpy": (1,), "llvm": (1, 2)}
    names |= {"bdd": (1,)} if paper or name == "blend" else {}
    names |= {} if paper else {"words": (1, 2)}
    found: dict[str, Callable[..., Evaluation]] = {
        f"{engine}, {threads} threads": partial(here, engine=engine, threads=threads)
        for engine, numbers in names.items() for threads in numbers
    }  # fmt: skip
    shards = get_args(Sharding) if paper else ("samples",)
    return found | {f"2 processes by {shard}": partial(shared, shard=shard) for shard in shards}


@group
def engines(bench: Bench) -> None:
    """Run every engine on the same states; digests of what it returns."""
    native = engine_name("auto") == "llvm"
    if not native:
        bench.skip("engines llvm and words", "this processor cannot run them")
    for name in compiled_here(bench, "c8", "p4", "family", "blend", "elbow"):
        for title, way in ways(name).items():
            bench.only_whole = "processes" in title and name not in {"c8", "p4"}
            if not bench.wants(f"{name}, {title}") or (title[0] in "lw" and not native):
                continue
            made = program(bench, name)
            draw = np.random.default_rng(20_260_101)
            states = [3.0 * draw.uniform(-1.0, 1.0, (COUNT, one.size)) for one in made.groups]
            found = way(made, made.payloads[-1], *states)
            counts = found.saturated_inputs, found.saturated_outputs, found.beyond_stops
            values = np.ascontiguousarray(found.values, "<f8").tobytes()
            said = {"": f"saturated, beyond stops: {counts}\n"}
            bench.keep(f"{name}, {title}", **said, values=values)
    bench.only_whole = False


@group
def searches(bench: Bench) -> None:
    """Search for four small programs from nothing, with no effort (whole form)."""
    if not wholly(bench):
        return

    if lutmapping.find() is None:
        raise MissingError("ABC is not installed, without which searches end elsewhere")
    Path("blend.toml").write_text(BLEND)
    for name, line in {
        "blend": "blend.toml",
        "gravity": "machado-2r --of gravity --bits 5 --input-bits 6",
        "pid": f"{ROOT}/examples/functions/pid.toml --bits 4",
        "2r": "machado-2r --bits 3 --input-bits 4 --rms-error .9",
    }.items():
        bench.quietly(f"compile {line} --effort 0 --processes 1 -o {name}")
        bench.keep(name, **{"": f"{line}\n", "graph": str(_made(bench.folder, name).graph)})
