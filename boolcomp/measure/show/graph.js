// The word graph: values that flow, and what is known of a word where one points at it.
"use strict";
(() => {
  const NS = "http://www.w3.org/2000/svg";
  const CURVE = { left: 118, wide: 50, low: 34, high: 26, long: 17 };
  const text = (name, kind, content) => {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    if (content !== undefined) made.textContent = content;
    return made;
  };
  const count = (number, name) => `${number} ${name}${number === 1 ? "" : "s"}`;
  const digits = (word, bits) => word.toString(2).padStart(bits, "0");
  const short = (x) => Number(x.toPrecision(3)).toString();

  Boolcomp.showGraph = (model) => {
    const graph = model.graph;
    const svg = document.getElementById("graph-picture");
    if (!svg) return null;
    const frame = document.getElementById("graph-frame");
    const panel = document.getElementById("word-panel");
    const nodes = graph ? graph.nodes : [];
    const boxes = [...svg.querySelectorAll("g.word")].map((box) => ({
      box,
      value: box.querySelector(".value"),
      spot: box.querySelector(".spot"),
      level: box.querySelector(".level"),
      seen: false,
      last: -1,
    }));
    const lines = [...svg.querySelectorAll("path.line")].map((line) => ({
      line, from: Number(line.dataset.from), to: Number(line.dataset.to),
    }));
    const reads = boxes.map(() => []);
    const readers = boxes.map(() => []);
    lines.forEach(({ from, to }) => {
      reads[to].push(from);
      readers[from].push(to);
    });
    let words = null;
    let results = null; // the words of outputs
    let pinned = null;

    // Only what is on the screen is written: a PUMA has 253 words.
    const watch = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const one = boxes[Number(target.dataset.word)];
        one.seen = isIntersecting;
        if (isIntersecting) write(one, Number(target.dataset.word));
      }
    }, { root: null, rootMargin: "60px" });
    boxes.forEach(({ box }) => watch.observe(box));

    const write = (one, k) => {
      if (!words) return;
      const { result } = nodes[k];
      const word = result === null ? words[k] : results[result];
      if (one.last === word) return;
      one.last = word;
      const code = result === null ? null : model.outputs[result].code;
      const height = code ? Boolcomp.index(code, word) : word;
      const share = (height + 0.5) / 2 ** (code ? code.bits : nodes[k].bits);
      one.level.style.transform = `scaleX(${share.toFixed(4)})`;
      if (one.value) one.value.textContent = code ? digits(word, code.bits) : word;
      if (one.spot) {
        const { entries, source, drop, picked } = nodes[k];
        let index = Math.floor(words[source] / 2 ** drop);
        if (picked) index = picked.reduce((sum, bit, at) => sum + ((index >> bit) & 1) * 2 ** at, 0);
        const high = nodes[k].name.length <= CURVE.long ? CURVE.high : CURVE.high - 10;
        const x = CURVE.left + (CURVE.wide * index) / Math.max(1, entries.length - 1);
        const y = CURVE.low - (high * word) / Math.max(1, 2 ** nodes[k].bits - 1);
        one.spot.style.transform = `translate(${x.toFixed(1)}px,${y.toFixed(1)}px)`;
      }
    };

    // Everything before a word, and everything behind it.
    const cone = (start, next) => {
      const found = new Set([start]);
      const waiting = [start];
      while (waiting.length)
        for (const k of next[waiting.pop()]) if (!found.has(k)) { found.add(k); waiting.push(k); }
      return found;
    };
    const light = (k) => {
      svg.classList.toggle("lit", k !== null);
      const before = k === null ? new Set() : cone(k, reads);
      const behind = k === null ? new Set() : cone(k, readers);
      boxes.forEach(({ box }, j) => {
        box.classList.toggle("on", before.has(j) || behind.has(j));
        box.classList.toggle("self", j === k);
      });
      lines.forEach(({ line, from, to }) =>
        line.classList.toggle("on", (before.has(from) && before.has(to)) || (behind.has(from) && behind.has(to))));
    };

    const link = (k) => {
      const made = text("button", "name", nodes[k].name);
      made.type = "button";
      made.addEventListener("click", () => pin(k, true));
      return made;
    };
    let spot = null; // on the curve that is shown
    const curve = (node) => {
      const picture = document.createElementNS(NS, "svg");
      picture.setAttribute("viewBox", "0 0 300 120");
      picture.setAttribute("class", "table-curve");
      picture.setAttribute("role", "img");
      picture.setAttribute("aria-label", `table of ${node.name}: ${node.entries.length} entries`);
      const top = Math.max(1, 2 ** node.bits - 1);
      const count = node.entries.length;
      const wide = 290 / count;
      const y = (entry) => (112 - (104 * entry) / top).toFixed(1);
      const line = document.createElementNS(NS, "polyline");
      line.setAttribute("points", node.entries.map((entry, k) =>
        `${(5 + k * wide).toFixed(1)},${y(entry)} ${(5 + (k + 1) * wide).toFixed(1)},${y(entry)}`).join(" "));
      const dot = document.createElementNS(NS, "circle");
      dot.setAttribute("r", 4);
      spot = () => {
        const index = at(node);
        dot.setAttribute("cx", (5 + (index + 0.5) * wide).toFixed(1));
        dot.setAttribute("cy", y(node.entries[index]));
      };
      picture.append(line, dot);
      return picture;
    };

    // A heap as columns of dots: a dot is a bit, or a product of two, that is added up.
    const heap = (node) => {
      const columns = new Array(node.bits).fill(0).map(() => []);
      const put = (kind, column, bits) => {
        for (let k = 0; k < bits; k++) if (column + k < node.bits) columns[column + k].push(kind);
      };
      node.words.forEach(([, , column, bits], k) => put(`d${k % 5}`, column, bits));
      node.products.forEach(([, , , rows], k) =>
        rows.forEach(([, , column, bits]) => put(`d${(k + node.words.length) % 5} product`, column, bits)));
      for (let c = 0; c < node.bits; c++) if (Math.floor(node.constant / 2 ** c) % 2) columns[c].push("one");
      const tall = Math.max(1, ...columns.map((one) => one.length));
      const picture = document.createElementNS(NS, "svg");
      picture.setAttribute("viewBox", `0 0 ${10 * node.bits + 4} ${10 * tall + 4}`);
      picture.setAttribute("class", "heap");
      picture.style.maxWidth = `${Math.min(100, node.bits * 5)}%`;
      picture.setAttribute("role", "img");
      picture.setAttribute("aria-label", `a sum of ${columns.reduce((sum, one) => sum + one.length, 0)} bits in ${node.bits} columns`);
      columns.forEach((column, c) => column.forEach((kind, row) => {
        const dot = document.createElementNS(NS, kind === "one" ? "rect" : "circle");
        const x = 10 * (node.bits - 1 - c) + 7;
        const y = 10 * (tall - row) - 3;
        dot.setAttribute("class", kind);
        if (kind === "one") { dot.setAttribute("x", x - 3); dot.setAttribute("y", y - 3); dot.setAttribute("width", 6); dot.setAttribute("height", 6); }
        else { dot.setAttribute("cx", x); dot.setAttribute("cy", y); dot.setAttribute("r", 3.4); }
        picture.append(dot);
      }));
      return picture;
    };

    const KIND = {
      input: "an input: a word that comes from outside",
      angles: "a sum of angles: whole turns fall off by themselves",
      table: "a table, read at the leading bits of a word",
      sum: "a sum of words and of products, bit by bit",
    };
    const now = text("strong", "now", "");
    const each = (sizes) => model.outputs.map((one, j) => [one.symbol, sizes[j]]).filter(([, size]) => size > 0)
      .map(([name, size]) => `${name} ${short(size)}`).join(", ");
    const show = (k, whole) => {
      const node = nodes[k];
      const effect = graph.effects[k];
      panel.replaceChildren();
      spot = null;
      panel.append(text("h3", "", node.name), text("p", "soft", `w${k}: ${KIND[node.kind]}`));
      const facts = text("dl", "facts");
      const fact = (name, ...content) => {
        const said = text("dd");
        said.append(...content);
        facts.append(text("dt", "", name), said);
      };
      fact("now", now);
      fact("range", `${count(node.bits, "bit")}: 0 … ${2 ** node.bits - 1}; seen ${effect.least} … ${effect.most}`);
      if (node.kind === "table") fact("table", `${node.entries.length} entries of ${count(node.bits, "bit")}`);
      fact("a step moves", each(effect.moves) ? `${each(effect.moves)} LSB` : "nothing that was seen");
      const share = effect.rounds ? `about ${each(effect.budget) || "0"} LSB rms` : "none: it is exact in what it reads";
      fact("error budget", share);
      if (reads[k].length) fact("reads", ...reads[k].map(link));
      if (readers[k].length) fact("read by", ...readers[k].map(link));
      if (node.result !== null) fact("gives", `${model.outputs[node.result].symbol}: its leading bits`);
      panel.append(facts);
      if (node.kind === "table") panel.append(curve(node));
      if (whole || node.kind !== "table") {
        if (node.kind === "sum") panel.append(heap(node), text("p", "note", "Columns of a heap, the lowest on the right: a dot is a bit, a ring a product of two digits (1 where they are equal), a square a constant 1."));
        const logic = text("details", "logic");
        logic.append(text("summary", "", "Its logic, as the graph's text has it"), text("pre", "", graph.text[k]));
        logic.lastChild.tabIndex = 0;
        logic.open = Boolean(whole);
        panel.append(logic);
      }
      tell();
    };
    const at = (node) => {
      let index = Math.floor(words[node.source] / 2 ** node.drop);
      if (node.picked) index = node.picked.reduce((sum, bit, k) => sum + ((index >> bit) & 1) * 2 ** k, 0);
      return index;
    };
    let shown = null;
    const tell = () => {
      if (shown === null || !words) return;
      const { bits, result } = nodes[shown];
      let said = `${words[shown]} = ${digits(words[shown], bits)}`;
      if (result !== null) {
        const { symbol, code } = model.outputs[result];
        said += `, which gives ${symbol} ${digits(results[result], code.bits)}`;
      }
      if (now.textContent !== said) now.textContent = said;
      if (spot) spot();
    };
    const look = (k) => {
      if (k === shown || !graph) return;
      shown = k;
      light(k);
      if (k !== null) show(k, k === pinned);
    };
    const pin = (k, go) => {
      pinned = pinned === k && !go ? null : k;
      boxes.forEach(({ box }, j) => box.classList.toggle("pinned", j === pinned));
      shown = null;
      look(k);
      if (go) boxes[k].box.scrollIntoView({ block: "nearest", inline: "nearest" });
    };
    if (graph) {
      boxes.forEach(({ box }, k) => {
        box.addEventListener("pointerenter", () => pinned === null && look(k));
        box.addEventListener("focus", () => pinned === null && look(k));
        box.addEventListener("click", () => pin(k));
        box.addEventListener("keydown", (event) => {
          if (event.key === "Enter" || event.key === " ") { pin(k); event.preventDefault(); }
          if (event.key === "Escape") { pinned = null; light(null); shown = null; }
        });
      });
      svg.addEventListener("pointerleave", () => pinned === null && light(null));
    }

    const [, , wide, high] = svg.getAttribute("viewBox").split(" ").map(Number);
    let zoom = 1;
    const scaled = (factor) => {
      zoom = Math.min(3, Math.max(0.1, factor));
      svg.setAttribute("width", Math.round(wide * zoom));
      svg.setAttribute("height", Math.round(high * zoom));
    };
    const fit = () => scaled(Math.min(1.4, (frame.clientWidth - 4) / wide));
    document.getElementById("graph-fit").addEventListener("click", fit);
    document.getElementById("graph-in").addEventListener("click", () => scaled(zoom * 1.25));
    document.getElementById("graph-out").addEventListener("click", () => scaled(zoom / 1.25));
    fit();

    return {
      flow: (found, outputs) => {
        words = found;
        results = outputs;
        boxes.forEach((one, k) => one.seen && write(one, k));
        tell();
      },
      look,
    };
  };
})();
