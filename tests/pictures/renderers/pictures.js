// Native messages -> what the platforms' own clients show, as near as public renderers come.
import * as AdaptiveCards from "adaptivecards";
import MarkdownIt from "markdown-it";
import React from "react";
import { createRoot } from "react-dom/client";
import { Message } from "slack-blocks-to-jsx";
import "@skyra/discord-components-core";
import "adaptivecards/dist/adaptivecards.css";
import "slack-blocks-to-jsx/dist/style.css";

const markdown = new MarkdownIt({ breaks: true, linkify: true });

function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "html") element.innerHTML = value;
    else if (key === "text") element.textContent = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter(Boolean));
  return element;
}

function unknown(what) {
  return make("div", { class: "unknown", text: `no renderer for: ${what}` });
}

// --- Slack ----------------------------------------------------------------------------------

class Guard extends React.Component {
  state = { error: null };
  static getDerivedStateFromError(error) {
    return { error };
  }
  render() {
    if (!this.state.error) return this.props.children;
    const text = `renderer failed: ${this.state.error.message}`;
    return React.createElement("div", { className: "unknown" }, text);
  }
}

function slackBlocks(blocks, title) {
  const place = make("div");
  const card = React.createElement(Message, {
    blocks, name: title, time: new Date(0), logo: "", withoutWrapper: true,
  });
  createRoot(place).render(React.createElement(Guard, {}, card));
  return place;
}

function slackText(text) {
  return { type: "section", text: { type: "mrkdwn", text } };
}

function slackAttachment(one) {
  const blocks = one.blocks ?? legacyBlocks(one);
  const color = { good: "#2eb67d", warning: "#ecb22e", danger: "#e01e5a" }[one.color] ?? one.color;
  const bar = String(color ?? "#ddd").replace(/^(?!#)/, "#");
  const box = make("div", { class: "attachment", style: `border-color: ${bar}` });
  box.append(slackBlocks(blocks, ""));
  return box;
}

function legacyBlocks(one) {
  const lines = [one.pretext, one.author_name, one.title && `*${one.title}*`, one.text];
  const fields = (one.fields ?? []).map((field) => `*${field.title}*\n${field.value}`);
  const blocks = [...lines, ...fields, one.footer].filter(Boolean).map(slackText);
  const image = one.image_url ?? one.thumb_url;
  if (image) blocks.push({ type: "image", image_url: image, alt_text: "" });
  return blocks.length ? blocks : [slackText(one.fallback ?? "")];
}

export function slack(message) {
  const place = make("div", { class: "slack" });
  const payload = Array.isArray(message) ? { blocks: message } : message;
  const blocks = payload.blocks?.length ? payload.blocks : payload.text && [slackText(payload.text)];
  if (blocks) place.append(slackBlocks(blocks, "Ann"));
  for (const one of payload.attachments ?? []) place.append(slackAttachment(one));
  return place;
}

// --- Teams ----------------------------------------------------------------------------------

AdaptiveCards.AdaptiveCard.onProcessMarkdown = (text, result) => {
  result.outputHtml = markdown.render(text);
  result.didProcess = true;
};

function adaptive(content) {
  const card = new AdaptiveCards.AdaptiveCard();
  card.hostConfig = new AdaptiveCards.HostConfig({
    fontFamily: "Segoe UI, Helvetica, sans-serif", supportsInteractivity: true,
    spacing: { small: 4, default: 8, medium: 12, large: 16, extraLarge: 24, padding: 12 },
  });
  card.parse(content);
  return card.render() ?? unknown("an Adaptive Card that the renderer refuses");
}

function botCard(one) {
  const content = one.content ?? {};
  const lines = [content.title, content.subtitle, content.text].filter(Boolean);
  const box = make("div", { class: "bot-card" });
  for (const line of lines) box.append(make("p", { text: line }));
  for (const image of content.images ?? []) box.append(make("img", { src: image.url }));
  for (const button of content.buttons ?? []) box.append(make("button", { text: button.title }));
  return box.childNodes.length ? box : unknown(one.contentType);
}

export function teams(message) {
  const activity = message.type === "AdaptiveCard"
    ? { attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", content: message }] }
    : message;
  const place = make("div", { class: "teams" });
  const row = make("div", { class: activity.attachmentLayout === "carousel" ? "carousel" : "" });
  if (activity.text) {
    const html = activity.textFormat === "xml" ? activity.text : markdown.render(activity.text);
    place.append(make("div", { html }));
  }
  for (const one of activity.attachments ?? []) {
    const isAdaptive = one.contentType === "application/vnd.microsoft.card.adaptive";
    row.append(isAdaptive ? adaptive(one.content) : botCard(one));
  }
  place.append(row);
  return place;
}

// --- Discord --------------------------------------------------------------------------------

function discordText(text) {
  const subtle = String(text ?? "").replace(/^-# (.*)$/gm, "###### $1");
  const quiet = markdown.render(subtle).replace(/\|\|(.+?)\|\|/g, "<discord-spoiler>$1</discord-spoiler>");
  const moments = quiet.replace(/&lt;t:(-?\d+)(?::\w)?&gt;/g, (_, unix) =>
    `<discord-time>${new Date(unix * 1000).toUTCString()}</discord-time>`);
  return make("div", { class: "text", html: moments });
}

function picture(media, name = "") {
  return make("img", { src: media?.url ?? media?.proxy_url, alt: name, class: "picture" });
}

function embed(one) {
  const color = one.color ? `#${one.color.toString(16).padStart(6, "0")}` : undefined;
  const element = make("discord-embed", {
    slot: "embeds", color, "embed-title": one.title, url: one.url, "author-name": one.author?.name,
    "author-image": one.author?.icon_url, "author-url": one.author?.url,
    image: one.image?.url, thumbnail: one.thumbnail?.url,
  });
  if (one.description) {
    element.append(make("discord-embed-description", { slot: "description" }, discordText(one.description)));
  }
  if (one.fields?.length) {
    const fields = one.fields.map((field) => make("discord-embed-field",
      { "field-title": field.name, inline: field.inline }, discordText(field.value)));
    element.append(make("discord-embed-fields", { slot: "fields" }, ...fields));
  }
  if (one.footer || one.timestamp) {
    const properties = { slot: "footer", "footer-image": one.footer?.icon_url, timestamp: one.timestamp };
    element.append(make("discord-embed-footer", properties, one.footer?.text ?? ""));
  }
  return element;
}

const STYLES = { 1: "primary", 2: "secondary", 3: "success", 4: "destructive", 5: "secondary" };

function component(one) {
  const inner = () => (one.components ?? []).map(component);
  switch (one.type) {
    case 1: return make("discord-action-row", {}, ...inner());
    case 2: return make("discord-button", { type: STYLES[one.style], url: one.url, disabled: one.disabled },
      `${one.emoji?.name ?? ""} ${one.label ?? ""}`.trim());
    case 3: case 5: case 6: case 7: case 8: return menu(one);
    case 9: return make("div", { class: "section" }, make("div", {}, ...inner()), component(one.accessory));
    case 10: return discordText(one.content);
    case 11: return make("div", { class: "thumbnail" }, picture(one.media, one.description));
    case 12: return make("div", { class: "gallery" },
      ...(one.items ?? []).map((item) => picture(item.media, item.description)));
    case 13: return make("div", { class: "file", text: `📎 ${one.file?.url ?? ""}` });
    case 14: return make("div", { class: one.divider === false ? "gap" : "rule" });
    case 17: return container(one, inner());
    default: return unknown(`component ${one.type}`);
  }
}

function menu(one) {
  const box = make("div", { class: "menu", text: one.placeholder ?? "Make a selection" });
  for (const option of one.options ?? []) {
    box.append(make("div", { class: "option", text: `${option.default ? "●" : "○"} ${option.label}` }));
  }
  return box;
}

function container(one, children) {
  const color = one.accent_color ? `#${one.accent_color.toString(16).padStart(6, "0")}` : "#555";
  return make("div", { class: "container", style: `border-color: ${color}` }, ...children);
}

export function discord(message) {
  const payload = Array.isArray(message) ? { components: message } : message;
  const shown = make("discord-message", { author: "Ann", timestamp: "00:00" });
  if (payload.content) shown.append(discordText(payload.content));
  for (const one of payload.embeds ?? []) shown.append(embed(one));
  const components = (payload.components ?? []).map(component);
  if (components.length) shown.append(make("div", { slot: "components" }, ...components));
  return make("discord-messages", {}, shown);
}

window.pictures = { slack, teams, discord };
