// The list: only the tiles in sight exist, so that a thousand breakers cost no more than twenty.

import { compare } from "./breakers.js";
import { setAttribute, setText } from "./elements.js";
import { plural } from "./text.js";
import { Tile } from "./tile.js";

const HEIGHT = 158;
const NARROWEST = 280;
const GAP = 10;
/** Rows beyond the edges, so that scrolling shows no holes. */
const SPARE = 2;
/** While the pointer moves over the tiles, none of them changes places; in milliseconds. */
const CALM = 1500;

export class List {
  constructor(breakers, choose) {
    this.breakers = breakers;
    this.choose = choose;
    this.scroller = document.getElementById("scroller");
    this.list = document.getElementById("list");
    this.heading = document.getElementById("shown");
    this.nothing = document.getElementById("nothing");
    this.tiles = new Map();
    this.names = [];
    this.text = "";
    this.states = new Set();
    /** The one that Tab leads to. */
    this.current = null;
    this.pointerMoved = -CALM;
    this.scroller.addEventListener("scroll", () => this.draw(), { passive: true });
    this.list.addEventListener("pointermove", () => (this.pointerMoved = performance.now()));
    this.list.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("focusin", (event) => {
      const name = event.target.closest(".tile")?.dataset.name;
      if (name !== undefined) this.setCurrent(name);
    });
    new ResizeObserver(() => this.draw()).observe(this.scroller);
  }

  filter(text, states) {
    this.text = text.trim().toLowerCase();
    this.states = states;
    this.scroller.scrollTop = 0;
    this.update(true);
  }

  /** Sorts anew and draws all. */
  update(atOnce = false) {
    const wanted = (breaker) =>
      (this.states.size === 0 || this.states.has(breaker.state)) &&
      (this.text === "" || breaker.name.toLowerCase().includes(this.text));
    const found = [...this.breakers.all.values()].filter(wanted);
    const calm = !atOnce && performance.now() - this.pointerMoved < CALM;
    if (calm) {
      const places = new Map(this.names.map((name, place) => [name, place]));
      const place = (breaker) => places.get(breaker.name) ?? this.names.length;
      found.sort((a, b) => place(a) - place(b) || compare(a, b));
    } else {
      found.sort(compare);
    }
    this.names = found.map((breaker) => breaker.name);
    const all = this.breakers.all.size;
    setText(
      this.heading,
      found.length === all ? plural(all, "breaker") : `${found.length} of ${plural(all, "breaker")}`,
    );
    this.nothing.hidden = found.length > 0;
    setText(this.nothing, all === 0 ? "There are no breakers yet." : "No breaker matches the filter.");
    if (!this.names.includes(this.current)) this.current = this.names[0] ?? null;
    this.draw(true);
  }

  /** Puts the tiles in sight to their places. */
  draw(changed = false) {
    // Everything is measured before anything is changed: in turns, each would lay out the page anew.
    const width = this.list.clientWidth;
    const { scrollTop, clientHeight } = this.scroller;
    const top = Math.max(0, scrollTop - this.list.offsetTop);
    const columns = Math.max(1, Math.floor((width + GAP) / (NARROWEST + GAP)));
    const tileWidth = (width - (columns - 1) * GAP) / columns;
    this.columns = columns;
    const rows = Math.ceil(this.names.length / columns);
    this.list.style.height = `${Math.max(0, rows * (HEIGHT + GAP) - GAP)}px`;
    const first = Math.max(0, Math.floor(top / (HEIGHT + GAP)) - SPARE);
    const last = Math.ceil((top + clientHeight) / (HEIGHT + GAP)) + SPARE;
    const inSight = new Set(this.names.slice(first * columns, last * columns));
    // The one that has the focus stays: the focus would be lost with it.
    const focused = document.activeElement?.closest?.(".tile")?.dataset.name;
    if (focused !== undefined && this.names.includes(focused)) inSight.add(focused);

    for (const [name, tile] of this.tiles) {
      if (!inSight.has(name)) {
        tile.item.remove();
        this.tiles.delete(name);
      }
    }
    const places = new Map(this.names.map((name, place) => [name, place]));
    for (const name of inSight) {
      let tile = this.tiles.get(name);
      const isNew = tile === undefined;
      if (isNew) {
        tile = new Tile(name, this.choose);
        this.tiles.set(name, tile);
        this.list.append(tile.item);
      }
      const place = places.get(name);
      const [row, column] = [Math.floor(place / columns), place % columns];
      const { style } = tile.item;
      style.width = `${tileWidth}px`;
      style.height = `${HEIGHT}px`;
      style.transform = `translate(${column * (tileWidth + GAP)}px, ${row * (HEIGHT + GAP)}px)`;
      setAttribute(tile.item, "aria-posinset", String(place + 1));
      setAttribute(tile.item, "aria-setsize", String(this.names.length));
      tile.name.tabIndex = name === this.current ? 0 : -1;
      if (isNew || changed) tile.update(this.breakers.get(name), this.breakers);
      tile.item.classList.toggle("chosen", name === this.chosen);
    }
    this.sortElements(places);
  }

  /** The order of the elements is what a screen reader reads. */
  sortElements(places) {
    const items = [...this.list.children];
    const sorted = items.toSorted((a, b) => places.get(a.dataset.name) - places.get(b.dataset.name));
    if (items.every((item, place) => item === sorted[place])) return;
    const focused = document.activeElement;
    this.list.append(...sorted);
    if (focused !== document.activeElement && this.list.contains(focused)) focused.focus({ preventScroll: true });
  }

  /** Draws what only time changes. */
  tick() {
    for (const [name, tile] of this.tiles) {
      const breaker = this.breakers.get(name);
      if (breaker) tile.tick(breaker, this.breakers);
    }
  }

  markChosen(name) {
    this.chosen = name;
    for (const [one, tile] of this.tiles) tile.item.classList.toggle("chosen", one === name);
  }

  setCurrent(name) {
    const before = this.tiles.get(this.current);
    if (before) before.name.tabIndex = -1;
    this.current = name;
    const tile = this.tiles.get(name);
    if (tile) tile.name.tabIndex = 0;
  }

  /** Brings a tile into sight and gives it the focus. */
  focus(name) {
    const place = this.names.indexOf(name);
    if (place < 0) return;
    const top = this.list.offsetTop + Math.floor(place / this.columns) * (HEIGHT + GAP);
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop) this.scroller.scrollTop = top - GAP;
    else if (top + HEIGHT > scrollTop + clientHeight) this.scroller.scrollTop = top + HEIGHT + GAP - clientHeight;
    this.setCurrent(name);
    this.draw();
    this.tiles.get(name)?.name.focus({ preventScroll: true });
  }

  key(event) {
    const page = this.columns * Math.max(1, Math.floor(this.scroller.clientHeight / (HEIGHT + GAP)));
    const steps = {
      ArrowRight: 1,
      ArrowLeft: -1,
      ArrowDown: this.columns,
      ArrowUp: -this.columns,
      PageDown: page,
      PageUp: -page,
      Home: -Infinity,
      End: Infinity,
    };
    const step = steps[event.key];
    if (step === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const place = this.names.indexOf(this.current) + step;
    this.focus(this.names[Math.min(this.names.length - 1, Math.max(0, place))]);
  }
}
