// What if: sliders for many edges at once. The server sends what can be set; the rows are drawn here, so that the slider
// that is dragged is never replaced. While any slider of the page is dragged, what is above it keeps its place.
(function () {
  "use strict";
  let drawn = ""; // the rows that are on the page
  let dragged = null; // the slider under the pointer
  const held = []; // what keeps its height meanwhile

  function makeRow(row) {
    const box = document.createElement("div");
    const [words, slider, typed] = ["label", "input", "input"].map((kind) => document.createElement(kind));
    const [name, edges] = ["bdi", "span"].map((kind) => document.createElement(kind));
    const act = function (control, value) {
      const details = { kind: row.kind, at: row.at, control: control, value: value };
      window.hetdp.act("scope", details, control === "slider" ? ["scope", row.kind, row.at].join(" ") : "");
    };
    box.className = "mover";
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Set ε: " + row.words);
    name.textContent = row.words;
    edges.textContent = row.edges;
    edges.className = "quiet";
    words.append(name, edges);
    words.htmlFor = slider.id = "scope-" + row.kind + "-" + row.at;
    Object.assign(slider, { type: "range", min: 0, max: row.most, step: row.step, className: "slider" });
    Object.assign(typed, { type: "text", maxLength: 40, className: "typed" });
    typed.setAttribute("aria-label", row.words + " as text");
    slider.addEventListener("input", function () {
      typed.value = (row.factor ? "× " : "") + slider.value;
      act("slider", slider.value);
    });
    typed.addEventListener("focus", function () { typed.select(); });
    typed.addEventListener("change", function () { act("number", typed.value.replace("×", "")); });
    box.append(words, slider, typed);
    return box;
  }

  function fillRow(box, row) {
    const [slider, typed] = box.querySelectorAll("input");
    if (slider !== dragged) {
      slider.max = Math.max(row.most, Number(slider.max));
      slider.value = row.value;
      typed.value = (row.factor ? "× " : "") + row.text;
    }
  }

  // Draws the rows, or puts the new numbers into them if they are the same ones.
  function showScopes(shown) {
    const box = document.getElementById("scope-rows");
    if (!box || !shown) { return; }
    const keys = JSON.stringify([shown.opening, shown.more, shown.rows.map((row) => [row.kind, row.at, row.words])]);
    if (keys !== drawn || !box.children.length) {
      const more = document.createElement("p");
      more.className = "quiet";
      more.textContent = shown.more;
      box.replaceChildren(...shown.rows.map(makeRow), ...(shown.more ? [more] : []));
      drawn = keys;
    }
    shown.rows.forEach((row, at) => fillRow(box.children[at], row));
  }

  // What is above a slider keeps its height from the moment it is pressed until it is let go, and the slider its place.
  function hold(slider) {
    const before = Node.DOCUMENT_POSITION_PRECEDING;
    const parts = document.querySelectorAll("#verdict, aside > .card:not(.pane), #inspect-words, .scopes");
    dragged = slider;
    parts.forEach(function (one) {
      if (!one.contains(slider) && slider.compareDocumentPosition(one) & before && one.offsetParent) {
        const height = one.getBoundingClientRect().height;
        held.push([one, one.style.cssText]);
        Object.assign(one.style, { height: height + "px", overflow: "hidden", flex: "none" });
      }
    });
  }

  function scroller(one) {
    while (one && !/auto|scroll/.test(window.getComputedStyle(one).overflowY)) { one = one.parentElement; }
    return one;
  }

  function letGo() {
    if (!dragged) { return; }
    const slider = dragged;
    const top = slider.getBoundingClientRect().top;
    dragged = null;
    held.splice(0).forEach(([one, style]) => { one.style.cssText = style; });
    const around = scroller(slider);
    if (around) { around.scrollTop += slider.getBoundingClientRect().top - top; }
  }

  document.addEventListener("pointerdown", function (event) {
    if (event.target.matches && event.target.matches("aside input[type=range]") && event.isPrimary) { hold(event.target); }
  }, true);
  ["pointerup", "pointercancel"].forEach((kind) => document.addEventListener(kind, letGo, true));

  window.hetdp.showScopes = showScopes;
})();
