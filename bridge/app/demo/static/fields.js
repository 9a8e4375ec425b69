// Inputs of forms and cards, the same for all platforms: each has a label, a control, and a value.

import { el } from "./dom.js";

let serial = 0;

/** The inputs of one form or card. `parent`: those around it, which are sent along. */
export class Fields {
  constructor(parent = null) {
    this.parent = parent;
    this.all = new Map(); // id -> { read, row, complaint }
  }

  /** Draw one input.
   *
   * spec: { id, kind, label, hint, value, options, placeholder, required, optional, disabled, several,
   * min, max, change }; kind: text, multiline, number, date, time, moment, choice, radio, boxes,
   * toggle, file. A platform marks what is `required`, or what is `optional`. `change(value)` is called when somebody chooses, for menus that tell their app at once.
   */
  draw(spec) {
    const made = (CONTROLS[spec.kind] ?? CONTROLS.text)(spec);
    const id = `field-${(serial += 1)}`;
    const complaint = el("p", { class: "complaint", id: `${id}-complaint`, role: "alert", hidden: true });
    const group = made.group === true;
    made.node.id = id;
    if (!group) made.node.setAttribute("aria-describedby", complaint.id);
    const name = spec.label || spec.placeholder || spec.id;
    const mark = spec.required ? el("span", { class: "needed", title: "required" }, " *") : spec.optional ? el("span", { class: "small" }, " (optional)") : null;
    const label = spec.label
      ? el(group ? "span" : "label", group ? { class: "label", id: `${id}-label` } : { class: "label", for: id }, spec.label, mark)
      : null;
    if (group && label) made.node.setAttribute("aria-labelledby", `${id}-label`);
    else if (!label) made.node.setAttribute("aria-label", name);
    const row = el("div", { class: `field kind-${spec.kind}` }, label, made.node, spec.hint ? el("p", { class: "hint" }, spec.hint) : null, complaint);
    if (spec.change) made.node.addEventListener("change", async () => spec.change(await made.read()));
    else this.all.set(spec.id, { read: made.read, complaint });
    return row;
  }

  /** What was filled in, by id; what is empty is left out. */
  async values() {
    const found = this.parent ? await this.parent.values() : {};
    for (const [id, field] of this.all) {
      const value = await field.read();
      if (value !== "" && value !== null && !(Array.isArray(value) && !value.length)) found[id] = value;
    }
    return found;
  }

  /** Say below each input what is wrong with it; gives what belongs to none of them. */
  complain(errors) {
    const rest = { ...errors };
    for (const [id, { complaint }] of this.all) {
      complaint.hidden = !errors[id];
      complaint.textContent = errors[id] ?? "";
      delete rest[id];
    }
    return Object.values(this.parent ? this.parent.complain(rest) : rest);
  }
}

const typed = (type) => (spec) => {
  const node = el("input", { type, value: spec.value, placeholder: spec.placeholder, disabled: spec.disabled, min: spec.min, max: spec.max, step: type === "number" ? "any" : null });
  return { node, read: () => node.value };
};

const CONTROLS = {
  text: typed("text"),
  number: typed("number"),
  date: typed("date"),
  time: typed("time"),
  moment: (spec) => {
    const local = spec.value ? new Date(spec.value * 1000 - new Date().getTimezoneOffset() * 60000).toISOString().slice(0, 16) : "";
    const node = el("input", { type: "datetime-local", value: local });
    return { node, read: () => (node.value ? Math.round(new Date(node.value).getTime() / 1000) : "") };
  },
  multiline: (spec) => {
    const node = el("textarea", { rows: 3, placeholder: spec.placeholder, disabled: spec.disabled }, spec.value ?? "");
    return { node, read: () => node.value };
  },
  choice: (spec) => {
    const chosen = [spec.value ?? []].flat().map(String);
    const option = (one) => el("option", { value: one.value, selected: chosen.includes(String(one.value)) }, one.description ? `${one.label} (${one.description})` : one.label);
    const groups = spec.options.map((one) => (one.options ? el("optgroup", { label: one.label }, one.options.map(option)) : option(one)));
    const empty = spec.several ? null : el("option", { value: "" }, spec.placeholder || "Choose…");
    const node = el("select", { multiple: spec.several, size: spec.several ? Math.min(5, Math.max(2, spec.options.length)) : null, disabled: spec.disabled }, empty, groups);
    const read = () => (spec.several ? [...node.selectedOptions].map((one) => one.value) : node.value);
    return { node, read };
  },
  radio: (spec) => picked(spec, "radio"),
  boxes: (spec) => picked(spec, "checkbox"),
  toggle: (spec) => {
    const box = el("input", { type: "checkbox", checked: spec.value === true, "aria-label": spec.title ? null : (spec.label ?? spec.id) });
    const node = el("label", { class: "box-line" }, box, el("span", {}, spec.title ?? ""));
    return { node, read: () => box.checked, group: true };
  },
  file: (spec) => {
    const node = el("input", { type: "file", multiple: spec.several });
    return { node, read: () => Promise.all([...node.files].map(asGiven)) };
  },
};

function picked(spec, type) {
  const name = `group-${(serial += 1)}`;
  const chosen = [spec.value ?? []].flat().map(String);
  const boxes = spec.options.map((one) => el("input", { type, name, value: one.value, checked: chosen.includes(String(one.value)), disabled: spec.disabled }));
  const lines = spec.options.map((one, at) => el("label", { class: "box-line" }, boxes[at], el("span", {}, one.label, one.description ? el("small", {}, one.description) : null)));
  const values = () => boxes.filter((box) => box.checked).map((box) => box.value);
  const node = el("div", { role: type === "radio" ? "radiogroup" : "group", class: "boxes" }, lines);
  return { node, read: () => (type === "radio" ? (values()[0] ?? "") : values()), group: true };
}

/** A file of this machine as the local platforms take it: its bytes in base64. */
export async function asGiven(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return { name: file.name, data: btoa(binary), content_type: file.type };
}

/** A button of a card. `press()` is told; while it is, it cannot be pressed again. */
export function button(label, { style = "", press, disabled = false, name = null } = {}) {
  const node = el("button", { type: "button", class: `control ${style}`, disabled, "aria-label": name }, label);
  node.addEventListener("click", async (event) => {
    event.stopPropagation();
    node.disabled = true;
    try {
      await press?.();
    } finally {
      node.disabled = disabled;
    }
  });
  return node;
}
