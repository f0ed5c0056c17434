// Tells screen readers what has changed, without talking all the time.

import { shown } from "./text.js";

/** The least time between two announcements, in milliseconds. */
const PAUSE = 3000;
/** More changes than this at a time are counted rather than named. */
const NAMED = 3;
const KEPT = 20;

export class Announcer {
  constructor() {
    this.log = document.getElementById("announcements");
    this.waiting = new Map();
    this.timer = null;
  }

  /** The latest state of each breaker counts. */
  state(name, state, why) {
    this.waiting.set(name, [state, why]);
    this.timer ??= setTimeout(() => this.speak(), this.waiting.size === 1 ? 200 : PAUSE);
  }

  speak() {
    const changes = [...this.waiting];
    this.waiting.clear();
    this.timer = setTimeout(() => {
      this.timer = null;
      if (this.waiting.size > 0) this.speak();
    }, PAUSE);
    if (changes.length <= NAMED) {
      for (const [name, [state, why]] of changes) this.say(`${shown(name, 60)} is ${state}: ${why}`);
      return;
    }
    const totals = new Map();
    for (const [, [state]] of changes) totals.set(state, (totals.get(state) ?? 0) + 1);
    const words = [...totals].map(([state, number]) => `${number} ${state}`);
    this.say(`${changes.length} breakers have changed: now ${words.join(", ")}`);
  }

  say(text) {
    const line = document.createElement("span");
    line.textContent = `${text}. `;
    this.log.append(line);
    while (this.log.children.length > KEPT) this.log.firstElementChild.remove();
  }
}
