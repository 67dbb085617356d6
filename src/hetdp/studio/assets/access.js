// What screen readers, keyboards and fingers need beyond what Dash makes: names and roles, buttons that copy, and one
// that leads to a part of the page.
(function () {
  "use strict";

  // Dash marks the choices of a row as options of a list, although they are radio buttons; their group has the name.
  function mend() {
    document.querySelectorAll(".dash-radioitems [aria-selected], .dash-radioitems[role]").forEach(function (one) {
      one.removeAttribute("role");
      one.removeAttribute("aria-selected");
    });
    const file = document.querySelector("#upload input[type=file]:not([aria-label])");
    if (file) {
      file.setAttribute("aria-label", "Files of a problem");
      file.tabIndex = -1; // the zone around it is the button
    }
  }
  new MutationObserver(mend).observe(document, { childList: true, subtree: true, attributes: true, attributeFilter: ["aria-selected"] });

  // A button with data-copy copies the text of the element that it names, and says so for a moment.
  const SHOWN = 1500; // milliseconds
  document.addEventListener("click", function (event) {
    const button = event.target.closest && event.target.closest("[data-copy]");
    if (!button) { return; }
    const before = button.dataset.words || button.textContent;
    button.dataset.words = before;
    const say = function (words) {
      button.textContent = words;
      window.clearTimeout(Number(button.dataset.timer));
      button.dataset.timer = window.setTimeout(() => { button.textContent = before; }, SHOWN);
    };
    navigator.clipboard.writeText(document.getElementById(button.dataset.copy).innerText)
      .then(() => say("Copied"), () => say("Not copied"));
  });

  // A button with data-scroll leads to a part of the page: on a phone, it is below.
  document.addEventListener("click", function (event) {
    const button = event.target.closest && event.target.closest("[data-scroll]");
    if (!button) { return; }
    window.dash_clientside.set_props("tab", { value: button.dataset.scroll.replace("tab-", "") });
    const smooth = !window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    document.getElementById(button.dataset.scroll).scrollIntoView({ behavior: smooth ? "smooth" : "auto" });
  });
})();
