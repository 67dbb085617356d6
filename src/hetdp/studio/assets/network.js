// The network in its box: fitted, and with names that can be read.
(function () {
  "use strict";
  const NARROW = 700; // pixels: the width of a picture from which on nothing is rearranged
  const LEGIBLE = 12; // pixels: the least size of text in a narrow picture
  const TARGET = 26; // pixels: the least size of a dataset there; cytoscape adds eight on each side for fingers
  const PADDING = 36;

  function isNarrow(cy) { return cy.width() < NARROW; }
  window.hetdp.isNarrow = isNarrow;

  let isTurned = false;

  // Puts a dataset where it belongs: answers know places as in a wide window only.
  function place(one) {
    const [x, y] = isTurned ? [one.data("y"), one.data("x")] : [one.data("x"), one.data("y")];
    if (one.position("x") !== x || one.position("y") !== y) { one.position({ x: x, y: y }); }
  }
  window.hetdp.keepPlaces = (cy) => cy.on("position data", "node", (event) => place(event.target));

  // Shows the whole network. In a narrow window it is turned if it is larger then: answer 2 at the top.
  window.hetdp.fitPicture = function (cy) {
    const nodes = cy.nodes();
    const span = function (axis) {
      const all = nodes.map((one) => one.data(axis));
      return Math.max(...all) - Math.min(...all) + 2 * PADDING;
    };
    const [across, down] = nodes.nonempty() ? [span("x"), span("y")] : [1, 1];
    const scale = (wide, high) => Math.min(cy.width() / wide, cy.height() / high);
    isTurned = isNarrow(cy) && scale(down, across) > scale(across, down);
    cy.nodes().removeStyle("width height");
    nodes.forEach(place);
    if (isNarrow(cy)) { fitNarrow(cy, nodes); } else { cy.fit(undefined, PADDING); }
  };

  // In a narrow window, names have the same size at every zoom: room for them is left beside and below the datasets.
  function fitNarrow(cy, nodes) {
    const box = nodes.boundingBox({ includeLabels: false, includeEdges: false });
    const lines = Math.max(0, ...nodes.map((one) => (one.data("label") || "").split("\n").length));
    const buttons = document.querySelector(".zoom");
    const isCovered = buttons && buttons.offsetTop > 0; // on a phone, the buttons are above the picture
    const below = 10 + 1.2 * LEGIBLE * lines + (isCovered ? buttons.offsetHeight : 0);
    const zoom = Math.min((cy.width() - 2 * PADDING) / box.w, (cy.height() - PADDING / 2 - below) / box.h, 2);
    const middle = (cy.height() + PADDING / 2 - below) / 2;
    cy.viewport({ zoom: zoom, pan: { x: cy.width() / 2 - zoom * (box.x1 + box.w / 2), y: middle - zoom * (box.y1 + box.h / 2) } });
  }

  // The text of all names is enlarged as far as there is room between datasets; sizes in points are from drawing.py. In
  // a narrow window, it is always legible instead: names that would overlap more important ones are left out.
  window.hetdp.scaleText = function (cy) {
    cy.batch(function () {
      if (isNarrow(cy)) {
        const size = Math.max(11, LEGIBLE / cy.zoom());
        cy.elements().style("font-size", size);
        const least = Math.min(TARGET / cy.zoom(), 0.9 * leastDistance(cy));
        cy.nodes().forEach(function (one) {
          one.removeStyle("width height");
          const side = Math.max(one.numericStyle("width"), least);
          one.style({ width: side, height: side });
        });
      } else {
        cy.elements().removeStyle("font-size width height text-opacity text-background-opacity");
        const factor = roomFactor(cy);
        if (factor > 1) {
          cy.nodes().style("font-size", 11 * factor);
          cy.edges().style("font-size", 9 * factor);
        }
      }
    });
    if (isNarrow(cy)) { leaveOutOverlaps(cy); }
  };

  function roomFactor(cy) {
    const places = cy.nodes().map((one) => [Math.round(one.position("x")), Math.round(one.position("y"))]);
    places.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
    const room = { across: Infinity, down: Infinity };
    for (let at = 1; at < places.length; at += 1) {
      const across = places[at][0] - places[at - 1][0];
      if (across) { room.across = Math.min(room.across, across); } else { room.down = Math.min(room.down, places[at][1] - places[at - 1][1]); }
    }
    return Math.min(2, 0.85 / cy.zoom(), room.across / 88, room.down / 66);
  }

  const MOST_COMPARED = 300; // datasets: more have no names, and are not enlarged

  function leastDistance(cy) {
    const places = cy.nodes().map((one) => one.position());
    let least = places.length > MOST_COMPARED ? 0 : Infinity;
    for (let at = 1; least && at < places.length; at += 1) {
      for (let other = 0; other < at; other += 1) {
        least = Math.min(least, Math.max(Math.abs(places[at].x - places[other].x), Math.abs(places[at].y - places[other].y)));
      }
    }
    return least;
  }

  function importance(one) {
    const kinds = ["selected", "highlighted", "pinned"];
    const found = kinds.findIndex((kind) => one.hasClass(kind));
    return (found < 0 ? kinds.length : found) + (one.isEdge() ? 0.5 : 0);
  }

  function leaveOutOverlaps(cy) {
    const taken = cy.nodes().map((one) => ({ ...one.boundingBox({ includeLabels: false, includeOverlays: false }), of: one.id() }));
    const named = cy.elements().filter((one) => one.data("label")).toArray();
    named.sort((one, other) => importance(one) - importance(other));
    cy.batch(function () {
      named.forEach(function (one) {
        const box = one.boundingBox({ includeNodes: false, includeEdges: false, includeOverlays: false });
        const isFree = !taken.some((other) => other.of !== one.id() && box.x1 < other.x2 && other.x1 < box.x2 && box.y1 < other.y2 && other.y1 < box.y2);
        const isShown = isFree || importance(one) < 1;
        if (isShown) { taken.push(box); }
        one.style({ "text-opacity": isShown ? 1 : 0, "text-background-opacity": isShown ? 0.85 : 0 });
      });
    });
  }
})();
