// Everything together, once the page is there.
"use strict";
(() => {
  const model = JSON.parse(document.getElementById("model").textContent);
  document.documentElement.classList.add("scripted");
  if (model.inputs) {
    const machine = Boolcomp.machine(model, Boolcomp.functions.words, Boolcomp.functions.exact);
    Boolcomp.run = machine;
    Boolcomp.bench = Boolcomp.workbench(model, machine, Boolcomp.functions.points);
  } else Boolcomp.showTerms(model);
  Boolcomp.ready = true;
})();
