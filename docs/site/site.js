// Tables that scroll are reached by the keyboard, as blocks of code are.
addEventListener("load", () => {
  for (const wide of document.querySelectorAll(".md-typeset__scrollwrap")) wide.tabIndex = 0;
});
