// The picture by keys: arrows go from dataset to dataset, E goes through edges, Enter goes to the numbers, Escape back.
(function () {
  "use strict";
  const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const PATIENCE = 1500; // milliseconds, in which an answer is still expected
  let asked = { id: null, at: 0 }; // what was chosen here last, before the server has answered
  let home = null; // the dataset whose edges are gone through
  let turn = 0;
  let left = null; // the picture that Enter has led from, as long as the numbers have the focus

  function point(kind, at) {
    turn += 1;
    window.dash_clientside.set_props("pointed", { data: [kind, at, turn] });
  }

  function choose(one) {
    asked = { id: one.id(), at: Date.now() };
    point(one.isNode() ? "dataset" : "edge", one.data("at"));
  }

  function chosen(cy) {
    if (asked.id && Date.now() - asked.at < PATIENCE && cy.$id(asked.id).length) { return cy.$id(asked.id); }
    return cy.$(".chosen").first();
  }

  // The nearest one in a direction, or none: what lies aside counts as farther away.
  function nearest(from, many, way) {
    let best = null;
    let least = Infinity;
    many.forEach(function (one) {
      const to = one.position();
      const along = (to.x - from.x) * way[0] + (to.y - from.y) * way[1];
      const aside = Math.abs((to.x - from.x) * way[1]) + Math.abs((to.y - from.y) * way[0]);
      const far = along + 2 * aside;
      if (along > 1e-6 && aside <= 3 * along && far < least) { best = one; least = far; }
    });
    return best;
  }

  function middle(cy) {
    const box = cy.extent();
    const from = { x: (box.x1 + box.x2) / 2, y: (box.y1 + box.y2) / 2 };
    const far = (one) => Math.hypot(one.position("x") - from.x, one.position("y") - from.y);
    return cy.nodes().toArray().sort((one, other) => far(one) - far(other))[0] || null;
  }

  // Into sight, if it is outside.
  function show(cy, one) {
    const box = one.renderedBoundingBox();
    if (box.x1 < 0 || box.y1 < 0 || box.x2 > cy.width() || box.y2 > cy.height()) { cy.center(one); }
  }

  function go(cy, here, way) {
    let next = null;
    if (here.empty()) {
      next = middle(cy);
    } else if (here.isEdge()) {
      next = nearest(here.midpoint(), here.connectedNodes(), way);
    } else {
      next = nearest(here.position(), here.neighborhood("node"), way) || nearest(here.position(), cy.nodes(), way);
    }
    if (next) {
      home = next.id();
      choose(next);
      show(cy, next);
    }
  }

  function edges(cy, here, back) {
    if (here.empty()) { return; }
    const own = here.isNode() ? here : here.connectedNodes().filter((one) => one.id() === home);
    const node = own.nonempty() ? own.first() : here.connectedNodes().first();
    home = node.id();
    const angle = function (edge) {
      const other = edge.connectedNodes().filter((one) => one.id() !== home).first().position();
      return Math.atan2(other.y - node.position("y"), other.x - node.position("x"));
    };
    const all = node.connectedEdges().toArray().sort((one, other) => angle(one) - angle(other));
    if (!all.length) { return; }
    const at = here.isEdge() ? all.findIndex((one) => one.id() === here.id()) : back ? all.length : -1;
    choose(all[(at + (back ? -1 : 1) + all.length) % all.length]);
  }

  function toNumbers(box) {
    const slider = document.querySelector("#edit-dataset:not([hidden]) input, #edit-edge:not([hidden]) .mover:not([hidden]) input");
    const tab = document.querySelector("#tab input");
    if (tab && !tab.checked) { tab.click(); }
    if (slider) { window.setTimeout(() => { slider.focus(); left = box; }, 30); }
  }

  function inGraph(event) {
    const container = document.getElementById("graph");
    const cy = container && container._cyreg && container._cyreg.cy;
    if (!cy) { return false; }
    const here = chosen(cy);
    if (WAYS[event.key]) {
      go(cy, here, WAYS[event.key]);
    } else if (event.key.toLowerCase() === "e") {
      edges(cy, here, event.shiftKey);
    } else if (event.key === "Enter" || event.key === " ") {
      if (here.empty()) { go(cy, here, null); } else { toNumbers(event.target); }
    } else if (event.key === "Escape" && here.nonempty() && here.isEdge()) {
      choose(here.connectedNodes().filter((one) => one.id() === home).nonempty() ? cy.$id(home) : here.source());
    } else {
      return false;
    }
    return true;
  }

  function inChart(event) {
    if (WAYS[event.key]) {
      point("cell", [WAYS[event.key][0], -WAYS[event.key][1]]);
    } else if (event.key === "Enter" || event.key === " ") {
      toNumbers(event.target);
    } else {
      return false;
    }
    return true;
  }

  function back(event) {
    if (event.key !== "Escape" || !left || left.classList.contains("away")) { return false; }
    left.focus();
    return true;
  }

  function isNumber(place) { return Boolean(place.closest && place.closest("#edit-dataset, #edit-edge")); }

  document.addEventListener("focusin", function (event) {
    if (!isNumber(event.target)) { left = null; }
  });

  document.addEventListener("keydown", function (event) {
    const act = isNumber(event.target) ? back : { "graph-box": inGraph, "chart-box": inChart }[event.target.id];
    if (act && !event.ctrlKey && !event.metaKey && !event.altKey && act(event)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }, true);

  // Who has clicked into the picture can go on by keys.
  document.addEventListener("pointerdown", function (event) {
    const box = event.target.closest && event.target.closest("#graph-box, #chart-box");
    if (box) { window.setTimeout(() => box.focus({ preventScroll: true }), 0); }
  });
})();
