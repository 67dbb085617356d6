// What the page does without asking the server: light and dark, tabs, the dialog, and keys.
(function () {
  "use strict";
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    studio: {
      theme: function (clicks, shown) {
        const pressed = window.dash_clientside.callback_context.triggered.some((one) => one.value);
        const before = shown || window.localStorage.getItem("hetdp-theme") || (dark.matches ? "dark" : "light");
        const theme = pressed ? (before === "dark" ? "light" : "dark") : before;
        if (pressed) { window.localStorage.setItem("hetdp-theme", theme); }
        document.documentElement.dataset.theme = theme;
        return theme;
      },
      photograph: function (clicks) {
        const chart = document.querySelector("#chart-box:not(.away) .js-plotly-plot");
        if (chart) {
          window.Plotly.downloadImage(chart, { format: "png", filename: "mechanism", scale: 2, width: 1000, height: 700 });
          return window.dash_clientside.no_update;
        }
        const bg = document.documentElement.dataset.theme === "dark" ? "#161b22" : "#ffffff";
        return { type: "png", action: "download", filename: "mechanism", options: { scale: 2, bg: bg }, clicks: clicks };
      },
      looked: function (tab, revision) {
        return tab === "inspect" ? window.dash_clientside.no_update : [tab, revision];
      },
      only: function (value) {
        const outputs = window.dash_clientside.callback_context.outputs_list;
        return outputs.map((one) => !one.id.endsWith("-" + value));
      },
      dialog: function (opened, closed, done) {
        const source = window.dash_clientside.callback_context.triggered[0].prop_id;
        const show = source === "open.n_clicks";
        window.setTimeout(function () {
          const next = document.querySelector(show ? "#way-gallery button" : "#open");
          if (next) { next.focus(); }
        }, 50);
        return !show;
      },
    },
  });

  // What went wrong between this page and the server, in words, until something is answered again.
  const ENDED = "The studio has ended, or cannot be reached: nothing that you change here is kept. Start hetdp studio again, and open the address that it says.";
  const FAULTY = "The studio could not answer that, and nothing was changed. Reload the page; if it happens again, it is a fault of hetdp.";
  const REFUSED = "That is too large for this page, and nothing was opened. hetdp studio PROBLEM opens any size.";
  let leaving = false;
  let said = "";
  window.addEventListener("pagehide", () => { leaving = true; });
  window.addEventListener("pageshow", () => { leaving = false; });
  function trouble(words) {
    if (words === said) { return; }
    said = words;
    window.dash_clientside.set_props("trouble", { children: words, hidden: !words });
  }

  // A page that comes back shows what other pages have done meanwhile.
  let returns = 0;
  document.addEventListener("visibilitychange", function () {
    if (document.visibilityState === "visible" && document.getElementById("studio")) {
      returns += 1;
      window.dash_clientside.set_props("revision", { data: "return " + returns });
    }
  });

  // Dash puts the caret back where it was a moment ago; who types fast has gone on since then.
  const put = HTMLInputElement.prototype.setSelectionRange;
  HTMLInputElement.prototype.setSelectionRange = function () {
    if (this !== document.activeElement) { put.apply(this, arguments); }
  };

  // While an answer takes longer, a thin line at the top says so.
  const ask = window.fetch;
  let waiting = 0;
  window.fetch = function () {
    waiting += 1;
    document.documentElement.dataset.busy = "yes";
    return ask.apply(this, arguments).then(function (answer) {
      trouble(answer.ok ? "" : answer.status === 413 ? REFUSED : FAULTY);
      return answer;
    }, function (failure) {
      if (!leaving) { trouble(ENDED); }
      throw failure;
    }).finally(function () {
      waiting -= 1;
      if (!waiting) { delete document.documentElement.dataset.busy; }
    });
  };

  // A file dropped anywhere is meant for the studio.
  document.addEventListener("dragenter", function (event) {
    if (event.dataTransfer && Array.from(event.dataTransfer.types).includes("Files")) {
      window.dash_clientside.set_props("way", { value: "file" });
      window.dash_clientside.set_props("shade", { hidden: false });
    }
  });
  // Files that are too large are refused here: they would not fit into a request.
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
    } else if (event.target.matches(".dropzone") && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      event.target.click();
    } else if (isOpen && event.key === "Tab") {
      stayInside(dialog, event);
    } else if (typing || isOpen) {
      return;
    } else if ((event.ctrlKey || event.metaKey) && key === "z") {
      event.preventDefault();
      press(event.shiftKey ? "redo" : "undo");
    } else if ((event.ctrlKey || event.metaKey) && key === "y") {
      event.preventDefault();
      press("redo");
    } else if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    } else if (key === "/") {
      event.preventDefault();
      document.getElementById("find").focus();
    } else if (key === "o") {
      press("open");
    }
  });

  // The dialog that is open from the start has the focus; and the whole network is seen, however large its window.
  const ready = window.setInterval(function () {
    const box = document.getElementById("graph");
    const cy = box && box._cyreg && box._cyreg.cy;
    const first = document.querySelector("#shade:not([hidden]) #way-gallery button");
    if (first && document.activeElement === document.body) { first.focus(); }
    if (!cy) { return; }
    window.clearInterval(ready);
    const around = document.getElementById("graph-box");
    let soon = 0;
    let wide = around.clientWidth;
    let high = around.clientHeight;
    let changed = true;  // and remains so while another picture lies over it
    const later = function () {
      window.clearTimeout(soon);
      soon = window.setTimeout(function () {
        const now = document.getElementById("graph")._cyreg.cy;
        if (!changed || !now) { return; }
        now.resize();
        now.fit(undefined, 36);
        changed = around.classList.contains("away");
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
    later();  // the window may have changed before anybody watched it
  }, 100);

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
