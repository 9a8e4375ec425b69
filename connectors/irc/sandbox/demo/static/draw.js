// A message of IRC -> DOM nodes: its lines with their formatting codes, as clients draw them
// (modern.ircdocs.horse/formatting, 2026-08).

import { el } from "/static/dom.js";
import { formattedLine } from "./text.js";

/** What differs from the page's own defaults. */
export const client = { badge: "BOT", commands: false, edits: false, files: false, pins: false, threads: false };

/** `native`: the message as `LocalIrc` shows it: command, source, tags and text. */
export function render(native) {
  const action = /^\x01ACTION ([^]*?)\x01?$/.exec(native.text ?? "");
  const nick = (native.source ?? "").split("!")[0];
  const lines = (action ? action[1] : (native.text ?? "")).split("\n").map((line) => el("p", {}, formattedLine(line)));
  if (action) lines[0].prepend(el("strong", {}, `* ${nick} `));
  if (native.tags?.["+reply"] && !native.text.includes("↪ ")) lines[0].prepend(el("span", { class: "answers", title: "Answers another message" }, "↪ "));
  return lines;
}
