/* The figures over time, drawn from what the server has kept. */
(function () {
  "use strict";
  var place = document.querySelector("[data-plots]");
  if (!place || !window.uPlot) return;
  var wanted = [["context", place.dataset.context], ["turns", place.dataset.turns]];
  var plots = null;
  var SHORTEST_S = 600;
  var spoken = document.documentElement.lang;
  var clock = new Intl.DateTimeFormat(spoken, {
    hour: "2-digit", minute: "2-digit", hour12: false, timeZone: place.dataset.zone || undefined
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
  function shown(number) { return figures.format(number); }
  function data(samples, name) {
    return [samples.map(function (one) { return one.at; }), samples.map(function (one) { return one[name]; })];
  }
  function span(_, least, most) { /* a minute is not stretched over the whole width */
    return [Math.min(least, most - SHORTEST_S), most];
  }
  function size() { return { width: Math.max(place.clientWidth, 200), height: 200 }; }
  function made(pair, samples) {
    var box = document.createElement("div");
    var title = document.createElement("p");
    title.className = "small";
    title.textContent = pair[1];
    box.append(title);
    place.append(box);
    return new uPlot({
      width: size().width, height: size().height, cursor: { show: false }, legend: { show: false },
      scales: { x: { range: span }, y: { range: { min: { pad: 0.1, soft: 0, mode: 2 }, max: { pad: 0.1 } } } },
      axes: [Object.assign(axis(36, time), { incrs: [60, 120, 300, 600, 1800, 3600, 7200, 14400] }), axis(72, shown)],
      series: [{}, { stroke: colour("--accent"), width: 2, points: { show: true, size: 6 } }]
    }, data(samples, pair[0]), box);
  }
  function draw(samples) {
    if (!plots) {
      plots = wanted.map(function (pair) { return made(pair, samples); });
    } else {
      plots.forEach(function (plot, number) { plot.setData(data(samples, wanted[number][0])); });
    }
  }
  function ask() {
    if (document.hidden) return;
    fetch(place.dataset.plots, { credentials: "same-origin" })
      .then(function (answer) { return answer.ok ? answer.json() : null; })
      .then(function (told) { if (told) draw(told.samples); })
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
