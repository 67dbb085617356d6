// Keys in the picture: arrows go from dataset to dataset, E goes through edges, Enter goes to the numbers, Escape back.
// A key whose meaning depends on an answer that is still on its way waits for it, and so do all keys after it.
(function () {
  "use strict";
  const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  let home = null; // the dataset whose edges are gone through
  let origin = null; // the picture that Enter has led from, as long as the numbers have the focus
  const deferred = []; // keys that wait for an answer, oldest first
  const WAIT = "wait";

  function choose(one) { window.hetdp.act(one.isNode() ? "dataset" : "edge", one.data("at")); }

  // What is chosen, or is about to be; null if only the next answer says.
  function chosen(cy) {
    const newest = window.hetdp.newest();
    if (!window.hetdp.isReady() || (newest && newest.name !== "dataset" && newest.name !== "edge")) { return null; }
    if (!newest) { return cy.$(".selected").first(); }
    const found = (newest.name === "dataset" ? cy.nodes() : cy.edges()).filter((one) => one.data("at") === newest.details);
    return found.nonempty() ? found.first() : null;
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

  // To the slider of what is chosen.
  function toNumbers(box) {
    if (!window.hetdp.isReady() || window.hetdp.newest()) { return WAIT; }
    const tab = document.querySelector("#tab input");
    if (tab && !tab.checked) {
      tab.click();
      document.getElementById("tab-inspect").hidden = false; // Dash does the same, a moment later
    }
    const slider = document.querySelector("#edit-dataset:not([hidden]) input, #edit-edge:not([hidden]) .mover:not([hidden]) input");
    if (slider) {
      slider.focus();
      origin = box;
    }
    return true;
  }

  function inGraph(stroke) {
    const container = document.getElementById("graph");
    const cy = container && container._cyreg && container._cyreg.cy;
    const isEnter = stroke.key === "Enter" || stroke.key === " ";
    if (!WAYS[stroke.key] && !isEnter && stroke.key.toLowerCase() !== "e" && stroke.key !== "Escape") { return false; }
    if (!cy) { return window.hetdp.isReady() ? false : WAIT; }
    const here = chosen(cy);
    if (!here) { return WAIT; }
    if (WAYS[stroke.key]) {
      go(cy, here, WAYS[stroke.key]);
    } else if (isEnter && here.nonempty()) {
      return toNumbers(stroke.box);
    } else if (isEnter) {
      go(cy, here, null);
    } else if (stroke.key !== "Escape") {
      edges(cy, here, stroke.shift);
    } else if (here.nonempty() && here.isEdge()) {
      choose(here.connectedNodes().filter((one) => one.id() === home).nonempty() ? cy.$id(home) : here.source());
    } else {
      return false;
    }
    return true;
  }

  function inChart(stroke) {
    if (WAYS[stroke.key]) {
      window.hetdp.act("next_cell", [WAYS[stroke.key][0], -WAYS[stroke.key][1]]);
      return true;
    }
    return stroke.key === "Enter" || stroke.key === " " ? toNumbers(stroke.box) : false;
  }

  function inNumbers(stroke) {
    if (stroke.key !== "Escape" || !origin || origin.classList.contains("away")) { return false; }
    origin.focus();
    return true;
  }

  // A key that was deferred, after Enter has moved the focus: what the browser does with a key on a slider.
  function onSlider(slider, stroke) {
    if (!WAYS[stroke.key]) { return inNumbers(stroke); }
    if (WAYS[stroke.key][0] - WAYS[stroke.key][1] > 0) { slider.stepUp(); } else { slider.stepDown(); }
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    return true;
  }

  function use(stroke) { return (stroke.box.id === "graph-box" ? inGraph : inChart)(stroke); }

  function useDeferred() {
    while (deferred.length) {
      const stroke = deferred[0];
      const moved = origin === stroke.box && isNumber(document.activeElement);
      const used = moved ? onSlider(document.activeElement, stroke) : use(stroke);
      if (used === WAIT) {
        window.hetdp.whenSettled(useDeferred);
        return;
      }
      if (!used && stroke.key === "Escape") { document.activeElement.blur(); }
      deferred.shift();
    }
  }

  function isNumber(place) { return Boolean(place.closest && place.closest("#edit-dataset, #edit-edge")); }

  document.addEventListener("focusin", function (event) {
    if (!isNumber(event.target)) { origin = null; }
  });

  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey) { return; }
    const stroke = { key: event.key, shift: event.shiftKey, box: event.target };
    const inPicture = event.target.id === "graph-box" || event.target.id === "chart-box";
    let used = false;
    if (inPicture && deferred.length && event.key !== "Tab") {
      deferred.push(stroke);
      used = true;
    } else if (inPicture) {
      used = use(stroke);
      if (used === WAIT) {
        deferred.push(stroke);
        window.hetdp.whenSettled(useDeferred);
      }
    } else if (isNumber(event.target)) {
      used = inNumbers(stroke);
    }
    if (used) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }, true);

  // A click into the picture gives it the focus, so that keys work at once.
  document.addEventListener("pointerdown", function (event) {
    const box = event.target.closest && event.target.closest("#graph-box, #chart-box");
    if (box) { window.setTimeout(() => box.focus({ preventScroll: true }), 0); }
  });
})();
