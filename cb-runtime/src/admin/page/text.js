// Names, numbers and times as a person reads them.

// Control characters, and those that change the direction of what follows or are not seen at all.
// What they stand for is written instead, so that no name looks like another or reorders the line.
const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]/g;

/** Any text of the server, with what is not seen written out. */
export function visible(text) {
  return text.replace(UNSEEN, (one) => `\\u{${one.codePointAt(0).toString(16)}}`);
}

/** A name, of a length that fits. */
export function shown(name, most = 200) {
  const letters = Array.from(name.slice(0, 2 * most + 2));
  const all = letters.length <= most && name.length <= 2 * most + 2;
  const text = visible(all ? name : letters.slice(0, most).join(""));
  if (!all) return `${text}… (${name.length} characters)`;
  return text.trim() === "" ? `"${text}"` : text;
}

/** A duration: `340 ms`, `6.5 s`, `2 min 5 s`, `3 h 20 min`, `4 d`. */
export function duration(seconds) {
  if (seconds < 0.0005) return "0 s";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 100) return `${seconds.toFixed(1).replace(/\.0$/, "")} s`;
  const whole = Math.floor(seconds);
  const [d, h, m, s] = [whole / 86400, (whole / 3600) % 24, (whole / 60) % 60, whole % 60].map(Math.floor);
  if (d > 0) return h > 0 && d < 10 ? `${d} d ${h} h` : `${d} d`;
  if (h > 0) return `${h} h ${m} min`;
  return s > 0 ? `${m} min ${s} s` : `${m} min`;
}

/** A countdown: always of the same form, so that it can be read while it moves. */
export function countdown(seconds) {
  return seconds < 100 ? `${seconds.toFixed(1)} s` : duration(seconds);
}

/** For how long something has been so: whole seconds, since it counts up before the reader's eyes. */
export function age(seconds) {
  return duration(Math.max(0, Math.floor(seconds)));
}

/** A count, short: `12`, `4 312`, `1.2 M`. */
export function count(number) {
  if (number < 10_000) return String(number);
  if (number < 1_000_000) return `${Math.floor(number / 1000)} k`;
  return `${(number / 1_000_000).toFixed(1)} M`;
}

/** A percentage, without digits for their own sake. */
export function percent(value) {
  const text = value < 10 && value % 1 !== 0 ? value.toFixed(1) : String(Math.round(value));
  return `${text} %`;
}

/** Calls a second. */
export function rate(perSecond) {
  const text = perSecond >= 10 ? String(Math.round(perSecond)) : perSecond.toFixed(1).replace(/\.0$/, "");
  return `${text}/s`;
}

export function plural(number, noun, several = `${noun}s`) {
  return `${count(number)} ${number === 1 ? noun : several}`;
}
