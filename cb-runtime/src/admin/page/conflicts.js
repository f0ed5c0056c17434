// What is wrong with the configuration, beside the states.

import { element, prose, setText } from "./elements.js";
import { count, plural, visible } from "./text.js";

/** A conflict that many breakers have is told many times within a moment; in milliseconds. */
const PAUSE = 1000;

export class Conflicts {
  constructor() {
    this.details = document.getElementById("conflicts");
    this.timer = null;
  }

  /** Asks for them, soon. */
  ask() {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.fetch();
    }, PAUSE);
  }

  async fetch() {
    const answer = await fetch("health").catch(() => null);
    const health = answer?.ok ? await answer.json().catch(() => null) : null;
    if (health === null) return;
    const { conflicts, conflicts_not_named: more } = health;
    this.details.hidden = conflicts.length === 0;
    setText(this.details.firstElementChild, plural(conflicts.length + more, "conflict"));
    const lines = conflicts.map(({ text }) => element("li", "", ...prose(visible(text).slice(0, 1000))));
    if (more > 0) lines.push(element("li", "", `and ${count(more)} more`));
    this.details.lastElementChild.replaceChildren(...lines);
  }
}
