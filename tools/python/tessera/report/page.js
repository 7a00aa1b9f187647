// The curves of a report, from the data in the page; every table is there without this.
"use strict";

const report = {charts: {}, timeline: null, data: JSON.parse(document.getElementById("data").textContent)};

(() => {
  const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

  function shown(value) {
    if (value === null || value === undefined) return "-";
    return Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(4) : value.toPrecision(6);
  }

  // chart: {title, x, x_name, series: [{name, values}], log, sync}
  function draw(target, chart) {
    const series = chart.series.map((s, n) => ({
      label: s.name, stroke: COLOURS[n % COLOURS.length], width: 1.5, points: {show: chart.x.length < 40, size: 4},
      value: (u, v) => shown(v), spanGaps: true}));
    const options = {
      title: chart.title, width: Math.max(320, target.clientWidth), height: 230,
      cursor: {sync: {key: chart.sync || chart.title}, drag: {x: true, y: false}},
      scales: {x: {time: false}, y: chart.log ? {distr: 3} : {}},
      axes: [{label: chart.x_name, labelSize: 16, size: 34},
             {size: 76, values: (u, ticks) => ticks.map(v => v === null ? "" : Number(v.toPrecision(8)).toString().length > 8
               ? v.toExponential(2) : Number(v.toPrecision(8)).toString())}],
      series: [{label: chart.x_name, value: (u, v) => shown(v)}, ...series],
    };
    return new uPlot(options, [chart.x, ...chart.series.map(s => s.values)], target);
  }

  function sortBy(table, column, header) {
    const body = table.tBodies[0];
    const down = header.dataset.down !== "yes";
    header.dataset.down = down ? "yes" : "no";
    const key = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const rows = [...body.rows].sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      const order = isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y;
      return down ? -order : order;
    });
    body.append(...rows);
  }

  for (const target of document.querySelectorAll(".chart")) {
    report.charts[target.id] = draw(target, report.data.charts[target.id]);
  }
  const place = document.getElementById("lanes");
  if (place) report.timeline = new TimelineView(place, report.data.timeline, document.getElementById("tip"));
  for (const table of document.querySelectorAll("table.sorted")) {
    [...table.tHead.rows[0].cells].forEach((header, n) => {
      header.classList.add("sortable");
      header.addEventListener("click", () => sortBy(table, n, header));
    });
  }
  let width = innerWidth;
  addEventListener("resize", () => {
    if (width === innerWidth) return;
    width = innerWidth;
    for (const [id, plot] of Object.entries(report.charts)) {
      plot.setSize({width: Math.max(320, document.getElementById(id).clientWidth), height: 230});
    }
    if (report.timeline) report.timeline.plot.setSize({width: place.clientWidth, height: report.timeline.plot.height});
  });
})();
