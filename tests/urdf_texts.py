"""URDF texts that several tests use, written by hand."""

import random


def body(mass: float, place: str = "0 0 0", moments: str = "0.02 0.03 0.04") -> str:
    """Return an inertial whose tensor is diagonal in axes that are turned askew."""
    xx, yy, zz = moments.split()
    return (
        f'<inertial><origin xyz="{place}" rpy="0.3 -0.2 0.7"/><mass value="{mass}"/>'
        f'<inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" ixz="0" iyz="0"/></inertial>'
    )


def joint(name: str, kind: str, ends: str, place: str, axis: str = "0 0 1", more: str = "") -> str:
    """Return a joint between two links; `place` is its xyz and rpy."""
    parent, child = ends.split()
    words = place.split()
    xyz, rpy = " ".join(words[:3]), " ".join(words[3:] or ["0"] * 3)
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>{more}</joint>'
    )


LIMIT = '<limit lower="-2.1" upper="1.4" velocity="2" effort="40"/>'

# Four joints of all kinds, a body on a bracket, a finger beside the tool.
ARM = "\n".join([
    '<?xml version="1.0"?>',
    '<robot name="arm of all kinds">',
    '  <link name="world"/>',
    f'  <link name="foot">{body(4)}</link>',
    f'  <link name="post">{body(3, "0.01 0 0.1")}</link>',
    f'  <link name="upper">{body(2, "0.2 0.01 0")}</link>',
    f'  <link name="bracket">{body(0.5, "0 0.1 0")}</link>',
    f'  <link name="fore">{body(1.5, "0.1 0 0.02")}</link>',
    f'  <link name="rail">{body(0.7, "0 0 0.05")}</link>',
    '  <link name="tool0"/>',
    f'  <link name="finger">{body(0.1, "0.02 0 0")}</link>',
    "  " + joint("stand", "fixed", "world foot", "0 0 0.3 0 0 0.5"),
    "  " + joint("waist", "continuous", "foot post", "0 0 0.2 0.1 0 0",
                 more='<dynamics damping="0.1" friction="0.2"/>'),
    "  " + joint("shoulder", "revolute", "post upper", "0 0.1 0.2 1.3 0 0.2", "0 1 0", LIMIT),
    "  " + joint("clamp", "fixed", "upper bracket", "0.2 0 0 0 1 0"),
    "  " + joint("elbow", "revolute", "bracket fore", "0.1 0.2 0 0 0 -0.4", "1 -2 3", LIMIT),
    "  " + joint("slide", "prismatic", "fore rail", "0.3 0 0 0 1.57079632679489661923 0", "0 0 -1",
                 '<limit lower="0" upper="0.3" velocity="0.5" effort="0"/>'),
    "  " + joint("flange", "fixed", "rail tool0", "0 0 0.1 0 0.4 0"),
    "  " + joint("grip", "prismatic", "rail finger", "0 0.02 0.1", "0 1 0", LIMIT),
    "</robot>",
])  # fmt: skip


# A trunk of one joint, and two arms of two; a rotor in a transmission, one as an armature.
TREE = "\n".join([
    '<robot name="two arms">',
    '  <link name="base"/>',
    f'  <link name="trunk">{body(5, "0 0 0.2")}</link>',
    *(f'  <link name="{side} upper">{body(2, "0.2 0.01 0")}</link>' for side in ("left", "right")),
    *(f'  <link name="{side} fore">{body(1, "0.1 0 0.02")}</link>' for side in ("left", "right")),
    '  <link name="right hand"/>',
    "  " + joint("waist", "continuous", "base trunk", "0 0 0.2"),
    *(
        f'  <joint name="{side} {name}" type="revolute"><parent link="{above}"/>'
        f'<child link="{side} {below}"/><origin xyz="{place}" rpy="0.3 0 0.2"/>'
        f'<axis xyz="{axis}"/>{LIMIT}{more}</joint>'
        for side, place, more in (
            ("left", "0 0.1 0.4", '<dynamics damping="0.8" friction="0.4"/>'),
            ("right", "0 -0.1 0.4", '<dynamics damping="0" armature="0.03"/>'),
        )
        for name, above, below, axis in (
            ("shoulder", "trunk", "upper", "0 1 0"), ("elbow", f"{side} upper", "fore", "1 -2 3"),
        )
    ),
    "  " + '<joint name="flange" type="fixed"><parent link="right fore"/>'
    '<child link="right hand"/><origin xyz="0.1 0 0.3"/></joint>',
    '  <transmission name="t"><joint name="left elbow"/><actuator name="m">',
    "    <mechanicalReduction>-20</mechanicalReduction><rotorInertia>0.001</rotorInertia>",
    "  </actuator></transmission>",
    "</robot>",
])  # fmt: skip


def damaged(rng: random.Random, text: str = ARM) -> str:
    """Return a text with other values, elements, attributes or characters."""
    values = (
        "nan", "inf", "-1", "0", "1e308", "x", "", "0 0", "0 0 0 0", "tool0", "world", "fixed",
        "revolute", "planar", "floating", "prismatic", "-0", "1e-320", "&#10;#", "'", "0 0 0",
        "1e400", "1_0", *["0.1 0.2 0.3", "2", "0.05", "1e-11 -3 7"] * 5,
    )  # fmt: skip
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        place, kind = rng.randrange(len(text)), rng.random()
        if kind < 0.2:
            begin = text.find(">", place) + 1
            text = text[:begin] + rng.choice(values) + text[text.find("<", begin) :]
        elif kind < 0.7:
            begin = text.find('="', place) + 2
            text = text[:begin] + rng.choice(values) + text[text.find('"', begin) :]
        elif kind < 0.8:
            begin = text.find("<", place)
            text = text[:begin] + text[text.find(">", begin) + 1 :]
        elif kind < 0.9:
            rows = text.split("\n")
            rows.insert(rng.randrange(len(rows)), rng.choice(rows))
            text = "\n".join(rows)
        else:
            sign = rng.choice(("<", ">", "&", '"', "\0", "\ud800", "</link>", " "))
            text = text[:place] + sign + text[place:]
    return text
