// A message of Slack -> DOM nodes: text, blocks, attachments and files, as its client draws them.

import { chart, figureTable } from "/static/charts.js";
import { el, link, picture } from "/static/dom.js";
import { button } from "/static/fields.js";
import { fileLine } from "/static/files.js";
import { commonMark, inlineText, mrkdwn, richText } from "./text.js";

/** `ui`: { names, emoji, people, channels, mediaFrom, fields, press, choose } */
export function render(native, ui) {
  const nodes = native.blocks?.length ? drawBlocks(native.blocks, ui) : native.text ? mrkdwn(native.text, ui) : [];
  for (const attachment of native.attachments ?? []) nodes.push(drawAttachment(attachment, ui));
  const files = native.files ?? [];
  if (files.length) nodes.push(el("div", { class: "files" }, files.map((file) => drawFile(file, ui))));
  return nodes;
}

export function drawBlocks(blocks, ui) {
  return blocks.map((block) => (BLOCKS[block.type] ?? unknown)(block, ui)).flat();
}

function unknown(block) {
  return el("p", { class: "unknown" }, `(a block of type “${block.type}”)`);
}

const BLOCKS = {
  rich_text: richText,
  markdown: (block) => commonMark(block.text),
  header: (block, ui) => el("p", { class: `heading h${(block.level ?? 1) + 1} block-header` }, inlineText(block.text, ui)),
  divider: () => el("hr"),
  section: (block, ui) => {
    const texts = [];
    if (block.text) texts.push(el("div", { class: "section-text" }, block.text.type === "mrkdwn" ? mrkdwn(block.text.text, ui, block.text.verbatim) : inlineText(block.text, ui)));
    if (block.fields) texts.push(el("div", { class: "pairs" }, block.fields.map((field) => el("div", {}, field.type === "mrkdwn" ? mrkdwn(field.text, ui, field.verbatim) : inlineText(field, ui)))));
    return el("div", { class: "section" }, el("div", { class: "grow" }, texts), block.accessory ? el("div", { class: "accessory" }, element(block.accessory, ui, block)) : null);
  },
  context: (block, ui) => el("div", { class: "context" }, block.elements.map((one) => (one.type === "image" ? picture(one.image_url ?? fileUrl(one.slack_file), one.alt_text, ui.mediaFrom, "tiny") : el("span", {}, inlineText(one, ui))))),
  actions: (block, ui) => el("div", { class: "row" }, block.elements.map((one) => element(one, ui, block))),
  context_actions: (block, ui) => el("div", { class: "row" }, block.elements.map((one) => element(one, ui, block))),
  input: (block, ui) => field(block.element, ui, { label: block.label?.text, hint: block.hint?.text, optional: block.optional === true, asked: true }),
  image: (block, ui) => el("figure", {}, block.title ? el("figcaption", {}, inlineText(block.title, ui)) : null, picture(block.image_url ?? fileUrl(block.slack_file), block.alt_text, ui.mediaFrom)),
  video: (block, ui) => el("figure", {}, el("figcaption", {}, block.title_url ? link(block.title_url, inlineText(block.title, ui)) : inlineText(block.title, ui)), picture(block.thumbnail_url, block.alt_text, ui.mediaFrom), link(block.video_url, ["▶ Play"])),
  table: (block, ui) => figureTable(block.rows.map((row) => row.map((cell) => tableCell(cell, ui))), { head: true, align: (block.column_settings ?? []).map((one) => one?.align) }),
  data_table: (block, ui) => figureTable(block.rows.map((row) => row.map((cell) => tableCell(cell, ui))), { head: true, caption: block.caption }),
  data_visualization: (block) => chart(chartOf(block)),
  card: drawCard,
  carousel: (block, ui) => el("div", { class: "carousel", tabindex: "0", role: "group", "aria-label": "Cards" }, block.elements.map((card) => drawCard(card, ui))),
  container: (block, ui) => {
    const title = el("b", {}, block.rich_text_title ? richText(block.rich_text_title, ui) : inlineText(block.title, ui));
    const more = block.subtitle ? el("p", { class: "small" }, inlineText(block.subtitle, ui)) : null;
    const inner = drawBlocks(block.child_blocks ?? [], ui);
    if (block.is_collapsible) return el("details", { class: "framed", open: !block.default_collapsed }, el("summary", {}, title), more, inner);
    return el("div", { class: "framed" }, title, more, inner);
  },
  alert: (block, ui) => el("p", { class: `alert ${block.level ?? "default"}` }, inlineText(block.text, ui)),
  task_card: (block, ui) => drawTask(block, ui),
  plan: (block, ui) => el("div", { class: "framed" }, el("b", {}, block.title), (block.tasks ?? []).map((task) => drawTask(task, ui))),
  file: () => [],
};

const TASK = { pending: "○", in_progress: "◔", complete: "✓", error: "✕" };

function drawTask(task, ui) {
  const inner = [task.details, task.output].filter(Boolean).flatMap((one) => richText(one, ui));
  const sources = (task.sources ?? []).map((one) => link(one.url, [one.text]));
  return el("div", { class: `task ${task.status}` }, el("p", {}, el("span", { "aria-hidden": "true" }, `${TASK[task.status] ?? "○"} `), task.title), inner, sources);
}

function drawCard(card, ui) {
  const text = (value, tag, name) => (value ? el(tag, { class: name }, inlineText(value, ui)) : null);
  return el(
    "div", { class: "framed card" },
    card.hero_image ? picture(card.hero_image.image_url ?? fileUrl(card.hero_image.slack_file), card.hero_image.alt_text, ui.mediaFrom) : null,
    el("div", { class: "card-head" }, card.icon ? picture(card.icon.image_url ?? fileUrl(card.icon.slack_file), card.icon.alt_text, ui.mediaFrom, "tiny") : null, el("div", {}, text(card.title, "b", ""), text(card.subtitle, "p", "small"))),
    text(card.body, "p", ""), text(card.subtext, "p", "small"),
    card.actions?.length ? el("div", { class: "row" }, card.actions.map((one) => element(one, ui))) : null,
  );
}

function tableCell(cell, ui) {
  if (!cell) return [];
  if (cell.type === "rich_text") return richText(cell, ui);
  return [cell.type === "raw_number" ? (cell.text ?? String(cell.value)) : cell.text];
}

function chartOf({ title, chart: drawn }) {
  if (drawn.type === "pie") return { title, kind: "pie", series: [{ name: "", points: drawn.segments }] };
  return { title, kind: drawn.type, series: drawn.series.map((one) => ({ name: one.name, points: one.data })) };
}

// --- elements -----------------------------------------------------------------------------------

function element(one, ui) {
  switch (one.type) {
    case "button":
    case "workflow_button":
      if (one.url) return el("span", { class: `control ${one.style ?? ""}` }, link(one.url, inlineText(one.text, ui)));
      return button(inlineText(one.text, ui), { style: one.style, name: one.accessibility_label, press: () => ui.press(one.action_id) });
    case "icon_button":
      return button(inlineText(one.text, ui), { press: () => ui.press(one.action_id) });
    case "feedback_buttons":
      return el("span", { class: "row" }, [one.positive_button, one.negative_button].map((each) => button(inlineText(each.text, ui), { name: each.accessibility_label, press: () => ui.choose(one.action_id, each.value) })));
    case "image":
      return picture(one.image_url ?? fileUrl(one.slack_file), one.alt_text, ui.mediaFrom, "thumb");
    case "overflow": {
      const links = one.options.filter((option) => option.url).map((option) => el("li", {}, link(option.url, inlineText(option.text, ui))));
      const rest = one.options.filter((option) => !option.url).map((option) => el("li", {}, button(inlineText(option.text, ui), { press: () => ui.choose(one.action_id, option.value) })));
      return el("details", { class: "overflow" }, el("summary", { "aria-label": "More", class: "control" }, "⋯"), el("ul", {}, links, rest));
    }
    default:
      return field(one, ui);
  }
}

/** An element that takes a value. `asked`: it waits for a button; else its app is told at once. */
function field(one, ui, { label, hint, optional, asked = false } = {}) {
  const own = one.action_id;
  const spec = {
    id: own, label, hint, optional, placeholder: one.placeholder?.text,
    ...shapeOf(one, ui), change: asked ? null : (value) => value !== "" && ui.choose(own, value),
  };
  return ui.fields.draw(spec);
}

function shapeOf(one, ui) {
  const option = (each) => ({ label: plain(each.text), value: each.value, description: each.description ? plain(each.description) : "" });
  const several = one.type.startsWith("multi_");
  const initial = (one.initial_options ?? (one.initial_option ? [one.initial_option] : [])).map((each) => each.value);
  switch (one.type.replace("multi_", "")) {
    case "static_select":
    case "external_select":
      return { kind: "choice", several, value: initial, options: (one.option_groups ?? []).map((group) => ({ label: plain(group.label), options: group.options.map(option) })).concat((one.options ?? []).map(option)) };
    case "users_select":
      return { kind: "choice", several, value: one.initial_users ?? one.initial_user, options: ui.people.map((person) => ({ label: person.name, value: person.id })) };
    case "channels_select":
    case "conversations_select":
      return { kind: "choice", several, value: one.initial_channels ?? one.initial_channel, options: ui.channels.map((channel) => ({ label: `#${channel.name}`, value: channel.id })) };
    case "checkboxes":
      return { kind: "boxes", value: initial, options: one.options.map(option) };
    case "radio_buttons":
      return { kind: "radio", value: initial, options: one.options.map(option) };
    case "datepicker":
      return { kind: "date", value: one.initial_date };
    case "timepicker":
      return { kind: "time", value: one.initial_time };
    case "datetimepicker":
      return { kind: "moment", value: one.initial_date_time };
    case "number_input":
      return { kind: "number", value: one.initial_value, min: one.min_value, max: one.max_value };
    case "file_input":
      return { kind: "file", several: (one.max_files ?? 10) > 1 };
    case "plain_text_input":
      return { kind: one.multiline ? "multiline" : "text", value: one.initial_value };
    case "rich_text_input":
      return { kind: "multiline" };
    default:
      return { kind: "text", value: one.initial_value };
  }
}

const plain = (text) => (typeof text === "string" ? text : (text?.text ?? ""));

// --- attachments and files ----------------------------------------------------------------------

const COLOURS = { good: "#2eb67d", warning: "#ecb22e", danger: "#e01e5a" };

function drawAttachment(one, ui) {
  const box = el("div", { class: "attachment" });
  const colour = COLOURS[one.color] ?? String(one.color ?? "").replace(/^(?!#)/, "#");
  if (/^#[0-9a-f]{3,6}$/i.test(colour)) box.style.setProperty("--bar", colour);
  if (one.blocks) box.append(...drawBlocks(one.blocks, ui));
  else box.append(...legacy(one, ui));
  const outside = one.pretext ? mrkdwn(one.pretext, ui) : [];
  return el("div", {}, outside, box);
}

function legacy(one, ui) {
  const line = (name, ...children) => el("p", { class: name }, ...children);
  const title = one.title ? (one.title_link ? link(one.title_link, inlineText(one.title, ui)) : inlineText(one.title, ui)) : null;
  return [
    one.author_name ? line("small", one.author_icon ? picture(one.author_icon, "", ui.mediaFrom, "tiny") : null, one.author_link ? link(one.author_link, [one.author_name]) : one.author_name) : null,
    title ? line("", el("b", {}, title)) : null,
    one.text ? el("div", {}, mrkdwn(one.text, ui)) : null,
    one.fields?.length ? el("div", { class: "pairs" }, one.fields.map((field) => el("div", { class: field.short ? "" : "wide" }, el("b", {}, field.title), el("div", {}, mrkdwn(String(field.value ?? ""), ui))))) : null,
    one.actions?.length ? el("div", { class: "row" }, one.actions.map((action) => (action.url ? el("span", { class: "control" }, link(action.url, [action.text])) : button(action.text, { style: action.style, press: () => ui.press(action.name) })))) : null,
    one.image_url ? picture(one.image_url, one.fallback, ui.mediaFrom) : null,
    one.thumb_url ? picture(one.thumb_url, one.fallback, ui.mediaFrom, "thumb") : null,
    one.footer ? line("small", one.footer) : null,
  ].filter(Boolean);
}

function fileUrl(file) {
  return file?.id ? `/files/slack/${file.id}` : (file?.url ?? "");
}

function drawFile(file, ui) {
  if (file.mode === "tombstone") return el("p", { class: "unknown" }, "This file was deleted.");
  return fileLine({ url: `/files/slack/${file.id}`, name: file.name ?? file.title, type: file.mimetype, size: file.size, alt: file.alt_txt }, ui);
}

// --- modals -------------------------------------------------------------------------------------

/** A view -> what its dialog shows, and the words on its buttons. */
export function form(form, ui) {
  const view = form.raw;
  return {
    title: form.title, body: drawBlocks(view.blocks ?? [], { ...ui, press: (action) => ui.pressIn(form.id, action), choose: (action, value) => ui.chooseIn(form.id, action, value) }),
    submit: view.submit?.text ?? null, cancel: view.close?.text ?? "Cancel",
  };
}
