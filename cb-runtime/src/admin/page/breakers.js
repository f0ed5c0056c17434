// What is known of the breakers, and which of them needs attention most.

/** The states, the worst first: the order of the list. */
export const STATES = ["OPEN", "HALF_OPEN", "FORCED_OPEN", "DISABLED", "METRICS_ONLY", "CLOSED"];

/** Transitions kept of each breaker. */
const STEPS = 40;

/** The figures of a stay that has just begun, but for OPEN, which shows the ones that led there. */
const FRESH = {
  calls: 0,
  failed: 0,
  slow: 0,
  slow_failed: 0,
  cancelled: 0,
  failure_rate: null,
  slow_rate: null,
  consecutive_failures: 0,
};

/** The figures that led to OPEN, as far as the event has them. */
function led(breaker, { calls, failed, slow }) {
  // What it has not is kept within what it has.
  const both = Math.min(slow, failed, Math.max(breaker.slow_failed, slow + failed - calls));
  Object.assign(breaker, {
    calls,
    failed,
    slow,
    slow_failed: both,
    cancelled: Math.min(breaker.cancelled, slow - both),
    failure_rate: calls >= breaker.min_calls ? (failed * 100) / calls : null,
    slow_rate: calls >= breaker.min_calls ? (slow * 100) / calls : null,
  });
}

/** How near a closed breaker is to opening: 0 to 1. */
export function closeness(breaker) {
  const { limits } = breaker;
  const parts = [0];
  if (breaker.failure_rate !== null) parts.push(breaker.failure_rate / limits.failure_rate);
  if (breaker.slow_rate !== null && limits.slow !== null) parts.push(breaker.slow_rate / limits.slow_rate);
  if (limits.failure_count !== null) parts.push(breaker.failed / limits.failure_count);
  if (limits.consecutive_failures !== null) {
    parts.push(breaker.consecutive_failures / limits.consecutive_failures);
  }
  return Math.min(1, Math.max(...parts));
}

/** Sorts by trouble; what is alike stays in the order of names, so that nothing moves for nothing. */
export function compare(a, b) {
  return a.rank - b.rank || (a.name < b.name ? -1 : 1);
}

function rank(breaker) {
  // Steps of a quarter: a tile that moved with every call could not be read.
  const calm = breaker.state === "CLOSED" ? 4 - Math.floor(closeness(breaker) * 4) : 0;
  const idle = breaker.state === "CLOSED" && breaker.calls === 0 ? 1 : 0;
  return STATES.indexOf(breaker.state) * 10 + calm + idle;
}

export class Breakers {
  constructor() {
    this.all = new Map();
    /** The server's clock at `performance.now()` zero, in seconds. */
    this.origin = 0;
    /** Since when the server keeps events. */
    this.knownSince = 0;
  }

  /** The present time on the server's clock, in seconds. */
  now() {
    return this.origin + performance.now() / 1000;
  }

  setTime(now) {
    this.origin = now - performance.now() / 1000;
  }

  get(name) {
    return this.all.get(name);
  }

  /** Takes figures over. */
  take(figures) {
    this.setTime(figures.now);
    const before = figures.full ? this.all : null;
    if (figures.full) this.all = new Map();
    for (const breaker of figures.breakers) {
      const old = before?.get(breaker.name) ?? this.all.get(breaker.name);
      // Any text can be a name, also that of a property which every object has.
      const told = figures.states !== null && Object.hasOwn(figures.states, breaker.name);
      breaker.steps = told ? figures.states[breaker.name] : (old?.steps ?? []);
      // Rejections a second, from two messages.
      breaker.seen = figures.now;
      breaker.rejecting = old === undefined || figures.now <= old.seen
        ? 0
        : Math.max(0, breaker.rejected - old.rejected) / (figures.now - old.seen);
      breaker.rank = rank(breaker);
      this.all.set(breaker.name, breaker);
    }
    for (const name of figures.removed) this.all.delete(name);
    // Whoever was not sent has not changed, so nothing was rejected either.
    for (const breaker of this.all.values()) {
      if (breaker.seen !== figures.now) {
        breaker.seen = figures.now;
        breaker.rejecting = 0;
      }
    }
  }

  /** Takes a transition over before the figures come. Says whether it is about a known breaker. */
  transition(event) {
    const breaker = this.all.get(event.breaker);
    if (!breaker) return false;
    const { from, to } = event.kind;
    const last = breaker.steps.at(-1);
    if (!last || last[0] < event.at || last[2] !== to) {
      breaker.steps = [...breaker.steps, [event.at, from, to]].slice(-STEPS);
    }
    if (event.generation > breaker.generation) {
      breaker.generation = event.generation;
      breaker.state = to;
      breaker.since = event.at;
      breaker.probes = null;
      breaker.until = null;
      if (to === "OPEN") {
        const wait = event.figures?.wait ?? null;
        if (wait !== null) [breaker.wait, breaker.until] = [wait, event.at + wait];
        breaker.opened = event.text.slice(`${from} to ${to}: `.length);
        if (event.figures) led(breaker, event.figures);
      } else {
        breaker.min_calls = breaker.limits.min_calls;
        Object.assign(breaker, FRESH, to === "HALF_OPEN" ? {} : { opened: null, not_permitted: 0 });
      }
      breaker.rank = rank(breaker);
    }
    return true;
  }

  /** How many there are in each state. */
  totals() {
    const totals = new Map(STATES.map((state) => [state, 0]));
    for (const { state } of this.all.values()) totals.set(state, (totals.get(state) ?? 0) + 1);
    return totals;
  }
}
