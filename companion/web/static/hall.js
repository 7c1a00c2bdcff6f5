// Keeps the list of tables honest: one that was not renewed says since when.
(() => {
  "use strict";

  const LATE_MS = 15000; // a renewal and a half
  const LOOK_MS = 1000;

  const body = document.body;
  const stale = document.getElementById("stale");
  let heard = Date.now(); // by the wall clock: it goes on while a phone sleeps

  function show(state) {
    if (body.dataset.live === state) return;
    body.dataset.live = state;
    stale.hidden = state !== "no";
    if (state === "no") {
      const time = new Date(heard).toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
      stale.textContent = stale.dataset.words.replace("{time}", time);
    }
  }

  document.addEventListener("htmx:after:swap", () => {
    heard = Date.now();
    show("yes");
  });
  document.addEventListener("htmx:error", () => show("no"));
  document.addEventListener("htmx:response:error", () => show("no"));
  setInterval(() => {
    if (Date.now() - heard > LATE_MS) show("no");
  }, LOOK_MS);
})();
