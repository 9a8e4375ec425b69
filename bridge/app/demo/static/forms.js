// Forms that an app opened before a person: modals and dialogs.

import { act, trouble } from "./acts.js";
import { el } from "./dom.js";
import { Fields } from "./fields.js";

/** Shows the topmost form of a pane's writer; `draw(form, ui)` is the platform's own. */
export class FormWindow {
  constructor(pane, draw) {
    this.pane = pane;
    this.draw = draw;
    this.open = null; // id of the form that is shown
    this.node = el("dialog", { class: `form-window ${pane.platform}` });
    document.body.append(this.node);
    this.node.addEventListener("cancel", (event) => {
      event.preventDefault();
      this.leave();
    });
  }

  /** `forms`: what stands open before the writer, the topmost last. */
  show(forms) {
    const form = forms.at(-1);
    if (!form) {
      this.open = null;
      if (this.node.open) this.node.close();
      return;
    }
    const mark = JSON.stringify(form);
    if (this.open?.mark === mark) return;
    this.open = { id: form.id, mark };
    this.fields = new Fields();
    const ui = {
      ...this.pane.ui(this.fields),
      pressIn: (id, action, values) => this.tell("presses", { form: id, action, values: values ?? {} }),
      chooseIn: (id, action, value) => this.tell("choices", { form: id, action, value }),
    };
    const { title, body, submit, cancel } = this.draw(form, ui);
    this.complaint = el("p", { class: "complaint", role: "alert", hidden: true });
    const send = submit ? el("button", { type: "submit", class: "control primary" }, submit) : null;
    const leave = el("button", { type: "button", class: "control" }, cancel);
    leave.addEventListener("click", () => this.leave());
    const heading = el("h2", { id: `form-title-${this.pane.platform}` }, title || "Form");
    const inner = el("form", { novalidate: true }, heading, el("div", { class: "form-body text" }, body), this.complaint, el("div", { class: "row end" }, leave, send));
    inner.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    this.node.setAttribute("aria-labelledby", heading.id);
    this.node.replaceChildren(inner);
    if (!this.node.open) this.node.showModal();
    (inner.querySelector("input, textarea, select") ?? leave).focus();
  }

  async send() {
    await this.tell("forms", { form: this.open.id, values: await this.fields.values() });
  }

  async leave() {
    if (this.open) await act(this.pane.platform, "forms", { ...this.pane.who(), form: this.open.id, close: true });
    this.open = null;
    this.node.close();
  }

  async tell(what, body) {
    const answer = await act(this.pane.platform, what, { ...this.pane.who(), ...body });
    const rest = answer.ok ? this.fields.complain(answer.body.errors ?? {}) : [];
    const said = trouble(answer) ?? rest.join(" ");
    this.complaint.hidden = !said;
    this.complaint.textContent = said ?? "";
  }
}
