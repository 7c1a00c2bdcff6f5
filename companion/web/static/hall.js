// Keeps the list of tables honest: one that could not be renewed says since when.
(() => {
  "use strict";

  const body = document.body;
  const stale = document.getElementById("stale");
  let heard = new Date();

  function show(state) {
    body.dataset.live = state;
    stale.hidden = state !== "no";
    if (state === "no") {
      const time = heard.toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
      stale.textContent = stale.dataset.words.replace("{time}", time);
    }
  }

  document.addEventListener("htmx:after:swap", () => {
    heard = new Date();
    show("yes");
  });
  document.addEventListener("htmx:error", () => show("no"));
  document.addEventListener("htmx:response:error", () => show("no"));
})();
