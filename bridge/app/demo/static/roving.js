// A list with one tab stop: Tab enters it once, the arrow keys go through it.

const USABLE = "a[href], button, input, select, textarea, summary, video, audio, [tabindex]";

export class Roving {
  /** `items`: a selector of what has the focus in turn; `last`: the newest item is the tab stop. */
  constructor(list, items, { vertical = false, horizontal = false, last = false } = {}) {
    this.list = list;
    this.items = items;
    this.last = last;
    this.steps = { ...(vertical ? { ArrowDown: 1, ArrowUp: -1 } : {}), ...(horizontal ? { ArrowRight: 1, ArrowLeft: -1 } : {}) };
    this.current = null;
    list.addEventListener("keydown", (event) => this.key(event));
    list.addEventListener("focusin", (event) => this.enter(event.target.closest(items)));
    this.refresh();
  }

  all() {
    return [...this.list.querySelectorAll(this.items)].filter((item) => item.offsetParent !== null);
  }

  /** After something came or went. */
  refresh() {
    const all = this.all();
    if (!all.includes(this.current) || (this.last && !this.list.contains(document.activeElement))) this.current = (this.last ? all.at(-1) : all[0]) ?? null;
    for (const item of all) this.reachable(item, item === this.current);
  }

  /** Only in the current item can Tab reach what is inside. */
  reachable(item, yes) {
    item.tabIndex = yes ? 0 : -1;
    const whole = item.closest("li") ?? item;
    for (const node of whole.querySelectorAll(USABLE)) {
      if (node !== item && node.closest(this.items) === item) node.tabIndex = yes ? 0 : -1;
      else if (node !== item && !node.closest(this.items)) node.tabIndex = yes ? 0 : -1;
    }
  }

  enter(item) {
    if (!item || item === this.current) return;
    if (this.current?.isConnected) this.reachable(this.current, false);
    this.current = item;
    this.reachable(item, true);
  }

  key(event) {
    const all = this.all();
    const at = all.indexOf(event.target);
    if (at < 0) {
      const inside = event.target.closest(this.items);
      if (event.key === "Escape" && inside) inside.focus();
      return;
    }
    const next = event.key === "Home" ? all[0] : event.key === "End" ? all.at(-1) : all[at + (this.steps[event.key] ?? 0)];
    if (!next || next === event.target) return;
    event.preventDefault();
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  }
}
