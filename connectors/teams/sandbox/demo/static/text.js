// What Teams shows of Markdown mixed with a little HTML -> DOM nodes (msteams-docs, "Format your
// bot messages", 2026-09). What people type there is plain text.

import { el, link } from "/static/dom.js";
import { COMMON, markdown } from "/static/markdown.js";

const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };
const TAGS = {
  b: "strong", strong: "strong", i: "em", em: "em", u: "u", ins: "u", s: "s", strike: "s",
  del: "s", code: "code", sub: "sub", sup: "sup", span: "span", p: "span", div: "span",
};

function entity(match) {
  const [, decimal, hex, name] = match;
  if (name) return ENTITIES[name.toLowerCase()] ?? match[0];
  const code = parseInt(decimal ?? hex, decimal ? 10 : 16);
  return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000) ? String.fromCodePoint(code) : "\ufffd";
}

function decoded(text) {
  return text.replace(ENTITY, (...match) => entity(match));
}

const ENTITY = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));/g;
const DIALECT = {
  starts: /[\\`[<h*_~&]/,
  blocks: { quote: /^ {0,3}> ?/, restQuote: false, headings: 6, small: false },
  rules: [
    COMMON.escape,
    [/(`{1,2})(?!`)(.+?)(?<!`)\1(?!`)/ys, (match) => el("code", {}, decoded(match[2])), "`"],
    [new RegExp(ENTITY.source, "y"), entity],
    [/<br\s*\/?>\n?/iy, () => el("br")],
    [/<at(?: [^<>]*)?>([^<]*)<\/at>/iy, (match) => el("span", { class: "mention" }, decoded(match[1]))],
    [
      /<a [^<>]*?href="([^"<>]*)"[^<>]*>(.*?)<\/a>/iys,
      (match, inner) => link(decoded(match[1]), inner(match[2])),
      "</a>",
    ],
    [
      /<(b|strong|i|em|u|ins|s|strike|del|code|sub|sup|span|p|div)(?: [^<>]*)?>(.*?)<\/\1>/iys,
      (match, inner) => el(TAGS[match[1].toLowerCase()], {}, inner(match[2])),
      "</",
    ],
    COMMON.link,
    COMMON.angle,
    COMMON.address,
    COMMON.strongEm,
    COMMON.strong,
    COMMON.em,
    COMMON.lowEm,
    COMMON.strike,
  ],
};

const PLAIN = {
  starts: /[h]/,
  blocks: { quote: /^(?!)/, restQuote: false, headings: 0, small: false },
  rules: [COMMON.address],
};

/** The text of an activity in its own format (`plain`, `markdown`, `xml`) -> paragraphs. */
export function teamsText(text, format) {
  if (format === "markdown" || format === "xml") return markdown(text, DIALECT);
  return [el("p", {}, inlinePlain(text))];
}

function inlinePlain(text) {
  const nodes = [];
  let last = 0;
  for (const match of text.matchAll(new RegExp(PLAIN.rules[0][0].source, "g"))) {
    nodes.push(text.slice(last, match.index), link(match[0], [match[0]]));
    last = match.index + match[0].length;
  }
  return [...nodes, text.slice(last)];
}
