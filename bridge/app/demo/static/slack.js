// Slack's rich_text blocks, and bare mrkdwn where there are none, -> DOM nodes (docs.slack.dev,
// "Rich text block", 2026-08).

import { el, link } from "./dom.js";

export function renderSlack(native, names) {
  const rich = native.blocks.filter((block) => block.type === "rich_text");
  if (!rich.length) return [el("p", {}, unescaped(native.text))];
  return rich.flatMap((block) => block.elements.map((element) => blockNode(element, names)));
}

function blockNode(element, names) {
  const children = () => (element.elements ?? []).map((one) => inlineNode(one, names));
  switch (element.type) {
    case "rich_text_quote":
      return el("blockquote", {}, children());
    case "rich_text_preformatted":
      return el("pre", {}, el("code", {}, children()));
    case "rich_text_list": {
      const items = (element.elements ?? []).map((item) => el("li", {}, blockNode(item, names)));
      const level = element.indent ? `in${Math.min(3, element.indent)}` : "";
      return el(element.style === "ordered" ? "ol" : "ul", { class: level }, items);
    }
    default:
      return el("p", {}, children());
  }
}

function inlineNode(element, names) {
  switch (element.type) {
    case "text":
      return styled(element.text, element.style);
    case "link":
      return link(element.url, [styled(element.text ?? element.url, element.style)]);
    case "user":
      return el("span", { class: "mention" }, `@${names[element.user_id] ?? element.user_id}`);
    case "usergroup":
      return el("span", { class: "mention" }, `@${element.usergroup_id}`);
    case "channel":
      return el("span", { class: "mention" }, `#${names[element.channel_id] ?? element.channel_id}`);
    case "broadcast":
      return el("span", { class: "mention loud" }, `@${element.range}`);
    case "emoji":
      return el("span", { class: "emoji", title: `:${element.name}:` }, emoji(element));
    default:
      return el("span", {}, element.text ?? "");
  }
}

function emoji(element) {
  if (!/^[0-9a-f]+(-[0-9a-f]+)*$/i.test(element.unicode ?? "")) return `:${element.name}:`;
  return String.fromCodePoint(...element.unicode.split("-").map((code) => parseInt(code, 16)));
}

const STYLES = { code: "code", bold: "strong", italic: "em", strike: "s", underline: "u" };

function styled(text, style = {}) {
  let node = text;
  for (const [name, tag] of Object.entries(STYLES)) {
    if (style[name]) node = el(tag, {}, node);
  }
  return node;
}

function unescaped(text) {
  return text.replace(/&(lt|gt|amp);/g, (_, name) => ({ lt: "<", gt: ">", amp: "&" })[name]);
}
