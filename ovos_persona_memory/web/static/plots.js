/* The figures over time, drawn from what the server has kept. */
(function () {
  "use strict";
  var place = document.querySelector("[data-plots]");
  if (!place || !window.uPlot) return;
  var plots = null;
  var SHORTEST_S = 600, DAY_S = 86400;
  var spoken = document.documentElement.lang;
  var clock = new Intl.DateTimeFormat(spoken, {
    hour: "2-digit", minute: "2-digit", hour12: false, timeZone: place.dataset.zone || undefined
  });
  var date = new Intl.DateTimeFormat(spoken, {
    day: "numeric", month: "short", timeZone: place.dataset.zone || undefined
  });
  var figures = new Intl.NumberFormat(spoken);

  function colour(name) {
    return function () { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); };
  }
  function axis(size, shown) {
    return {
      stroke: colour("--soft"), size: size, grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false },
      font: "13px system-ui, sans-serif", values: function (_, values) { return values.map(shown); }
    };
  }
  function time(at) { return clock.format(new Date(at * 1000)); }
  function day(at) { return date.format(new Date(at * 1000)); }
  function shown(number) { return figures.format(number); }
  function data(told, name) {
    return [told.map(function (one) { return one.at; }), told.map(function (one) { return one[name]; })];
  }
  function span(_, least, most) { /* a minute is not stretched over the whole width */
    return [Math.min(least, most - SHORTEST_S), most];
  }
  function month(_, least, most) { return [least - DAY_S / 2, most + DAY_S / 2]; }
  function size() { return { width: Math.max(place.clientWidth, 200), height: 200 }; }
  function made(title, values, range, x, series) {
    var box = document.createElement("div");
    var words = document.createElement("p");
    words.className = "small";
    words.textContent = title;
    box.append(words);
    place.append(box);
    return new uPlot({
      width: size().width, height: size().height, cursor: { show: false }, legend: { show: false },
      scales: { x: { range: range }, y: { range: { min: { pad: 0, soft: 0, mode: 1 }, max: { pad: 0.1 } } } },
      axes: [Object.assign(axis(36, x.shown), { incrs: x.steps }), axis(72, shown)], series: [{}, series]
    }, values, box);
  }
  function draw(told) {
    if (plots) {
      plots[0].setData(data(told.samples, "context"));
      return;
    }
    plots = [
      made(place.dataset.context, data(told.samples, "context"), span,
        { shown: time, steps: [60, 120, 300, 600, 1800, 3600, 7200, 14400] },
        { stroke: colour("--accent"), width: 2, points: { show: true, size: 6 } }),
      made(place.dataset.days, data(told.days, "turns"), month, { shown: day, steps: [DAY_S, 2 * DAY_S, 7 * DAY_S] },
        { fill: colour("--accent"), width: 0, paths: uPlot.paths.bars({ size: [0.7, 40] }), points: { show: false } })
    ];
  }
  function ask() {
    if (document.hidden) return;
    fetch(place.dataset.plots + (plots ? "" : "?days=yes"), { credentials: "same-origin" })
      .then(function (answer) { return answer.ok ? answer.json() : null; })
      .then(function (told) { if (told) draw(told); })
      .catch(function () { /* the next one may come */ });
  }
  new ResizeObserver(function () {
    if (plots) plots.forEach(function (plot) { plot.setSize(size()); });
  }).observe(place);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () {
    if (plots) plots.forEach(function (plot) { plot.redraw(false, true); });
  });
  ask();
  setInterval(ask, 10000);
})();
