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
  context: (block, ui) => el("div", { class: "context" }, block.elements.map((item) => (item.type === "image" ? picture(item.image_url ?? fileUrl(item.slack_file), item.alt_text, ui.mediaFrom, "tiny") : el("span", {}, inlineText(item, ui))))),
  actions: (block, ui) => el("div", { class: "row" }, block.elements.map((item) => element(item, ui, block))),
  context_actions: (block, ui) => el("div", { class: "row" }, block.elements.map((item) => element(item, ui, block))),
  input: (block, ui) => field(block.element, ui, { label: block.label?.text, hint: block.hint?.text, optional: block.optional === true, waits: true }),
  image: (block, ui) => el("figure", {}, block.title ? el("figcaption", {}, inlineText(block.title, ui)) : null, picture(block.image_url ?? fileUrl(block.slack_file), block.alt_text, ui.mediaFrom)),
  video: (block, ui) => el("figure", {}, el("figcaption", {}, block.title_url ? link(block.title_url, inlineText(block.title, ui)) : inlineText(block.title, ui)), picture(block.thumbnail_url, block.alt_text, ui.mediaFrom), link(block.video_url, ["▶ Play"])),
  table: (block, ui) => figureTable(block.rows.map((row) => row.map((cell) => tableCell(cell, ui))), { head: true, align: (block.column_settings ?? []).map((setting) => setting?.align) }),
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
  const inner = [task.details, task.output].filter(Boolean).flatMap((text) => richText(text, ui));
  const sources = (task.sources ?? []).map((source) => link(source.url, [source.text]));
  return el("div", { class: `task ${task.status}` }, el("p", {}, el("span", { "aria-hidden": "true" }, `${TASK[task.status] ?? "○"} `), task.title), inner, sources);
}

function drawCard(card, ui) {
  const text = (value, tag, name) => (value ? el(tag, { class: name }, inlineText(value, ui)) : null);
  return el(
    "div", { class: "framed card" },
    card.hero_image ? picture(card.hero_image.image_url ?? fileUrl(card.hero_image.slack_file), card.hero_image.alt_text, ui.mediaFrom) : null,
    el("div", { class: "card-head" }, card.icon ? picture(card.icon.image_url ?? fileUrl(card.icon.slack_file), card.icon.alt_text, ui.mediaFrom, "tiny") : null, el("div", {}, text(card.title, "b", ""), text(card.subtitle, "p", "small"))),
    text(card.body, "p", ""), text(card.subtext, "p", "small"),
    card.actions?.length ? el("div", { class: "row" }, card.actions.map((action) => element(action, ui))) : null,
  );
}

function tableCell(cell, ui) {
  if (!cell) return [];
  if (cell.type === "rich_text") return richText(cell, ui);
  return [cell.type === "raw_number" ? (cell.text ?? String(cell.value)) : cell.text];
}

function chartOf({ title, chart: drawn }) {
  if (drawn.type === "pie") return { title, kind: "pie", series: [{ name: "", points: drawn.segments }] };
  return { title, kind: drawn.type, series: drawn.series.map((line) => ({ name: line.name, points: line.data })) };
}

// --- elements -----------------------------------------------------------------------------------

function element(control, ui) {
  switch (control.type) {
    case "button":
    case "workflow_button":
      if (control.url) return el("span", { class: `control ${control.style ?? ""}` }, link(control.url, inlineText(control.text, ui)));
      return button(inlineText(control.text, ui), { style: control.style, name: control.accessibility_label, press: () => ui.press(control.action_id) });
    case "icon_button":
      return button(inlineText(control.text, ui), { press: () => ui.press(control.action_id) });
    case "feedback_buttons":
      return el("span", { class: "row" }, [control.positive_button, control.negative_button].map((each) => button(inlineText(each.text, ui), { name: each.accessibility_label, press: () => ui.choose(control.action_id, each.value) })));
    case "image":
      return picture(control.image_url ?? fileUrl(control.slack_file), control.alt_text, ui.mediaFrom, "thumb");
    case "overflow": {
      const links = control.options.filter((option) => option.url).map((option) => el("li", {}, link(option.url, inlineText(option.text, ui))));
      const rest = control.options.filter((option) => !option.url).map((option) => el("li", {}, button(inlineText(option.text, ui), { press: () => ui.choose(control.action_id, option.value) })));
      return el("details", { class: "overflow" }, el("summary", { "aria-label": "More", class: "control" }, "⋯"), el("ul", {}, links, rest));
    }
    default:
      return field(control, ui);
  }
}

/** An element that takes a value. `waits`: a button sends it; else a change notifies the app at once. */
function field(control, ui, { label, hint, optional, waits = false } = {}) {
  const own = control.action_id;
  const spec = {
    id: own, label, hint, optional, placeholder: control.placeholder?.text,
    ...shapeOf(control, ui), change: waits ? null : (value) => value !== "" && ui.choose(own, value),
  };
  return ui.fields.draw(spec);
}

function shapeOf(control, ui) {
  const option = (each) => ({ label: plain(each.text), value: each.value, description: each.description ? plain(each.description) : "" });
  const several = control.type.startsWith("multi_");
  const initial = (control.initial_options ?? (control.initial_option ? [control.initial_option] : [])).map((each) => each.value);
  switch (control.type.replace("multi_", "")) {
    case "static_select":
    case "external_select":
      return { kind: "choice", several, value: initial, options: (control.option_groups ?? []).map((group) => ({ label: plain(group.label), options: group.options.map(option) })).concat((control.options ?? []).map(option)) };
    case "users_select":
      return { kind: "choice", several, value: control.initial_users ?? control.initial_user, options: ui.people.map((person) => ({ label: person.name, value: person.id })) };
    case "channels_select":
    case "conversations_select":
      return { kind: "choice", several, value: control.initial_channels ?? control.initial_channel, options: ui.channels.map((channel) => ({ label: `#${channel.name}`, value: channel.id })) };
    case "checkboxes":
      return { kind: "boxes", value: initial, options: control.options.map(option) };
    case "radio_buttons":
      return { kind: "radio", value: initial, options: control.options.map(option) };
    case "datepicker":
      return { kind: "date", value: control.initial_date };
    case "timepicker":
      return { kind: "time", value: control.initial_time };
    case "datetimepicker":
      return { kind: "moment", value: control.initial_date_time };
    case "number_input":
      return { kind: "number", value: control.initial_value, min: control.min_value, max: control.max_value };
    case "file_input":
      return { kind: "file", several: (control.max_files ?? 10) > 1 };
    case "plain_text_input":
      return { kind: control.multiline ? "multiline" : "text", value: control.initial_value };
    case "rich_text_input":
      return { kind: "multiline" };
    default:
      return { kind: "text", value: control.initial_value };
  }
}

const plain = (text) => (typeof text === "string" ? text : (text?.text ?? ""));

// --- attachments and files ----------------------------------------------------------------------

const COLOURS = { good: "#2eb67d", warning: "#ecb22e", danger: "#e01e5a" };

function drawAttachment(attachment, ui) {
  const box = el("div", { class: "attachment" });
  const colour = COLOURS[attachment.color] ?? String(attachment.color ?? "").replace(/^(?!#)/, "#");
  if (/^#[0-9a-f]{3,6}$/i.test(colour)) box.style.setProperty("--bar", colour);
  if (attachment.blocks) box.append(...drawBlocks(attachment.blocks, ui));
  else box.append(...legacy(attachment, ui));
  const outside = attachment.pretext ? mrkdwn(attachment.pretext, ui) : [];
  return el("div", {}, outside, box);
}

function legacy(attachment, ui) {
  const line = (name, ...children) => el("p", { class: name }, ...children);
  const title = attachment.title ? (attachment.title_link ? link(attachment.title_link, inlineText(attachment.title, ui)) : inlineText(attachment.title, ui)) : null;
  return [
    attachment.author_name ? line("small", attachment.author_icon ? picture(attachment.author_icon, "", ui.mediaFrom, "tiny") : null, attachment.author_link ? link(attachment.author_link, [attachment.author_name]) : attachment.author_name) : null,
    title ? line("", el("b", {}, title)) : null,
    attachment.text ? el("div", {}, mrkdwn(attachment.text, ui)) : null,
    attachment.fields?.length ? el("div", { class: "pairs" }, attachment.fields.map((field) => el("div", { class: field.short ? "" : "wide" }, el("b", {}, field.title), el("div", {}, mrkdwn(String(field.value ?? ""), ui))))) : null,
    attachment.actions?.length ? el("div", { class: "row" }, attachment.actions.map((action) => (action.url ? el("span", { class: "control" }, link(action.url, [action.text])) : button(action.text, { style: action.style, press: () => ui.press(action.name) })))) : null,
    attachment.image_url ? picture(attachment.image_url, attachment.fallback, ui.mediaFrom) : null,
    attachment.thumb_url ? picture(attachment.thumb_url, attachment.fallback, ui.mediaFrom, "thumb") : null,
    attachment.footer ? line("small", attachment.footer) : null,
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
