// The window in proportions, probe slots, and states over time; each with the same in words.

import { element, setAttribute, setChildren } from "./elements.js";
import { age, percent } from "./text.js";

/** Slots beyond so many are a number. */
const SLOTS = 12;

/** What the calls of a window were, without an overlap: they add up to `calls`. */
export function parts(breaker) {
  const { calls, failed, slow, slow_failed, cancelled } = breaker;
  const slowOnly = slow - slow_failed - cancelled;
  return [
    ["ok", calls - failed - slowOnly - cancelled],
    ["slow", slowOnly],
    ["cancelled", cancelled],
    ["failed", failed],
  ];
}

/** The window as a strip in proportions: single outcomes are not kept in it. */
export function windowStrip() {
  const strip = element("div", "window");
  strip.setAttribute("role", "img");
  return strip;
}

export function updateWindow(strip, breaker) {
  const all = parts(breaker);
  // From the left what is bad, so that it can be compared with the mark at the limit.
  const order = [...all].reverse();
  const calls = breaker.calls;
  const limit = breaker.limits.failure_rate;
  const pieces = setChildren(strip, "i", calls > 0 ? order.length + 1 : 0);
  if (calls > 0) {
    order.forEach(([what, number], place) => {
      pieces[place].className = `what ${what}`;
      pieces[place].style.width = `${(number * 100) / calls}%`;
    });
    const mark = pieces[order.length];
    mark.className = "limit";
    mark.style.left = `calc(${limit}% - 2px)`;
  }
  const words = all.filter(([, number]) => number > 0).map(([what, number]) => `${number} ${what}`);
  const text = calls > 0
    ? `Of ${calls} calls: ${words.join(", ")}. Opens at ${percent(limit)} failed.`
    : "No calls in the window.";
  setAttribute(strip, "aria-label", text);
}

export function probeSlots() {
  const slots = element("span", "slots");
  slots.setAttribute("role", "img");
  return slots;
}

export function updateSlots(slots, breaker) {
  const { permitted, in_flight, returned } = breaker.probes;
  const failed = Math.min(breaker.failed, returned);
  const shown = Math.min(permitted, SLOTS);
  const boxes = setChildren(slots, "i", shown + (permitted > shown ? 1 : 0));
  for (let place = 0; place < shown; place++) {
    const box = boxes[place];
    if (place < failed) box.className = "failed";
    else if (place < returned) box.className = "returned";
    else if (place < returned + in_flight) box.className = "flying";
    else box.className = "free";
  }
  if (permitted > shown) {
    boxes[shown].className = "more";
    boxes[shown].textContent = `of ${permitted}`;
  }
  setAttribute(
    slots,
    "aria-label",
    `Of ${permitted} probes ${returned} returned (${failed} failed), ${in_flight} under way.`,
  );
}

export function timeline() {
  const line = element("div", "timeline");
  line.setAttribute("role", "img");
  return line;
}

/** The states of the last `span` seconds: `[state, seconds]`, the oldest first; `null` is not known. */
export function stretches(breaker, knownSince, now, span) {
  const { steps } = breaker;
  const from = now - span;
  const list = [];
  const add = (state, begin, end) => {
    const length = Math.min(end, now) - Math.max(begin, from);
    if (length > 0) list.push([state, length]);
  };
  let begin = -Infinity;
  let state = steps.length > 0 ? steps[0][1] : breaker.state;
  const start = steps.length > 0 ? knownSince : Math.min(knownSince, breaker.since);
  add(null, begin, start);
  begin = start;
  for (const [at, , to] of steps) {
    add(state, begin, at);
    [begin, state] = [Math.max(begin, at), to];
  }
  add(state, begin, now);
  return list;
}

export function updateTimeline(line, list, span) {
  const pieces = setChildren(line, "i", list.length);
  list.forEach(([state, length], place) => {
    const piece = pieces[place];
    if (state === null) {
      piece.className = "unknown";
      piece.removeAttribute("data-state");
    } else {
      piece.className = "";
      setAttribute(piece, "data-state", state);
    }
    piece.style.width = `${(length * 100) / span}%`;
  });
  const totals = new Map();
  for (const [state, length] of list) {
    if (state !== null) totals.set(state, (totals.get(state) ?? 0) + length);
  }
  const words = [...totals].map(([state, length]) => `${state} for ${age(length)}`);
  setAttribute(line, "aria-label", `In the last ${age(span)}: ${words.join(", ")}.`);
}
