// Keeps the list of tables honest: one that was not renewed says since when.
(() => {
  "use strict";

  const LATE_MS = 15000; // a renewal and a half
  const LOOK_MS = 1000;

  let heard = Date.now(); // by the wall clock: it goes on while a phone sleeps

  document.addEventListener("htmx:after:swap", () => {
    heard = Date.now();
    showLive("yes");
  });
  document.addEventListener("htmx:error", () => showLive("no", heard));
  document.addEventListener("htmx:response:error", () => showLive("no", heard));
  setInterval(() => {
    if (Math.abs(Date.now() - heard) > LATE_MS) showLive("no", heard);
  }, LOOK_MS);
})();
