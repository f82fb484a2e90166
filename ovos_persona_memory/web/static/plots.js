/* The figures over time, drawn from what the server has kept. */
(function () {
  "use strict";
  var place = document.querySelector("[data-plots]");
  if (!place || !window.uPlot) return;
  var style = getComputedStyle(document.documentElement);
  var ink = style.getPropertyValue("--soft").trim();
  var accent = style.getPropertyValue("--accent").trim();
  var line = style.getPropertyValue("--line").trim();
  var wanted = [["context", place.dataset.context], ["turns", place.dataset.turns]];
  var plots = null;

  function axis() {
    return { stroke: ink, size: 64, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  }
  function data(samples, name) {
    return [samples.map(function (one) { return one.at; }), samples.map(function (one) { return one[name]; })];
  }
  function draw(samples) {
    var width = Math.max(place.clientWidth, 240);
    if (!plots) {
      plots = wanted.map(function (pair) {
        return new uPlot({
          width: width, height: 200, cursor: { drag: { x: false, y: false } }, axes: [axis(), axis()],
          series: [{ label: place.dataset.when }, { label: pair[1], stroke: accent, width: 2, points: { show: true, size: 5 } }]
        }, data(samples, pair[0]), place);
      });
    } else {
      plots.forEach(function (plot, number) {
        plot.setSize({ width: width, height: 200 });
        plot.setData(data(samples, wanted[number][0]));
      });
    }
  }
  function ask() {
    if (document.hidden) return;
    fetch(place.dataset.plots, { credentials: "same-origin" })
      .then(function (answer) { return answer.ok ? answer.json() : null; })
      .then(function (told) { if (told) draw(told.samples); })
      .catch(function () { /* the next one may come */ });
  }
  ask();
  setInterval(ask, 10000);
})();
