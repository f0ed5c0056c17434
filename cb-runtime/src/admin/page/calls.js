// The calls of one breaker as they end, one mark for each.

import { element, setAttribute, setChildren, setText } from "./elements.js";
import { address } from "./actions.js";
import { plural } from "./text.js";

const MARKS = 180;
const MEANINGS = new Map([
  ["s", "ok"],
  ["S", "ok but slow"],
  ["f", "failed"],
  ["F", "failed and slow"],
  ["c", "dropped, slow"],
  ["i", "ignored"],
  ["l", "late"],
  ["r", "rejected"],
]);

export class Calls {
  constructor(name) {
    this.letters = "";
    this.strip = element("div", "strip");
    this.strip.setAttribute("role", "img");
    this.legend = element("p", "legend");
    this.section = element("section", "", element("h3", "", "Calls as they end"), this.strip, this.legend);
    this.draw();
    const source = new EventSource(address(name, "calls"));
    source.addEventListener("calls", (message) => {
      const { calls, dropped } = JSON.parse(message.data);
      this.letters = (this.letters + calls).slice(-MARKS);
      this.draw(dropped);
    });
    // Whatever else went wrong, the browser tries again.
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) this.section.hidden = true;
    });
    this.source = source;
  }

  draw(dropped = 0) {
    const marks = setChildren(this.strip, "i", this.letters.length);
    const totals = new Map();
    [...this.letters].forEach((letter, place) => {
      if (marks[place].className !== letter) marks[place].className = letter;
      totals.set(letter, (totals.get(letter) ?? 0) + 1);
    });
    const words = [...totals].map(([letter, number]) => `${number} ${MEANINGS.get(letter) ?? "other"}`);
    const lost = dropped > 0 ? `, ${plural(dropped, "call")} not shown` : "";
    const text = this.letters === ""
      ? "None since you are looking."
      : `The last ${this.letters.length}, newest at the end: ${words.join(", ")}${lost}.`;
    this.strip.hidden = this.letters === "";
    setText(this.legend, text);
    setAttribute(this.strip, "aria-label", text);
  }

  close() {
    this.source.close();
  }
}
