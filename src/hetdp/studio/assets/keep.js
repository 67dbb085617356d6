// What lasts: links to a state, the view and the tab after a reload, and Back, which stays on the page.
//
// Each view or tab that a person chooses is an entry of the browser's history, so that Back returns to the one before.
// Before the first of them lies a guard: Back from there says so, and only a second Back leaves the page.
(function () {
  "use strict";
  const LEAVING = "Press Back again to leave the studio. Your work stays as long as it runs: open its address again.";
  const CHOICES = ["view", "tab"];
  let isRestoring = false;

  function choices() {
    return Object.fromEntries(CHOICES.map((name) => [name, window.hetdp.read(name, "value")]));
  }

  function restore(state) {
    isRestoring = true;
    CHOICES.forEach(function (name) {
      const input = Array.from(document.querySelectorAll("#" + name + " input")).find((one) => one.value === state[name]);
      if (input && !input.checked) { input.click(); }
    });
    isRestoring = false;
  }

  // The words at the top, for as long as nothing else is done.
  function say(words) { window.dash_clientside.set_props("trouble", { children: words, hidden: !words }); }

  function begin() {
    const link = new URLSearchParams(window.location.hash.slice(1));
    const state = window.history.state || {};
    if (link.has("state")) {
      window.history.replaceState(Object.assign({}, state), "", window.location.pathname); // else a reload would undo all later work
      window.hetdp.act("reopen", Number(link.get("state")));
      window.hetdp.whenSettled(() => restore(Object.fromEntries(link)));
    } else if (state.view) {
      restore(state);
    }
  }

  // Back is guarded once a person has done something: a browser skips entries that were made without that.
  function remember() {
    const state = window.history.state || {};
    if (!state.view) {
      say("");
      window.history.replaceState({ guard: true }, "");
      window.history.pushState(choices(), "");
    }
  }
  document.addEventListener("pointerdown", () => { if (window.hetdp.isReady()) { remember(); } }, true);
  document.addEventListener("keydown", function (event) {
    if (window.hetdp.isReady() && !event.ctrlKey && !event.metaKey && !event.altKey) { remember(); }
  }, true);
  document.addEventListener("change", function (event) {
    const row = event.target.closest && event.target.closest("#view, #tab");
    const state = window.history.state || {};
    if (!row || isRestoring || !state.view || state[row.id] === event.target.value) { return; }
    window.history.pushState(Object.assign(choices(), { [row.id]: event.target.value }), "");
  }, true);
  window.addEventListener("popstate", function (event) {
    const state = event.state || {};
    say(state.guard ? LEAVING : "");
    const dialog = document.getElementById("shade");
    if (dialog && !dialog.hidden) { document.getElementById("close").click(); }
    if (state.view) { restore(state); }
  });
  window.addEventListener("hashchange", function () {
    if (window.location.hash.startsWith("#state=") && window.hetdp.isReady()) { begin(); }
  });

  // A picture of the current view with its legend. The legend is drawn by the browser, as it is on the page.
  const SCALE = 2; // pixels of the file for each pixel of the page
  const CHART = { format: "png", scale: SCALE, width: 1000, height: 700 };

  function loadImage(address) {
    const image = new Image();
    image.src = address;
    return image.decode().then(() => image);
  }

  // An element with all that is below it, and with the styles that it has on the page.
  function withStyles(element) {
    const copy = element.cloneNode(true);
    const copies = [copy, ...copy.querySelectorAll("*")];
    [element, ...element.querySelectorAll("*")].forEach(function (one, at) {
      const style = window.getComputedStyle(one);
      copies[at].style.cssText = Array.from(style, (name) => name + ":" + style.getPropertyValue(name)).join(";");
    });
    return copy;
  }

  function legend() {
    const key = document.getElementById("key");
    const { offsetWidth: wide, offsetHeight: high } = key;
    const inside = new XMLSerializer().serializeToString(withStyles(key));
    const size = 'width="' + wide + '" height="' + high + '"';
    const drawn = '<svg xmlns="http://www.w3.org/2000/svg" ' + size + "><foreignObject " + size + ">" + inside + "</foreignObject></svg>";
    return loadImage("data:image/svg+xml;charset=utf-8," + encodeURIComponent(drawn)).then((image) => [image, wide, high]);
  }

  function photograph() {
    const paper = window.getComputedStyle(document.documentElement).getPropertyValue("--paper").trim();
    const chart = document.querySelector("#chart-box:not(.away) .js-plotly-plot");
    const cy = document.getElementById("graph")._cyreg.cy;
    window.hetdp.begin();
    const view = chart ? window.Plotly.toImage(chart, CHART) : Promise.resolve(cy.png({ scale: SCALE, bg: paper }));
    return Promise.all([view.then(loadImage), legend()]).then(function ([picture, [key, wide, high]]) {
      const canvas = document.createElement("canvas");
      canvas.width = Math.max(picture.naturalWidth, SCALE * wide);
      canvas.height = picture.naturalHeight + SCALE * high;
      const pen = canvas.getContext("2d");
      pen.fillStyle = paper;
      pen.fillRect(0, 0, canvas.width, canvas.height);
      pen.drawImage(picture, Math.round((canvas.width - picture.naturalWidth) / 2), 0);
      pen.drawImage(key, 0, picture.naturalHeight, SCALE * wide, SCALE * high);
      return new Promise((done) => canvas.toBlob(done, "image/png"));
    }).then(function (file) {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(file);
      link.download = "mechanism.png";
      link.click();
      window.setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    }).catch(function () {
      window.dash_clientside.set_props("saved", { children: "This browser could not draw the picture. Save the figure instead." });
    }).finally(window.hetdp.end);
  }
  window.hetdp.photograph = photograph;

  window.hetdp.restoreChoices = restore;
  const arrival = new MutationObserver(function () {
    if (!document.getElementById("studio") || !window.hetdp.isReady()) { return; }
    arrival.disconnect();
    begin();
  });
  arrival.observe(document, { childList: true, subtree: true, attributes: true, attributeFilter: ["data-ready"] });
  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.keep = {
    copyLink: function (link) {
      if (!link) { return window.dash_clientside.no_update; }
      const show = (words) => window.dash_clientside.set_props("saved", { children: words });
      navigator.clipboard.writeText(link).then(() => show("The link was copied."), () => show("Copy the link above."));
      return window.dash_clientside.no_update;
    },
  };
})();
