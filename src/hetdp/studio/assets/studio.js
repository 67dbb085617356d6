// What the page does in the browser: clicks and entries become actions; light and dark, tabs, the dialog, and keys.
(function () {
  "use strict";
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let themeClicks = 0;

  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    studio: {
      theme: function (clicks, shown) {
        const pressed = ((clicks || 0) - themeClicks) % 2 === 1; // two clicks in one call cancel each other
        themeClicks = clicks || 0;
        const before = shown || window.localStorage.getItem("hetdp-theme") || (dark.matches ? "dark" : "light");
        const theme = pressed ? (before === "dark" ? "light" : "dark") : before;
        if (pressed) { window.localStorage.setItem("hetdp-theme", theme); }
        document.documentElement.dataset.theme = theme;
        return theme;
      },
      photograph: function () {
        window.hetdp.whenDrawn(window.hetdp.photograph);
        return window.dash_clientside.no_update;
      },
      still: function () { return window.hetdp.isStill(); },
      showScopes: function (shown) { window.hetdp.showScopes(shown); },
      requestTab: requestTab,
      acknowledgeTab: function () { endTab(); },
      only: function (value) {
        const outputs = window.dash_clientside.callback_context.outputs_list;
        return outputs.map((one) => !one.id.endsWith("-" + value));
      },
      dialog: function (opened, closed, done) {
        return window.dash_clientside.callback_context.triggered[0].prop_id !== "open.n_clicks";
      },
    },
  });

  // The open tab is filled after every answer: one request at a time, and only for what is shown last.
  let wanted = null;
  let isFilling = false;
  let tabRequests = 0;
  function requestTab(tab) {
    wanted = tab === "inspect" ? null : tab;
    fillTab();
  }
  function fillTab() {
    if (wanted && !isFilling) {
      isFilling = true;
      window.hetdp.begin();
      tabRequests += 1;
      window.hetdp.write("tab-request", { data: [wanted, tabRequests] });
      wanted = null;
    }
  }
  function endTab() {
    if (isFilling) {
      isFilling = false;
      window.hetdp.drawFrames(2);
      window.hetdp.end();
      fillTab();
    }
  }

  // An answer is acknowledged as soon as it is on the page: a callback of Dash would run after the next frame only.
  const firstAnswer = new MutationObserver(function () {
    const received = document.getElementById("acknowledged");
    if (!received) { return; }
    firstAnswer.disconnect();
    const acknowledge = function () {
      if (received.textContent) {
        requestTab(window.hetdp.read("tab", "value"));
        window.hetdp.acknowledge(received.textContent);
        window.hetdp.revealPath();
        tellPages();
      }
    };
    new MutationObserver(acknowledge).observe(received, { characterData: true, childList: true, subtree: true });
    acknowledge();
  });
  firstAnswer.observe(document, { childList: true, subtree: true });

  // What went wrong between this page and the server; hidden as soon as a request is answered.
  const ENDED = "The studio has ended or cannot be reached. Changes on this page are lost. Run hetdp studio again, and open the address that it prints.";
  const FAULTY = "The studio could not answer. Reload the page: it shows whether your last change was made. If this happens again, please report it as a bug in hetdp.";
  const REFUSED = "This is too large for the page, and nothing was opened. hetdp studio PROBLEM opens any size.";
  const UNLOADED = "A part of this page could not be loaded. Reload the page. If the studio has ended, run hetdp studio again.";
  let leaving = false;
  let said = "";
  let lasting = ""; // what no later answer mends
  window.addEventListener("pagehide", () => { leaving = true; });
  window.addEventListener("pageshow", () => { leaving = false; });
  function trouble(words) {
    if ((words || lasting) === said) { return; }
    said = words || lasting;
    window.dash_clientside.set_props("trouble", { children: said, hidden: !said });
    window.hetdp.drawFrames(2); // it moves all below
  }

  // Pages of one studio in one browser tell each other the revision that they show; those that show an older one ask for
  // the newest, one request at a time. A page that becomes visible or gets the focus asks in any case: another browser may
  // have changed something.
  const others = new BroadcastChannel("hetdp " + window.location.pathname);
  let newest = 0; // the newest revision that any page shows
  let asked = 0; // the revision that was asked for
  let told = 0;
  let returns = 0;
  function shownRevision() { return window.hetdp.read("shown", "data") || 0; }
  function refresh() {
    if (document.visibilityState === "visible" && document.getElementById("studio") && window.hetdp.isReady()) {
      returns += 1;
      asked = newest;
      window.dash_clientside.set_props("refresh", { data: "return " + returns });
    }
  }
  function follow() {
    if (newest > shownRevision() && asked <= shownRevision()) { refresh(); }
  }
  function tellPages() {
    const shown = shownRevision();
    newest = Math.max(newest, shown);
    if (shown > told) { others.postMessage(shown); }
    told = Math.max(told, shown);
    follow();
  }
  others.onmessage = function (event) {
    newest = Math.max(newest, Number(event.data) || 0);
    follow();
  };
  document.addEventListener("visibilitychange", refresh);
  window.addEventListener("focus", refresh);

  // The verdict to print shows the newest state, and says so if this page shows an older one.
  function nameRevision(event) {
    const link = event.target.closest && event.target.closest("#verdict-link");
    if (link) { link.search = "?shown=" + shownRevision(); }
  }
  ["click", "auxclick", "contextmenu"].forEach((kind) => document.addEventListener(kind, nameRevision, true));

  // Dash restores the caret position of a moment ago, which is wrong for a person who types fast.
  const put = HTMLInputElement.prototype.setSelectionRange;
  HTMLInputElement.prototype.setSelectionRange = function () {
    if (this !== document.activeElement) { put.apply(this, arguments); }
  };

  // Every request is counted until Dash has its answer, and its failure is shown.
  const ask = window.fetch;
  window.fetch = function (address, options) {
    const body = String(options && options.body);
    const fail = function (words) {
      trouble(words);
      window.hetdp.count(-1, body.includes('"actions"'));
      if (body.includes('"tab-request"')) { endTab(); }
    };
    window.hetdp.count(1);
    return ask.apply(this, arguments).then(function (answer) {
      if (!answer.ok) {
        fail(answer.status === 413 ? REFUSED : FAULTY);
      } else if (answer.status === 204) { // nothing changes
        window.hetdp.count(-1);
      } else {
        const parse = answer.json.bind(answer);
        answer.json = () => parse().then(window.hetdp.leaveOutEarlier).finally(function () {
          trouble("");
          window.hetdp.drawFrames(body.includes('"acknowledged"') ? 1 : 2); // what Dash does next
          window.hetdp.count(-1);
        });
      }
      return answer;
    }, function (failure) {
      fail(leaving ? "" : ENDED);
      throw failure;
    });
  };

  // The chart's script is loaded when a view needs it.
  window.addEventListener("error", function (event) {
    if (event.target.tagName === "SCRIPT" && !leaving) {
      lasting = UNLOADED;
      trouble("");
    }
  }, true);

  // Clicks and entries of a person become actions; what Dash puts into a control does not.
  document.addEventListener("click", function (event) {
    const way = event.target.closest && event.target.closest("[data-tab]");
    if (way) { window.dash_clientside.set_props("tab", { value: way.dataset.tab }); }
    const one = event.target.closest && event.target.closest("[data-action]");
    if (!one || one.disabled) { return; }
    if (one.dataset.action === "step") {
      window.hetdp.write("highlighted", { data: [window.hetdp.read("shown", "data"), Number(one.dataset.at)] });
    } else if (one.dataset.action === "clear_pin") {
      window.hetdp.act("clear_pin", window.hetdp.read("subject", "data")[1]);
    } else {
      if (one.closest("#status")) { window.dash_clientside.set_props("tab", { value: "inspect" }); } // where a selection is shown
      window.hetdp.act(one.dataset.action, one.dataset.at === undefined ? null : Number(one.dataset.at));
    }
  });

  function entered(event) {
    const control = event.target.closest && event.target.closest("[data-control]");
    const isSlider = event.target.type === "range";
    if (event.target.id === "find") {
      if (event.type === "change") { find(event.target.value); }
    } else if (control && isSlider === (event.type === "input")) {
      const kind = isSlider ? "slider" : "number";
      const subject = window.hetdp.read("subject", "data") || ["", -1];
      const details = { kind: subject[0], at: subject[1], control: kind, name: control.dataset.control, value: event.target.value };
      window.hetdp.act("enter", details, isSlider ? [kind, ...subject, control.dataset.control].join(" ") : "");
    } else if (event.type === "change" && event.target.closest && event.target.closest("#objective")) {
      window.hetdp.act("objective", event.target.value);
    } else if (event.type === "change" && event.target.closest && event.target.closest("#compare")) {
      window.hetdp.act("compare", event.target.value);
    } else if (event.type === "change" && event.target.closest && event.target.closest("#view, #tab")) {
      window.hetdp.drawFrames(2); // Dash sends its request meanwhile
    }
  }
  ["input", "change"].forEach((kind) => document.addEventListener(kind, entered, true));
  ["pointerup", "pointercancel", "keyup"].forEach((kind) => document.addEventListener(kind, window.hetdp.letGo, true));

  // Enter finds again what is in the field; the browser's own event follows if the text has changed.
  let found = "";
  function find(text) {
    if (text && text !== found) { window.hetdp.act("find", text); }
    found = text;
  }

  // A file may be dropped anywhere on the page.
  document.addEventListener("dragenter", function (event) {
    if (event.dataTransfer && Array.from(event.dataTransfer.types).includes("Files")) {
      window.dash_clientside.set_props("way", { value: "file" });
      window.dash_clientside.set_props("shade", { hidden: false });
    }
  });
  // Files that are too large for a request are refused here.
  function bounded(event) {
    const zone = event.target.closest && event.target.closest("#upload") && document.querySelector(".dropzone");
    const files = zone && Array.from((event.dataTransfer || event.target).files || []);
    if (!files || !files.length) { return; }
    const large = files.reduce((sum, file) => sum + file.size, 0) > Number(zone.dataset.most);
    window.dash_clientside.set_props("refused", { children: large ? zone.dataset.refusal : "" });
    if (large) {
      event.preventDefault();
      event.stopImmediatePropagation();
      if (event.target.type === "file") { event.target.value = ""; }
    }
  }
  ["drop", "change"].forEach((kind) => window.addEventListener(kind, bounded, true));
  ["dragover", "drop"].forEach((kind) => document.addEventListener(kind, (event) => event.preventDefault()));

  function press(name) {
    const button = document.getElementById(name);
    if (button && !button.disabled) { button.click(); }
  }

  document.addEventListener("keydown", function (event) {
    const typing = event.target.matches("input:not([type=range]):not([type=radio]), textarea");
    const key = event.key.toLowerCase();
    const dialog = document.getElementById("shade");
    const isOpen = dialog && !dialog.hidden;
    if (event.key === "Escape") {
      if (isOpen) { press("close"); } else { event.target.blur(); }
    } else if (event.key === "Enter" && event.target.id === "find") {
      found = "";
      find(event.target.value);
    } else if (event.target.matches(".dropzone") && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      event.target.click();
    } else if (isOpen && event.key === "Tab") {
      stayInside(dialog, event);
    } else if (typing || isOpen) {
      return;
    } else if ((event.ctrlKey || event.metaKey) && key === "z") {
      event.preventDefault();
      window.hetdp.act(event.shiftKey ? "redo" : "undo", null); // even if the button does not know yet that it can
    } else if ((event.ctrlKey || event.metaKey) && key === "y") {
      event.preventDefault();
      window.hetdp.act("redo", null);
    } else if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    } else if (key === "/") {
      event.preventDefault();
      const field = document.getElementById("find");
      if (field) { field.focus(); }
    } else if (key === "o") {
      press("open");
    }
  });

  // As soon as they exist: the network answers clicks and is fitted to its box, and an open dialog has the focus.
  const arrival = new MutationObserver(function () {
    const box = document.getElementById("graph");
    const cy = box && box._cyreg && box._cyreg.cy;
    const shade = document.getElementById("shade");
    if (!cy || !shade) { return; }
    arrival.disconnect();
    cy.on("tap", "node, edge", (event) => window.hetdp.act(event.target.isNode() ? "dataset" : "edge", event.target.data("at")));
    box.addEventListener("pointerdown", () => cy.renderer().invalidateContainerClientCoordsCache(), true); // words above may have moved it
    restWhenIdle(cy);
    keepFitted(document.getElementById("graph-box"), cy);
    keepDrawn(document.getElementById("chart-box"));
    followDialog(shade);
  });
  arrival.observe(document, { childList: true, subtree: true });

  // Cytoscape asks for each frame, 60 a second, also while nothing changes, which uses a battery. After half a second
  // without a change, its next request is held back until something is to be drawn or moved.
  const IDLE_FRAMES = 30;
  function restWhenIdle(cy) {
    const renderer = cy.renderer();
    const draw = renderer.redraw;
    const animate = cy.addToAnimationPool;
    let idle = 0;
    let resume = null;
    const wake = function () {
      idle = 0;
      if (resume) { resume(); }
      resume = null;
    };
    renderer.redraw = function () {
      draw.apply(renderer, arguments);
      wake();
    };
    cy.addToAnimationPool = function () {
      wake();
      return animate.apply(cy, arguments);
    };
    renderer.beforeRender(function (isDrawing) { // called last in each frame, so the next request is cytoscape's own
      idle = isDrawing || renderer.requestedFrame ? 0 : idle + 1;
      if (idle < IDLE_FRAMES) { return; }
      const request = window.requestAnimationFrame;
      window.requestAnimationFrame = function (frame) {
        window.requestAnimationFrame = request;
        resume = () => window.requestAnimationFrame(frame);
      };
    }, -Infinity);
  }

  // The page is busy until the chart has followed its box: the window, or words around it, may have changed.
  function keepDrawn(box) {
    new ResizeObserver(function () {
      window.hetdp.begin();
      window.hetdp.whenDrawn(window.hetdp.end);
    }).observe(box);
  }

  // A click selects the cell, or the dataset of the summary, that the pointer was on when it was pressed. Plotly's own click says what was under the
  // pointer up to 50 milliseconds before or, as the second click of a double click, after the axes have changed.
  const STILL = 8; // pixels; from here on, Plotly zooms
  let pressed = null;
  document.addEventListener("pointerdown", function (event) {
    const area = event.target.matches && event.target.matches("#chart-box .nsewdrag") && event.target.getBoundingClientRect();
    const name = { map: "cell", summary: "column" }[window.hetdp.read("view", "value")];
    pressed = null;
    if (area && event.isPrimary && event.button === 0 && name) {
      const { xaxis, yaxis } = event.target.closest(".js-plotly-plot")._fullLayout;
      const cell = [xaxis.p2d(event.clientX - area.left), yaxis.p2d(event.clientY - area.top)];
      pressed = { x: event.clientX, y: event.clientY, name: name, cell: cell };
    }
  }, true);
  document.addEventListener("pointerup", function (event) {
    const isClick = pressed && Math.max(Math.abs(event.clientX - pressed.x), Math.abs(event.clientY - pressed.y)) < STILL;
    if (isClick && event.isPrimary) { window.hetdp.act(pressed.name, pressed.cell); }
    pressed = null;
  }, true);
  document.addEventListener("pointercancel", () => { pressed = null; }, true);

  function followDialog(shade) {
    let before = null; // what had the focus when the dialog was opened
    const focus = function () {
      const usual = document.getElementById("open");
      if (!shade.hidden) { before = document.activeElement; }
      const isThere = before && before !== document.body && before.offsetParent !== null;
      const next = shade.hidden ? (isThere ? before : usual) : shade.querySelector(".way:not([hidden]) :is(button, input:not([tabindex='-1']), [tabindex='0'])");
      if (next) { next.focus(); }
    };
    let wasHidden = shade.hidden;
    if (!wasHidden) { focus(); }
    new MutationObserver(function () {
      if (shade.hidden !== wasHidden) { focus(); }
      wasHidden = shade.hidden;
    }).observe(shade, { attributes: true, attributeFilter: ["hidden"] });
  }

  function keepFitted(around, cy) {
    let soon = 0;
    let wide = around.clientWidth;
    let high = around.clientHeight;
    let changed = true;  // and remains so while another picture lies over it
    let isFitting = false;
    const later = function () {
      if (isFitting) { return; } // its own zoom
      if (soon) { window.clearTimeout(soon); } else { window.hetdp.begin(); }
      soon = window.setTimeout(function () {
        soon = 0;
        isFitting = true;
        if (changed) {
          cy.resize();
          window.hetdp.fitPicture(cy);
          changed = around.classList.contains("away");
        }
        window.hetdp.scaleText(cy);
        isFitting = false;
        window.hetdp.end();
      }, 80);
    };
    new ResizeObserver(function () {
      if (around.clientWidth === wide && around.clientHeight === high) { return; }
      wide = around.clientWidth;
      high = around.clientHeight;
      changed = true;
      later();
    }).observe(around);
    new MutationObserver(later).observe(around, { attributes: true, attributeFilter: ["class"] });
    cy.on("add zoom", later);
    cy.on("class data", () => { if (window.hetdp.isNarrow(cy)) { later(); } }); // other names may matter more
    window.hetdp.keepPlaces(cy);
    cy.on("layoutstop", () => window.hetdp.fitPicture(cy)); // before the next frame
    later();  // the window may have changed before it was watched
  }

  function stayInside(dialog, event) {
    const all = Array.from(dialog.querySelectorAll("button, input, [tabindex='0']"));
    const seen = all.filter((one) => one.offsetParent !== null);
    const first = seen[0];
    const last = seen[seen.length - 1];
    if (event.shiftKey && document.activeElement === first) {
      event.preventDefault();
      last.focus();
    } else if (!event.shiftKey && (document.activeElement === last || !dialog.contains(document.activeElement))) {
      event.preventDefault();
      first.focus();
    }
  }
})();
