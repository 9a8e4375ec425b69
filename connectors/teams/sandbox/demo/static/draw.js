// A message of Teams -> DOM nodes: text, cards and files, as its client draws them (msteams-docs,
// "Types of cards", 2026-09).

import { drawCard } from "./adaptive.js";
import { el, link, picture } from "/static/dom.js";
import { button, Fields } from "/static/fields.js";
import { fileLine } from "/static/files.js";
import { teamsText } from "./text.js";

const ADAPTIVE = "application/vnd.microsoft.card.adaptive";
const BUTTON_CARD = /^application\/vnd\.microsoft\.(?:teams\.)?card\.(?:hero|thumbnail|receipt|signin|oauth|list|o365connector)$/;

/** What differs from the page's own defaults. */
export const client = {
  sign: "", placeholder: null, joins: false, badge: "BOT", edited: "Edited", answerLine: true, commands: false,
};

/** `ui`: { names, emoji, people, channels, mediaFrom, fields, press, choose } */
export function render(native, ui) {
  const nodes = native.text ? teamsText(native.text, native.textFormat ?? "plain") : [];
  const cards = (native.attachments ?? []).map((attachment) => drawAttachment(attachment, ui)).filter(Boolean);
  if (native.attachmentLayout === "carousel" && cards.length > 1) nodes.push(el("div", { class: "carousel", tabindex: "0", role: "group", "aria-label": "Cards" }, cards));
  else nodes.push(...cards);
  const suggested = native.suggestedActions?.actions ?? [];
  if (suggested.length) nodes.push(el("div", { class: "row" }, suggested.map((action) => cardButton(action, ui))));
  return nodes;
}

function drawAttachment(attachment, ui) {
  const type = attachment.contentType ?? "";
  if (type === ADAPTIVE) return drawCard(attachment.content, { ...ui, fields: new Fields() });
  if (BUTTON_CARD.test(type)) return drawButtonCard(attachment.content ?? {}, ui);
  if (type === "text/html") return null;
  const url = attachment.contentUrl ?? attachment.content?.downloadUrl;
  return fileLine({ url, name: attachment.name, type, alt: attachment.alt }, ui);
}

function drawButtonCard(card, ui) {
  const images = (card.images ?? []).map((image) => picture(image.url, image.alt, ui.mediaFrom));
  const facts = (card.facts ?? []).map((fact) => el("p", {}, el("b", {}, fact.key), " ", fact.value));
  const items = (card.items ?? []).map((item) => el("p", {}, item.title, item.price ? el("span", { class: "number" }, ` ${item.price}`) : null));
  const total = card.total ? el("p", { class: "strong" }, `Total ${card.total}`) : null;
  const text = (value, name) => (value ? el("div", { class: name }, teamsText(String(value), "markdown")) : null);
  return el(
    "div", { class: "framed card" }, images, text(card.title, "strong"), text(card.subtitle, "small"), text(card.text, ""), facts, items, total,
    card.buttons?.length ? el("div", { class: "row" }, card.buttons.map((action) => cardButton(action, ui))) : null,
  );
}

function cardButton(action, ui) {
  if (action.type === "openUrl") return el("span", { class: "control" }, link(String(action.value), [action.title ?? ""]));
  return button(action.title ?? "", { press: () => ui.press(action.title ?? "") });
}

/** A dialog (task module) -> what it shows; its own buttons send it. */
export function form(form, ui) {
  const card = form.raw.card?.content ?? {};
  const inside = { ...ui, press: (action, values) => ui.pressIn(form.id, action, values) };
  return { title: form.title, body: [drawCard(card, inside)], submit: null, cancel: "Close" };
}
