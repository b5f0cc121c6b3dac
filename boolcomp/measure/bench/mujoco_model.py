"""A robot of ours as a MuJoCo model: each DH link is a body on a joint about (along) its axis z."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.problem.robot.frames import free_fall

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.problem.robot.model import Link, Robot


def mujoco_model(mujoco: Any, robot: Robot) -> Any:
    """Return the model; masses and inertias are set past its reader, which refuses some of ours."""
    model = mujoco.MjModel.from_xml_string(_text(robot))
    for k, link in enumerate(robot.links, 1):
        xx, yy, zz, xy, yz, xz = link.inertia
        turn = _turned(link)
        tensor = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
        moments, axes = np.linalg.eigh(tensor)
        if np.linalg.det(axes) < 0:
            axes[:, 0] = -axes[:, 0]
        model.body_mass[k] = max(link.mass, 1e-12)
        model.body_inertia[k] = moments
        model.body_ipos[k] = turn @ np.array(link.center_of_mass) + np.array([link.a, 0, link.d])
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(axes).ravel())
        model.body_iquat[k] = quaternion
        model.body_sameframe[k] = 0
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


def _turned(link: Link) -> NDArray[np.float64]:
    c, s = math.cos(link.alpha), math.sin(link.alpha)
    return np.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])


def _text(robot: Robot) -> str:
    opening, place, twist = [], "0 0 0", 0.0
    for link in robot.links:
        # From the frame of the link before to the joint: its twist about x, then theta about z.
        tx, tz = twist / 2, link.theta / 2
        quaternion = (
            math.cos(tx) * math.cos(tz),
            math.sin(tx) * math.cos(tz),
            -math.sin(tx) * math.sin(tz),
            math.cos(tx) * math.sin(tz),
        )
        numbers = " ".join(repr(x) for x in quaternion)
        kind = "hinge" if link.revolute else "slide"
        opening.append(
            f'<body pos="{place}" quat="{numbers}">'
            f'<joint type="{kind}" axis="0 0 1" armature="{link.joint_inertia!r}"/>'
            '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        )
        place, twist = f"{link.a!r} 0 {link.d!r}", link.alpha
    gravity = " ".join(repr(float(g)) for g in free_fall(robot))
    return (
        f'<mujoco><compiler angle="radian"/><option gravity="{gravity}">'
        '<flag constraint="disable" contact="disable"/></option><worldbody>'
        + "".join(opening)
        + "</body>" * robot.joints
        + "</worldbody></mujoco>"
    )
