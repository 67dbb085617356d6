// What guides a visitor: tips and the glossary, the tour, the presenter mode, and the buttons that zoom.
(function () {
  "use strict";
  const GAP = 10; // pixels between a part of the page and the box about it

  function place(id) { return document.getElementById(id); }
  function isPresenting() { return Boolean(document.querySelector("#story [data-step]")); }

  // Beside a part of the page: below it if there is room, else above, and inside the window.
  function putBeside(box, target) {
    const at = target.getBoundingClientRect();
    const { offsetWidth: wide, offsetHeight: high } = box;
    const isBelow = at.bottom + GAP + high < window.innerHeight;
    const top = isBelow ? at.bottom + GAP : at.top - GAP - high;
    box.style.left = Math.max(GAP, Math.min(at.left, window.innerWidth - wide - GAP)) + "px";
    box.style.top = Math.max(GAP, Math.min(top, window.innerHeight - high - GAP)) + "px";
  }

  // Tips: the words of a term, beside the pointer's or the keyboard's target. Objectives are found by their value.
  function termOf(target) {
    const one = target.closest && target.closest("[data-term], #objective label");
    if (!one) { return null; }
    const input = one.querySelector("input");
    const key = one.dataset.term || (input && input.value);
    const found = (window.hetdp.read("terms", "data") || {})[key];
    return found ? { one: one, key: key, words: found } : null;
  }
  function hideTip() {
    const tip = place("tip");
    if (tip && !tip.hidden) {
      tip.hidden = true;
      document.querySelectorAll("[aria-describedby=tip]").forEach((one) => one.removeAttribute("aria-describedby"));
    }
  }
  function showTip(target) {
    hideTip();
    const found = window.hetdp.isReady() && termOf(target);
    if (!found) { return; }
    const tip = place("tip");
    tip.textContent = found.words[0] + ": " + found.words[1];
    tip.hidden = false;
    found.one.setAttribute("aria-describedby", "tip");
    putBeside(tip, found.one);
  }
  document.addEventListener("pointerover", function (event) { if (event.pointerType !== "touch") { showTip(event.target); } });
  document.addEventListener("focusin", (event) => { if (event.target.matches(":focus-visible")) { showTip(event.target); } else { hideTip(); } });
  document.addEventListener("focusout", hideTip);
  document.addEventListener("scroll", hideTip, true);

  function openGlossary(key) {
    const dialog = place("glossary");
    hideTip();
    endTour();
    if (!dialog.open) { dialog.showModal(); }
    const entry = key && place("term-" + key);
    dialog.querySelectorAll(".found").forEach((one) => one.classList.remove("found"));
    if (entry) {
      entry.classList.add("found");
      entry.scrollIntoView({ block: "center" });
    } else {
      dialog.scrollTop = 0;
    }
  }

  // The tour.
  let stop = -1;
  let origin = null; // what had the focus before
  function stops() { return window.hetdp.read("tour-stops", "data") || []; }
  function beginTour() {
    if (place("glossary").open) { place("glossary").close(); }
    window.dash_clientside.set_props("shade", { hidden: true });
    window.dash_clientside.set_props("tab", { value: "inspect" });
    window.dash_clientside.set_props("view", { value: "network" }); // the words are about its marks and lines
    origin = place("help");
    window.hetdp.whenSettled(() => window.setTimeout(() => goTo(0), 0));
  }
  function endTour() {
    if (stop < 0) { return; }
    stop = -1;
    place("tour").hidden = true;
    place("tour-mark").hidden = true;
    if (origin) { origin.focus(); }
  }
  function goTo(number) {
    const all = stops();
    if (number < 0 || number >= all.length) {
      if (number > 0) { endTour(); }
      return;
    }
    stop = number;
    const selected = all[number][3];
    if (selected >= 0) { window.hetdp.act("dataset", selected); }
    place("tour-title").textContent = all[number][1];
    place("tour-words").textContent = all[number][2];
    place("tour-where").textContent = (number + 1) + " of " + all.length + " · arrow keys · Escape ends";
    place("tour-back").disabled = number === 0;
    place("tour-next").textContent = number + 1 === all.length ? "Done" : "Next";
    place("tour").hidden = false;
    window.hetdp.whenSettled(() => window.requestAnimationFrame(showStop));
    place("tour-next").focus();
  }
  function showStop() {
    if (stop < 0) { return; }
    const target = document.querySelector(stops()[stop][0]) || place("studio");
    const mark = place("tour-mark");
    target.scrollIntoView({ block: "nearest" });
    const at = target.getBoundingClientRect();
    mark.hidden = false;
    Object.assign(mark.style, { left: at.left - 4 + "px", top: at.top - 4 + "px", width: at.width + 8 + "px", height: at.height + 8 + "px" });
    const box = place("tour");
    if (at.height > window.innerHeight / 2) { // a large part: in its corner, where the picture is empty
      box.style.left = Math.max(GAP, at.left + GAP) + "px";
      box.style.top = Math.max(GAP, Math.min(at.bottom, window.innerHeight) - box.offsetHeight - GAP) + "px";
    } else {
      putBeside(box, target);
    }
  }
  window.addEventListener("resize", showStop);

  // The presenter mode: the server knows the step, so that a reload and other pages show it, too.
  function step(change) {
    const here = document.querySelector("#story [data-step]");
    const next = Number(here.dataset.step) + change;
    if (next >= 0 && next < Number(here.dataset.steps)) { window.hetdp.act("present", next); }
  }
  function endStory() {
    const state = window.history.state || {};
    window.hetdp.act("present", -1);
    window.hetdp.whenSettled(() => { if (state.view) { window.hetdp.restoreChoices(state); } place("present").focus(); });
  }
  const FORTH = ["ArrowRight", "ArrowDown", "PageDown", " ", "Enter"];
  const BACK = ["ArrowLeft", "ArrowUp", "PageUp", "Backspace"];

  // Zoom: of the network around its middle, of a chart to the ranges that it was sent with.
  function zoom(factor) {
    const box = document.querySelector("#chart-box:not(.away) .js-plotly-plot");
    const cy = place("graph")._cyreg && place("graph")._cyreg.cy;
    if (box) {
      zoomChart(box, factor);
    } else if (cy && factor) {
      cy.zoom({ level: cy.zoom() * factor, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
    } else if (cy) {
      window.hetdp.fitPicture(cy);
    }
  }
  function zoomChart(box, factor) {
    const sent = (box.hetdpRanges || {});
    const change = {};
    ["xaxis", "yaxis"].forEach(function (name) {
      const [low, high] = box._fullLayout[name].range.map(Number);
      const middle = (low + high) / 2;
      const half = factor ? (high - low) / 2 / factor : 0;
      change[name + ".range"] = factor ? [middle - half, middle + half] : sent[name];
    });
    if (change["xaxis.range"]) { window.Plotly.relayout(box, change); }
  }
  // The ranges of a chart as it was sent, before anybody zooms.
  const seen = new MutationObserver(function () {
    const box = document.querySelector("#chart-box .js-plotly-plot");
    if (box && box._fullLayout && box.layout && box.layout.uirevision !== box.hetdpShown) {
      box.hetdpShown = box.layout.uirevision;
      box.hetdpRanges = { xaxis: box._fullLayout.xaxis.range.slice(), yaxis: box._fullLayout.yaxis.range.slice() };
    }
  });
  const arrival = new MutationObserver(function () {
    if (!place("chart-box")) { return; }
    arrival.disconnect();
    seen.observe(place("chart-box"), { childList: true, subtree: true });
    place("glossary").addEventListener("click", (event) => { if (event.target === place("glossary")) { place("glossary").close(); } });
  });
  arrival.observe(document, { childList: true, subtree: true });

  const BUTTONS = {
    "help": () => openGlossary(""),
    "glossary-close": () => place("glossary").close(),
    "glossary-tour": beginTour,
    "tour-begin": beginTour,
    "tour-back": () => goTo(stop - 1),
    "tour-next": () => goTo(stop + 1),
    "tour-end": endTour,
    "present": function () { window.hetdp.act("present", 0); },
    "story-end": endStory,
    "zoom-in": () => zoom(1.25),
    "zoom-out": () => zoom(0.8),
    "zoom-fit": () => zoom(0),
  };
  document.addEventListener("click", function (event) {
    const button = event.target.closest && event.target.closest("button[id]");
    const term = event.target.closest && event.target.closest("[data-term]");
    if (button && BUTTONS[button.id]) {
      BUTTONS[button.id]();
    } else if (term) {
      openGlossary(term.dataset.term);
    } else if (isPresenting() && !event.target.closest("#key, .canvas")) {
      step(1);
    }
  });

  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !place("glossary")) { return; }
    const isTyping = event.target.matches("input:not([type=range]):not([type=radio]), textarea");
    const tip = place("tip");
    let used = true;
    if (place("glossary").open) {
      used = false;
      if (event.key !== "Tab") { event.stopImmediatePropagation(); } // the browser closes it with Escape
    } else if (isPresenting()) {
      if (FORTH.includes(event.key)) { step(1); } else if (BACK.includes(event.key)) { step(-1); } else if (event.key === "Escape") { endStory(); } else { used = event.key !== "Tab" && event.key.length === 1; }
    } else if (stop >= 0 && event.key === "Escape") {
      endTour();
    } else if (stop >= 0 && (event.key === "ArrowRight" || event.key === "ArrowLeft")) {
      goTo(stop + (event.key === "ArrowRight" ? 1 : -1));
    } else if (event.key === "Escape" && tip && !tip.hidden) {
      hideTip();
    } else if ((event.key === "Enter" || event.key === " ") && event.target.matches("[data-term][role=button]")) {
      openGlossary(event.target.dataset.term);
    } else if (!isTyping && place("shade").hidden && "?+-0".includes(event.key) && event.target.type !== "range") {
      BUTTONS[{ "?": "help", "+": "zoom-in", "-": "zoom-out", "0": "zoom-fit" }[event.key]]();
    } else {
      used = false;
    }
    if (used) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }, true);
})();
