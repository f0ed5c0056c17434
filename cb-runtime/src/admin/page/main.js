// Brings the parts together.

import { Announcer } from "./announce.js";
import { Breakers, STATES } from "./breakers.js";
import { Conflicts } from "./conflicts.js";
import { Connection } from "./connection.js";
import { Detail } from "./detail.js";
import { element, setAttribute, setText } from "./elements.js";
import { List } from "./list.js";
import { count, visible } from "./text.js";

/** How often countdowns move, in milliseconds. */
const TICK = 250;

const breakers = new Breakers();
const announcer = new Announcer();
const conflicts = new Conflicts();
const detail = new Detail(breakers, (name) => {
  list.markChosen(null);
  history.replaceState(null, "", location.pathname + location.search);
  list.focus(name);
});
const list = new List(breakers, choose);

function choose(name) {
  list.markChosen(name);
  history.replaceState(null, "", `#${encodeURIComponent(name)}`);
  detail.show(name);
}

// The states above the list: how many, and a filter.
const chosenStates = new Set();
const stateButtons = new Map(
  STATES.map((state) => {
    const number = element("b");
    const dot = element("span", "dot");
    dot.setAttribute("aria-hidden", "true");
    const button = element("button", "", dot, `${state} `, number);
    button.type = "button";
    button.dataset.state = state;
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      if (!chosenStates.delete(state)) chosenStates.add(state);
      setAttribute(button, "aria-pressed", String(chosenStates.has(state)));
      filter();
    });
    return [state, { button, number }];
  }),
);
document.getElementById("states").append(...[...stateButtons.values()].map(({ button }) => button));

const input = document.getElementById("filter");
input.addEventListener("input", filter);
document.addEventListener("keydown", (event) => {
  const typing = event.target instanceof HTMLInputElement || document.querySelector("dialog[open]");
  if (event.key !== "/" || typing || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  input.focus();
});

function filter() {
  list.filter(input.value, chosenStates);
}

let drawing;

function drawTotals() {
  const totals = breakers.totals();
  for (const [state, number] of totals) {
    const shown = stateButtons.get(state);
    if (!shown) continue;
    setText(shown.number, count(number));
    shown.button.classList.toggle("none", number === 0 && !chosenStates.has(state));
  }
  const open = totals.get("OPEN");
  document.title = open > 0 ? `(${open} open) Circuit breakers` : "Circuit breakers";
}

/** Draws soon: many changes at a time are drawn once. */
function drawSoon() {
  drawing ??= setTimeout(draw, 30);
}

function draw() {
  clearTimeout(drawing);
  drawing = undefined;
  drawTotals();
  list.update();
  detail.update();
}

/** The breaker in the address, when the page is opened with one. */
function chooseFromAddress() {
  if (location.hash.length < 2 || detail.name !== null) return;
  try {
    const name = decodeURIComponent(location.hash.slice(1));
    if (breakers.get(name)) choose(name);
  } catch {
    // Not an address of ours.
  }
}

let known = false;
new Connection("events?figures=1", {
  hello(hello) {
    breakers.setTime(hello.now);
    breakers.knownSince = hello.events_since;
    detail.setWritable(hello.writable);
    conflicts.ask();
  },
  figures(figures) {
    breakers.take(figures);
    draw();
    if (!known) chooseFromAddress();
    known = true;
  },
  event(event) {
    if (event.kind.type === "conflict") conflicts.ask();
    if (event.kind.type !== "transition" || !breakers.transition(event)) return;
    announcer.state(event.breaker, event.kind.to, visible(event.text));
    drawSoon();
    if (event.breaker === detail.name) detail.ask();
  },
  // The next figures have what the lost events would have told.
  dropped() {},
  status(is) {
    const words = { live: "live", lost: "lost, trying again" };
    const connection = document.getElementById("connection");
    setAttribute(connection, "data-is", is);
    setText(connection, words[is]);
    document.body.classList.toggle("stale", is === "lost");
  },
});

setInterval(() => {
  if (document.hidden) return;
  list.tick();
  detail.tick();
}, TICK);
