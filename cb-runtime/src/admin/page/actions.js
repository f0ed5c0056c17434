// Operations by hand. They exist on the page only where the server has them.

import { element, setAttribute } from "./elements.js";
import { shown } from "./text.js";

const OPERATIONS = [
  { name: "force_open", label: "Force open", effect: "Every call will be rejected until it is closed by hand.", serious: true, idleIn: "FORCED_OPEN" },
  { name: "close", label: "Close", effect: "Calls will go through, and an empty window begins.", serious: false, idleIn: "CLOSED" },
  { name: "disable", label: "Disable", effect: "Every call will go through, nothing will be recorded, and nothing protects the callers.", serious: true, idleIn: "DISABLED" },
  { name: "enable", label: "Enable", effect: "Ends DISABLED: the breaker is closed and protects again.", serious: false, onlyIn: "DISABLED" },
  { name: "metrics_only", label: "Metrics only", effect: "Calls will be recorded, and nothing protects the callers.", serious: true, idleIn: "METRICS_ONLY" },
  { name: "reset", label: "Reset", effect: "Closes it and forgets the window and earlier openings.", serious: false },
];

/** The address of something of a breaker: names do not fit into every path. */
export function address(name, what = "") {
  return `breaker${what && `/${what}`}?name=${encodeURIComponent(name)}`;
}

export class Actions {
  /** `done` is told the breaker's new snapshot. */
  constructor(name, done) {
    this.name = name;
    this.done = done;
    this.buttons = OPERATIONS.map((operation) => {
      const button = element("button", "", operation.label);
      button.type = "button";
      button.dataset.operation = operation.name;
      button.addEventListener("click", () => this.ask(operation));
      return [operation, button];
    });
    const group = element("div", "actions", ...this.buttons.map(([, button]) => button));
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "Operations by hand");
    this.outcome = element("p", "outcome");
    this.outcome.setAttribute("role", "status");
    this.section = element("section", "", group, this.outcome);
  }

  update(breaker) {
    this.breaker = breaker;
    for (const [operation, button] of this.buttons) {
      const hide = operation.onlyIn !== undefined && breaker.state !== operation.onlyIn;
      // The focus must not be lost with a button: one that goes hands it on, and none is `disabled`.
      if (hide && button === document.activeElement) this.buttons[0][1].focus();
      button.hidden = hide;
      const idle = this.busy === true || breaker.state === operation.idleIn;
      setAttribute(button, "aria-disabled", String(idle));
    }
  }

  /** What takes protection away, or all traffic, is confirmed first. */
  ask(operation) {
    if (this.busy === true || this.breaker?.state === operation.idleIn) return;
    if (!operation.serious) {
      this.send(operation);
      return;
    }
    document.getElementById("confirm-question").textContent = `${operation.label}: ${shown(this.name, 80)}?`;
    document.getElementById("confirm-effect").textContent = operation.effect;
    const yes = document.getElementById("confirm-yes");
    yes.textContent = operation.label;
    // Not when the dialog has closed: that is told later, when it may be open again for something else.
    yes.onclick = () => this.send(operation);
    document.getElementById("confirm").showModal();
  }

  async send(operation) {
    this.busy = true;
    this.update(this.breaker);
    this.say("", false);
    try {
      const answer = await fetch(address(this.name, operation.name), {
        method: "POST",
        headers: { "x-circuit-breaker-admin": "1" },
      });
      const body = await answer.json().catch(() => ({}));
      if (answer.ok) {
        this.say(`Done: it is ${body.breaker.state}.`, false);
        this.done(body);
      } else {
        this.say(`Refused (${answer.status}): ${body.error ?? "the server gave no reason"}.`, true);
      }
    } catch {
      this.say("The server did not answer.", true);
    } finally {
      this.busy = false;
      this.update(this.breaker);
    }
  }

  say(text, refused) {
    this.outcome.textContent = text;
    this.outcome.classList.toggle("refused", refused);
  }
}
