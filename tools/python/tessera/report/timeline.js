// The timeline of a trace: lanes of slices on the axes, cursor and zoom of uPlot.
"use strict";

const TimelineView = (() => {
  const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#7f7f7f", "#b15928", "#1b9e77"];
  const LANE_HEIGHT = 20;

  // Starts are stored as differences, nanoseconds; a lane's slices are in the order of time.
  function unpack(lane) {
    let at = 0;
    const starts = new Float64Array(lane.starts.length);
    for (let n = 0; n < starts.length; ++n) starts[n] = (at += lane.starts[n]) * 1e-9;
    return {name: lane.name, starts, lengths: Float64Array.from(lane.lengths, d => d * 1e-9), names: lane.names, steps: lane.steps};
  }

  // The first slice of the lane that begins after `time`.
  function firstAfter(lane, time) {
    let low = 0, high = lane.starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lane.starts[middle] > time) high = middle; else low = middle + 1;
    }
    return low;
  }

  function drawLane(u, lane, number, view) {
    const {ctx, bbox} = u;
    const low = u.scales.x.min, high = u.scales.x.max;
    const scale = bbox.width / (high - low);
    const top = u.valToPos(number, "y", true), bottom = u.valToPos(number + 1, "y", true);
    const y = Math.min(top, bottom) + 1, height = Math.abs(bottom - top) - 2;
    // A slice may be long and have begun far to the left: lanes are short enough to look back for it.
    let drawn = -1;
    for (let n = Math.max(0, firstAfter(lane, low) - view.back); n < lane.starts.length && lane.starts[n] < high; ++n) {
      const end = lane.starts[n] + lane.lengths[n];
      if (end < low) continue;
      const left = bbox.left + Math.max(0, (lane.starts[n] - low) * scale);
      const right = bbox.left + Math.min(bbox.width, (end - low) * scale);
      if (right - left < 0.5 && Math.floor(left) === drawn) continue;
      drawn = Math.floor(left);
      ctx.fillStyle = COLOURS[lane.names[n] % COLOURS.length];
      ctx.fillRect(left, y, Math.max(right - left, 0.7), height);
      if (right - left > 60) {
        ctx.fillStyle = "#fff";
        ctx.save();
        ctx.beginPath();
        ctx.rect(left, y, right - left, height);
        ctx.clip();
        ctx.fillText(view.names[lane.names[n]], left + 4, y + height / 2);
        ctx.restore();
      }
    }
  }

  class TimelineView {
    constructor(target, data, tip) {
      this.lanes = data.lanes.map(unpack);
      this.names = data.names;
      this.tip = tip;
      this.back = 64;
      this.drawnTimes = 0;
      const ends = this.lanes.map(l => Math.max(...l.starts.map((s, n) => s + l.lengths[n])));
      this.begin = Math.min(...this.lanes.map(l => l.starts[0]));
      this.end = Math.max(...ends);
      this.plot = new uPlot(this.options(target), [[this.begin, this.end], [null, null]], target);
      if (data.since > this.begin) this.zoom(data.since, this.end);
      this.plot.over.addEventListener("wheel", event => this.wheel(event), {passive: false});
      this.plot.over.addEventListener("mouseleave", () => { this.tip.hidden = true; });
    }

    options(target) {
      const lanes = this.lanes;
      const places = lanes.map((_, n) => n + 0.5);
      return {
        width: target.clientWidth, height: lanes.length * LANE_HEIGHT + 50, legend: {show: false},
        cursor: {points: {show: false}, y: false, drag: {x: true, y: false}},
        scales: {x: {time: false}, y: {dir: -1, range: () => [0, lanes.length]}},
        axes: [{label: "seconds since the trace began", labelSize: 18, size: 32},
               {size: 130, splits: () => places, values: () => lanes.map(l => l.name), grid: {show: false}, gap: 6,
                font: "11px system-ui"}],
        series: [{}, {paths: () => null, points: {show: false}}],
        hooks: {draw: [u => this.draw(u)], setCursor: [u => this.hover(u)]},
      };
    }

    draw(u) {
      u.ctx.save();
      u.ctx.beginPath();
      u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
      u.ctx.clip();
      u.ctx.font = `${11 * devicePixelRatio}px system-ui`;
      u.ctx.textBaseline = "middle";
      u.ctx.textAlign = "left";
      this.lanes.forEach((lane, n) => drawLane(u, lane, n, this));
      u.ctx.restore();
      this.drawnTimes += 1;
    }

    // The shortest slice of a lane at a time: the innermost one.
    sliceAt(number, time) {
      const lane = this.lanes[number];
      if (!lane) return null;
      const after = firstAfter(lane, time);
      let found = null;
      for (let n = Math.max(0, after - this.back); n < after; ++n) {
        if (lane.starts[n] + lane.lengths[n] >= time && (found === null || lane.lengths[n] <= lane.lengths[found])) found = n;
      }
      return found === null ? null : {name: this.names[lane.names[found]], begin: lane.starts[found],
                                      length: lane.lengths[found], step: lane.steps[found], lane: lane.name};
    }

    hover(u) {
      const {left, top} = u.cursor;
      const slice = left < 0 ? null : this.sliceAt(Math.floor(u.posToVal(top, "y")), u.posToVal(left, "x"));
      this.tip.hidden = slice === null;
      if (slice === null) return;
      const box = u.over.getBoundingClientRect();
      this.tip.textContent = `${slice.name}\n${slice.lane}, step ${slice.step}\n${(slice.length * 1e6).toFixed(1)} us from ` +
        `${slice.begin.toFixed(6)} s`;
      this.tip.style.left = `${Math.min(box.left + left + 14, innerWidth - 260)}px`;
      this.tip.style.top = `${box.top + top + 14}px`;
    }

    zoom(low, high) { this.plot.setScale("x", {min: Math.max(low, this.begin), max: Math.min(high, this.end)}); }

    wheel(event) {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      const {min, max} = this.plot.scales.x;
      const at = this.plot.posToVal(event.offsetX, "x");
      const factor = event.deltaY > 0 ? 1.25 : 0.8;
      this.zoom(at - (at - min) * factor, at + (max - at) * factor);
    }
  }
  return TimelineView;
})();
