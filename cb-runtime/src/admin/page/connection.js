// The live stream, and what to do when it ends.

/** Seconds without a message after which the connection is taken to be dead: figures come each second. */
const SILENCE = 8;
const LONGEST_PAUSE = 20;

export class Connection {
  /** `on` has `hello`, `figures`, `event`, `dropped`, and `status` for "live" or "lost". */
  constructor(url, on) {
    this.url = url;
    this.on = on;
    this.pause = 1;
    this.heard = performance.now();
    setInterval(() => this.check(), 1000);
    this.open();
  }

  open() {
    this.source?.close();
    this.retryAt = null;
    this.heard = performance.now();
    const source = new EventSource(this.url);
    this.source = source;
    const listen = (name, then) =>
      source.addEventListener(name, (message) => {
        if (source !== this.source) return;
        this.heard = performance.now();
        then(JSON.parse(message.data));
      });
    listen("hello", (hello) => {
      this.pause = 1;
      this.on.hello(hello);
      this.on.status("live");
    });
    listen("figures", this.on.figures);
    listen("message", this.on.event);
    listen("dropped", this.on.dropped);
    source.addEventListener("error", () => {
      if (source !== this.source) return;
      this.on.status("lost");
      // The browser tries again by itself, unless the server has answered something else.
      if (source.readyState === EventSource.CLOSED) this.later();
    });
  }

  later() {
    this.source.close();
    this.retryAt = performance.now() + this.pause * 1000;
    this.pause = Math.min(LONGEST_PAUSE, this.pause * 2);
  }

  check() {
    const now = performance.now();
    if (this.retryAt !== null) {
      if (now >= this.retryAt) this.open();
    } else if (now - this.heard > SILENCE * 1000) {
      this.on.status("lost");
      this.later();
    }
  }
}
