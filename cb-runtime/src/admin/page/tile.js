// One breaker in the list.

import { closeness } from "./breakers.js";
import { element, setAttribute, setText } from "./elements.js";
import { parts, probeSlots, stretches, timeline, updateSlots, updateTimeline, updateWindow, windowStrip } from "./pictures.js";
import { age, count, countdown, percent, plural, rate, shown } from "./text.js";

/** What the timeline shows at least and at most, in seconds. */
const SPAN = [60, 600];

/** Waits beyond this have no end that anybody waits for. */
const NEVER = 10 * 365 * 86400;

export class Tile {
  constructor(name, choose) {
    this.word = element("span", "state");
    this.since = element("span", "for");
    this.name = element("button", "name");
    this.name.type = "button";
    this.name.tabIndex = -1;
    this.name.append(element("bdi", "", shown(name)));
    if (name.length > 40) this.name.title = shown(name);
    this.name.addEventListener("click", () => choose(name));
    this.rate = element("span", "rate");
    this.traffic = element("span", "traffic");
    this.window = windowStrip();
    this.counts = element("p", "counts");
    this.slots = probeSlots();
    this.words = element("span", "words");
    this.meter = element("span", "meter", element("i"));
    this.meter.setAttribute("aria-hidden", "true");
    this.timeline = timeline();
    const dot = element("span", "dot");
    dot.setAttribute("aria-hidden", "true");
    this.item = element(
      "li",
      "tile",
      element("p", "top", dot, this.word, this.since),
      this.name,
      element("p", "rates", this.rate, this.traffic),
      this.window,
      this.counts,
      element("p", "next", this.slots, this.words, this.meter),
      this.timeline,
    );
    this.item.dataset.name = name;
  }

  /** Draws what the figures say. */
  update(breaker, breakers) {
    setAttribute(this.item, "data-state", breaker.state);
    setText(this.word, breaker.state);
    updateRate(this.rate, breaker);
    setText(this.traffic, traffic(breaker));
    updateWindow(this.window, breaker);
    updateCounts(this.counts, breaker);
    this.slots.hidden = breaker.probes === null;
    if (breaker.probes) updateSlots(this.slots, breaker);
    this.tick(breaker, breakers);
  }

  /** Draws what only time changes. */
  tick(breaker, breakers) {
    const now = breakers.now();
    setText(this.since, `for ${age(now - breaker.since)}`);
    setText(this.words, next(breaker, now));
    const share = restOfWait(breaker, now);
    this.meter.hidden = share === null;
    if (share !== null) this.meter.firstElementChild.style.width = `${share * 100}%`;
    const span = timelineSpan(breakers);
    updateTimeline(this.timeline, stretches(breaker, breakers.knownSince, now, span), span);
  }
}

/** What the timelines show, in seconds: no more than is known, in steps that the eye can follow. */
export function timelineSpan(breakers) {
  const known = Math.ceil((breakers.now() - breakers.knownSince) / 60) * 60;
  return Math.min(SPAN[1], Math.max(SPAN[0], known));
}

/** The error rate, or that there are too few calls for one. */
export function updateRate(node, breaker) {
  const judged = breaker.failure_rate !== null;
  node.classList.toggle("bad", judged && breaker.failure_rate >= breaker.limits.failure_rate);
  const [big, small] = judged
    ? [percent(breaker.failure_rate), "failed"]
    : [`${breaker.calls}`, `of ${breaker.min_calls} calls to judge`];
  if (node.dataset.text === big + small) return;
  node.dataset.text = big + small;
  node.replaceChildren(`${big} `, element("small", "", small));
}

/** How much is asked of it. */
export function traffic(breaker) {
  if (breaker.state === "OPEN" || breaker.state === "FORCED_OPEN") {
    return `${rate(breaker.rejecting)} rejected`;
  }
  if (breaker.state === "DISABLED") return "not recorded";
  if (breaker.state === "HALF_OPEN") return "probing";
  const { window_seconds, window_calls } = breaker.limits;
  if (breaker.calls === 0) return "";
  if (window_seconds === null) return `last ${plural(Math.min(breaker.calls, window_calls), "call")}`;
  // A window that was emptied a moment ago does not hold its whole time.
  const seconds = Math.min(window_seconds, Math.max(1, breaker.seen - breaker.since));
  return rate(breaker.calls / seconds);
}

export function updateCounts(node, breaker) {
  const all = [
    ...parts(breaker).filter(([what, number]) => what !== "cancelled" || number > 0),
    ["rejected", breaker.not_permitted],
  ];
  const key = all.map(([what, number]) => `${what}${number}`).join();
  if (node.dataset.key === key) return;
  node.dataset.key = key;
  node.replaceChildren(
    ...all.map(([what, number]) => {
      const zero = number === 0 ? " zero" : "";
      return element("span", `what ${what}${zero}`, element("b", "", count(number)), ` ${what}`);
    }),
  );
}

/** What comes next. */
export function next(breaker, now) {
  const { limits } = breaker;
  const rest = breaker.until === null ? null : Math.max(0, breaker.until - now);
  switch (breaker.state) {
    case "OPEN":
      if (rest === null || rest > NEVER) return "open until told otherwise";
      if (rest === 0) return "wait is over: next call is a probe";
      return limits.auto_half_open ? `half-open in ${countdown(rest)}` : `next probe in ${countdown(rest)}`;
    case "HALF_OPEN":
      if (!breaker.probes) return "probing";
      if (breaker.probes.from !== null && breaker.probes.from > now) {
        return `first probe in ${countdown(breaker.probes.from - now)}`;
      }
      return rest === null || rest > NEVER
        ? `${breaker.probes.returned} of ${breaker.probes.deciding} returned`
        : `${breaker.probes.returned} of ${breaker.probes.deciding}, ends in ${countdown(rest)}`;
    case "FORCED_OPEN":
      return "rejects until closed by hand";
    case "DISABLED":
      return "permits all until enabled";
    case "METRICS_ONLY":
      return "records, never rejects";
    default:
      return closed(breaker, now);
  }
}

function closed(breaker, now) {
  const { limits } = breaker;
  if (breaker.warm_at !== null && breaker.warm_at > now) return `warming up for ${countdown(breaker.warm_at - now)}`;
  if (breaker.admitted !== null) return `admits ${percent(breaker.admitted)} of the calls, growing`;
  if (breaker.overdue) return `${breaker.overdue} of ${breaker.in_flight} running calls hang`;
  if (breaker.consecutive_failures > 1 && limits.consecutive_failures !== null) {
    return `${breaker.consecutive_failures} failures in a row, opens at ${limits.consecutive_failures}`;
  }
  if (breaker.failure_rate !== null && closeness(breaker) > 0) return `opens at ${percent(limits.failure_rate)} failed`;
  if (breaker.calls === 0) return "no calls";
  return "";
}

/** The part of a wait that is left, from 1 to 0; `null` where there is none. */
export function restOfWait(breaker, now) {
  if (breaker.state !== "OPEN" || breaker.until === null || !breaker.wait || breaker.wait > NEVER) return null;
  return Math.min(1, Math.max(0, (breaker.until - now) / breaker.wait));
}
