"""Methods by name, their operation counts and task graphs, networks of logic among them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import UsageError, require_name
from boolcomp.base.results import ResultColumn, Results
from boolcomp.logic.network import CONSTANTS, operation_kinds
from boolcomp.parallel import articulated, methods
from boolcomp.parallel.methods import (
    RecordedMethod,
    general_torques,
    lagrangian_tasks,
    lagrangian_torques,
    recorded_method,
    semi_customised_torques,
    split_name,
    ten_name,
    zeng_tasks,
    zeng_torques,
    zomaya_tasks,
)
from boolcomp.parallel.papers import CUSTOMISED, DIAGONAL, GENERAL, PHASE_1, PHASE_2
from boolcomp.parallel.simulation import Finding
from boolcomp.parallel.taskgraph import Edge, Task, TaskGraph
from boolcomp.problem import dynamics
from boolcomp.problem.algebra import Operations
from boolcomp.problem.dynamics import joint_program
from boolcomp.problem.robot.library import load_robot
from boolcomp.problem.tape import Tape, count, task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from boolcomp.logic.network import Network
    from boolcomp.parallel.methods import Physics
    from boolcomp.problem.algebra import Algebra, Element
    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.tape import Operation, Straight


# --------------------------------------------------------------------------------------------------
# The Boolean evaluator of Machado et al. 1988 as a task graph: products, partial ORs, sums.
#
# The product terms of all tables are dealt in equal shares; a share makes one partial output word
# of each of its tables. Partial words are joined by OR, and a torque's terms are added, both
# pairwise. AND, OR and the sum are associative, so any number of processors can take part (the
# paper's figure 2a).
#
# A product is an AND of input words with a mask, a comparison and an OR into its output word. An
# operation on a machine word of 32 bits counts as one addition. On machines with slow floating
# point this overstates the cost of logic, never that of arithmetic methods.
# --------------------------------------------------------------------------------------------------

WORD = 32  # bits


@dataclass(frozen=True, slots=True)
class ProductTable:
    """Sizes of a term's two-level cover; `torque` is the joint to which it is added."""

    name: str
    torque: int
    inputs: int
    products: int
    literals: int
    outputs: int

    @property
    def cost(self) -> int:
        """Operations of a product: AND and comparison of input words, OR into output words."""
        return 2 * _words(self.inputs) + _words(self.outputs)

    @property
    def work(self) -> int:
        return self.cost * self.products

    def __str__(self) -> str:
        return (
            f"{self.name} of torque {self.torque}: {self.products} products, "
            f"{self.literals} literals, {self.inputs} bits in, {self.outputs} out"
        )


def _words(bits: int) -> int:
    return max(1, math.ceil(bits / WORD))


def boolean_tasks(
    tables: Iterable[ProductTable], *, groups: int = 1, name: str = "boolean"
) -> TaskGraph:
    """Return the graph of an evaluation whose product terms are dealt to `groups`.

    All tables are one list, cut into shares of equal work at products, so a share may have products
    of several tables: a task each. `T11/and/2` is the second part of T11, `T11/or/…` joins,
    `T11/decode` decodes the word, `tau1/sum/…` adds.
    """
    entries = sorted((table for table in tables if table.products), key=lambda one: -one.products)
    if groups < 1:
        raise UsageError(
            f"product terms cannot be distributed in {groups} groups", "give 1 or more"
        )
    if not entries:
        raise UsageError("no table has a product term to schedule", where=name)
    share = sum(one.work for one in entries) / groups
    tasks: list[Task] = []
    edges: list[Edge] = []
    terms: dict[int, list[str]] = {}
    done = 0.0  # shares
    for entry in entries:
        end = done + entry.work / share
        cuts = [(k - done) * share for k in range(math.floor(done) + 1, math.ceil(end))]
        starts = sorted({0, *(round(cut / entry.cost) for cut in cuts)} - {entry.products})
        decoded = _table(entry, [*starts, entry.products], tasks, edges)
        terms.setdefault(entry.torque, []).append(decoded)
        done = end
    for torque, names in sorted(terms.items()):
        _tree(f"tau{torque}/sum", names, Operations(additions=1), 1, tasks, edges)
    graph = TaskGraph(name, tuple(tasks), tuple(edges))
    graph.check()
    return graph


def _table(table: ProductTable, cuts: Sequence[int], tasks: list[Task], edges: list[Edge]) -> str:
    """Add a table's tasks, for the products between cuts; return the name of the last one."""
    words = _words(table.outputs)
    names = [f"{table.name}/and/{k}" for k in range(1, len(cuts))]
    for name, (start, end) in zip(names, pairwise(cuts), strict=True):
        tasks.append(Task(name, Operations(additions=table.cost * (end - start) - words)))
    last = _tree(f"{table.name}/or", names, Operations(additions=words), words, tasks, edges)
    steps = max(1, math.ceil(math.log2(max(2, table.outputs))))
    # Decoding of a Gray word: shift and XOR per doubling.
    tasks.append(Task(f"{table.name}/decode", Operations(additions=2 * steps * words)))
    edges.append(Edge(last, f"{table.name}/decode", words))
    return f"{table.name}/decode"


def _tree(
    label: str, names: Sequence[str], operations: Operations, words: int, tasks: list[Task],
    edges: list[Edge],
) -> str:  # fmt: skip
    """Add tasks that join others pairwise until one is left; return its name."""
    left, made = list(names), 0
    while len(left) > 1:
        pairs = [left[k : k + 2] for k in range(0, len(left), 2)]
        left = []
        for pair in pairs:
            if len(pair) == 1:
                left += pair
                continue
            made += 1
            joined = f"{label}/{made}"
            tasks.append(Task(joined, operations))
            edges += [Edge(name, joined, words) for name in pair]
            left.append(joined)
    return left[0]


# --------------------------------------------------------------------------------------------------
# A network of logic as a task graph, level by level.
#
# Every operation of two inputs, and every inversion, counts as one addition. A word holds one bit
# of one sample, or that bit of many samples. Every group of nodes extracts the bits that it reads
# from the input words: with 2 operations per bit, or with a transposition for many samples. One
# processor assembles the bits of an output word in the same way.
# --------------------------------------------------------------------------------------------------

Place = tuple[int, int]  # level and group; level 0 extracts bits, the last one assembles words


def network_tasks(
    network: Network, widths: Sequence[int], *, groups: int = 1, samples: int = 1,
    name: str = "compact",
) -> TaskGraph:  # fmt: skip
    """Return the graph of a network whose levels are distributed in `groups`.

    `widths` are those of the output words. `in/2` extracts the bits for group 2, `7/2` is its part
    of level 7, `tau/1` the first output word.
    """
    if groups < 1:
        raise UsageError(f"levels cannot be distributed in {groups} groups", "give 1 or more")
    first = CONSTANTS + network.inputs
    places = _places(network, groups)
    work: Counter[Place] = Counter()
    words: dict[tuple[Place, Place], set[int]] = defaultdict(set)
    for signal, node in enumerate(network.nodes, first):
        here = places[signal]
        work[here] += sum(count for _, count in operation_kinds(node.lut))
        for k in node.operands:
            words[places.get(k, (0, here[1])), here].add(k)
    end = 1 + max((level for level, _ in places.values()), default=0)
    bits = iter(network.outputs)
    for number, width in enumerate(widths, 1):
        for k in (next(bits) for _ in range(width)):
            if k >= CONSTANTS:
                words[places.get(k, (0, 1)), (end, number)].add(k)
        work[end, number] = _converting(width, samples)
    taken: dict[Place, set[int]] = defaultdict(set)
    for (before, _), signals in words.items():
        if before[0] == 0:
            taken[before] |= signals
    work.update({place: _converting(len(read), samples) for place, read in taken.items()})
    kinds = {0: "in", end: "tau"}
    names = {place: f"{kinds.get(place[0], place[0])}/{place[1]}" for place in sorted(work)}
    tasks = (Task(task, Operations(additions=work[place])) for place, task in names.items())
    edges = (
        Edge(names[before], names[after], len(words[before, after]))
        for before, after in sorted(words)
    )
    return TaskGraph(name, tuple(tasks), tuple(edges))


def _converting(bits: int, samples: int) -> int:
    """Return the operations that extract bits from words, or assemble words.

    A transposition of many samples merges pairs of words by halves, with 3 operations, until there
    are as many words as bits (a power of two). Then it exchanges halves of pairs, with 6
    operations.
    """
    if samples == 1:
        return 2 * bits
    parts = [min(samples, bits - k) for k in range(0, bits, samples)]
    fields = [1 << (part - 1).bit_length() for part in parts]
    return sum(3 * (samples - n + n * (n.bit_length() - 1)) for n in fields)


def _places(network: Network, groups: int) -> dict[int, Place]:
    """Return every node's level and group: groups of equal size, close to their operands."""
    first = CONSTANTS + network.inputs
    depth: dict[int, int] = {}
    levels: dict[int, list[int]] = defaultdict(list)
    for signal, node in enumerate(network.nodes, first):
        depth[signal] = 1 + max(depth.get(k, 0) for k in node.operands)
        levels[depth[signal]].append(signal)
    places: dict[int, Place] = {}
    for level, signals in sorted(levels.items()):
        room = dict.fromkeys(range(1, groups + 1), math.ceil(len(signals) / groups))
        for signal in signals:
            operands = network.nodes[signal - first].operands
            near = Counter(places[k][1] for k in operands if k in places)
            group = max(room, key=lambda g: (near[g], room[g], -g))
            places[signal] = level, group
            room[group] -= 1
            if not room[group]:
                del room[group]
    return places


# --------------------------------------------------------------------------------------------------
# Cycles of simulation and control: computed torque with PD feedback.
#
#     v = ÿᵣ + Kd (ẏᵣ - ẏ) + Kp (yᵣ - y)        u = M v + k - q
#
# As in Schäfer and Schiehlen 1992, a cycle calculates u and, with Cholesky factors of M, the
# resulting acceleration, which is v for an exact model.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Gains:
    """Feedback of every joint: `proportional` in 1/s², `derivative` in 1/s."""

    proportional: float = 100.0
    derivative: float = 20.0


def forward_program(robot: Robot, tape: Tape) -> Straight:
    """Record forward dynamics: inputs q, qd, u of every joint, outputs qdd."""
    return joint_program(robot, methods.forward, ("q", "qd", "u"), ("qdd",), tape)


def torque_program(robot: Robot, torques: Physics, tape: Tape) -> Straight:
    """Record a method: inputs q, qd, qdd of every joint, outputs tau."""
    return joint_program(robot, torques, ("q", "qd", "qdd"), ("tau",), tape)


def control_accelerations(
    algebra: Algebra, gains: Gains, signals: Sequence[Sequence[Element]]
) -> list[Element]:
    """Return v from the state (q, q̇) and the reference (q, q̇, q̈)."""
    found = []
    for i, (q, qd, qr, qdr, qddr) in enumerate(zip(*signals, strict=True), 1):
        with task(algebra, f"v/{i}"):
            slow = algebra.constant(gains.proportional) * (qr - q)
            fast = algebra.constant(gains.derivative) * (qdr - qd)
            found.append(qddr + fast + slow)
    return found


def cycle(robot: Robot, tape: Tape, gains: Gains | None = None) -> Straight:
    """Record a cycle: inputs q, qd, qr, qdr, qddr of every joint, outputs u and qdd."""

    def text(robot: Robot, algebra: Tape, *signals: Sequence[Element]) -> list[Element]:
        bodies = methods.bodies_of(robot, algebra, signals[0], signals[1])
        equations = methods.assemble(algebra, bodies, robot.joints)
        rates = control_accelerations(algebra, gains or Gains(), signals)
        u = methods.driven(algebra, equations, rates, "u")
        return [*u, *methods.accelerations(algebra, equations, u)]

    return joint_program(robot, text, ("q", "qd", "qr", "qdr", "qddr"), ("u", "qdd"), tape)


# --------------------------------------------------------------------------------------------------
# Methods by name.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Method:
    """A method: its title, its source, its function and the names of its tasks.

    `function` is the physics, `(robot, algebra, q, qd, qdd) -> torques`; if `whole`, it is
    `(robot, tape) -> program` with other inputs and outputs; for `boolean` it makes a task graph
    from tables. With `dummies` the tasks include an entry and an exit, as the paper counts.
    `general` methods accept joints in any frames and trees, those with `trees` trees. Tasks of
    `literal` methods count all operations of the text by default, including products with zero, as
    the paper does.
    """

    title: str
    paper: str
    function: Callable[..., Any]
    tasks: Callable[[Robot], tuple[str, ...]] = lambda _: ()
    literal: bool = False
    whole: bool = False
    dummies: bool = False
    general: bool = False
    trees: bool = False

    def __str__(self) -> str:
        return f"{self.title} ({self.paper})"


_ZOMAYA = "Zomaya and Morris 1989"
_ZENG = "Zeng and Egan 1991"
_ZALZALA = "Zalzala and Morris 1989"
_SCHAEFER = "Schäfer and Schiehlen 1992"

METHODS: dict[str, Method] = {
    "newton-euler": Method(
        "general Newton-Euler", _ZOMAYA, general_torques, zomaya_tasks, literal=True
    ),
    "semi-customised": Method(
        "semi-customised Newton-Euler", _ZOMAYA, semi_customised_torques, zomaya_tasks,
        literal=True,
    ),
    "customised": Method(
        "Newton-Euler customised by folding constants", _ZOMAYA, semi_customised_torques,
        zomaya_tasks,
    ),
    "wrench": Method(
        "customised Newton-Euler with force and moment at the end effector", _ZOMAYA,
        methods.wrench_program, zomaya_tasks, whole=True,
    ),
    "regrouped": Method(
        "customised Newton-Euler with regrouped parameters", "Khalil and Kleinfinger 1987",
        dynamics.torques, dynamics.tasks, general=True,
    ),
    "lagrangian": Method(
        "recursive Lagrangian in ten plus six jobs", _ZALZALA, lagrangian_torques,
        lagrangian_tasks, literal=True,
    ),
    "lagrangian-rows": Method(
        "recursive Lagrangian, D and c by rows", _ZALZALA,
        partial(lagrangian_torques, rows=True),
        partial(lagrangian_tasks, rows=True), literal=True,
    ),
    "zeng-19": Method(
        "Newton-Euler in 19 tasks a link", _ZENG, zeng_torques, zeng_tasks, literal=True
    ),
    "zeng-10": Method(
        "Newton-Euler in 10 tasks a link", _ZENG,
        partial(zeng_torques, name=ten_name),
        partial(zeng_tasks, name=ten_name), literal=True, dummies=True,
    ),
    "zeng-52": Method(
        "Newton-Euler in 10 tasks a link, the third split (version 5)", _ZENG,
        partial(zeng_torques, name=split_name, split=True),
        partial(zeng_tasks, name=split_name), literal=True, dummies=True,
    ),
    "symbolic": Method(
        "symbolic equations of motion", _SCHAEFER, methods.torques, methods.tasks, trees=True
    ),
    "symbolic-forward": Method(
        "symbolic equations of motion, solved by Cholesky", _SCHAEFER, forward_program,
        methods.forward_tasks, whole=True, trees=True,
    ),
    "recursive-forward": Method(
        "recursive forward dynamics", _SCHAEFER, articulated.forward_program, articulated.tasks,
        whole=True, general=True,
    ),
    "symbolic-cycle": Method(
        "symbolic equations of motion, Cholesky and a control law", _SCHAEFER, cycle,
        methods.cycle_tasks, whole=True, trees=True,
    ),
    "boolean": Method("product terms, ORs and sums", "Machado et al. 1988", boolean_tasks),
}  # fmt: skip


def method_named(name: str) -> Method:
    """Return a method, or raise a `UsageError` with the known names."""
    require_name("method", name, METHODS)
    return METHODS[name]


def straight_line(name: str, robot: Robot, *, tape: Tape | None = None) -> Straight:
    """Return a method's calculation of the torques as one program: inputs q1.., qd1.., qdd1.. .

    (`symbolic-forward` and `symbolic-cycle` have other inputs.) By default constants are folded and
    common subexpressions shared, across tasks too, as one processor needs them.
    """
    method = method_named(name)
    if name == "boolean":
        raise UsageError("method 'boolean' needs tables", "compile the robot in paper mode first")
    if robot.branched and not (method.general or method.trees):
        raise UsageError(
            f"{robot.name} is a tree of joints (a joint has a parent of its own); the method "
            f"{name!r} supports chains only", "use --method regrouped",
        )  # fmt: skip
    if robot.general and not method.general:
        raise UsageError(
            f"{robot.name} has joints in general frames (origin, rotation, axis); the method "
            f"{name!r} supports Denavit-Hartenberg frames (a, alpha, d, theta) only",
            "use --method regrouped",
        )
    tape = Tape() if tape is None else tape
    if method.whole:
        program: Straight = method.function(robot, tape)
        return program
    return torque_program(robot, method.function, tape)


def task_graph(name: str, robot: Robot, *, literal: bool | None = None) -> RecordedMethod:
    """Return a method's task graph for a robot, with its program.

    `literal` counts every operation of the text (the paper's counts, for any arm); otherwise
    constants are folded and subexpressions calculated once per task. The default is the paper's.
    """
    method = method_named(name)
    tape = Tape(shared=False, fold=not (method.literal if literal is None else literal))
    straight = straight_line(name, robot, tape=tape)
    dummies = ("0", str(10 * robot.joints + 1)) if method.dummies else None
    return recorded_method(f"{name} {robot.name}", straight, method.tasks(robot), dummies=dummies)


# --------------------------------------------------------------------------------------------------
# Operation counts compared with those of the papers.
# --------------------------------------------------------------------------------------------------

_SIGNS = "printed additions include {} changes of sign"
# Zalzala and Morris, tables 1 and 2, by names of jobs; D and c are distributed by rows.
_PHASE_ONE = dict(zip(methods.PHASE_ONE, PHASE_1.values(), strict=True))
_PHASE_TWO = dict(zip(("Da", "e", "tau*", "ca", "tau**", "tau"), PHASE_2.values(), strict=True))
_PLACES = {**dict.fromkeys(_PHASE_TWO, "Table 2"), "path": "Table 4"}
_BUSIEST = ("w", "N", "n")


@dataclass(frozen=True, slots=True)
class Count:
    """Operations of a method's equation here and in print; `signs` are changes of sign."""

    method: str
    equation: str
    ours: Operations
    signs: int
    printed: Operations
    note: str = ""


def reference() -> Robot:
    return without_rotors(load_robot("puma560"))


def without_rotors(robot: Robot) -> Robot:
    return replace(robot, links=tuple(replace(link, rotor_inertia=0.0) for link in robot.links))


def counted(robot: Robot, torques: Physics) -> dict[str, tuple[Operations, int]]:
    """Return the operations of every task of a method's text, and its changes of sign."""
    groups: dict[str, list[Operation]] = {}
    for node in torque_program(robot, torques, Tape(fold=False)).nodes:
        groups.setdefault(node.task, []).append(node)
    return {
        name: (count(nodes), sum(node.kind == "neg" for node in nodes))
        for name, nodes in groups.items()
    }


def newton_euler() -> tuple[Count, ...]:
    return _by_equation("newton-euler", methods.general_torques, GENERAL)


def semi_customised(*, dense: bool) -> tuple[Count, ...]:
    """Return their table 3, for full inertia tensors or diagonal ones.

    With diagonal ones, the last row is the work of the busiest of four processors per link: (5),
    (10) and (12), which are ω, N and n.
    """
    name = f"semi-customised, {'full' if dense else 'diagonal'} tensors"
    torques = partial(methods.semi_customised_torques, dense=dense)
    rows = _by_equation(name, torques, CUSTOMISED if dense else DIAGONAL)
    if dense:
        return rows
    ours = sum((row.ours for row in rows if row.equation in _BUSIEST), Operations())
    return (*rows, Count(name, "w + N + n", ours, 0, Operations(40, 32)))


def _by_equation(
    method: str, torques: Physics, printed: Mapping[str, tuple[int, int]]
) -> tuple[Count, ...]:
    arithmetic = {name: only(found[0]) for name, found in counted(reference(), torques).items()}
    nothing = Operations()
    rows = [
        Count(method, name, arithmetic.get(f"{name}/3", nothing), 0, Operations(*pair))
        for name, pair in printed.items()
    ]
    total = Operations(*(sum(pair[k] for pair in printed.values()) for k in (0, 1)))
    ours = sum((row.ours for row in rows), nothing)
    return (*rows, Count(method, "a link", ours, 0, total))


def recursive_lagrangian() -> tuple[Count, ...]:
    """Return Zalzala and Morris's tables 1 and 2, and their critical path for six links."""
    robot = reference()
    found = counted(robot, partial(methods.lagrangian_torques, rows=True))
    rows = []
    for phase, start in ((_PHASE_ONE, 1), (_PHASE_TWO, robot.joints)):
        for job, counts in phase.items():
            for label, link, pair in (("n>1", 3, counts[:2]), ("n=1", start, counts[2:])):
                ours, signs = found.get(f"{job}/{link}", (Operations(), 0))
                printed, own = Operations(*pair), only(ours)
                note = _SIGNS.format(signs) if own.additions != printed.additions else ""
                rows.append(Count("lagrangian", f"{job}, {label}", own, signs, printed, note))
    path = distributed_lagrangian(robot)
    return (*rows, Count("lagrangian", "path, n=6", path, 0, Operations(383, 307)))


def count_findings(paper: str) -> Iterator[Finding]:
    """Yield the operations of the recorded methods and those in the tables of their paper."""
    for name in ("customised", "wrench") if paper == "zomaya" else ():
        graph = task_graph(name, reference()).graph
        total = sum((one.operations for one in graph.tasks), Operations())
        text = f"operations, {name}, six links"
        yield Finding(text, "", total.total, "count", "", "eq. 11, 12")
    tables = {
        "zomaya": (("Table 2", newton_euler), ("Table 3", partial(semi_customised, dense=True)),
                   ("Table 3", partial(semi_customised, dense=False))),
        "zalzala": (("Table 1", recursive_lagrangian),),
    }  # fmt: skip
    for place, rows in tables.get(paper, ()):
        for row in rows():
            form = ", diagonal" if "diagonal" in row.method else ""
            for kind in ("multiplications", "additions"):
                ours, printed = (getattr(x, kind) for x in (row.ours, row.printed))
                figure = f"{row.equation}{form}: {kind}"
                note = row.note if ours != printed else ""
                where = _PLACES.get(row.equation.split(",")[0], place)
                yield Finding(figure, str(printed), ours, "count", note, where)


def only(operations: Operations) -> Operations:
    return Operations(operations.multiplications, operations.additions)


def distributed_lagrangian(robot: Robot) -> Operations:
    """Return the critical path of the distributed recursive Lagrangian, (50) to (53).

    Outwards: the longest job of every link, then p̈ and D* of the last link, which are a level
    late. Inwards: a row of D and one of c on one processor. Printed: (65n-7)/(53n-11), 383/307 for
    six links. The additions agree because changes of sign are not counted here.
    """
    found = counted(without_rotors(robot), partial(methods.lagrangian_torques, rows=True))
    cost = {name: only(ours) for name, (ours, _) in found.items()}
    last = robot.joints
    total = Operations()
    for i in range(1, last + 1):
        jobs = (cost.get(f"{job}/{i}", Operations()) for job in methods.PHASE_ONE[:3])
        total = total + max(jobs, key=lambda job: job.total)
    total = total + cost[f"pdd/{last}"] + cost[f"D*/{last}"]
    for i in range(1, last):
        total = total + cost[f"Da/{i}"] + cost[f"ca/{i}"]
    return total


def report(rows: Sequence[Count]) -> str:
    """Return the rows as a table."""

    def pair(count: Operations) -> str:
        return f"{count.multiplications}/{count.additions}"

    columns = (
        ResultColumn("method", "method", left=True),
        ResultColumn("equation", "equation", left=True),
        ResultColumn("ours", "ours", text=pair),
        ResultColumn("printed", "printed", text=pair),
        ResultColumn("note", "note", left=True),
    )
    return Results(columns, rows).text()
