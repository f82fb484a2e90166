/* What the server cannot do: showing what is said as it is said, and where the keyboard goes when something vanishes. */
(function () {
  "use strict";
  var doc = document;

  function plainSubmit(event) {
    var button = event.target.closest("[data-plain]");
    if (!button || !button.form) return;
    event.preventDefault();
    button.form.setAttribute("action", button.getAttribute("formaction"));
    HTMLFormElement.prototype.submit.call(button.form);
  }
  doc.addEventListener("click", plainSubmit);

  doc.addEventListener("htmx:afterSettle", function () {
    doc.querySelectorAll(".talk").forEach(function (talk) {
      if (!talk.querySelector(".turn")) talk.remove();
    });
  });

  doc.addEventListener("htmx:afterRequest", function (event) {
    var form = event.target;
    if (!event.detail.successful || !form.dataset || !form.dataset.removes) return;
    var gone = form.closest(form.dataset.removes);
    if (gone) gone.remove();
  });

  var live = doc.querySelector("[data-live]");
  if (!live || !window.EventSource) return;
  var feed = doc.querySelector("[data-live-feed]");
  var said = doc.getElementById("live-said");
  var button = live.querySelector("[data-live-switch]");
  var words = doc.body.dataset.liveNew;
  var source = null;
  var paused = false;
  var number = 0;

  function show(event) {
    var told = JSON.parse(event.data);
    var box = doc.createElement("div");
    box.className = "live-new";
    box.innerHTML = told.html; /* made by the server, with every text escaped */
    feed.prepend(box);
    if (window.htmx) window.htmx.process(box);
    number += told.number;
    said.textContent = words.replace("{n}", String(number));
    while (feed.children.length > 100) feed.lastElementChild.remove();
  }
  function again() { /* what is gone is not to be read here any longer; not all pages ask in the same moment */
    setTimeout(function () {
      if (!window.htmx) return;
      window.htmx.ajax("GET", "/", "#feed").then(function () { feed.replaceChildren(); });
    }, Math.random() * 1500);
  }
  function open() {
    source = new EventSource("/live");
    source.addEventListener("recorded", show);
    source.addEventListener("forgotten", again);
  }
  function close() {
    if (source) source.close();
    source = null;
  }
  function follow() { /* among what was narrowed down only what was asked for is shown */
    var asked = new URLSearchParams(window.location.search);
    asked.delete("notice");
    var narrowed = Array.from(asked.values()).some(function (value) { return value !== ""; });
    doc.querySelector("[data-show-all]").hidden = !narrowed;
    live.hidden = narrowed;
    if (narrowed) feed.replaceChildren();
    if (narrowed || paused) close(); else if (!source) open();
  }
  button.addEventListener("click", function () {
    paused = !paused;
    button.setAttribute("aria-pressed", String(paused));
    button.textContent = paused ? button.dataset.off : button.dataset.on;
    follow();
  });
  doc.addEventListener("htmx:pushedIntoHistory", follow);
  window.addEventListener("pagehide", close);
  follow();
})();
