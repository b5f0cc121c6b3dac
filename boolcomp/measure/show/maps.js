// Maps of truth tables: where a state is on them, which products hold a cell, products one by one;
// and the steps of Quine and McCluskey's method one at a time.
"use strict";
(() => {
  const STRENGTH = 0.8; // of a product's colour on a map
  const gray = (k) => k ^ (k >>> 1);
  const place = (word) => {
    let found = word;
    for (let shift = 1; shift < 32; shift *= 2) found ^= found >>> shift;
    return found >>> 0;
  };
  const make = (name, kind, content) => {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    if (content !== undefined) made.textContent = content;
    return made;
  };
  const holds = (cube, bits) => {
    for (let k = 0; k < cube.length; k++) if (cube[k] !== "-" && cube[k] !== bits[k]) return false;
    return true;
  };
  const digits = (k, count) => (count ? gray(k).toString(2).padStart(count, "0") : "");
  const places = (part) => [...Array(2 ** part.length).keys()].filter((k) => holds(part, digits(k, part.length)));

  // One term, or table: `view` is its element, `table` what is known of it.
  const showMap = (view, table) => {
    const { inputs, rows, cubes } = table;
    const columns = inputs - rows;
    const pictures = [...view.querySelectorAll("[data-bit]")];
    const stage = view.querySelector(".stage");
    const said = view.querySelector(".said");
    const slider = view.querySelector(".products");
    const count = view.querySelector(".count");
    if (!stage) return null;
    let bit = 0;
    let mine = [];
    let here = null;
    const canvas = make("canvas", "over");
    canvas.width = 2 ** columns;
    canvas.height = 2 ** rows;
    const pen = canvas.getContext("2d");
    const mark = make("span", "here");
    const base = make("div", "base");
    stage.append(base, canvas, mark);
    const drawn = pictures[0] instanceof SVGElement;
    if (drawn) canvas.remove();

    const colour = (k) => getComputedStyle(view).getPropertyValue(`--c${(k % 8) + 1}`).trim() || "#c85200";
    const fill = (list, strength) => {
      pen.clearRect(0, 0, canvas.width, canvas.height);
      pen.globalAlpha = strength;
      list.forEach(([cube, k]) => {
        pen.fillStyle = colour(k);
        const along = places(cube.slice(rows));
        for (const r of places(cube.slice(0, rows))) for (const c of along) pen.fillRect(c, r, 1, 1);
      });
    };
    const only = (list) => {
      const chosen = new Set(list.map(([, k]) => k));
      base.querySelectorAll(".loop").forEach((loop) => loop.classList.toggle("off", !chosen.has(Number(loop.dataset.cube))));
    };
    const light = (list, strength) => (drawn ? only(list) : fill(list, strength));

    const choose = (k) => {
      bit = k;
      const copy = pictures[k].cloneNode(true);
      base.replaceChildren(copy);
      pictures.forEach((one, j) => one.closest("figure").classList.toggle("chosen", j === k));
      mine = (cubes || []).map(([cube, owners]) => [cube, owners]).filter(([, owners]) => owners[k] === "1")
        .map(([cube], j) => [cube, j]);
      slider.max = mine.length;
      slider.value = mine.length;
      slider.disabled = !mine.length;
      light(drawn ? mine : [], STRENGTH);
      tell(cubes ? `${table.outputs[k]}: ${mine.length} product${mine.length === 1 ? "" : "s"}; point at a cell, or add products one by one` : table.outputs[k]);
      count.textContent = `${mine.length} of ${mine.length}`;
    };
    const tell = (text) => { if (said.textContent !== text) said.textContent = text; };
    const named = (bits) => {
      let from = 0;
      return table.words.map(([name, wide]) => {
        const part = bits.slice(from, from + wide);
        from += wide;
        return `${name} ${part}`;
      }).join(", ");
    };
    const bitsAt = (r, c) => digits(r, rows) + digits(c, columns);
    const point = (event) => {
      if (drawn) {
        const cellAt = event.target.closest && event.target.closest("rect.cell");
        if (!cellAt) return;
        const minterm = Number(cellAt.querySelector("title").textContent);
        const bits = inputs ? minterm.toString(2).padStart(inputs, "0") : "";
        const found = mine.filter(([cube]) => holds(cube, bits));
        light(found.length ? found : mine, STRENGTH);
        return tell(`${named(bits)}: ${found.length ? `held by ${found.map(([cube]) => cube).join(", ")}` : "held by no product"}`);
      }
      const box = canvas.getBoundingClientRect();
      const c = Math.min(canvas.width - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * canvas.width)));
      const r = Math.min(canvas.height - 1, Math.max(0, Math.floor(((event.clientY - box.top) / box.height) * canvas.height)));
      const bits = bitsAt(r, c);
      const found = mine.filter(([cube]) => holds(cube, bits));
      fill(found, STRENGTH);
      tell(`${named(bits)}: ${!cubes ? "" : found.length ? `1, held by ${found.slice(0, 4).map(([cube]) => cube).join(", ")}${found.length > 4 ? ` and ${found.length - 4} more` : ""}` : "0"}`);
    };
    stage.addEventListener("pointermove", point);
    stage.addEventListener("pointerleave", () => light(drawn ? mine.slice(0, Number(slider.value)) : [], STRENGTH));
    slider.addEventListener("input", () => {
      const shown = Number(slider.value);
      light(mine.slice(0, shown), STRENGTH);
      count.textContent = `${shown} of ${mine.length}`;
      tell(shown ? `product ${shown}: ${mine[shown - 1][0]}` : "no product: the function 0");
    });
    pictures.forEach((one, k) => {
      const figure = one.closest("figure");
      figure.tabIndex = 0;
      figure.setAttribute("role", "button");
      figure.addEventListener("click", () => choose(k));
      figure.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") { choose(k); event.preventDefault(); }
      });
    });
    choose(Math.min(3, pictures.length - 1));
    return {
      // The words of the state that is shown: a mark on the map.
      at: (bits) => {
        if (here === bits || drawn) return;
        here = bits;
        const r = rows ? place(parseInt(bits.slice(0, rows), 2)) : 0;
        const c = columns ? place(parseInt(bits.slice(rows), 2)) : 0;
        mark.style.left = `${(100 * (c + 0.5)) / 2 ** columns}%`;
        mark.style.top = `${(100 * (r + 0.5)) / 2 ** rows}%`;
        mark.hidden = false;
      },
    };
  };

  Boolcomp.showTerms = (model) => {
    const tables = model.tables || [];
    const shown = tables.map((table, k) => {
      const view = document.getElementById(`term${k}`);
      const state = { view, table, map: null };
      // What is folded is made when it is opened.
      const open = () => { if (!state.map && view.open !== false) state.map = showMap(view, table) || {}; };
      view.addEventListener("toggle", open);
      open();
      return state;
    });
    Boolcomp.showSteps();
    if (!tables.length || !model.read) return null;
    return {
      at: (found) => shown.forEach(({ view, table, map }) => {
        if (!map || !map.at || view.open === false) return;
        map.at(table.words.map(([, , word, bits, dropped]) => {
          const wide = model.inputs[model.read[word]].code.bits;
          return found.words[word].toString(2).padStart(wide, "0").slice(dropped, bits);
        }).join(""));
      }),
    };
  };

  // Steps that are shown one at a time; without scripts all of them stand below each other.
  Boolcomp.showSteps = () => document.querySelectorAll(".steps").forEach((view) => {
    const steps = [...view.querySelectorAll(".step")];
    const bar = make("p", "stepbar");
    const back = make("button", "", "Back");
    const next = make("button", "", "Next step");
    const all = make("button", "", "All steps");
    const where = make("span", "soft");
    where.setAttribute("aria-live", "polite");
    for (const one of [back, next, all]) one.type = "button";
    bar.append(back, next, all, where);
    view.prepend(bar);
    let at = 0;
    const show = () => {
      steps.forEach((step, k) => (step.hidden = at >= 0 && k !== at));
      back.disabled = at <= 0;
      next.disabled = at === steps.length - 1;
      where.textContent = at < 0 ? "" : `step ${at + 1} of ${steps.length}`;
    };
    back.addEventListener("click", () => { at -= 1; show(); });
    next.addEventListener("click", () => { at += 1; show(); });
    all.addEventListener("click", () => { at = at < 0 ? 0 : -1; all.textContent = at < 0 ? "One by one" : "All steps"; show(); });
    show();
  });
})();
