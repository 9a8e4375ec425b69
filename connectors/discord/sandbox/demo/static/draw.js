// A message of Discord -> DOM nodes: content, embeds, components of both versions, files, polls, as
// its client draws them (docs.discord.com, "Message object", "Components reference", 2026-08).

import { el, link, picture } from "/static/dom.js";
import { discordMarkdown } from "./text.js";
import { button } from "/static/fields.js";
import { fileLine } from "/static/files.js";

/** What differs from the page's own defaults. */
export const client = { namedThreads: true, replies: (count) => `${count} Message${count > 1 ? "s" : ""} ›` };

/** `ui`: { names, emoji, people, channels, mediaFrom, fields, press, choose, vote } */
export function render(native, ui) {
  const named = Object.fromEntries((native.mentions ?? []).map((user) => [String(user.id), user.global_name ?? user.username]));
  const text = (content) => discordMarkdown(content, ui, named);
  const nodes = native.content ? text(native.content) : [];
  for (const sticker of native.sticker_items ?? []) nodes.push(el("p", { class: "unknown" }, `(sticker “${sticker.name}”)`));
  const files = native.attachments ?? [];
  if (files.length && !usesFiles(native.components)) nodes.push(el("div", { class: "files" }, files.map((file) => drawFile(file, ui))));
  for (const embed of native.embeds ?? []) nodes.push(drawEmbed(embed, ui, text));
  if (native.poll) nodes.push(drawPoll(native.poll, ui));
  for (const component of native.components ?? []) nodes.push(drawComponent(component, ui, text));
  return nodes;
}

/** In a message of newer components the files stand where components show them. */
function usesFiles(components) {
  return (components ?? []).some((component) => component.type >= 9);
}

function drawFile(file, ui) {
  const spoiler = (file.filename ?? "").startsWith("SPOILER_");
  return fileLine({ url: file.url, name: file.filename, type: file.content_type, size: file.size, alt: file.description, spoiler }, ui);
}

// --- embeds -------------------------------------------------------------------------------------

function drawEmbed(embed, ui, text) {
  const box = el("div", { class: "attachment embed" });
  if (embed.color !== undefined && embed.color !== null) box.style.setProperty("--bar", colour(embed.color));
  const inner = [];
  if (embed.provider?.name) inner.push(el("p", { class: "small" }, embed.provider.name));
  if (embed.author?.name) {
    const name = embed.author.url ? link(embed.author.url, [embed.author.name]) : embed.author.name;
    inner.push(el("p", { class: "small strong" }, embed.author.icon_url ? picture(embed.author.icon_url, "", ui.mediaFrom, "tiny") : null, name));
  }
  if (embed.title) inner.push(el("div", { class: "strong" }, embed.url ? link(embed.url, text(embed.title)) : text(embed.title)));
  if (embed.description) inner.push(el("div", {}, text(embed.description)));
  if (embed.fields?.length) inner.push(el("div", { class: "embed-fields" }, embed.fields.map((field) => el("div", { class: field.inline ? "" : "wide" }, el("div", { class: "strong small" }, text(field.name)), el("div", {}, text(field.value))))));
  if (embed.image) inner.push(picture(embed.image.proxy_url ?? embed.image.url, embed.image.description, ui.mediaFrom));
  if (embed.video && !embed.image) inner.push(link(embed.video.url ?? "", ["▶ Play"]));
  const foot = [embed.footer?.text, embed.timestamp ? new Date(embed.timestamp).toLocaleString() : null].filter(Boolean).join(" • ");
  if (foot) inner.push(el("p", { class: "small" }, foot));
  const side = embed.thumbnail && !embed.image ? picture(embed.thumbnail.proxy_url ?? embed.thumbnail.url, "", ui.mediaFrom, "thumb") : null;
  box.append(el("div", { class: "section" }, el("div", { class: "grow" }, inner), side));
  return box;
}

function colour(number) {
  return `#${(number & 0xffffff).toString(16).padStart(6, "0")}`;
}

// --- components ---------------------------------------------------------------------------------

const STYLES = { 1: "primary", 2: "", 3: "success", 4: "danger", 5: "", 6: "" };

function drawComponent(component, ui, text) {
  const inner = () => (component.components ?? []).map((child) => drawComponent(child, ui, text));
  switch (component.type) {
    case 1:
      return el("div", { class: "row" }, inner());
    case 2:
      return drawButton(component, ui);
    case 3: case 5: case 6: case 7: case 8:
      return ui.fields.draw({ ...selectShape(component, ui), id: component.custom_id, placeholder: component.placeholder, disabled: component.disabled, change: (value) => value !== "" && ui.choose(component.custom_id, value) });
    case 9:
      return el("div", { class: "section" }, el("div", { class: "grow" }, inner()), component.accessory ? el("div", { class: "accessory" }, drawComponent(component.accessory, ui, text)) : null);
    case 10:
      return el("div", { class: "section-text" }, text(component.content));
    case 11:
      return picture(component.media.proxy_url ?? component.media.url, component.description, ui.mediaFrom, "thumb");
    case 12:
      return el("div", { class: `gallery of-${Math.min(4, component.items.length)}` }, component.items.map((item) => picture(item.media.proxy_url ?? item.media.url, item.description, ui.mediaFrom)));
    case 13:
      return fileLine({ url: component.file.url, name: component.name, size: component.size, spoiler: component.spoiler }, ui);
    case 14:
      return component.divider === false ? el("div", { class: "gap" }) : el("hr");
    case 17: {
      const box = el("div", { class: "framed container" }, inner());
      if (component.accent_color !== undefined && component.accent_color !== null) {
        box.classList.add("coloured");
        box.style.setProperty("--bar", colour(component.accent_color));
      }
      return component.spoiler ? el("details", { class: "hidden-media" }, el("summary", {}, "Spoiler"), box) : box;
    }
    default:
      return el("p", { class: "unknown" }, `(a component of type ${component.type})`);
  }
}

function drawButton(component, ui) {
  const label = [emojiOf(component.emoji), component.label].filter(Boolean).join(" ");
  if (component.url) return el("span", { class: "control" }, link(component.url, [label, " ↗"]));
  return button(label, { style: STYLES[component.style], disabled: component.disabled, press: () => ui.press(component.custom_id) });
}

function emojiOf(emoji) {
  if (!emoji) return "";
  return emoji.id ? `:${emoji.name}:` : emoji.name;
}

function selectShape(component, ui) {
  const several = (component.max_values ?? 1) > 1;
  const defaults = (component.default_values ?? []).map((value) => String(value.id));
  if (component.type === 3) {
    const options = component.options.map((option) => ({ label: [emojiOf(option.emoji), option.label].filter(Boolean).join(" "), value: option.value, description: option.description }));
    return { kind: "choice", several, options, value: component.options.filter((option) => option.default).map((option) => option.value) };
  }
  const people = ui.people.map((person) => ({ label: person.name, value: person.id }));
  const channels = ui.channels.map((channel) => ({ label: `#${channel.name}`, value: channel.id }));
  return { kind: "choice", several, value: defaults, options: component.type === 8 ? channels : component.type === 6 ? [] : people };
}

// --- polls --------------------------------------------------------------------------------------

function drawPoll(poll, ui) {
  const counts = Object.fromEntries((poll.results?.answer_counts ?? []).map((count) => [count.id, count.count]));
  const answers = (poll.answers ?? []).map((answer) => {
    const label = [emojiOf(answer.poll_media?.emoji), answer.poll_media?.text].filter(Boolean).join(" ");
    const count = counts[answer.answer_id] ?? 0;
    return button([label, el("small", {}, ` ${count} vote${count === 1 ? "" : "s"}`)], { press: () => ui.choose("poll", [answer.answer_id]) });
  });
  return el("div", { class: "framed poll" }, el("b", {}, poll.question?.text ?? ""), el("div", { class: "column" }, answers));
}

// --- modals -------------------------------------------------------------------------------------

/** A modal -> what its dialog shows. Discord tells the app of nothing before it is sent. */
export function form(form, ui) {
  const text = (content) => discordMarkdown(content, ui);
  const body = (form.raw.components ?? []).flatMap((holder) => {
    if (holder.type === 10) return [el("div", {}, text(holder.content))];
    if (holder.type === 18) return [control(holder.component, holder.label, holder.description, ui)];
    return (holder.components ?? []).map((component) => control(component, component.label, "", ui));
  });
  return { title: form.title, body, submit: "Submit", cancel: "Cancel" };
}

function control(component, label, hint, ui) {
  const spec = { id: component.custom_id, label, hint, placeholder: component.placeholder, required: component.required !== false && component.type !== 23 };
  const options = (component.options ?? []).map((option) => ({ label: option.label, value: option.value, description: option.description }));
  const chosen = (component.options ?? []).filter((option) => option.default).map((option) => option.value);
  switch (component.type) {
    case 4:
      return ui.fields.draw({ ...spec, kind: component.style === 2 ? "multiline" : "text", value: component.value });
    case 19:
      return ui.fields.draw({ ...spec, kind: "file", several: (component.max_values ?? 1) > 1 });
    case 21:
      return ui.fields.draw({ ...spec, kind: "radio", options, value: chosen });
    case 22:
      return ui.fields.draw({ ...spec, kind: "boxes", options, value: chosen });
    case 23:
      return ui.fields.draw({ ...spec, kind: "toggle", value: component.default === true, title: "" });
    default:
      return ui.fields.draw({ ...spec, ...selectShape(component, ui) });
  }
}
