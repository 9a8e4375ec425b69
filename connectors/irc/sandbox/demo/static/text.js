// A line with mIRC's formatting codes -> DOM nodes (modern.ircdocs.horse/formatting, 2026-08).

import { el, link } from "/static/dom.js";

const CODE = /\x03(?:(\d{1,2})(?:,(\d{1,2}))?)?|\x04(?:([0-9A-Fa-f]{6})(?:,([0-9A-Fa-f]{6}))?)?|[\x02\x1d\x1f\x1e\x11\x16\x0f]/g;
const ADDRESS = /https?:\/\/[^\s<>"]*[^\s<>".,:;!?)\]}']/g;
const TOGGLES = { "\x02": "strong", "\x1d": "em", "\x1f": "u", "\x1e": "s", "\x11": "code" };
const COLOURS = [
  "#ffffff", "#000000", "#00007f", "#009300", "#ff0000", "#7f0000", "#9c009c", "#fc7f00",
  "#ffff00", "#00fc00", "#009393", "#00ffff", "#0000fc", "#ff00ff", "#7f7f7f", "#d2d2d2",
];

/** Codes toggle, may overlap, and end with the line. */
export function formattedLine(line) {
  const nodes = [];
  let styles = new Set();
  let colours = [null, null];
  let at = 0;
  for (const code of line.matchAll(CODE)) {
    nodes.push(...run(line.slice(at, code.index), styles, colours));
    at = code.index + code[0].length;
    const sign = code[0][0];
    if (sign === "\x0f") {
      styles = new Set();
      colours = [null, null];
    } else if (sign === "\x03") {
      colours = code[1] === undefined ? [null, null] : [named(code[1]), code[2] === undefined ? colours[1] : named(code[2])];
    } else if (sign === "\x04") {
      colours = code[3] === undefined ? [null, null] : [`#${code[3]}`, code[4] === undefined ? colours[1] : `#${code[4]}`];
    } else if (sign === "\x16") {
      colours = [colours[1] ?? "var(--ground)", colours[0] ?? "var(--text)"];
    } else {
      styles = new Set(styles);
      if (!styles.delete(TOGGLES[sign])) styles.add(TOGGLES[sign]);
    }
  }
  return [...nodes, ...run(line.slice(at), styles, colours)];
}

function named(number) {
  return COLOURS[Number(number)] ?? null;
}

/** A stretch of text in one style; addresses in it are links. */
function run(text, styles, [colour, ground]) {
  if (!text) return [];
  let nodes = linked(text.replace(/[\x00-\x1f\x7f]/g, ""));
  for (const tag of styles) nodes = [el(tag, {}, nodes)];
  if (!colour && !ground) return nodes;
  const node = el("span", { class: ground ? "painted" : "" }, nodes);
  if (colour) node.style.color = colour;
  if (ground) node.style.background = ground;
  return [node];
}

function linked(text) {
  const nodes = [];
  let at = 0;
  for (const address of text.matchAll(ADDRESS)) {
    nodes.push(text.slice(at, address.index), link(address[0], [address[0]]));
    at = address.index + address[0].length;
  }
  return [...nodes, text.slice(at)];
}
