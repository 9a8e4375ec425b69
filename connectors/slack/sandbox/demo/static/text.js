// Slack's texts -> DOM nodes: rich_text blocks, mrkdwn, plain text and Markdown blocks
// (docs.slack.dev, "Rich text block" and "Formatting message text", 2026-08).

import { el, link } from "/static/dom.js";
import { COMMON, inline, markdown } from "/static/markdown.js";

/** A text object, or a string of mrkdwn -> nodes that flow in a line. */
export function inlineText(text, ui) {
  if (!text) return [];
  if (typeof text === "string") return inline(text, mrkdwnDialect(ui));
  if (text.type === "plain_text") return named(text.text, ui);
  if (text.type === "rich_text") return richText(text, ui);
  return inline(text.text, mrkdwnDialect(ui, text.verbatim));
}

/** mrkdwn with its quotes and code blocks -> paragraphs. */
export function mrkdwn(text, ui, verbatim = false) {
  return markdown(text, mrkdwnDialect(ui, verbatim));
}

/** A `markdown` block: CommonMark. */
export function commonMark(text) {
  return markdown(text, {
    starts: /[\\`[<h*_~]/,
    blocks: { quote: /^ {0,3}> ?/, restQuote: false, headings: 6, small: false },
    rules: [COMMON.escape, COMMON.code, COMMON.link, COMMON.angle, COMMON.address, COMMON.strongEm, COMMON.strong, COMMON.em, COMMON.lowEm, COMMON.strike],
  });
}

export function richText(block, ui) {
  return (block.elements ?? []).map((element) => blockNode(element, ui));
}

function blockNode(element, ui) {
  const children = () => (element.elements ?? []).map((child) => inlineNode(child, ui));
  switch (element.type) {
    case "rich_text_quote":
      return el("blockquote", {}, children());
    case "rich_text_preformatted":
      return el("pre", {}, el("code", {}, children()));
    case "rich_text_list": {
      const items = (element.elements ?? []).map((item) => el("li", {}, blockNode(item, ui)));
      const level = element.indent ? `in${Math.min(3, element.indent)}` : "";
      const start = element.style === "ordered" && element.offset ? element.offset + 1 : null;
      return el(element.style === "ordered" ? "ol" : "ul", { class: level, start }, items);
    }
    default:
      return el("p", {}, children());
  }
}

function inlineNode(element, ui) {
  switch (element.type) {
    case "text":
      return styled(element.text, element.style);
    case "link":
      return link(element.url, [styled(element.text || element.url, element.style)]);
    case "user":
      return mention(`@${ui.names[element.user_id] ?? element.user_id}`);
    case "usergroup":
      return mention(`@${ui.names[element.usergroup_id] ?? element.usergroup_id}`);
    case "channel":
      return mention(`#${ui.names[element.channel_id] ?? element.channel_id}`);
    case "broadcast":
      return mention(`@${element.range}`, "loud");
    case "emoji":
      return emojiNode(element.name, ui, element.unicode);
    case "date":
      return el("time", {}, element.fallback || dated(element.timestamp, element.format ?? "{date_pretty} {time}"));
    case "color":
      return el("code", {}, element.value);
    default:
      return el("span", {}, element.text ?? "");
  }
}

function mention(text, more = "") {
  return el("span", { class: `mention ${more}` }, text);
}

function emojiNode(name, ui, unicode = "") {
  const points = /^[0-9a-f]+(-[0-9a-f]+)*$/i.test(unicode) ? String.fromCodePoint(...unicode.split("-").map((code) => parseInt(code, 16))) : null;
  return el("span", { class: "emoji", title: `:${name}:` }, points ?? ui.emoji?.[name] ?? `:${name}:`);
}

const STYLES = { code: "code", bold: "strong", italic: "em", strike: "s", underline: "u" };

function styled(text, style = {}) {
  let node = text;
  for (const [name, tag] of Object.entries(STYLES)) {
    if (style[name]) node = el(tag, {}, node);
  }
  return node;
}

// --- mrkdwn -------------------------------------------------------------------------------------

const ENTITY = { lt: "<", gt: ">", amp: "&" };
const EDGE = "(?<![\\p{L}\\p{N}])";
const END = "(?![\\p{L}\\p{N}])";

function mrkdwnDialect(ui, verbatim = false) {
  const wrapped = (sign, tag) => [
    new RegExp(`${EDGE}[${sign}](?=\\S)([^\\n${sign}]*[^\\s${sign}])[${sign}]${END}`, "yu"),
    (match, inner) => el(tag, {}, inner(match[1])),
    sign,
  ];
  const rules = [
    [/```\n?([^]+?)\n?```/y, (match) => el("pre", {}, el("code", {}, entities(match[1]))), "```"],
    [/`([^`\n]+)`/y, (match) => el("code", {}, entities(match[1])), "`"],
    [/&(lt|gt|amp);/y, (match) => ENTITY[match[1]]],
    [/<@([A-Z0-9]+)(?:\|([^<>]*))?>/y, (match) => mention(`@${ui.names[match[1]] ?? match[2] ?? match[1]}`)],
    [/<#([A-Z0-9]+)(?:\|([^<>]*))?>/y, (match) => mention(`#${ui.names[match[1]] ?? (match[2] || match[1])}`)],
    [/<!subteam\^([A-Z0-9]+)(?:\|([^<>]*))?>/y, (match) => mention(match[2] || `@${ui.names[match[1]] ?? match[1]}`)],
    [/<!(here|channel|everyone)(?:\|[^<>]*)?>/y, (match) => mention(`@${match[1]}`, "loud")],
    [/<!date\^(\d+)\^([^^|<>]*)(?:\^([^|<>]*))?(?:\|([^<>]*))?>/y, (match) => el("time", { title: match[4] }, dated(Number(match[1]), match[2]))],
    [/<((?:https?:\/\/|mailto:)[^|<>\s]+)(?:\|([^<>]*))?>/y, (match, inner) => link(entities(match[1]), match[2] ? inner(match[2]) : [entities(match[1])])],
    [/:([a-z0-9_+'-]+(?:::skin-tone-[2-6])?):/y, (match) => emojiNode(match[1], ui)],
    wrapped("*", "strong"),
    wrapped("_", "em"),
    wrapped("~", "s"),
  ];
  if (!verbatim) rules.push(COMMON.address);
  return { starts: verbatim ? /[`&<:*_~]/ : /[`&<:*_~h]/, blocks: { quote: /^(?:&gt;|>) ?/, restQuote: false, headings: 0, small: false, lists: false }, rules };
}

function entities(text) {
  return text.replace(/&(lt|gt|amp);/g, (_, name) => ENTITY[name]);
}

/** Plain text: emoji by their names, and nothing else. */
function named(text, ui) {
  return inline(text, { starts: /:/, blocks: {}, rules: [[/:([a-z0-9_+'-]+(?:::skin-tone-[2-6])?):/y, (match) => ui.emoji?.[match[1]] ?? match[0]]] });
}

/** Slack's date formats, in the reader's own time. */
function dated(seconds, format) {
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return format;
  const day = (options) => date.toLocaleDateString([], options);
  const long = { year: "numeric", month: "long", day: "numeric" };
  const known = {
    date_num: () => day({ year: "numeric", month: "2-digit", day: "2-digit" }),
    date_slash: () => day({ year: "numeric", month: "2-digit", day: "2-digit" }),
    date: () => day(long),
    date_long: () => day({ weekday: "long", ...long }),
    date_short: () => day({ year: "numeric", month: "short", day: "numeric" }),
    time: () => date.toLocaleTimeString([], { hour: "numeric", minute: "2-digit" }),
    time_secs: () => date.toLocaleTimeString(),
    day_divider_pretty: () => day(long),
    ago: () => date.toLocaleString(),
  };
  return format.replace(/\{(\w+?)(?:_pretty)?\}/g, (whole, name) => known[name]?.() ?? whole);
}
