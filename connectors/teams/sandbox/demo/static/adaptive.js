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
  box.append(...(card.body ?? []).map((element) => drawElement(element, inside)).filter(Boolean));
  if (card.actions?.length) box.append(actionSet(card.actions, inside));
}

function drawElement(element, ui) {
  const draw = ELEMENTS[element.type] ?? ((unknown) => el("p", { class: "unknown" }, `(an element of type “${unknown.type}”)`));
  const node = draw(element, ui);
  if (element.id) node.dataset.id = element.id;
  if (element.isVisible === false) node.hidden = true;
  if (element.separator) node.classList.add("separated");
  if (element.spacing) node.classList.add(`space-${element.spacing.toLowerCase()}`);
  if (element.selectAction) selectable(node, element.selectAction, ui);
  return node;
}

const several = (list, ui) => (list ?? []).map((element) => drawElement(element, ui)).filter(Boolean);

const ELEMENTS = {
  TextBlock: (element) => {
    const text = dated(element.text ?? "");
    const nodes = element.style === "heading" ? [el("p", {}, inline(text, MARKUP))] : markdown(text, MARKUP);
    return el("div", { class: `text-block ${looks(element)} ${element.style === "heading" ? "heading" : ""}`, role: element.style === "heading" ? "heading" : null, "aria-level": element.style === "heading" ? "3" : null }, nodes);
  },
  RichTextBlock: (element, ui) => el("p", { class: `text-block ${looks(element)}` }, (element.inlines ?? []).map((run) => textRun(run, ui))),
  Image: (element, ui) => picture(element.url, element.altText, ui.mediaFrom, `size-${String(element.size ?? "auto").toLowerCase()} ${element.style === "Person" || element.style === "person" ? "round" : ""}`),
  ImageSet: (element, ui) => el("div", { class: "image-set" }, (element.images ?? []).map((image) => drawElement({ type: "Image", size: element.imageSize ?? "medium", ...image }, ui))),
  Media: (element, ui) => el("figure", {}, element.poster ? picture(element.poster, element.altText, ui.mediaFrom) : null, (element.sources ?? []).map((source) => link(source.url, [`▶ ${element.altText || "Play"}`]))),
  Container: (element, ui) => el("div", { class: `ac-box style-${String(element.style ?? "default").toLowerCase()} ${element.showBorder ? "bordered" : ""}` }, several(element.items, ui)),
  ColumnSet: (element, ui) => el("div", { class: `columns style-${String(element.style ?? "default").toLowerCase()}` }, (element.columns ?? []).map((column) => drawColumn(column, ui))),
  Column: (element, ui) => drawColumn(element, ui),
  FactSet: (element) => el("dl", { class: "facts" }, (element.facts ?? []).flatMap((fact) => [el("dt", {}, inline(dated(fact.title ?? ""), MARKUP)), el("dd", {}, inline(dated(fact.value ?? ""), MARKUP))])),
  Table: (element, ui) => figureTable((element.rows ?? []).map((row) => (row.cells ?? []).map((cell) => several(cell.items, ui))), { head: element.firstRowAsHeader !== false, align: (element.columns ?? []).map((column) => column.horizontalCellContentAlignment?.toLowerCase()) }),
  ActionSet: (element, ui) => actionSet(element.actions ?? [], ui),
  Badge: (element) => el("span", { class: `pill tone-${String(element.style ?? "default").toLowerCase()}` }, element.text ?? ""),
  CodeBlock: (element) => el("pre", {}, el("code", {}, element.codeSnippet ?? "")),
  ProgressBar: (element) => {
    const bar = el("progress", { max: element.max ?? 100, "aria-label": "Progress" });
    if (element.value !== undefined) bar.value = element.value;
    return bar;
  },
  ProgressRing: (element) => el("p", {}, `◌ ${element.label ?? "Working…"}`),
  Rating: (element) => el("p", { class: "stars", "aria-label": `${element.value ?? 0} of ${element.max ?? 5}` }, "★".repeat(Math.round(element.value ?? 0)).padEnd(element.max ?? 5, "☆"), element.count ? ` (${element.count})` : ""),
  Icon: (element) => el("span", { class: "icon-name", title: element.name }, "◆"),
  Carousel: (element, ui) => el("div", { class: "carousel", tabindex: "0", role: "group", "aria-label": "Pages" }, (element.pages ?? []).map((page) => el("div", { class: "framed card" }, several(page.items, ui)))),
  ...Object.fromEntries(["VerticalBar", "VerticalBar.Grouped", "HorizontalBar", "HorizontalBar.Stacked", "Line", "Pie", "Donut", "Gauge"].map((kind) => [`Chart.${kind}`, (element) => chart(chartOf(element, kind))])),
  "Input.Text": (element, ui) => inputField(element, ui, { kind: element.isMultiline ? "multiline" : "text" }),
  "Input.Number": (element, ui) => inputField(element, ui, { kind: "number", min: element.min, max: element.max }),
  "Input.Date": (element, ui) => inputField(element, ui, { kind: "date", min: element.min, max: element.max }),
  "Input.Time": (element, ui) => inputField(element, ui, { kind: "time" }),
  "Input.Rating": (element, ui) => inputField(element, ui, { kind: "number", min: 0, max: element.max ?? 5 }),
  "Input.Toggle": (element, ui) => {
    const on = element.valueOn ?? "true";
    const row = ui.fields.draw({ id: element.id, kind: "toggle", label: element.label, title: element.title, value: element.value === on, required: element.isRequired });
    const field = ui.fields.all.get(element.id);
    const read = field.read;
    field.read = () => (read() ? on : (element.valueOff ?? "false"));
    return row;
  },
  "Input.ChoiceSet": (element, ui) => {
    const people = element["choices.data"]?.dataset?.startsWith("graph.microsoft.com/users");
    const options = people ? ui.people.map((person) => ({ label: person.name, value: person.id })) : (element.choices ?? []).map((choice) => ({ label: choice.title, value: choice.value }));
    const value = String(element.value ?? "").split(",");
    const expanded = element.style === "expanded";
    const row = inputField(element, ui, { kind: expanded ? (element.isMultiSelect ? "boxes" : "radio") : "choice", options, value, several: element.isMultiSelect === true });
    if (element.isMultiSelect) {
      const field = ui.fields.all.get(element.id);
      const read = field.read;
      field.read = () => read().join(",");
    }
    return row;
  },
};

function inputField(element, ui, spec) {
  return ui.fields.draw({ id: element.id, label: element.label, placeholder: element.placeholder, value: element.value, required: element.isRequired, ...spec });
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

function looks(element) {
  return ["size", "weight", "color", "horizontalAlignment", "fontType"]
    .filter((name) => typeof element[name] === "string")
    .map((name) => `${name.toLowerCase()}-${element[name].toLowerCase()}`)
    .concat(element.isSubtle ? ["subtle"] : [])
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
  const openCards = el("div", { class: "shown-cards" });
  for (const action of actions) {
    if (action.type === "Action.OpenUrl") row.append(el("span", { class: "control" }, link(action.url, [action.title ?? "Open"])));
    else if (action.type === "Action.ShowCard") {
      const card = el("div", { class: "ac-box style-emphasis", hidden: true });
      fill(card, action.card ?? {}, { ...ui, fields: new Fields(ui.fields) }, ui.root);
      openCards.append(card);
      const toggle = button(action.title ?? "Show", { style: styleOf(action), press: () => {
        card.hidden = !card.hidden;
        toggle.setAttribute("aria-expanded", String(!card.hidden));
      } });
      toggle.setAttribute("aria-expanded", "false");
      row.append(toggle);
    } else row.append(button(action.title ?? action.id ?? "Send", { style: styleOf(action), disabled: action.isEnabled === false, press: () => perform(action, ui) }));
  }
  return el("div", { class: "action-set" }, row, openCards);
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

function chartOf(element, kind) {
  const title = element.title ?? "";
  const label = (point) => String(point.legend ?? point.x ?? point.label ?? "");
  const value = (point) => Number(point.value ?? point.y ?? point.size ?? 0);
  if (kind === "Pie" || kind === "Donut") return { title, kind: "pie", series: [{ name: "", points: (element.data ?? []).map((point) => ({ label: label(point), value: value(point) })) }] };
  if (kind === "Gauge") return { title, kind: "bar", series: [{ name: "", points: [{ label: element.subLabel ?? "value", value: Number(element.value ?? 0) }] }] };
  const groups = (element.data ?? []).some((group) => group.values || group.data) ? element.data : [{ legend: "", values: element.data ?? [] }];
  return { title, kind: "bar", series: groups.map((group) => ({ name: group.legend ?? group.title ?? "", points: (group.values ?? group.data ?? []).map((point) => ({ label: label(point), value: value(point) })) })) };
}
