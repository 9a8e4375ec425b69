// Tables and charts -> DOM nodes, for the cards of all platforms.

import { el } from "./dom.js";

/** Rows of cells, each a list of nodes. `head`: the first row names the columns. */
export function figureTable(rows, { head = false, align = [], caption = "" } = {}) {
  const cells = (row, tag) => row.map((cell, at) => {
    const node = el(tag, tag === "th" ? { scope: "col" } : {}, cell);
    if (align[at]) node.style.textAlign = align[at];
    return node;
  });
  const lines = rows.map((row, at) => el("tr", {}, cells(row, head && at === 0 ? "th" : "td")));
  const table = el("table", {}, caption ? el("caption", {}, caption) : null, lines);
  return el("div", { class: "table-frame", tabindex: "0", role: "group", "aria-label": caption || "Table" }, table);
}

const COLOURS = ["#5b5fc7", "#2fa36b", "#d98e04", "#c0392b", "#3498db", "#8e44ad", "#7f8c8d"];

/** `chart`: { title, kind, series: [{ name, points: [{ label, value }] }] }: bars, or a ring. */
export function chart({ title, kind, series }) {
  const body = kind === "pie" ? ring(series[0]?.points ?? []) : bars(series);
  return el("figure", { class: "chart" }, title ? el("figcaption", {}, title) : null, body);
}

function bars(series) {
  const most = Math.max(1e-9, ...series.flatMap((one) => one.points.map((point) => Math.abs(point.value))));
  const lines = series.flatMap((one, number) => one.points.map((point) => {
    const bar = el("span", { class: "bar-of" });
    bar.style.setProperty("--part", `${(Math.abs(point.value) / most) * 100}%`);
    bar.style.setProperty("--tint", COLOURS[number % COLOURS.length]);
    return el("tr", {}, el("th", { scope: "row" }, one.name ? `${point.label} · ${one.name}` : String(point.label)), el("td", {}, bar), el("td", { class: "number" }, String(point.value)));
  }));
  return el("table", { class: "bars" }, lines);
}

function ring(points) {
  const whole = points.reduce((sum, point) => sum + point.value, 0) || 1;
  let at = 0;
  const parts = points.map((point, number) => {
    const from = at;
    at += (point.value / whole) * 100;
    return `${COLOURS[number % COLOURS.length]} ${from}% ${at}%`;
  });
  const drawn = el("span", { class: "ring", "aria-hidden": "true" });
  drawn.style.background = `conic-gradient(${parts.join(", ")})`;
  const legend = el("ul", { class: "legend" }, points.map((point, number) => {
    const dot = el("i", { "aria-hidden": "true" });
    dot.style.background = COLOURS[number % COLOURS.length];
    return el("li", {}, dot, `${point.label}: ${point.value}`);
  }));
  return el("div", { class: "ring-row" }, drawn, legend);
}
