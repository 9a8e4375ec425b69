// The emoji picker: one for the page, opened beside whatever wants an emoji.

import { el } from "./dom.js";

const USUAL = ["thumbsup", "heart", "tada", "joy", "eyes", "rocket", "white_check_mark", "pray", "fire", "thinking_face", "wave", "+1", "clap", "100", "sob", "sweat_smile", "coffee", "warning", "x", "bulb"];
const MOST = 80;
const COLUMNS = 8;

/** name -> characters; empty until it has come. */
export const emoji = {};

export async function loadEmoji() {
  Object.assign(emoji, await (await fetch("/emoji.json")).json());
}

const search = el("input", { type: "search", placeholder: "Search emoji", "aria-label": "Search emoji" });
const grid = el("div", { class: "emoji-grid", role: "listbox", "aria-label": "Emoji" });
const picker = el("dialog", { class: "picker", "aria-label": "Choose an emoji" }, search, grid);
document.body.append(picker);
let chosen = null;

/** Let somebody choose; gives `{ name, text }`, or null when they do not. */
export function pickEmoji(beside) {
  search.value = "";
  fill();
  const place = beside.getBoundingClientRect();
  picker.showModal();
  const size = picker.getBoundingClientRect();
  picker.style.left = `${Math.max(8, Math.min(place.left, innerWidth - size.width - 8))}px`;
  picker.style.top = `${Math.max(8, place.top - size.height - 6 > 0 ? place.top - size.height - 6 : Math.min(place.bottom + 6, innerHeight - size.height - 8))}px`;
  search.focus();
  chosen = null;
  return new Promise((resolve) => {
    picker.addEventListener("close", () => resolve(chosen), { once: true });
  });
}

function fill() {
  const wanted = search.value.trim().toLowerCase().replaceAll(" ", "_").replaceAll(":", "");
  const names = wanted ? Object.keys(emoji).filter((name) => name.includes(wanted)) : USUAL;
  names.sort((one, other) => (wanted ? one.indexOf(wanted) - other.indexOf(wanted) || one.length - other.length : 0));
  const seen = new Set();
  const shown = names.filter((name) => emoji[name] && !seen.has(emoji[name]) && seen.add(emoji[name])).slice(0, MOST);
  grid.replaceChildren(...shown.map((name, at) => {
    const node = el("button", { type: "button", role: "option", "aria-label": name.replaceAll("_", " "), title: `:${name}:`, tabindex: at ? "-1" : "0" }, emoji[name]);
    node.addEventListener("click", () => {
      chosen = { name, text: emoji[name] };
      picker.close();
    });
    return node;
  }));
  if (!shown.length) grid.append(el("p", { class: "quiet" }, "No emoji has this name."));
}

search.addEventListener("input", fill);
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") grid.querySelector("button")?.click();
  if (event.key === "ArrowDown") grid.querySelector("button")?.focus();
});
grid.addEventListener("keydown", (event) => {
  const all = [...grid.querySelectorAll("button")];
  const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: COLUMNS, ArrowUp: -COLUMNS }[event.key];
  if (!step) return;
  event.preventDefault();
  const next = all[all.indexOf(document.activeElement) + step];
  if (next) next.focus();
  else if (step < 0) search.focus();
});
picker.addEventListener("click", (event) => {
  if (event.target === picker) picker.close();
});
