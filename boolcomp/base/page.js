"use strict";
(() => {
  document.documentElement.classList.add("scripted");
  const make = (name, text, kind) => {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  const button = (text, act) => {
    const made = make("button", text, "small");
    made.type = "button";
    made.addEventListener("click", act);
    return made;
  };

  // What is copied; where the browser forbids it, the text is selected in a field.
  const copy = (text, by) => {
    const told = by.textContent;
    const say = (word) => {
      by.textContent = word;
      setTimeout(() => { by.textContent = told; }, 1500);
    };
    const byHand = () => {
      const field = make("textarea", text);
      field.setAttribute("aria-label", "text to copy");
      document.body.append(field);
      field.select();
      const done = document.execCommand("copy");
      field.remove();
      say(done ? "copied" : "cannot copy");
    };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => say("copied"), byHand);
    else byHand();
  };
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const csv = (lines) => lines.map((line) => line.map(quoted).join(",")).join("\n") + "\n";
  const exact = (cell) => cell.dataset.value ?? (cell.textContent === "–" ? "" : cell.textContent);

  // Explanations of columns, at the pointer and at the focus.
  const tip = make("div", "", "tip");
  tip.hidden = true;
  document.body.append(tip);
  const explain = (head) => {
    tip.textContent = document.getElementById(head.dataset.tip).textContent;
    tip.hidden = false;
    const box = head.getBoundingClientRect();
    const left = Math.min(box.left, innerWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(8, left) + scrollX}px`;
    tip.style.top = `${box.bottom + 4 + scrollY}px`;
  };
  const quiet = () => { tip.hidden = true; };
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") quiet(); });

  // Tables: every head becomes a button that sorts; what is no number comes last, in its order.
  const sort = (table, place, down) => {
    const body = table.tBodies[0];
    const value = (row) => {
      const text = exact(row.cells[place]).replace("%", "");
      return { row, text, number: text === "" ? NaN : Number(text) };
    };
    const order = (a, b) => {
      const [first, second] = [Number.isNaN(a.number), Number.isNaN(b.number)];
      if (first !== second) return first - second;
      const by = first ? a.text.localeCompare(b.text, "en", { numeric: true }) : a.number - b.number;
      return down ? -by : by;
    };
    body.append(...[...body.rows].map(value).sort(order).map((item) => item.row));
  };
  const sortable = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, place) => {
      const by = make("button", head.textContent);
      by.type = "button";
      head.removeAttribute("title");
      head.replaceChildren(by);
      head.setAttribute("aria-sort", "none");
      by.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        sort(table, place, down);
      });
      if (!head.dataset.tip) return;
      by.setAttribute("aria-describedby", head.dataset.tip);
      head.addEventListener("mouseenter", () => explain(head));
      by.addEventListener("focus", () => explain(head));
      head.addEventListener("mouseleave", quiet);
      by.addEventListener("blur", quiet);
    });
    const tools = make("div", "", "tools");
    tools.append(button("Copy as CSV", (event) => {
      const names = heads.map((head) => head.dataset.key ?? head.textContent);
      const rows = [...table.tBodies[0].rows].map((row) => [...row.cells].map(exact));
      copy(csv([names, ...rows]), event.currentTarget);
    }));
    table.parentElement.after(tools);
  };
  document.querySelectorAll(".table table").forEach(sortable);

  document.querySelectorAll("code.copied").forEach((code) => {
    code.after(" ", button("Copy", (event) => copy(code.textContent, event.currentTarget)));
  });

  // Choices: one body of several; those of one label choose together.
  const choices = [...document.querySelectorAll(".choice")];
  const choose = (label, name) => {
    choices.filter((choice) => choice.dataset.label === label).forEach((choice) => {
      const bodies = [...choice.querySelectorAll(":scope > .option")];
      if (!bodies.some((body) => body.dataset.name === name)) return;
      bodies.forEach((body) => { body.hidden = body.dataset.name !== name; });
      choice.querySelectorAll(":scope > .chooser input").forEach((input) => {
        input.checked = input.value === name;
      });
    });
  };
  choices.forEach((choice, place) => {
    const field = make("fieldset", "", "chooser");
    field.append(make("legend", choice.dataset.label));
    choice.querySelectorAll(":scope > .option").forEach((body) => {
      const [line, input] = [make("label"), make("input")];
      input.type = "radio";
      input.name = `choice${place}`;
      input.value = body.dataset.name;
      input.addEventListener("change", () => choose(choice.dataset.label, input.value));
      line.append(input, make("span", body.dataset.name));
      field.append(line);
    });
    choice.prepend(field);
    choice.classList.add("chosen");
  });
  // The first of a label decides; one that has no such body keeps its own.
  choices.forEach((choice) => choose(choice.dataset.label, choice.dataset.chosen));
  [...choices].reverse().forEach((choice) => choose(choice.dataset.label, choice.dataset.chosen));

  // Charts become live when they are about to be seen; on paper the still one stands.
  const enliven = (figure) => {
    const still = figure.querySelector(".still");
    const live = make("div", "", "live");
    live.setAttribute("role", "img");
    live.setAttribute("aria-label", still.getAttribute("aria-label"));
    const inner = make("div"); // what is drawn is one picture to who does not see it
    inner.setAttribute("aria-hidden", "true");
    live.append(inner);
    still.after(live);
    const spec = JSON.parse(figure.querySelector("script").textContent);
    vegaEmbed(inner, spec, { renderer: "svg", actions: false }).then(
      () => { still.hidden = true; figure.dataset.live = "yes"; },
      (error) => { live.remove(); console.error(error); },
    );
  };
  const figures = document.querySelectorAll("figure.chart");
  if (figures.length && typeof vegaEmbed === "function") {
    const seen = new IntersectionObserver((entries) => {
      entries.filter((entry) => entry.isIntersecting).forEach((entry) => {
        seen.unobserve(entry.target);
        enliven(entry.target);
      });
    }, { rootMargin: "300px" });
    figures.forEach((figure) => seen.observe(figure));
  }

  // What is folded is unfolded on paper, and folded again after.
  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = [...document.querySelectorAll("details.section:not([open]), details.meanings:not([open])")];
    unfolded.forEach((one) => { one.open = true; });
  });
  addEventListener("afterprint", () => unfolded.forEach((one) => { one.open = false; }));
  const target = () => {
    const one = document.getElementById(location.hash.slice(1));
    if (one instanceof HTMLDetailsElement) one.open = true;
  };
  addEventListener("hashchange", target);
  target();
})();
