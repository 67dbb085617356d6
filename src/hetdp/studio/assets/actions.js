// The queue of actions: what a person does is numbered, sent in order, and sent again until the server has taken it.
//
// Dash drops a request when the same callback is asked for again, so an action must not live in a request. It lives in
// this queue, until an answer acknowledges its number. The server takes each number once.
//
// While a slider moves, its values replace each other in the queue. If answers are fast, each is followed by a request
// with the newest value. If they are slow, the value is sent when the slider rests or is let go: a request that was
// sent earlier would only delay the one that counts.
//
// The page announces its state on #studio: data-ready once the first answer is drawn, aria-busy while an action or a
// request is pending, and data-revision, the revision that is shown.
(function () {
  "use strict";
  const RETRY = 2000; // milliseconds without a request, after which the queue is sent again
  const FAST = 100; // milliseconds up to which an answer seems immediate
  const REST = 150; // milliseconds without another value, after which a slider rests
  const LEAST = 10; // pixels: no chart of Plotly is smaller
  const queue = []; // actions that no answer has acknowledged, oldest first
  const waiting = []; // functions to call when the queue is empty
  let last = 0; // the number of the last action
  let requests = 0; // in flight
  let sent = 0; // when the queue was sent, as long as it is on its way; 0 if it is not
  let ready = false; // whether the first answer is drawn
  let drawing = 0; // answers and resizes whose picture is not drawn yet
  let answer = 0; // the number of the last answer
  let chart = 0; // the number of the answer that held the chart
  let timer = 0;
  let slow = 0; // milliseconds that the last answer took until it was drawn
  let moved = 0; // when a slider was moved; 0 once it is let go

  // A property of a component, as Dash knows it now.
  function read(id, name) {
    const component = window.dash_component_api && window.dash_component_api.getLayout(id);
    return component ? component.props[name] : undefined;
  }

  function write(id, props) { window.dash_clientside.set_props(id, props); }

  function numbersIn(words) { return words.split(" ").map(Number); }

  function announce() {
    const page = document.getElementById("studio");
    if (page) {
      page.dataset.ready = ready ? "yes" : "no";
      page.dataset.revision = read("shown", "data");
      const received = read("acknowledged", "children"); // Dash has it a moment before it is on the page
      const isPending = queue.length > 0 || requests > 0 || drawing > 0 || (received && numbersIn(received)[1] > answer);
      page.setAttribute("aria-busy", String(isPending || !ready));
    }
    if (requests) { document.documentElement.dataset.busy = "yes"; } else { delete document.documentElement.dataset.busy; }
  }

  // Milliseconds until the only action in the queue, a slider's, rests; 0 if nothing is to be waited for.
  function untilRest() {
    if (!moved || slow <= FAST || queue.length > 1 || !queue[0].control) { return 0; }
    return Math.max(0, Math.ceil(moved + REST - window.performance.now()));
  }

  // One request at a time: what is done meanwhile follows with the next one.
  function send() {
    window.clearTimeout(timer);
    if (!queue.length) { return; }
    const wait = ready && !sent ? untilRest() : 0;
    if (wait) { // and a frame, since moves of the pointer are delivered with the next one
      timer = window.setTimeout(() => afterFrames(1, send), wait);
      return;
    }
    if (ready && !sent) {
      sent = window.performance.now();
      write("actions", { data: queue.slice() });
    }
    timer = window.setTimeout(function () {
      if (!requests) { sent = 0; }
      send();
    }, RETRY);
  }

  // A selection is explained in words: in Details, and by the comparison and its link in What if?
  const SELECTING = ["dataset", "edge", "cell", "column", "next_cell", "find"];
  const SILENT = ["accuracy", "odds", "changes", "export"];

  // Several values of one control in a row are one action, the last.
  function act(name, details, control) {
    if (SELECTING.includes(name) && SILENT.includes(read("tab", "value"))) { write("tab", { value: "inspect" }); }
    const newest = queue[queue.length - 1];
    if (control && newest && newest.control === control) { queue.pop(); }
    last += 1;
    moved = control ? window.performance.now() : 0;
    const seen = { revision: read("shown", "data") || 0, opening: read("opening", "data") || 0 };
    queue.push({ number: last, name: name, details: details, control: control || "", seen: seen });
    announce();
    send();
  }

  // The slider is let go: its value is sent at once.
  function letGo() {
    if (moved) {
      moved = 0;
      send();
    }
  }

  // The page is busy from `begin` to `end`.
  function begin() { drawing += 1; announce(); }
  function end() { drawing -= 1; announce(); }

  // True if the chart is as large as its box. Plotly follows the box 150 milliseconds later, and then moves all cells.
  function isFitted(plot) {
    const box = window.getComputedStyle(plot);
    return ["width", "height"].every(function (side) {
      const most = Math.max(LEAST, parseFloat(box[side]));
      return Math.abs(plot._fullLayout[side] - most) <= 1; // Plotly ignores such a difference
    });
  }

  // True if the chart of the last answer is drawn where it will stay, or is not the picture. A chart carries the number
  // of the answer that held it: until it is drawn, the one before would take a click. Its script may have to be loaded.
  function isDrawn() {
    const box = document.getElementById("chart-box");
    if (!box || read("chart-box", "className") === "away") { return true; } // Dash knows it before it is drawn
    const plot = box.querySelector(".js-plotly-plot");
    if (!plot || !plot.layout || !(plot.layout.meta >= chart) || !plot.querySelector(".nsewdrag")) { return false; }
    return !plot._fullLayout._replotting && !plot._fullLayout._redrawFromAutoMarginCount && isFitted(plot);
  }

  // Calls a function once the chart is drawn. No event of Plotly tells that nothing else follows, so each frame looks.
  function whenDrawn(one) {
    if (isDrawn()) { one(); } else { afterFrames(1, () => whenDrawn(one)); }
  }

  function afterFrames(frames, one) {
    let isDone = false;
    const done = function () {
      if (!isDone) {
        isDone = true;
        one();
      }
    };
    const next = (left) => { if (left) { window.requestAnimationFrame(() => next(left - 1)); } else { done(); } };
    next(frames);
    window.setTimeout(done, 500); // a page in the background draws no frames
  }

  // Calls a function once the screen shows what is on the page now. A frame calls its observers of sizes before it is
  // shown, so what they begin has begun.
  function afterPaint(one) {
    afterFrames(1, function () {
      const after = new MessageChannel();
      after.port1.onmessage = function () {
        after.port1.close();
        one();
      };
      after.port2.postMessage(null);
    });
  }

  // The page is busy until an answer is shown. What Dash begins next takes a second frame, except after the answers that
  // `acknowledge` gets: they begin nothing else.
  function drawFrames(frames) {
    begin();
    afterFrames(frames - 1, () => afterPaint(() => whenDrawn(end)));
  }

  // An answer is on the page: it says up to which number actions are taken, its own number, how long the server took,
  // and the number of the answer that held the chart, which is not sent again if it is the same.
  function acknowledge(words) {
    const [number, ownNumber, milliseconds, chartNumber] = numbersIn(words);
    answer = Math.max(answer, ownNumber);
    chart = Math.max(chart, chartNumber);
    const begun = queue.length && queue[0].control ? sent : 0;
    const measure = () => { slow = Math.max(milliseconds, begun && window.performance.now() - begun); };
    measure();
    afterPaint(measure);
    while (queue.length && queue[0].number <= number) { queue.shift(); }
    ready = true;
    sent = 0;
    drawFrames(1);
    send();
    announce();
    if (!queue.length) { waiting.splice(0).forEach((one) => one()); }
  }

  // An answer without what it says, if the page already shows a later one: Dash would put the earlier one over it.
  function leaveOutEarlier(content) {
    const found = content && content.response && content.response.acknowledged;
    const shown = found && read("acknowledged", "children");
    return shown && numbersIn(found.children)[1] < numbersIn(shown)[1] ? Object.assign({}, content, { response: {} }) : content;
  }

  // Calls a function once all actions are acknowledged and drawn: at once, if they are.
  function whenSettled(one) { if (ready && !queue.length) { one(); } else { waiting.push(one); } }

  // Counts requests in flight. If one with actions has failed, the words at the top say so, and it is not tried again.
  function count(change, hasFailed) {
    requests += change;
    if (hasFailed) {
      queue.length = 0;
      sent = 0;
    }
    announce();
    if (ready && !queue.length) { waiting.splice(0).forEach((one) => one()); }
  }

  window.hetdp = {
    act, letGo, acknowledge, count, begin, end, drawFrames, whenDrawn, whenSettled, leaveOutEarlier, read, write,
    isReady: () => ready, newest: () => queue[queue.length - 1] || null,
  };
})();
