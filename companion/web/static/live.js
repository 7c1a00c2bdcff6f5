// Keeps the page honest: it knows when it is cut off, and never shows an old position as the current one.
(() => {
  "use strict";

  const CUT_OFF_MS = 12000; // three beats of the stream that did not come
  const LOOK_MS = 1000;
  const MOST_TRIES = 2;

  const body = document.body;
  const live = document.getElementById("live");
  const sheet = document.getElementById("sheet");
  let heard = 0; // when the stream last said anything, by the wall clock: it goes on while a phone sleeps
  let begun = Date.now();
  let asked = 0;
  let tries = 0; // since the stream was last heard
  let connection = null;

  function hear() {
    heard = Date.now();
    tries = 0;
    showLive("yes");
  }

  function connectAgain() {
    asked = Date.now();
    tries += 1;
    if (tries > MOST_TRIES) loadAgain();
    if (connection && connection.reader) connection.reader.cancel().catch(() => {});
    if (connection && connection.delayCanceller) connection.delayCanceller();
    htmx.trigger(live, "live:again"); // does nothing while htmx itself is connecting
  }

  // The last resort; not while the program is away, for then the browser's own error would take the page's place.
  function loadAgain() {
    fetch(location.href, { cache: "no-store" }).then((answer) => answer.ok && location.reload(), () => {});
  }

  function look() {
    const now = Date.now();
    if (Math.abs(now - (heard || begun)) < CUT_OFF_MS) return; // a clock that was set back tells nothing
    showLive("no", heard || begun);
    if (!document.hidden && Math.abs(now - asked) > CUT_OFF_MS) connectAgain();
  }

  function cutOff() {
    heard = Math.min(heard, Date.now() - CUT_OFF_MS);
    if (body.dataset.live === "yes") showLive("no", heard || begun);
  }

  // The stream
  live.addEventListener("htmx:sse:after:connection", (event) => {
    connection = event.detail.connection;
  });
  live.addEventListener("htmx:sse:after:message", (event) => {
    const state = live.querySelector(".state");
    if (!event.detail.message.event && state) {
      if (state.dataset.boot !== body.dataset.boot) {
        location.reload(); // the program was started anew: so are this page's token and parts
        return;
      }
      document.title = `${state.dataset.title} · Mijnlieff`;
      const tiles = document.getElementById("tiles"); // its lights follow the table
      if (tiles) htmx.trigger(tiles, "tiles:look");
    }
    hear();
  });
  live.addEventListener("htmx:sse:error", cutOff);
  live.addEventListener("htmx:sse:close", () => {
    connection = null;
    cutOff();
  });
  live.addEventListener("picture", (event) => {
    const picture = document.getElementById("picture");
    if (picture && !document.hidden) picture.src = `picture.jpg?n=${event.detail.data}`;
  });

  // A phone that wakes, a page that comes back from the browser's memory, a network that returns
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) look();
  });
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
  window.addEventListener("offline", cutOff);
  window.addEventListener("online", connectAgain);
  setInterval(look, LOOK_MS);

  // The referee's hand: a new deed, or another sheet, clears what was refused before
  document.addEventListener("htmx:before:request", (event) => {
    const target = event.detail.ctx.target;
    if (!target || !["reply", "sheet-body"].includes(target.id)) return;
    for (const refused of document.querySelectorAll("#reply .reply, #sheet-body > .reply")) refused.remove();
  });
  document.addEventListener("htmx:after:swap", (event) => {
    const target = event.detail.ctx.target;
    if (!target) return;
    if (target.id === "sheet-body" && !sheet.open) sheet.showModal();
    if (target.id === "reply" && sheet.open) {
      const refused = target.querySelector(".wrong");
      if (refused) {
        document.getElementById("sheet-body").append(refused);
        refused.scrollIntoView({ block: "nearest" });
      } else {
        sheet.close();
      }
    }
  });
  sheet.addEventListener("click", (event) => {
    if (event.target === sheet) sheet.close();
  });
})();
