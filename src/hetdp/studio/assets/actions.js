// The queue of actions: what a person does is numbered, sent in order, and sent again until the server has taken it.
//
// Dash drops a request when the same callback is asked for again, so an action must not live in a request. It lives in
// this queue, until an answer acknowledges its number. The server takes each number once.
//
// The page announces its state on #studio: data-ready once the first answer is drawn, aria-busy while an action or a
// request is pending, and data-revision, the revision that is shown.
(function () {
  "use strict";
  const RETRY = 2000; // milliseconds without a request, after which the queue is sent again
  const queue = []; // actions that no answer has acknowledged, oldest first
  const waiting = []; // functions to call when the queue is empty
  let last = 0; // the number of the last action
  let requests = 0; // in flight
  let sent = false; // whether the queue is on its way
  let ready = false; // whether the first answer is drawn
  let drawing = 0; // answers and resizes whose picture is not drawn yet
  let timer = 0;

  // A property of a component, as Dash knows it now.
  function read(id, name) {
    const component = window.dash_component_api && window.dash_component_api.getLayout(id);
    return component ? component.props[name] : undefined;
  }

  function write(id, props) { window.dash_clientside.set_props(id, props); }

  function announce() {
    const page = document.getElementById("studio");
    if (page) {
      page.dataset.ready = ready ? "yes" : "no";
      page.dataset.revision = read("shown", "data");
      page.setAttribute("aria-busy", String(queue.length > 0 || requests > 0 || drawing > 0 || !ready));
    }
    if (requests) { document.documentElement.dataset.busy = "yes"; } else { delete document.documentElement.dataset.busy; }
  }

  // One request at a time: what is done meanwhile follows with the next one.
  function send() {
    window.clearTimeout(timer);
    if (!queue.length) { return; }
    if (ready && !sent) {
      sent = true;
      write("actions", { data: queue.slice() });
    }
    timer = window.setTimeout(function () {
      if (!requests) { sent = false; }
      send();
    }, RETRY);
  }

  // Several values of one control in a row are one action, the last.
  function act(name, details, control) {
    const newest = queue[queue.length - 1];
    if (control && newest && newest.control === control) { queue.pop(); }
    last += 1;
    const seen = { revision: read("shown", "data") || 0, opening: read("opening", "data") || 0 };
    queue.push({ number: last, name: name, details: details, control: control || "", seen: seen });
    announce();
    send();
  }

  // The page is busy from `begin` to `end`.
  function begin() { drawing += 1; announce(); }
  function end() { drawing -= 1; announce(); }

  // After an answer the layout of the page may change, and with it the picture: both are done two frames later.
  function drawFrames() {
    let isDone = false;
    const done = function () { if (!isDone) { isDone = true; end(); } };
    begin();
    window.requestAnimationFrame(() => window.requestAnimationFrame(done));
    window.setTimeout(done, 500); // a page in the background draws no frames
  }

  // An answer has arrived and is drawn: it says up to which number actions are taken.
  function acknowledge(number) {
    while (queue.length && queue[0].number <= number) { queue.shift(); }
    ready = true;
    sent = false;
    drawFrames();
    send();
    announce();
    if (!queue.length) { waiting.splice(0).forEach((one) => one()); }
  }

  // Calls a function once all actions are acknowledged and drawn: at once, if they are.
  function whenSettled(one) { if (ready && !queue.length) { one(); } else { waiting.push(one); } }

  function count(change, body, failed) {
    requests += change;
    if (failed && String(body).includes('"actions"')) { // the words at the top say so; it is not tried again
      queue.length = 0;
      sent = false;
    }
    announce();
    if (ready && !queue.length) { waiting.splice(0).forEach((one) => one()); }
  }

  window.hetdp = { begin, end, act, acknowledge, whenSettled, count, read, write, isReady: () => ready, newest: () => queue[queue.length - 1] || null };
})();
