// Says on the page whether it is live, and if it is not, since when: the `state` is "yes" or "no".
"use strict";

function showLive(state, heard) {
  const stale = document.getElementById("stale");
  if (document.body.dataset.live === state) return;
  document.body.dataset.live = state;
  stale.hidden = state !== "no";
  if (state === "no") {
    const time = new Date(heard).toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
    stale.textContent = stale.dataset.words.replace("{time}", time);
  }
}
