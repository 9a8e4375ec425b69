// Discord's Markdown -> DOM nodes (docs: "Markdown Text 101", message formatting; 2026-08).

import { el } from "/static/dom.js";
import { COMMON, markdown } from "/static/markdown.js";

function dialectFor(names) {
  const named = (sign) => (match) =>
    el("span", { class: "mention" }, `${sign}${names[match[1]] ?? match[1]}`);
  return {
    starts: /[\\`[<h*_~|@]/,
    blocks: { quote: /^> /, restQuote: true, headings: 3, small: true },
    rules: [
      COMMON.escape,
      [/```(?:[\w+#.-]+\n)?\n?(.+?)\n?```/ys, (match) => el("pre", {}, el("code", {}, match[1])), "```"],
      COMMON.code,
      [/<@!?(\d{1,20})>/y, named("@")],
      [/<@&(\d{1,20})>/y, named("@")],
      [/<#(\d{1,20})>/y, named("#")],
      [/@(?:everyone|here)\b/y, (match) => el("span", { class: "mention" }, match[0])],
      [/<a?:(\w{2,32}):\d{1,20}>/y, (match) => el("span", { class: "emoji" }, `:${match[1]}:`)],
      [/<t:(-?\d{1,13})(?::[tTdDfFR])?>/y, (match) => when(Number(match[1]))],
      COMMON.link,
      COMMON.angle,
      COMMON.address,
      COMMON.strongEm,
      COMMON.strong,
      COMMON.em,
      [/__(?=\S)((?:\\.|[^\\])+?)__(?!_)/ys, (match, inner) => el("u", {}, inner(match[1])), "__"],
      COMMON.lowEm,
      COMMON.strike,
      [/\|\|((?:\\.|[^\\])+?)\|\|/ys, (match, inner) => spoiler(inner(match[1])), "||"],
    ],
  };
}

function when(seconds) {
  const date = new Date(seconds * 1000);
  const text = Number.isNaN(date.getTime()) ? String(seconds) : date.toLocaleString();
  return el("time", { class: "mention" }, text);
}

function spoiler(children) {
  const show = (event) => {
    event.stopPropagation();
    event.currentTarget.classList.add("open");
  };
  return el("button", { type: "button", class: "spoiler", title: "Show", onclick: show }, children);
}

/** Discord's Markdown -> paragraphs. `named`: users that the message itself names. */
export function discordMarkdown(text, ui, named = {}) {
  return markdown(text, dialectFor({ ...ui.names, ...named }));
}
