"""A servo under a controller of logic: the same Python function compiled, and run as it is.

python examples/functions/servo.py [--bits 10] [--effort 0]
"""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

import boolcomp as bc

if TYPE_CHECKING:
    from collections.abc import Callable

STEP = 0.01  # s
LIMIT = 2.0  # N·m that the drive can give
INERTIA, DAMPING, LOAD = 0.08, 0.05, 0.6  # kg·m², N·m·s, N·m

INPUTS = {
    "e": bc.word(-1, 1, bits=12, unit="rad"),
    "de": bc.word(-6, 6, bits=10, unit="rad/s"),
    "i": bc.word(-2, 2, bits=13, unit="N·m"),
}


def controller(e: Any, de: Any, i: Any) -> dict[str, Any]:
    """Return the torque and the integrator's next state, with anti-windup by back-calculation."""
    wanted = 4.0 * e + 0.6 * de + i
    given = bc.clip(wanted, -LIMIT, LIMIT)
    change = STEP * 6.0 * e + 0.2 * (given - wanted)
    return {"u": given, "di": bc.clip(change, -0.25, 0.25)}


def travel(control: Callable[..., tuple[float, float]]) -> list[float]:
    """Return the angles of a servo that is to go to 0.8 rad and back, under a load."""
    angle = speed = integral = 0.0
    path = []
    for k in range(800):
        wanted = 0.8 if k < 400 else 0.0
        u, di = control(e=max(-1.0, min(1.0, wanted - angle)), de=-speed, i=integral)
        integral = max(-2.0, min(2.0, integral + di))
        speed += STEP * (u - DAMPING * speed - LOAD) / INERTIA
        angle += STEP * speed
        path.append(angle)
    return path


def main() -> None:
    """Compile the controller, and run it beside itself."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--bits", type=int, default=10)
    parser.add_argument("--effort", type=float, default=0.0)
    given = parser.parse_args()
    outputs = {"u": bc.word(-2.2, 2.2, unit="N·m"), "di": bc.word(-0.28, 0.28, unit="N·m")}
    program = bc.compile(
        controller, inputs=INPUTS, outputs=outputs, bits=given.bits, effort=given.effort
    )

    def by_logic(**state: float) -> tuple[float, float]:
        u, di = program(e=state["e"], de=state["de"], i=state["i"])
        return float(u), float(di)

    def by_numbers(**state: float) -> tuple[float, float]:
        found = controller(**state)
        return float(found["u"]), float(found["di"])

    logic, exact = travel(by_logic), travel(by_numbers)
    apart = math.sqrt(sum((a - b) ** 2 for a, b in zip(logic, exact, strict=True)) / len(exact))
    print(program)
    print(f"the last angle before it turns back: {logic[399]:.4f} rad by logic, {exact[399]:.4f}")
    print(f"paths differ by {1000 * apart:.2f} mrad rms")


if __name__ == "__main__":
    main()
