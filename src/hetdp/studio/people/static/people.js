// The guided page works without this script; with it, sentences and curves follow sliders, menus and typing at once.
(function () {
  "use strict";
  const root = document.documentElement, studio = document.getElementById("studio"), form = document.getElementById("form");
  const kept = window.localStorage.getItem("hetdp-theme");
  if (kept) { root.dataset.theme = kept; }
  root.classList.add("scripted");

  document.getElementById("theme").addEventListener("click", function () {
    const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
    const now = root.dataset.theme || (dark ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
    window.localStorage.setItem("hetdp-theme", root.dataset.theme);
  });

  // Sliders: 0 to 300 is ε from 0.01 to 10, evenly in proportion. The field beside it is what is sent.
  const epsilon = (place) => Number((0.01 * Math.pow(10, place / 100)).toPrecision(2)).toString();
  function follow(slider) {
    const field = document.getElementById(slider.dataset.for), number = Number(field.value.trim().replace(",", "."));
    const known = field.value.trim() !== "" && number > 0 && Number.isFinite(number);
    slider.value = known ? Math.round(100 * Math.log10(number / 0.01)) : 0;
    slider.classList.toggle("unset", !known);
    slider.setAttribute("aria-valuetext", field.value.trim() ? "ε = " + field.value.trim() : "not chosen yet");
  }
  function sliders() {  // but for the one in use: its place is finer than the rounded number in the field
    document.querySelectorAll("input[type=range][data-for]").forEach((one) => { if (one !== document.activeElement) { follow(one); } });
  }

  // While something takes longer than a second, the page says so.
  let waiting = 0;
  function busy(now) {
    studio.setAttribute("aria-busy", String(now));
    window.clearTimeout(waiting);
    document.getElementById("working").textContent = "";
    if (now) { waiting = window.setTimeout(() => { document.getElementById("working").textContent = "Working…"; }, 1000); }
  }

  // What is typed or chosen is sent after a moment, and only the newest answer is shown. What a slider says is sent at
  // once, one request at a time, so that the curves follow it: whatever it passes meanwhile is left out.
  // A button waits for the request before it, which changes the revision; after it, nothing is sent: a page that has been
  // left behind would else report a change by another page, and a late answer would stop the way to the next step.
  let changes = 0, sent = 0, timer = 0, pending = false, sliding = false, button = null, leaving = false;
  function changed(slider) {
    changes += 1;
    sliding = slider;
    if (studio.getAttribute("aria-busy") !== "true") { busy(true); }
    window.clearTimeout(timer);
    if (slider) { send(); } else { timer = window.setTimeout(send, 120); }
  }
  async function send() {
    if (pending || leaving || sent === changes) { return; }
    pending = true;
    const number = changes, body = new URLSearchParams(new FormData(form));
    body.set("live", "yes");
    if (held) { body.delete(held.name); }
    try {
      const answer = await window.fetch(form.action, { method: "POST", body: body });
      if (answer.status === 409) { window.location.reload(); return; }
      if (answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        adopt(page, !button && (sliding || number === changes));
        sent = number;
      } else { sent = number; }
    } catch (failure) {
      sent = number;
      button = null;
      say("The server of the studio has ended or cannot be reached. What you type now is not kept.");
    }
    pending = false;
    if (button) { form.requestSubmit(button); return; }
    if (sent === changes) { busy(false); } else { busy(true); send(); }
  }
  function say(words) {
    const box = document.getElementById("live-faults");
    box.innerHTML = "<div class='box refused' role='alert'><p></p></div>";
    box.querySelector("p").textContent = words;
  }

  // Takes the parts of another page that may change, but none that holds the focus. The list of what is missing has the
  // focus when it appears, and is taken all the same: it would stay after everything was mended.
  function adopt(page, newest) {
    const revision = page.getElementById("studio").dataset.revision;
    studio.dataset.revision = form.elements.revision.value = revision;
    if (!newest) { return; }
    for (const step of document.querySelectorAll(".step")) {
      const other = page.getElementById(step.id);
      step.className = other.className;
      step.innerHTML = other.innerHTML;
    }
    for (const part of [...document.querySelectorAll("[data-live]")]) {
      const other = page.getElementById(part.id);
      if (!part.isConnected || !other) { continue; }
      if (part.contains(document.activeElement) && part.id !== "live-faults") { continue; }
      if (held && part.id === "live-" + held.id) { continue; }
      if (part.innerHTML !== other.innerHTML) {
        const opened = [...part.querySelectorAll("details")].map((one) => one.open);
        part.innerHTML = other.innerHTML;
        [...part.querySelectorAll("details")].forEach((one, at) => { if (opened[at]) { one.open = true; } });
      }
    }
    for (const field of document.querySelectorAll("[data-live] input[type=text], input[type=text]")) {
      const other = page.getElementById(field.id);
      if (!other) { continue; }
      for (const name of ["aria-invalid", "aria-describedby"]) {
        if (other.hasAttribute(name)) { field.setAttribute(name, other.getAttribute(name)); } else { field.removeAttribute(name); }
      }
    }
    sliders();
    preview();
  }

  // While a slider is used and the curves are out of sight, small copies of them stay above or below it.
  const copies = document.createElement("div");
  copies.className = "preview";
  copies.setAttribute("aria-hidden", "true");
  function preview() {
    const slider = document.activeElement, charts = [...document.querySelectorAll(".charts .chart")];
    copies.remove();
    if (!slider.matches("input[type=range]") || !charts.length) { return; }
    const inSight = (one) => { const box = one.getBoundingClientRect(); return box.top >= 0 && box.bottom <= window.innerHeight; };
    if (charts.some(inSight)) { return; }
    copies.replaceChildren(...charts.map((one) => {
      const copy = document.createElement("div"), title = document.createElement("p"), picture = one.cloneNode(true);
      title.textContent = one.closest("figure").querySelector("h3").textContent;
      picture.removeAttribute("aria-labelledby");
      picture.querySelector("title").remove();
      copy.append(title, picture);
      return copy;
    }));
    copies.classList.toggle("below", slider.getBoundingClientRect().top < window.innerHeight / 2);
    document.body.append(copies);
  }
  for (const name of ["focusin", "focusout", "scroll", "resize"]) {
    window.addEventListener(name, () => { window.requestAnimationFrame(preview); }, { passive: true });
  }

  // On the way to another choice, keys pass choices that nobody means: "public" would show the values of a column. What
  // keys choose in such a menu is therefore not sent before the menu is left. What a pointer chooses is meant.
  let keyed = null, held = null;
  for (const name of ["keydown", "wheel"]) {
    form.addEventListener(name, (event) => { keyed = event.target; }, { passive: true });
  }
  form.addEventListener("pointerdown", () => { keyed = null; });
  function hold(menu) {
    held = menu;
    document.getElementById("live-" + menu.id).innerHTML = "<p class='quiet'>The page takes this choice when you leave the menu.</p>";
  }
  form.addEventListener("focusout", function (event) {
    if (held !== event.target || held === document.activeElement) { return; }  // the window has lost the focus, not the menu
    held = null;
    changed(false);
  });

  form.addEventListener("input", function (event) {
    const one = event.target, slider = one.matches("input[type=range][data-for]");
    if (slider) {
      one.focus({ preventScroll: true });
      document.getElementById(one.dataset.for).value = epsilon(Number(one.value));
      one.setAttribute("aria-valuetext", "ε = " + epsilon(Number(one.value)));
      one.classList.remove("unset");
    } else if (one.id) {
      document.querySelectorAll("input[type=range][data-for='" + one.id + "']").forEach(follow);
    }
    if (one.matches("[data-hold]") && keyed === one) { hold(one); return; }
    if (held === one) { held = null; }
    if (one.id !== "confirm" && one.id !== "sheet") { changed(slider); }
  });
  form.addEventListener("submit", function (event) {
    window.clearTimeout(timer);
    busy(true);
    if (pending) {
      event.preventDefault();
      button = event.submitter;
    } else {
      leaving = true;
    }
  });
  window.addEventListener("pageshow", (event) => { if (event.persisted) { window.location.reload(); } });
  document.addEventListener("click", function (event) {
    if (event.target.matches("input[type=range].unset")) {  // a click on its end, where it waits, is a choice, too
      event.target.dispatchEvent(new Event("input", { bubbles: true }));
    }
    const copy = event.target.closest("[data-copy]");
    if (copy) {
      const text = document.getElementById(copy.dataset.copy).textContent;
      navigator.clipboard.writeText(text).then(() => { copy.textContent = "Copied"; }, () => { copy.textContent = "Select and copy"; });
    }
    if (event.target.closest("#print")) { window.print(); }
  });

  sliders();
  const first = document.querySelector("[autofocus]");
  if (first && !window.location.hash) { first.focus({ preventScroll: true }); }
  studio.dataset.ready = "yes";
})();
