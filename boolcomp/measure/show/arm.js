// The arm: drawn from where its joints are, turned by hand, and pulled by its joints.
"use strict";
(() => {
  const NS = "http://www.w3.org/2000/svg";
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
  const plus = (a, b, times = 1) => [a[0] + times * b[0], a[1] + times * b[1], a[2] + times * b[2]];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const fixed = (x) => x.toFixed(1);
  const LINK = 17; // pixels across
  const REACH = 30; // steps of pulling
  const STEP = 1e-4; // of a joint, for slopes

  Boolcomp.arm = (svg, model, points, hand) => {
    const arm = model.arm;
    const joints = arm.joints.length;
    let turned = arm.turned;
    let raised = arm.raised;
    let q = [];
    let load = [];

    const element = (name, kind, parent = svg) => {
      const made = document.createElementNS(NS, name);
      made.setAttribute("class", kind);
      parent.append(made);
      return made;
    };

    // Places of the world as pixels, and how near they are (the larger, the nearer).
    const camera = () => {
      if (arm.flat) return { right: arm.right, up: arm.up, ahead: cross(arm.right, arm.up) };
      const across = cross(arm.up, arm.right);
      const [c, s] = [Math.cos(turned), Math.sin(turned)];
      const ahead = plus([0, 0, 0], plus(across.map((x) => c * x), arm.right, -s));
      const right = plus(arm.right.map((x) => c * x), across, s);
      const up = plus(arm.up.map((x) => Math.cos(raised) * x), ahead, Math.sin(raised));
      return { right, up, ahead: cross(right, up) };
    };
    let eye = camera();
    const pixel = (place) => {
      const away = minus(place, arm.middle);
      return [arm.width / 2 + arm.scale * dot(away, eye.right), arm.height / 2 - arm.scale * dot(away, eye.up)];
    };
    const near = (place) => dot(minus(place, arm.middle), eye.ahead);

    const read = (posture) => {
      const found = points(...posture);
      const three = (k) => [found[k], found[k + 1], found[k + 2]];
      const places = [];
      for (let k = 0; k < joints; k++)
        places.push({ axis: three(9 * k), place: three(9 * k + 3), elbow: three(9 * k + 6) });
      return { joints: places, tip: three(9 * joints) };
    };

    // Of each link its way: from the joint before (its elbow) to its own joint.
    const ways = (at) => {
      const found = arm.joints.map(({ parent }, k) => {
        const from = parent === 0 ? arm.base : at.joints[parent - 1].elbow;
        return { way: [from, at.joints[k].place], joint: k };
      });
      found.push({ way: [at.joints[joints - 1].elbow, at.tip], joint: joints });
      return found;
    };

    svg.replaceChildren();
    const floor = element("g", "floor");
    const scene = element("g", "scene");
    const arcs = element("g", "arcs");
    const handles = element("g", "handles");
    const trail = element("polyline", "trail", floor);
    const grid = element("path", "grid", floor);
    const shadow = element("path", "shadow", floor);
    const parts = [];
    const pool = (count) => {
      while (parts.length < count) parts.push(element("path", "", scene));
      parts.forEach((part, k) => { if (k >= count) part.setAttribute("d", ""); });
    };
    const torque = arm.joints.map(() => element("path", "torque", arcs));
    const grips = [...arm.joints.slice(1), null].map((_, k) => {
      const grip = element("circle", k === joints - 1 ? "grip end" : "grip", handles);
      grip.setAttribute("r", k === joints - 1 ? 9 : 13);
      return grip;
    });

    // The floor lies below the arm, across `up`.
    const radius = (Math.min(arm.width, arm.height) / 2 / arm.scale) * 0.95;
    const sides = arm.flat ? null : [arm.right, cross(arm.up, arm.right)];
    const drawFloor = (at) => {
      const origin = arm.base;
      if (arm.flat) {
        const [x, y] = pixel(origin);
        grid.setAttribute("d", `M${fixed(x - 60)},${fixed(y + 14)}H${fixed(x + 60)}` +
          [...Array(9).keys()].map((k) => `M${fixed(x - 56 + 14 * k)},${fixed(y + 14)}l-8,10`).join(""));
        return;
      }
      const low = origin;
      const lines = [];
      for (let k = -4; k <= 4; k++)
        for (const [a, b] of [[sides[0], sides[1]], [sides[1], sides[0]]]) {
          const half = Math.sqrt(1 - (k / 5) ** 2) * radius;
          const middle = plus(low, a, (k / 5) * radius);
          lines.push(`M${pixel(plus(middle, b, -half)).map(fixed)}L${pixel(plus(middle, b, half)).map(fixed)}`);
        }
      grid.setAttribute("d", lines.join(""));
      const flat = (place) => pixel(plus(place, arm.up, -dot(minus(place, low), arm.up)));
      shadow.setAttribute("d", ways(at).map(({ way, joint }) => {
        const end = joint < joints ? at.joints[joint].elbow : null;
        return `M${[...way, ...(end ? [end] : [])].map((one) => flat(one).map(fixed)).join("L")}`;
      }).join(""));
    };

    // A short cylinder about an axis, as seen: its coat, and the cap that is turned to us.
    const cylinder = (place, axis, half, size) => {
      const facing = dot(axis, eye.ahead);
      const out = facing < 0 ? axis.map((x) => -x) : axis;
      const [x, y] = pixel(plus(place, out, half / arm.scale));
      const [u, v] = pixel(plus(place, out, -half / arm.scale));
      const angle = (Math.atan2(y - v, x - u) * 180) / Math.PI;
      const flat = Math.max(0.5, size * Math.abs(facing));
      const cos = Math.cos((angle * Math.PI) / 180);
      const sin = Math.sin((angle * Math.PI) / 180);
      const rim = (a, b, sign) => `${fixed(a - sign * size * sin)},${fixed(b + sign * size * cos)}`;
      const arc = (to, sweep) => `A${fixed(flat)},${fixed(size)} ${fixed(angle)} 0 ${sweep} ${to}`;
      return {
        coat: `M${rim(x, y, 1)}L${rim(u, v, 1)}${arc(rim(u, v, -1), 1)}L${rim(x, y, -1)}${arc(rim(x, y, 1), 1)}Z`,
        cap: `M${rim(x, y, 1)}${arc(rim(x, y, -1), 1)}${arc(rim(x, y, 1), 1)}Z`,
      };
    };

    const drawLinks = (at) => {
      const pieces = [];
      const add = (depth, ...paths) => pieces.push({ depth, paths });
      for (const { way, joint } of ways(at)) {
        const end = joint < joints ? at.joints[joint].elbow : null;
        for (const [from, to] of [way, ...(end ? [[way[1], end]] : [])]) {
          const line = `M${pixel(from).map(fixed)}L${pixel(to).map(fixed)}`;
          const [a, b] = [pixel(from), pixel(to)];
          if (Math.hypot(a[0] - b[0], a[1] - b[1]) < 0.5 && joint < joints) continue;
          const kind = joint === joints ? "last" : "";
          add((near(from) + near(to)) / 2, [`edge ${kind}`, line], [joint === joints ? "body last" : "link", line], [`shine ${kind}`, line]);
        }
      }
      at.joints.forEach(({ axis, place, elbow }, k) => {
        if (arm.joints[k].revolute) {
          const size = Math.max(8, 15 - k);
          const { coat, cap } = cylinder(place, axis, arm.flat ? 2 : size, size);
          add(near(place) + 1e-3, ["coat", coat], ["cap", cap]);
        } else {
          const line = `M${pixel(plus(place, minus(place, elbow), 0.15)).map(fixed)}L${pixel(elbow).map(fixed)}`;
          add((near(place) + near(elbow)) / 2 + 1e-3, ["edge slide", line], ["slide", line]);
        }
      });
      pieces.sort((a, b) => a.depth - b.depth);
      const paths = pieces.flatMap((piece) => piece.paths);
      pool(paths.length);
      paths.forEach(([kind, d], k) => {
        parts[k].setAttribute("class", kind);
        parts[k].setAttribute("d", d);
      });
    };

    // An arc about each joint, as long as its torque is of its range.
    const drawTorques = (at) => {
      at.joints.forEach(({ place }, k) => {
        const share = Math.max(-1, Math.min(1, load[k] || 0));
        const [x, y] = pixel(place);
        const size = Math.max(15, 24 - k);
        if (Math.abs(share) < 0.004) return torque[k].setAttribute("d", "");
        const sweep = share * 1.6 * Math.PI;
        const start = -Math.PI / 2;
        const point = (angle, r) => [fixed(x + r * Math.cos(angle)), fixed(y + r * Math.sin(angle))].join(",");
        const end = start - sweep;
        const turn = share > 0 ? -1 : 1;
        torque[k].setAttribute("d", `M${point(start, size)}A${size},${size} 0 ${Math.abs(sweep) > Math.PI ? 1 : 0} ` +
          `${share > 0 ? 0 : 1} ${point(end, size)}M${point(end - turn * 0.3, size + 5)}L${point(end, size)}L${point(end - turn * 0.3, size - 5)}`);
        torque[k].setAttribute("class", share > 0 ? "torque" : "torque negative");
      });
    };

    const draw = () => {
      const at = read(q);
      drawFloor(at);
      drawLinks(at);
      drawTorques(at);
      const ends = [...at.joints.slice(1).map((one) => one.place), at.tip];
      ends.forEach((place, k) => {
        const [x, y] = pixel(place);
        grips[k].setAttribute("cx", fixed(x));
        grips[k].setAttribute("cy", fixed(y));
      });
    };

    // The way of the tip along a trajectory, seen from where we are.
    let path = [];
    const drawTrail = () =>
      trail.setAttribute("points", path.map((place) => pixel(place).map(fixed).join(",")).join(" "));

    // Joints that put a place nearest to the hand: damped least squares over what moves it.
    const pulled = (grip, target) => {
      const place = (posture) => {
        const at = read(posture);
        return pixel(grip === joints - 1 ? at.tip : at.joints[grip + 1].place);
      };
      const limits = model.arm.inputs.map((k) => model.inputs[k]);
      const found = [...q];
      for (let step = 0; step < REACH; step++) {
        const now = place(found);
        const miss = [target[0] - now[0], target[1] - now[1]];
        if (Math.hypot(...miss) < 0.3) break;
        const slopes = found.map((_, k) => {
          if (k > grip) return [0, 0];
          const moved = [...found];
          moved[k] += STEP;
          const there = place(moved);
          return [(there[0] - now[0]) / STEP, (there[1] - now[1]) / STEP];
        });
        const sum = (i, j) => slopes.reduce((all, one) => all + one[i] * one[j], 0);
        const damping = 1e-3 * (sum(0, 0) + sum(1, 1)) + 1e-9;
        const [a, b, d] = [sum(0, 0) + damping, sum(0, 1), sum(1, 1) + damping];
        const det = a * d - b * b;
        const [x, y] = [(d * miss[0] - b * miss[1]) / det, (a * miss[1] - b * miss[0]) / det];
        slopes.forEach((one, k) => {
          const change = Math.max(-0.3, Math.min(0.3, one[0] * x + one[1] * y));
          const { low, high } = limits[k];
          found[k] = Math.max(low, Math.min(high, found[k] + change));
        });
      }
      return found;
    };

    const place = (event) => {
      const box = svg.getBoundingClientRect();
      const scale = Math.min(box.width / arm.width, box.height / arm.height);
      return [
        (event.clientX - box.left - (box.width - scale * arm.width) / 2) / scale,
        (event.clientY - box.top - (box.height - scale * arm.height) / 2) / scale,
      ];
    };
    let drag = null;
    svg.addEventListener("pointerdown", (event) => {
      const grip = grips.indexOf(event.target);
      if (grip < 0 && arm.flat) return;
      drag = { grip, x: event.clientX, y: event.clientY };
      svg.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    svg.addEventListener("pointermove", (event) => {
      if (!drag) return;
      if (drag.grip >= 0) return hand(pulled(drag.grip, place(event)));
      look(turned + (event.clientX - drag.x) / 120, raised + (event.clientY - drag.y) / 120);
      Object.assign(drag, { x: event.clientX, y: event.clientY });
    });
    for (const name of ["pointerup", "pointercancel"]) svg.addEventListener(name, () => (drag = null));
    const look = (round, height) => {
      turned = round;
      raised = Math.max(-1.2, Math.min(1.45, height));
      eye = camera();
      draw();
      drawTrail();
    };
    svg.addEventListener("keydown", (event) => {
      const turn = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[event.key];
      if (!turn || arm.flat) return;
      look(turned + turn[0], raised + turn[1]);
      event.preventDefault();
    });

    return {
      // A posture, and torques as parts of their ranges.
      move: (posture, torques) => {
        q = posture;
        load = torques;
        draw();
      },
      trail: (postures) => {
        path = postures.map((posture) => read(posture).tip);
        drawTrail();
      },
      tip: (posture) => pixel(read(posture).tip),
    };
  };
})();
