// The workbench: sliders, a trajectory that plays, outputs by logic beside exact ones.
"use strict";
(() => {
  const PLAYED = 16; // seconds at most for a period
  const FRAMES = 30; // whose time is averaged
  const SLICE = 384; // points of a slice
  const short = (x, digits = 4) => {
    if (x === null || !Number.isFinite(x)) return "–";
    if (x === 0) return "0";
    return Math.abs(x) >= 1e4 || Math.abs(x) < 1e-3 ? x.toExponential(2) : x.toPrecision(digits);
  };

  Boolcomp.workbench = (model, machine, points) => {
    const get = (id) => document.getElementById(id);
    const state = [...model.start];
    const graph = Boolcomp.showGraph(model);
    const terms = Boolcomp.showTerms(model, machine);
    let stale = true; // the slice shows another state
    const sliders = model.inputs.map((_, k) => get(`input${k}`));
    const says = model.inputs.map((_, k) => get(`value${k}`));
    const bits = model.inputs.map((_, k) => get(`bits${k}`));
    const place = new Map(model.read.map((input, k) => [input, k]));
    const rows = model.outputs.map((_, k) => {
      const row = get(`output${k}`);
      return Object.fromEntries([...row.querySelectorAll("[data-cell]")].map((cell) => [cell.dataset.cell, cell]));
    });
    const most = model.outputs.map(() => 0);
    const agree = get("agree");
    const write = (cell, text) => { if (cell && cell.textContent !== text) cell.textContent = text; };

    const arm = points && model.arm
      ? Boolcomp.arm(get("arm-picture"), model, points, (posture) => {
        pause();
        model.arm.inputs.forEach((k, j) => (state[k] = posture[j]));
        show(true);
      })
      : null;
    const loads = model.arm ? model.arm.outputs : null;

    // What is off the screen is not written; it is when it comes back.
    const seen = new Map();
    const watch = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) seen.set(target, isIntersecting);
      show(true);
    });
    const visible = (element) => seen.get(element) !== false;
    const desk = { arm: get("arm-picture"), rows: document.querySelector(".readout"), inputs: document.querySelector(".sliders") };
    Object.values(desk).forEach((one) => one && watch.observe(one));

    const show = (sliding) => {
      const found = machine.at(state);
      if (visible(desk.inputs)) showInputs(found, sliding);
      if (visible(desk.rows)) showOutputs(found);
      if (arm && visible(desk.arm))
        arm.move(model.arm.inputs.map((k) => state[k]), loads ? loads.map((k) => {
          const output = model.outputs[k];
          return found.values[k] / Math.max(Math.abs(output.low), Math.abs(output.high));
        }) : []);
      if (graph && found.graph) graph.flow(found.graph, found.found);
      if (terms) terms.at(found);
      stale = true;
    };
    const showInputs = (found, sliding) =>
      model.inputs.forEach((input, k) => {
        if (sliding && sliders[k]) sliders[k].value = state[k];
        write(says[k], `${short(state[k])} ${input.unit}`);
        if (bits[k] && place.has(k))
          write(bits[k], found.words[place.get(k)].toString(2).padStart(input.code.bits, "0"));
      });
    const showOutputs = (found) => {
      model.outputs.forEach((output, k) => {
        const cells = rows[k];
        const value = found.values[k];
        const clean = (x) => (Math.abs(x) < 1e-9 * output.code.step ? 0 : x);
        write(cells.logic, short(value));
        write(cells.word, found.found[k].toString(2).padStart(output.code.bits, "0"));
        if (!found.exact) return;
        const error = value - found.exact[k];
        most[k] = Math.max(most[k], Math.abs(error));
        write(cells.exact, short(clean(found.exact[k])));
        write(cells.error, short(clean(error), 3));
        write(cells.steps, (error / output.code.step).toFixed(2));
        write(cells.most, short(clean(most[k]), 3));
        const limit = output.bound || output.worst;
        if (cells.gauge && limit) {
          const part = error / limit;
          cells.gauge.style.transform = `translateX(${(50 * Math.max(-1, Math.min(1, part))).toFixed(1)}%)`;
          cells.gauge.classList.toggle("beyond", Math.abs(part) > 1);
        }
      });
      if (agree) {
        write(agree, found.same ? "equal" : "different");
        agree.classList.toggle("bad", !found.same);
      }
    };

    // Trajectories: sines of all inputs, or of one with the others at rest.
    const choose = get("trajectory");
    const waves = (which) => model.trajectory.waves.map((wave, k) =>
      which < 0 || model.follows[which].includes(k) ? wave : [model.start[k], 0, 1, 0]);
    let chosen = waves(-1);
    const stateAt = (t) => chosen.map(([centre, size, times, phase]) => centre + size * Math.sin(2 * Math.PI * times * t + phase));
    const strips = [...document.querySelectorAll(".strip svg")].map((svg) => ({
      svg,
      output: Number(svg.dataset.output),
      middle: Number(svg.dataset.middle),
      half: Number(svg.dataset.half),
      error: Number(svg.dataset.error),
      cursor: svg.querySelector(".cursor"),
      logic: svg.querySelector(".logic"),
      exact: svg.querySelector(".exact"),
      wrong: svg.querySelector(".error"),
    }));
    const [wide, high, errors, gap] = model.strip;
    const line = (values, middle, half, top, tall) => values.map((value, k) =>
      `${((wide * k) / (values.length - 1)).toFixed(1)},${(top + tall / 2 - ((value - middle) / half) * tall / 2).toFixed(1)}`).join(" ");
    const trace = () => {
      const count = model.points;
      const states = Array.from({ length: count }, (_, k) => stateAt(k / count));
      if (arm) arm.trail(states.concat([states[0]]).map((one) => model.arm.inputs.map((k) => one[k])));
      const values = machine.run(states);
      const exact = machine.exact ? states.map(machine.exact) : null;
      for (const one of strips) {
        const made = values.map((row) => row[one.output]);
        one.logic.setAttribute("points", line(made.flatMap((x) => [x, x]), one.middle, one.half, 0, high));
        if (!exact) continue;
        const wanted = exact.map((row) => row[one.output]);
        one.exact.setAttribute("points", line(wanted, one.middle, one.half, 0, high));
        one.wrong.setAttribute("points", line(made.map((x, k) => x - wanted[k]), 0, one.error, high + gap, errors));
      }
    };

    // Playing.
    const button = get("play");
    const scrub = get("time");
    const clock = get("clock");
    const rate = get("rate");
    let playing = false;
    let t = 0;
    let before = null;
    const spans = [];
    const seconds = Math.min(PLAYED, model.trajectory.period);
    const cursors = (shown) => strips.forEach(({ cursor }) => {
      cursor.style.transform = `translateX(${(wide * t).toFixed(1)}px)`;
      cursor.classList.toggle("on", shown);
    });
    const toTime = (moment) => {
      t = moment - Math.floor(moment);
      stateAt(t).forEach((value, k) => (state[k] = value));
      show(true);
      cursors(true);
      scrub.value = t;
      write(clock, `${(t * model.trajectory.period).toFixed(2)} s of ${model.trajectory.period.toFixed(1)} s`);
    };
    const frame = (now) => {
      if (!playing) return;
      if (before !== null) {
        toTime(t + Math.min(0.1, (now - before) / 1000) / seconds);
        spans.push(now - before);
        if (spans.length > FRAMES) {
          spans.shift();
          write(rate, `${(1000 * FRAMES / spans.reduce((sum, one) => sum + one, 0)).toFixed(0)} frames/s`);
        }
      }
      before = now;
      requestAnimationFrame(frame);
    };
    const play = () => {
      if (playing) return;
      playing = true;
      before = null;
      spans.length = 0;
      button.textContent = "Pause";
      button.setAttribute("aria-pressed", "true");
      requestAnimationFrame(frame);
    };
    const pause = () => {
      playing = false;
      button.textContent = "Play";
      button.setAttribute("aria-pressed", "false");
      write(rate, "");
    };
    button.addEventListener("click", () => (playing ? pause() : play()));
    scrub.addEventListener("input", () => { pause(); toTime(Math.min(0.999999, Number(scrub.value))); });
    if (choose) choose.addEventListener("change", () => { chosen = waves(Number(choose.value)); trace(); toTime(t); });
    sliders.forEach((slider, k) => slider && slider.addEventListener("input", () => {
      pause();
      state[k] = Number(slider.value);
      cursors(false);
      show(false);
    }));
    get("rest").addEventListener("click", () => {
      pause();
      model.start.forEach((value, k) => (state[k] = value));
      most.fill(0);
      cursors(false);
      show(true);
    });
    get("chance").addEventListener("click", () => {
      pause();
      model.inputs.forEach(({ low, high: top }, k) => (state[k] = low + (top - low) * Math.random()));
      cursors(false);
      show(true);
    });

    // A slice: one output over one input, all others as they are.
    const slice = Boolcomp.slice(model, machine, state, (k, value) => {
      pause();
      state[k] = value;
      cursors(false);
      show(true);
    }, SLICE);
    const refresh = () => {
      if (stale && slice.visible()) { slice.draw(); stale = false; }
      setTimeout(() => requestAnimationFrame(refresh), playing ? 120 : 40);
    };

    show(true);
    trace();
    refresh();
    return { play, pause, toTime, state, show, playing: () => playing };
  };

  // One output over one input through the state that is shown.
  Boolcomp.slice = (model, machine, state, moved, count) => {
    const svg = document.getElementById("slice-picture");
    if (!svg) return { draw: () => {}, visible: () => false };
    const input = document.getElementById("slice-input");
    const output = document.getElementById("slice-output");
    const near = document.getElementById("slice-near");
    const caption = document.getElementById("slice-caption");
    const [logic, exact, band, spot] = ["logic", "exact", "band", "spot"].map((name) => svg.querySelector(`.${name}`));
    const [wide, high] = [640, 260];
    let seen = false;
    let ends = [0, 1];
    new IntersectionObserver(([entry]) => (seen = entry.isIntersecting)).observe(svg);
    const draw = () => {
      const k = Number(input.value);
      const j = Number(output.value);
      const one = model.inputs[k];
      const made = model.outputs[j];
      const step = one.code ? one.code.step : (one.high - one.low) / 256;
      ends = near.checked ? [state[k] - 12 * step, state[k] + 12 * step] : [one.low, one.high];
      const [low, top] = [Math.max(one.low, ends[0]), Math.min(one.high, ends[1])];
      ends = [low, top];
      const states = Array.from({ length: count }, (_, n) => {
        const moved_ = [...state];
        moved_[k] = low + ((top - low) * (n + 0.5)) / count;
        return moved_;
      });
      const values = machine.run(states).map((row) => row[j]);
      const wanted = machine.exact ? states.map((one_) => machine.exact(one_)[j]) : null;
      const every = wanted ? values.concat(wanted) : values;
      const [least, most] = [Math.min(...every), Math.max(...every)];
      const half = Math.max((most - least) / 2, 2 * made.code.step) * 1.15;
      const middle = (least + most) / 2;
      const y = (value) => (high / 2 - ((value - middle) / half) * (high / 2)).toFixed(1);
      const x = (n) => ((wide * n) / count).toFixed(1);
      logic.setAttribute("points", values.map((value, n) => `${x(n)},${y(value)} ${x(n + 1)},${y(value)}`).join(" "));
      if (wanted) {
        exact.setAttribute("points", wanted.map((value, n) => `${x(n + 0.5)},${y(value)}`).join(" "));
        if (made.bound)
          band.setAttribute("points", [
            ...wanted.map((value, n) => `${x(n + 0.5)},${y(value + made.bound)}`),
            ...wanted.map((value, n) => `${x(n + 0.5)},${y(value - made.bound)}`).reverse(),
          ].join(" "));
      }
      const at = (wide * (state[k] - low)) / (top - low || 1);
      spot.setAttribute("d", `M${at.toFixed(1)},${y(machine.run([state])[0][j])}h0.01`);
      caption.textContent = `${made.symbol} over ${one.name} from ${short(low)} to ${short(top)} ${one.unit}; ` +
        `height ${short(middle - half)} to ${short(middle + half)} ${made.unit}`;
    };
    for (const one of [input, output, near]) one.addEventListener("change", draw);
    const pick = (event) => {
      const box = svg.getBoundingClientRect();
      const share = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
      moved(Number(input.value), ends[0] + share * (ends[1] - ends[0]));
    };
    svg.addEventListener("pointerdown", (event) => { svg.setPointerCapture(event.pointerId); pick(event); });
    svg.addEventListener("pointermove", (event) => event.buttons && pick(event));
    return { draw, visible: () => seen };
  };
})();
