"""Rivals that come as packages: numpy, numba, and CasADi, Pinocchio and MuJoCo where installed."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.common.errors import UsageError
from boolcomp.measure.bench import straight
from boolcomp.measure.bench.mujoco_model import mujoco_model
from boolcomp.measure.bench.tasks import Offer, PythonTask
from boolcomp.measure.bench.two_link import TwoLink, closed_form, two_link
from boolcomp.problem.dynamics.batch import inverse_dynamics
from boolcomp.problem.robot.frames import free_fall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from boolcomp.measure.bench.states import BenchStates, Kind
    from boolcomp.measure.bench.tasks import BenchTask
    from boolcomp.problem.robot.model import Link, Robot

    Make = Callable[[BenchStates, int, int], BenchTask]

PACKAGES = {"CasADi": "casadi", "Pinocchio": "pinocchio", "MuJoCo": "mujoco"}
CALLS = {
    "casadi": "mapped function", "pinocchio": "a call a sample", "mujoco": "a call a sample",
}  # fmt: skip
EXACT, SINGLE = 1e-6, 0.05  # last bits of 8


def library_offers(robot: Robot, bits: int) -> Iterator[Offer]:
    """Yield the rivals that are Python packages."""
    exact, single = (bound * 2.0 ** (bits - 8) for bound in (EXACT, SINGLE))
    arm = two_link(robot)
    for kind, bound in (("float64", exact), ("float32", single)):
        yield Offer("numba", kind, _numba(kind, robot, arm), bound)  # type: ignore[arg-type]
    yield Offer("numpy", "float64", _numpy(robot, arm), exact, threads=False)
    for name, package in PACKAGES.items():
        label = f"{name}, {CALLS[package]}"
        if importlib.util.find_spec(package) is None:
            yield Offer(label, "float64", None, skipped=f"{package} is not installed")
            continue
        if name == "MuJoCo" and (robot.general or robot.branched):
            yield Offer(label, "float64", None, skipped="its model is a chain of DH frames")
            continue
        make = {"CasADi": _casadi, "Pinocchio": _pinocchio, "MuJoCo": _mujoco}[name](robot)
        yield Offer(label, "float64", make, exact, threads=False)
        if name == "Pinocchio":
            batched = f"{name}, a call a batch"
            yield Offer(batched, "float64", _pinocchio_batch(robot), exact, threads=False)


def _numpy(robot: Robot, arm: TwoLink | str) -> Make:
    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        rows = states.rows("float64", batch, count)
        found: list[Any] = [None]

        def call() -> None:
            if isinstance(arm, TwoLink):
                found[0] = closed_form(arm, rows[0], rows[1], rows[2])
            else:
                found[0] = tuple(inverse_dynamics(robot, *rows).T)

        return PythonTask(call, lambda: list(found[0]))

    return make


def _numba(kind: Kind, robot: Robot, arm: TwoLink | str) -> Make:
    del arm

    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        import numba  # noqa: PLC0415 (only who runs it loads it)

        space: dict[str, Any] = {"sin": np.sin, "cos": np.cos}
        exec(straight.python_loop(straight.record(robot)), space)  # noqa: S102 (our own text)
        loop = numba.njit(fastmath=True, nogil=True)(space["torques"])
        columns = np.stack([x[:count] for x in states.batch(kind, batch)])
        results = np.zeros((robot.joints, count), columns.dtype)
        loop(columns, results)  # compiled before the clock runs
        return PythonTask(lambda: loop(columns, results), lambda: list(results))

    return make


def _casadi(robot: Robot) -> Make:
    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        casadi: Any = importlib.import_module("casadi")

        from boolcomp.problem.dynamics.newton_euler import newton_euler  # noqa: PLC0415
        from boolcomp.problem.expressions.algebra import Folding  # noqa: PLC0415

        class Symbols:
            """CasADi's expressions as an algebra."""

            constant = staticmethod(float)
            sine, cosine, sign = (staticmethod(f) for f in (casadi.sin, casadi.cos, casadi.sign))

        n = robot.joints
        symbols = [casadi.SX.sym(name, n) for name in straight.STATE_ARRAYS]
        state = [[x[k] for k in range(n)] for x in symbols]
        torques = newton_euler(robot, Folding(Symbols()), *state)
        one = casadi.Function("torques", symbols, [casadi.cse(casadi.vertcat(*torques))])
        mapped = one.map(count)
        rows = [np.ascontiguousarray(x.T) for x in states.rows("float64", batch, count)]
        found: list[Any] = [None]

        def call() -> None:
            found[0] = mapped(*rows)

        return PythonTask(call, lambda: list(np.asarray(found[0])))

    return make


def _pinocchio(robot: Robot) -> Make:
    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        import pinocchio as pin  # noqa: PLC0415 (only who runs it loads it)

        model = _pinocchio_model(pin, robot)
        data = model.createData()
        rows = list(zip(*states.rows("float64", batch, count), strict=True))
        rnea = pin.rnea

        def call() -> None:
            for q, qd, qdd in rows:
                rnea(model, data, q, qd, qdd)

        def results() -> list[Any]:
            found = [rnea(model, data, *row).copy() for row in rows]
            return list(np.array(found).T)

        return PythonTask(call, results)

    return make


def _pinocchio_batch(robot: Robot) -> Make:
    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        import pinocchio as pin  # noqa: PLC0415 (only who runs it loads it)

        if not hasattr(pin, "rneaInParallel"):
            raise UsageError("this Pinocchio has no calls for batches")
        pool = pin.ModelPool(_pinocchio_model(pin, robot), 1)
        columns = [np.asfortranarray(x.T) for x in states.rows("float64", batch, count)]
        found = np.zeros((robot.joints, count), order="F")
        return PythonTask(lambda: pin.rneaInParallel(1, pool, *columns, found), lambda: list(found))

    return make


def _pinocchio_model(pin: Any, robot: Robot) -> Any:
    model = pin.Model()
    model.gravity.linear = np.array(free_fall(robot))
    placements = [pin.SE3.Identity()]
    for k, (link, before) in enumerate(zip(robot.links, robot.parents, strict=True)):
        joint, turned, placement = _pinocchio_joint(pin, link)
        parent = model.addJoint(before, joint, placements[before] * turned, f"joint{k}")
        placements.append(placement)
        xx, yy, zz, xy, yz, xz = link.inertia
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        body = pin.Inertia(link.mass, np.array(link.center_of_mass), tensor)
        model.appendBodyToJoint(parent, body, placement)
    model.armature = np.array([link.joint_inertia for link in robot.links])
    return model


def _pinocchio_joint(pin: Any, link: Link) -> tuple[Any, Any, Any]:
    """Return a joint, its placement in the frame before, and the link's frame in its own."""
    if link.pose is not None:
        made = (
            pin.JointModelRevoluteUnaligned if link.revolute else pin.JointModelPrismaticUnaligned
        )
        place = pin.SE3(pin.rpy.rpyToMatrix(*link.pose.rotation), np.array(link.pose.origin))
        return made(np.array(link.axis)), place, pin.SE3.Identity()
    joint = pin.JointModelRZ() if link.revolute else pin.JointModelPZ()
    turned = pin.SE3(pin.rpy.rpyToMatrix(0, 0, link.theta), np.zeros(3))
    twist = pin.rpy.rpyToMatrix(link.alpha, 0, 0)
    return joint, turned, pin.SE3(twist, np.array([link.a, 0, link.d]))


def _mujoco(robot: Robot) -> Make:
    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        mujoco: Any = importlib.import_module("mujoco")

        model = mujoco_model(mujoco, robot)
        data = mujoco.MjData(model)
        rows = states.rows("float64", batch, count)
        found = np.zeros((count, robot.joints))
        inverse = mujoco.mj_inverse

        def call() -> None:
            for k, (q, qd, qdd) in enumerate(zip(*rows, strict=True)):
                data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
                inverse(model, data)
                found[k] = data.qfrc_inverse

        return PythonTask(call, lambda: list(found.T))

    return make
