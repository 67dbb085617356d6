// The binding path appears step by step in charts, as it does in the network; at once if a person prefers less motion.
(function () {
  "use strict";
  const PAUSE = 140; // milliseconds between steps, as in drawing.py
  const MOST = 12; // steps that appear one after the other
  const reduced = window.matchMedia("(prefers-reduced-motion: reduce)");
  let shown = ""; // the path that has appeared

  function appear(one, delay) {
    one.animate([{ opacity: 0 }, { opacity: 1 }], { delay: delay, duration: PAUSE, fill: "backwards" });
  }

  function drawLine(line, delay, duration) {
    const length = line.getTotalLength();
    if (line.style.strokeDasharray && line.style.strokeDasharray !== "none") { // a dashed line
      appear(line, delay);
    } else {
      const frames = [{ strokeDasharray: "0 " + length }, { strokeDasharray: length + " 0" }];
      line.animate(frames, { delay: delay, duration: duration, fill: "backwards" });
    }
  }

  // Draws the path of the chart once more, from its start, if it is not the one that was shown last.
  function reveal() {
    const plot = document.querySelector("#chart-box:not(.away) .js-plotly-plot");
    const traces = ((plot && plot._fullData) || []).filter((one) => one.name === "path" && one.visible);
    const path = traces.length ? traces[0].meta : "";
    if (path === shown) { return; }
    shown = path;
    if (reduced.matches) { return; }
    traces.forEach(function (trace) {
      const group = plot.querySelector(".trace" + trace.uid);
      if (!group) { return; }
      const start = trace.x.length + 1 > path.split(" ").length ? 0 : 1; // a dashed first step is a trace of its own
      const first = start && trace.line.dash === "solid" ? start : 0;
      group.querySelectorAll(".js-line").forEach(function (line) {
        drawLine(line, PAUSE * Math.min(first, MOST), PAUSE * Math.min(trace.x.length, MOST));
      });
      group.querySelectorAll(".points path").forEach((mark, at) => appear(mark, PAUSE * Math.min(first + at, MOST)));
    });
  }

  window.hetdp.isStill = () => reduced.matches;
  window.hetdp.revealPath = () => window.hetdp.whenDrawn(reveal);
})();
