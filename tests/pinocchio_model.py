"""A robot of ours as a Pinocchio model: the oracle of the tests, the rival of the benchmark."""

from typing import Any

import numpy as np
import pinocchio as pin

from boolcomp.problem import Link, Pose, Robot


def pinocchio_model(robot: Robot) -> Any:
    """Build the arm in Pinocchio: a DH link hangs on a joint about (along) the axis z."""
    model = pin.Model()
    model.gravity.linear = np.array(robot.gravity)
    placements = [pin.SE3.Identity() if robot.base is None else placed(robot.base)]
    for k, (link, before) in enumerate(zip(robot.links, robot.parents, strict=True)):
        placement = placements[before]
        if link.pose is None:
            joint = pin.JointModelRZ() if link.revolute else pin.JointModelPZ()
            turned = placement * pin.SE3(pin.rpy.rpyToMatrix(0, 0, link.theta), np.zeros(3))
        else:
            kinds = (pin.JointModelPrismaticUnaligned, pin.JointModelRevoluteUnaligned)
            joint = kinds[link.revolute](np.array(link.axis))
            turned = placement * placed(link.pose)
        parent = model.addJoint(before, joint, turned, f"joint{k}")
        placements.append(placement := after_joint(link))
        body = pin.Inertia(link.mass, np.array(link.center_of_mass), _tensor(link))
        model.appendBodyToJoint(parent, body, placement)
    model.armature = np.array([link.joint_inertia for link in robot.links])
    return model


def after_joint(link: Link) -> Any:
    """Return the placement of the link's frame in the frame that its joint moves."""
    if link.pose is not None:
        return pin.SE3.Identity()
    twist = pin.rpy.rpyToMatrix(link.alpha, 0, 0)
    return pin.SE3(twist, np.array([link.a, 0, link.d]))


def placed(pose: Pose) -> Any:
    """Return where a frame lies in another."""
    return pin.SE3(pin.rpy.rpyToMatrix(*pose.rotation), np.array(pose.origin))


def _tensor(link: Link) -> np.ndarray:
    xx, yy, zz, xy, yz, xz = link.inertia
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
