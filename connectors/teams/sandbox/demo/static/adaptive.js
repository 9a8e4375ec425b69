// Adaptive Cards -> DOM nodes, as Teams draws them (adaptivecards.io 1.6, msteams-docs 2026-09).

import { chart, figureTable } from "/static/charts.js";
import { el, link, picture } from "/static/dom.js";
import { button, Fields } from "/static/fields.js";
import { COMMON, inline, markdown } from "/static/markdown.js";

/** `ui`: as in draw.js; `ui.fields` are the inputs of this card and those around it. */
export function drawCard(card, ui) {
  const box = el("div", { class: "adaptive framed" });
  fill(box, card, ui, box);
  return box;
}

function fill(box, card, ui, root) {
  const inside = { ...ui, root };
  box.append(...(card.body ?? []).map((one) => drawElement(one, inside)).filter(Boolean));
  if (card.actions?.length) box.append(actionSet(card.actions, inside));
}

function drawElement(one, ui) {
  const draw = ELEMENTS[one.type] ?? ((unknown) => el("p", { class: "unknown" }, `(an element of type “${unknown.type}”)`));
  const node = draw(one, ui);
  if (one.id) node.dataset.id = one.id;
  if (one.isVisible === false) node.hidden = true;
  if (one.separator) node.classList.add("separated");
  if (one.spacing) node.classList.add(`space-${one.spacing.toLowerCase()}`);
  if (one.selectAction) selectable(node, one.selectAction, ui);
  return node;
}

const several = (list, ui) => (list ?? []).map((one) => drawElement(one, ui)).filter(Boolean);

const ELEMENTS = {
  TextBlock: (one) => {
    const text = dated(one.text ?? "");
    const nodes = one.style === "heading" ? [el("p", {}, inline(text, MARKUP))] : markdown(text, MARKUP);
    return el("div", { class: `text-block ${looks(one)} ${one.style === "heading" ? "heading" : ""}`, role: one.style === "heading" ? "heading" : null, "aria-level": one.style === "heading" ? "3" : null }, nodes);
  },
  RichTextBlock: (one, ui) => el("p", { class: `text-block ${looks(one)}` }, (one.inlines ?? []).map((run) => textRun(run, ui))),
  Image: (one, ui) => picture(one.url, one.altText, ui.mediaFrom, `size-${String(one.size ?? "auto").toLowerCase()} ${one.style === "Person" || one.style === "person" ? "round" : ""}`),
  ImageSet: (one, ui) => el("div", { class: "image-set" }, (one.images ?? []).map((image) => drawElement({ type: "Image", size: one.imageSize ?? "medium", ...image }, ui))),
  Media: (one, ui) => el("figure", {}, one.poster ? picture(one.poster, one.altText, ui.mediaFrom) : null, (one.sources ?? []).map((source) => link(source.url, [`▶ ${one.altText || "Play"}`]))),
  Container: (one, ui) => el("div", { class: `ac-box style-${String(one.style ?? "default").toLowerCase()} ${one.showBorder ? "bordered" : ""}` }, several(one.items, ui)),
  ColumnSet: (one, ui) => el("div", { class: `columns style-${String(one.style ?? "default").toLowerCase()}` }, (one.columns ?? []).map((column) => drawColumn(column, ui))),
  Column: (one, ui) => drawColumn(one, ui),
  FactSet: (one) => el("dl", { class: "facts" }, (one.facts ?? []).flatMap((fact) => [el("dt", {}, inline(dated(fact.title ?? ""), MARKUP)), el("dd", {}, inline(dated(fact.value ?? ""), MARKUP))])),
  Table: (one, ui) => figureTable((one.rows ?? []).map((row) => (row.cells ?? []).map((cell) => several(cell.items, ui))), { head: one.firstRowAsHeader !== false, align: (one.columns ?? []).map((column) => column.horizontalCellContentAlignment?.toLowerCase()) }),
  ActionSet: (one, ui) => actionSet(one.actions ?? [], ui),
  Badge: (one) => el("span", { class: `pill tone-${String(one.style ?? "default").toLowerCase()}` }, one.text ?? ""),
  CodeBlock: (one) => el("pre", {}, el("code", {}, one.codeSnippet ?? "")),
  ProgressBar: (one) => {
    const bar = el("progress", { max: one.max ?? 100, "aria-label": "Progress" });
    if (one.value !== undefined) bar.value = one.value;
    return bar;
  },
  ProgressRing: (one) => el("p", {}, `◌ ${one.label ?? "Working…"}`),
  Rating: (one) => el("p", { class: "stars", "aria-label": `${one.value ?? 0} of ${one.max ?? 5}` }, "★".repeat(Math.round(one.value ?? 0)).padEnd(one.max ?? 5, "☆"), one.count ? ` (${one.count})` : ""),
  Icon: (one) => el("span", { class: "icon-name", title: one.name }, "◆"),
  Carousel: (one, ui) => el("div", { class: "carousel", tabindex: "0", role: "group", "aria-label": "Pages" }, (one.pages ?? []).map((page) => el("div", { class: "framed card" }, several(page.items, ui)))),
  ...Object.fromEntries(["VerticalBar", "VerticalBar.Grouped", "HorizontalBar", "HorizontalBar.Stacked", "Line", "Pie", "Donut", "Gauge"].map((kind) => [`Chart.${kind}`, (one) => chart(chartOf(one, kind))])),
  "Input.Text": (one, ui) => asked(one, ui, { kind: one.isMultiline ? "multiline" : "text" }),
  "Input.Number": (one, ui) => asked(one, ui, { kind: "number", min: one.min, max: one.max }),
  "Input.Date": (one, ui) => asked(one, ui, { kind: "date", min: one.min, max: one.max }),
  "Input.Time": (one, ui) => asked(one, ui, { kind: "time" }),
  "Input.Rating": (one, ui) => asked(one, ui, { kind: "number", min: 0, max: one.max ?? 5 }),
  "Input.Toggle": (one, ui) => {
    const on = one.valueOn ?? "true";
    const row = ui.fields.draw({ id: one.id, kind: "toggle", label: one.label, title: one.title, value: one.value === on, required: one.isRequired });
    const field = ui.fields.all.get(one.id);
    const read = field.read;
    field.read = () => (read() ? on : (one.valueOff ?? "false"));
    return row;
  },
  "Input.ChoiceSet": (one, ui) => {
    const people = one["choices.data"]?.dataset?.startsWith("graph.microsoft.com/users");
    const options = people ? ui.people.map((person) => ({ label: person.name, value: person.id })) : (one.choices ?? []).map((choice) => ({ label: choice.title, value: choice.value }));
    const value = String(one.value ?? "").split(",");
    const expanded = one.style === "expanded";
    const row = asked(one, ui, { kind: expanded ? (one.isMultiSelect ? "boxes" : "radio") : "choice", options, value, several: one.isMultiSelect === true });
    if (one.isMultiSelect) {
      const field = ui.fields.all.get(one.id);
      const read = field.read;
      field.read = () => read().join(",");
    }
    return row;
  },
};

function asked(one, ui, spec) {
  return ui.fields.draw({ id: one.id, label: one.label, placeholder: one.placeholder, value: one.value, required: one.isRequired, ...spec });
}

function drawColumn(column, ui) {
  const node = el("div", { class: `ac-box style-${String(column.style ?? "default").toLowerCase()}` }, several(column.items, ui));
  const width = column.width;
  if (width === "auto") node.style.flex = "0 0 auto";
  else if (typeof width === "number" || /^\d+$/.test(width ?? "")) node.style.flex = `${width} 1 0`;
  else if (/^\d+px$/.test(width ?? "")) node.style.flex = `0 0 ${width}`;
  else node.style.flex = "1 1 0";
  if (column.selectAction) selectable(node, column.selectAction, ui);
  return node;
}

function looks(one) {
  return ["size", "weight", "color", "horizontalAlignment", "fontType"]
    .filter((name) => typeof one[name] === "string")
    .map((name) => `${name.toLowerCase()}-${one[name].toLowerCase()}`)
    .concat(one.isSubtle ? ["subtle"] : [])
    .join(" ");
}

function textRun(run, ui) {
  if (typeof run === "string") return run;
  let node = el("span", { class: looks(run) }, dated(run.text ?? ""));
  if (run.strikethrough) node = el("s", {}, node);
  if (run.underline) node = el("u", {}, node);
  if (run.italic) node = el("em", {}, node);
  if (run.highlight) node = el("mark", {}, node);
  if (run.selectAction?.type === "Action.OpenUrl") node = link(run.selectAction.url, [node]);
  else if (run.selectAction) node = button(node, { style: "as-link", press: () => perform(run.selectAction, ui) });
  return node;
}

// --- actions ------------------------------------------------------------------------------------

function actionSet(actions, ui) {
  const row = el("div", { class: "row" });
  const shown = el("div", { class: "shown-cards" });
  for (const action of actions) {
    if (action.type === "Action.OpenUrl") row.append(el("span", { class: "control" }, link(action.url, [action.title ?? "Open"])));
    else if (action.type === "Action.ShowCard") {
      const card = el("div", { class: "ac-box style-emphasis", hidden: true });
      fill(card, action.card ?? {}, { ...ui, fields: new Fields(ui.fields) }, ui.root);
      shown.append(card);
      const toggle = button(action.title ?? "Show", { style: styleOf(action), press: () => {
        card.hidden = !card.hidden;
        toggle.setAttribute("aria-expanded", String(!card.hidden));
      } });
      toggle.setAttribute("aria-expanded", "false");
      row.append(toggle);
    } else row.append(button(action.title ?? action.id ?? "Send", { style: styleOf(action), disabled: action.isEnabled === false, press: () => perform(action, ui) }));
  }
  return el("div", { class: "action-set" }, row, shown);
}

function styleOf(action) {
  return { positive: "primary", destructive: "danger" }[action.style] ?? "";
}

async function perform(action, ui) {
  if (action.type === "Action.ToggleVisibility") {
    for (const target of action.targetElements ?? []) {
      const id = typeof target === "string" ? target : target.elementId;
      const node = ui.root.querySelector(`[data-id="${CSS.escape(id)}"]`);
      if (node) node.hidden = typeof target === "string" || target.isVisible === undefined ? !node.hidden : !target.isVisible;
    }
    return;
  }
  await ui.press(action.id ?? action.title ?? "", await ui.fields.values(), ui.fields);
}

function selectable(node, action, ui) {
  if (action.type === "Action.OpenUrl") {
    node.append(el("p", { class: "small" }, link(action.url, [action.title || "Open"])));
    return;
  }
  node.append(button(action.title || "Select", { style: "as-link", press: () => perform(action, ui) }));
}

// --- texts --------------------------------------------------------------------------------------

const MARKUP = {
  starts: /[\\[*_h<]/,
  blocks: { quote: /^(?!)/, restQuote: false, headings: 0, small: false },
  rules: [COMMON.escape, COMMON.link, COMMON.strongEm, COMMON.strong, COMMON.em, COMMON.lowEm],
};

/** {{DATE(...)}} and {{TIME(...)}} in the reader's own time. */
function dated(text) {
  return text.replace(/\{\{(DATE|TIME)\(([^,()]+?)(?:,\s*(COMPACT|SHORT|LONG))?\)\}\}/g, (whole, kind, stamp, form) => {
    const date = new Date(stamp.trim());
    if (Number.isNaN(date.getTime())) return whole;
    if (kind === "TIME") return date.toLocaleTimeString([], { hour: "numeric", minute: "2-digit" });
    const forms = { COMPACT: {}, SHORT: { weekday: "short", month: "short", day: "numeric", year: "numeric" }, LONG: { weekday: "long", month: "long", day: "numeric", year: "numeric" } };
    return date.toLocaleDateString([], forms[form ?? "COMPACT"]);
  });
}

function chartOf(one, kind) {
  const title = one.title ?? "";
  const label = (point) => String(point.legend ?? point.x ?? point.label ?? "");
  const value = (point) => Number(point.value ?? point.y ?? point.size ?? 0);
  if (kind === "Pie" || kind === "Donut") return { title, kind: "pie", series: [{ name: "", points: (one.data ?? []).map((point) => ({ label: label(point), value: value(point) })) }] };
  if (kind === "Gauge") return { title, kind: "bar", series: [{ name: "", points: [{ label: one.subLabel ?? "value", value: Number(one.value ?? 0) }] }] };
  const groups = (one.data ?? []).some((each) => each.values || each.data) ? one.data : [{ legend: "", values: one.data ?? [] }];
  return { title, kind: "bar", series: groups.map((each) => ({ name: each.legend ?? each.title ?? "", points: (each.values ?? each.data ?? []).map((point) => ({ label: label(point), value: value(point) })) })) };
}
