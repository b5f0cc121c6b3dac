// What the page calculates, without any of what it shows: words of values, the program's logic by
// words and by gates, exact outputs, the words of a graph. Node runs it as it is.
"use strict";
const Boolcomp = {};
(() => {
  const TIE = 1e-9; // of a cell, as boolcomp.codes has it

  // The cell of a value, as Code.cell does it.
  Boolcomp.cell = (code, value) => {
    let scaled = (value - code.low) / code.step;
    if (code.wraps) {
      scaled -= Math.floor(scaled / code.cells) * code.cells;
      const found = Math.floor(scaled + TIE);
      return found - Math.floor(found / code.cells) * code.cells;
    }
    scaled = Math.min(Math.max(scaled, 0), code.cells);
    return Math.min(Math.max(Math.floor(scaled + TIE), code.first), code.cells - 1);
  };

  // The steps of codes and their inverses, as problem/word_codes.py has them.
  const flip = (x, half) => (x < half ? x + half : x - half);
  const unfold = (x) => {
    for (let shift = 1; shift < 32; shift *= 2) x ^= x >>> shift;
    return x >>> 0;
  };
  const STEPS = {
    FOLD: [(x) => (x ^ (x >>> 1)) >>> 0, unfold],
    FLIP: [flip, flip],
    MAGNITUDE: [
      (x, half, below) => (x < half ? half + Math.min(below - x, half - 1) : x - half),
      (x, half, below) => (x < half ? x + half : half + below - x),
    ],
  };
  const stepped = (code, x, step, way) => STEPS[step][way](x, code.cells / 2, code.cells / 2 - !code.tread);
  Boolcomp.word = (code, cell) => code.steps.reduce((x, step) => stepped(code, x, step, 0), cell);
  Boolcomp.index = (code, word) => code.steps.reduceRight((x, step) => stepped(code, x, step, 1), word);

  Boolcomp.centre = (code, cell) => code.base + (cell + code.raised) * code.step;

  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

  // A network of nodes of three inputs, run on 32 states at a time: a number holds a bit of each.
  Boolcomp.gates = (given) => {
    const luts = bytes(given.luts);
    const raw = bytes(given.operands);
    const wide = given.wide ? Uint32Array : Uint16Array;
    const operands = new wide(raw.buffer, 0, raw.length / wide.BYTES_PER_ELEMENT);
    const first = 2 + given.inputs;
    const values = new Int32Array(first + luts.length);
    const masks = new Int32Array(256 * 8);
    for (let lut = 0; lut < 256; lut++)
      for (let row = 0; row < 8; row++) masks[8 * lut + row] = -((lut >> row) & 1);
    values[1] = -1;
    return (planes) => {
      values.set(planes, 2);
      for (let k = 0, at = first; k < luts.length; k++, at++) {
        const a = values[operands[3 * k]];
        const b = values[operands[3 * k + 1]];
        const c = values[operands[3 * k + 2]];
        const m = 8 * luts[k];
        const w = masks[m] ^ (c & (masks[m] ^ masks[m + 1]));
        const x = masks[m + 2] ^ (c & (masks[m + 2] ^ masks[m + 3]));
        const y = masks[m + 4] ^ (c & (masks[m + 4] ^ masks[m + 5]));
        const z = masks[m + 6] ^ (c & (masks[m + 6] ^ masks[m + 7]));
        const low = w ^ (b & (w ^ x));
        values[at] = low ^ (a & (low ^ (y ^ (b & (y ^ z)))));
      }
      return given.outputs.map((signal) => values[signal]);
    };
  };

  // All words of a graph, from those of its inputs: what boolcomp.words.simulate does.
  Boolcomp.graph = (nodes) => {
    const power = (n) => 2 ** n;
    const above = (word, drop) => Math.floor(word / power(drop));
    const picked = (index, bits) => bits.reduce((sum, bit, k) => sum + ((index >> bit) & 1) * power(k), 0);
    const kinds = {
      angles: (node, words) => node.turns.reduce((sum, [k, drop, read, shift, minus]) => {
        const word = above(words[k], drop);
        return sum + (minus ? power(read) - 1 - word : word) * power(shift);
      }, node.constant),
      table: (node, words) => {
        const index = above(words[node.source], node.drop);
        return node.entries[node.picked ? picked(index, node.picked) : index];
      },
      sum: (node, words) => {
        let total = node.constant;
        for (const [k, drop, column, bits, minus] of node.words) {
          const word = above(words[k], drop);
          total += (minus ? power(bits) - 1 - word : word) * power(column);
        }
        for (const [a, b, minus, rows] of node.products)
          for (const [digit, drop, column, bits] of rows) {
            const word = above(words[b], drop);
            const kept = (above(words[a], digit) % 2 === 1) !== minus;
            total += (kept ? word : power(bits) - 1 - word) * power(column);
          }
        return total;
      },
    };
    const size = nodes.map((node) => power(node.bits));
    return (given) => {
      const words = new Array(nodes.length);
      for (let k = 0; k < nodes.length; k++) {
        if (k < given.length) words[k] = given[k];
        else {
          const found = kinds[nodes[k].kind](nodes[k], words);
          words[k] = found - Math.floor(found / size[k]) * size[k];
        }
      }
      return words;
    };
  };

  // A program: `words` and `exact` are functions printed beside, or null where there are none. A
  // state is a list of the values of all inputs; `model.read` are the places of those that are read.
  Boolcomp.machine = (model, words, exact) => {
    const { inputs, outputs } = model;
    const read = model.read.map((place) => inputs[place].code);
    const gates = model.gates ? Boolcomp.gates(model.gates) : null;
    const graph = model.graph ? Boolcomp.graph(model.graph.nodes) : null;

    // Outputs' words and which saturated (a bit each) of up to 32 states' input words, by gates.
    const byGates = (states) => {
      const planes = [];
      read.forEach((code, k) => {
        for (let bit = code.bits - 1; bit >= 0; bit--) {
          let plane = 0;
          for (let s = 0; s < states.length; s++) plane |= ((states[s][k] >>> bit) & 1) << s;
          planes.push(plane);
        }
      });
      const made = gates(planes);
      return states.map((_, s) => {
        let at = 0;
        let saturated = 0;
        const found = outputs.map((output, k) => {
          let word = 0;
          for (let bit = 0; bit < output.code.bits; bit++) word = word * 2 + ((made[at++] >>> s) & 1);
          saturated += ((made[at++] >>> s) & 1) * 2 ** k;
          return word;
        });
        return [...found, saturated];
      });
    };

    const byWords = (states) => states.map((state) => words(...state));
    const logic = words ? byWords : byGates;
    const cellsOf = (state) => model.read.map((place) => Boolcomp.cell(inputs[place].code, state[place]));
    const coded = (state) => cellsOf(state).map((cell, k) => Boolcomp.word(read[k], cell));
    const decoded = (found) =>
      outputs.map((output, k) => Boolcomp.centre(output.code, Boolcomp.index(output.code, found[k])));
    // An exact input is a word to begin with: its values are the middles of cells.
    const middles = (state) => state.map((value, k) => {
      const { code, exact: whole } = inputs[k];
      return whole && code ? Boolcomp.centre(code, Boolcomp.cell(code, value)) : value;
    });
    const exactly = exact ? (state) => exact(...middles(state)) : null;
    const batches = (given) => {
      const found = [];
      for (let k = 0; k < given.length; k += 32) found.push(...logic(given.slice(k, k + 32)));
      return found;
    };

    return {
      byGates: gates ? byGates : null,
      byWords: words ? byWords : null,
      coded,
      exact: exactly,
      // The values of outputs at many states.
      run: (states) => batches(states.map(coded)).map(decoded),
      // Everything about one state.
      at: (state) => {
        const cells = cellsOf(state);
        const given = cells.map((cell, k) => Boolcomp.word(read[k], cell));
        const found = logic([given])[0];
        const others = words && gates ? byGates([given])[0] : found;
        return {
          cells,
          words: given,
          found,
          same: found.every((word, k) => word === others[k]),
          values: decoded(found),
          exact: exactly ? exactly(state) : null,
          graph: graph ? graph(model.graph.inputs.map(([k, cut]) => Math.floor(cells[k] / 2 ** cut))) : null,
        };
      },
    };
  };
})();
