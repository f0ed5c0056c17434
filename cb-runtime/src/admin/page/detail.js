// One breaker beside the list: why it is so, what it did, and what can be done.

import { Actions, address } from "./actions.js";
import { Calls } from "./calls.js";
import { element, prose, setAttribute, setText } from "./elements.js";
import { probeSlots, stretches, timeline, updateSlots, updateTimeline, updateWindow, windowStrip } from "./pictures.js";
import { age, count, duration, percent, plural, shown, visible } from "./text.js";
import { next, restOfWait, timelineSpan, traffic, updateCounts } from "./tile.js";

/** How often the explanation is asked for, in milliseconds. */
const EVERY = 2000;

export class Detail {
  /** `closed` is called when the reader has closed it. */
  constructor(breakers, closed) {
    this.breakers = breakers;
    this.closed = closed;
    this.writable = false;
    this.name = null;
    this.aside = document.getElementById("detail");
    document.addEventListener("keydown", (event) => {
      const elsewhere = event.target instanceof HTMLInputElement || document.querySelector("dialog[open]");
      if (event.key === "Escape" && this.name !== null && !elsewhere) this.close();
    });
    setInterval(() => this.ask(), EVERY);
  }

  show(name) {
    this.calls?.close();
    this.name = name;
    this.build();
    this.aside.hidden = false;
    this.aside.scrollTop = 0;
    this.heading.focus({ preventScroll: true });
    this.update();
    this.ask();
  }

  close() {
    const name = this.name;
    this.calls?.close();
    this.calls = undefined;
    this.name = null;
    this.aside.hidden = true;
    this.aside.replaceChildren();
    this.closed(name);
  }

  setWritable(writable) {
    if (this.writable === writable) return;
    this.writable = writable;
    if (this.name !== null) this.show(this.name);
  }

  build() {
    const name = this.name;
    this.heading = element("h2", "", element("bdi", "", shown(name, 600)));
    this.heading.id = "detail-name";
    this.heading.tabIndex = -1;
    const close = element("button", "close", "✕");
    close.type = "button";
    close.setAttribute("aria-label", "Close the details");
    close.addEventListener("click", () => this.close());
    const dot = element("span", "dot");
    dot.setAttribute("aria-hidden", "true");
    this.word = element("span", "state");
    this.since = element("span", "for");
    this.actions = this.writable ? new Actions(name, () => this.ask()) : null;
    this.why = element("p", "why");
    this.lines = element("ul", "explanation");
    this.window = windowStrip();
    this.rates = element("p", "legend");
    this.counts = element("p", "counts");
    this.totals = element("p", "legend");
    this.slots = probeSlots();
    this.words = element("span", "words");
    this.meter = element("span", "meter", element("i"));
    this.meter.setAttribute("aria-hidden", "true");
    this.probing = element("section", "", element("h3", "", "Next"), element("p", "probes", this.slots, this.words, this.meter));
    this.calls = new Calls(name);
    this.timeline = timeline();
    this.begin = element("span");
    const axis = element("p", "axis", this.begin, element("span", "", "now"));
    axis.setAttribute("aria-hidden", "true");
    this.happened = element("ol", "happened");
    this.settings = element("tbody");
    this.aside.replaceChildren(
      element("div", "bar", this.heading, close),
      element("p", "now", dot, this.word, this.since),
      ...(this.actions ? [this.actions.section] : []),
      element("section", "", element("h3", "", "Why"), this.why, this.lines),
      this.probing,
      element("section", "", element("h3", "", "Window"), this.window, this.counts, this.rates, this.totals),
      this.calls.section,
      element("section", "", element("h3", "", "States"), this.timeline, axis),
      element("section", "", element("h3", "", "Recent events"), this.happened),
      element("section", "", element("h3", "", "Settings that were chosen"), element("table", "", this.settings)),
    );
  }

  /** Draws what the figures say. */
  update() {
    if (this.name === null) return;
    const breaker = this.breakers.get(this.name);
    if (!breaker) {
      setText(this.word, "gone");
      setText(this.since, "");
      return;
    }
    setAttribute(this.aside, "data-state", breaker.state);
    setText(this.word, breaker.state);
    this.actions?.update(breaker);
    this.why.hidden = breaker.opened === null;
    const why = breaker.opened === null ? "" : `It opened because ${breaker.opened}.`;
    if (this.why.dataset.text !== why) {
      this.why.dataset.text = why;
      this.why.replaceChildren(...prose(why));
    }
    updateWindow(this.window, breaker);
    updateCounts(this.counts, breaker);
    setText(this.rates, rates(breaker));
    setText(this.totals, totals(breaker));
    this.slots.hidden = breaker.probes === null;
    if (breaker.probes) updateSlots(this.slots, breaker);
    this.tick();
  }

  /** Draws what only time changes. */
  tick() {
    const breaker = this.name === null ? undefined : this.breakers.get(this.name);
    if (!breaker) return;
    const now = this.breakers.now();
    setText(this.since, [`for ${age(now - breaker.since)}`, traffic(breaker)].filter((part) => part !== "").join(", "));
    const words = next(breaker, now);
    // A closed breaker's rules stand above.
    const nothingNext = breaker.state === "CLOSED" && breaker.warm_at === null && breaker.admitted === null;
    this.probing.hidden = nothingNext || words === "";
    setText(this.words, words);
    const share = restOfWait(breaker, now);
    this.meter.hidden = share === null;
    if (share !== null) this.meter.firstElementChild.style.width = `${share * 100}%`;
    const span = timelineSpan(this.breakers);
    const list = stretches(breaker, this.breakers.knownSince, now, span);
    updateTimeline(this.timeline, list, span);
    setText(this.begin, `${age(span)} ago`);
    for (const time of this.happened.querySelectorAll("time")) setText(time, ago(now - Number(time.dataset.at)));
  }

  /** Asks for what the stream does not have. */
  async ask() {
    const name = this.name;
    if (name === null || document.hidden) return;
    const answer = await fetch(address(name)).catch(() => null);
    if (!answer?.ok || this.name !== name) return;
    const told = await answer.json().catch(() => null);
    if (told === null || this.name !== name) return;
    this.explain(told.explanation);
    this.tell(told.events);
    this.list(told.config);
    this.tick();
  }

  explain(text) {
    // The first line is the state, which stands above. The name in it may have lines of its own.
    const start = `\`${this.name}\``;
    const rest = text.startsWith(start) ? text.slice(start.length) : text;
    const lines = rest.split("\n").slice(1).map((line) => visible(line.trim()));
    // Why it opened stands above, too.
    const shownLines = lines.filter((line) => line !== "" && !/^It (opened|was opened) because: /.test(line));
    if (this.lines.dataset.text === shownLines.join("\n")) return;
    this.lines.dataset.text = shownLines.join("\n");
    this.lines.replaceChildren(...shownLines.map((line) => element("li", "", element("span", "", ...prose(line)))));
  }

  tell(events) {
    const key = `${events.length} ${events.at(-1)?.at}`;
    if (this.happened.dataset.key === key) return;
    this.happened.dataset.key = key;
    const items = events.toReversed().map((event) => {
      const time = element("time");
      time.dataset.at = event.at;
      return element("li", "", time, element("span", "", ...prose(visible(event.text))));
    });
    if (items.length === 0) items.push(element("li", "", element("span"), element("span", "", "None.")));
    this.happened.replaceChildren(...items);
  }

  list(config) {
    const key = JSON.stringify(config);
    if (this.settings.dataset.key === key) return;
    this.settings.dataset.key = key;
    const rows = config.map(({ setting, value, layer }) => {
      const from = typeof layer === "string" ? layer.replaceAll("_", " ") : Object.entries(layer).flat().join(" ");
      const header = element("th", "", setting);
      header.scope = "row";
      return element("tr", "", header, element("td", "", visible(value)), element("td", "", visible(from)));
    });
    if (rows.length === 0) rows.push(element("tr", "", element("td", "", "None: all have their defaults.")));
    this.settings.replaceChildren(...rows);
  }
}

function ago(seconds) {
  return seconds < 1 ? "just now" : `${age(seconds)} ago`;
}

function rates(breaker) {
  const { limits } = breaker;
  const window = limits.window_seconds === null ? `last ${limits.window_calls} calls` : `last ${duration(limits.window_seconds)}`;
  const judged = breaker.failure_rate === null
    ? `not judged below ${breaker.min_calls} calls`
    : `${percent(breaker.failure_rate)} failed, opens at ${percent(limits.failure_rate)}`;
  const slow = limits.slow === null
    ? "slow calls are not noticed"
    : breaker.slow_rate === null
      ? `slow is above ${duration(limits.slow)}`
      : `${percent(breaker.slow_rate)} slower than ${duration(limits.slow)}, opens at ${percent(limits.slow_rate)}`;
  const of = breaker.state === "HALF_OPEN" ? "Probes" : `Window: ${window}`;
  return `${of}; ${judged}; ${slow}.`;
}

function totals(breaker) {
  const parts = [
    [breaker.rejected, "rejected"],
    [breaker.fallbacks, "answered by fallbacks"],
    [breaker.timed_out, "timed out"],
    [breaker.ignored, "ignored"],
    [breaker.late, "late"],
  ].filter(([number]) => number > 0);
  const recovery = breaker.last_recovery === null ? [] : [`last recovery after ${duration(breaker.last_recovery)}`];
  const openings = breaker.openings === 0 ? [] : [plural(breaker.openings, "opening")];
  const words = [...openings, ...parts.map(([number, what]) => `${count(number)} ${what}`), ...recovery];
  return words.length === 0 ? "" : `Since it was made: ${words.join(", ")}.`;
}
