// One platform's pane: its messages as its own client would show them, and what people do there.

import { act, trouble } from "./acts.js";
import { Composer } from "./composer.js";
import { avatar, el, icon } from "./dom.js";
import { emoji, pickEmoji } from "./emoji.js";
import { Fields } from "./fields.js";
import { FormWindow } from "./forms.js";
import { Roving } from "./roving.js";

const GROWING = 1800; // milliseconds after an edit in which a message is taken to be still written
const TOGETHER = 5 * 60 * 1000;
const KEPT = 400; // messages of a channel that stay on the page

const clock = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit", hour12: false });

export class Pane {
  /** `on`: { render, form, client, explain(message), pressed(platform, person), room(name) } */
  constructor(node, on) {
    this.node = node;
    this.on = on;
    this.platform = node.dataset.platform;
    this.client = on.client;
    this.log = node.querySelector(".messages");
    this.list = node.querySelector(".messages > ol");
    this.title = node.querySelector(".title");
    this.messages = new Map(); // id -> { message, item, body }
    this.private = {}; // what single people see, by person
    this.writer = node.querySelector("select[name=person]");
    this.composer = new Composer(this, node.querySelector("form.box"));
    this.window = new FormWindow(this, on.form);
    this.roving = new Roving(this.list, ".post > article", { vertical: true, last: true });
    new Roving(node.querySelector(".channels ul"), ".channel", { vertical: true, horizontal: true });
    for (const button of node.querySelectorAll(".channel")) {
      button.addEventListener("click", () => on.room(button.dataset.room));
    }
    this.writer.addEventListener("change", () => this.draw());
    this.keepLow();
  }

  /** Whoever was reading the newest message still does when the pane gets another size. */
  keepLow() {
    this.low = true;
    const size = () => `${this.log.clientWidth} ${this.log.clientHeight}`;
    let known = size();
    this.log.addEventListener("scroll", () => {
      if (size() === known) this.low = this.isLow();
    }, { passive: true });
    new ResizeObserver(() => {
      known = size();
      if (this.low) this.toEnd();
    }).observe(this.log);
  }

  // --- who and where ----------------------------------------------------------------------------

  who() {
    return { workspace: this.side.workspace, person: this.writer.value };
  }

  where() {
    return { ...this.who(), channel: this.channel.id };
  }

  /** Somebody sent something; `null`: it was refused. */
  pressed(person = this.writer.value) {
    this.on.pressed(this.platform, person);
  }

  /** What renderers need: names, what may be loaded, and what a press does. */
  ui(fields, entry = null) {
    const say = (answer, used = null) => {
      const rest = answer.ok ? (used ?? fields).complain(answer.body.errors ?? {}) : [];
      const said = trouble(answer) ?? rest.join(" ");
      if (entry) this.note(entry, said);
      if (answer.ok && answer.body.notice) this.tellWriter(answer.body.notice);
    };
    const message = entry?.message.id;
    return {
      names: this.side.names, emoji, fields, mediaFrom: this.mediaFrom,
      people: this.side.people, channels: this.side.channels,
      press: async (action, values, used) => say(await act(this.platform, "presses", { ...this.where(), message, action, values: values ?? (await fields.values()) }), used),
      choose: async (action, value) => say(await act(this.platform, "choices", { ...this.where(), message, action, value })),
    };
  }

  // --- what is seen -----------------------------------------------------------------------------

  /** Everything anew: after the start, and after a lost connection. */
  begin(side, messages, mediaFrom, others) {
    this.side = side;
    this.others = others; // labels of the other platforms
    this.mediaFrom = mediaFrom;
    this.byChannel = new Map(side.channels.map((channel) => [channel.id, new Map()]));
    for (const message of messages) this.byChannel.get(message.channel)?.set(message.id, message);
    if (this.channel) this.draw();
  }

  open(room) {
    this.channel = this.side.channels.find((channel) => channel.room === room);
    this.title.textContent = this.channel.name;
    this.composer.input.placeholder = this.client.placeholder?.(this.channel.name) ?? this.composer.input.placeholder;
    for (const button of this.node.querySelectorAll(".channel")) {
      const here = button.dataset.room === room;
      if (here) button.setAttribute("aria-current", "page");
      else button.removeAttribute("aria-current");
      if (here) button.classList.remove("unread");
    }
    this.composer.answer(null);
    this.draw();
  }

  take({ kind, message }) {
    const known = this.byChannel.get(message.channel);
    if (!known) return;
    if (kind === "deleted") known.delete(message.id);
    else known.set(message.id, message);
    if (message.channel !== this.channel?.id) {
      if (kind !== "posted") return;
      const other = this.side.channels.find((channel) => channel.id === message.channel);
      this.node.querySelector(`.channel[data-room="${CSS.escape(other.room)}"]`)?.classList.add("unread");
      return;
    }
    const low = this.isLow();
    const shown = this.messages.get(message.id);
    if (kind === "deleted" || (shown && this.shape(message) !== shown.shape)) this.draw();
    else if (shown) this.renew(shown, message, kind);
    else this.place(message, true);
    this.roving.refresh();
    if (low) this.toEnd();
  }

  /** What only single people see: forms, and messages to them alone. */
  takePrivate(byPerson) {
    const before = JSON.stringify(this.own().whispers);
    this.private = byPerson;
    if (!this.channel) return;
    if (JSON.stringify(this.own().whispers) !== before) {
      const low = this.isLow();
      this.draw(low);
    }
    this.window.show(this.own().forms);
  }

  own() {
    return this.private[this.writer.value] ?? { forms: [], whispers: [] };
  }

  /** What an edit in place does not change. */
  shape(message) {
    return `${message.thread ?? ""}|${message.author}`;
  }

  draw(low = true) {
    const top = this.log.scrollTop;
    this.messages.clear();
    this.list.replaceChildren(this.intro());
    const whispers = this.own().whispers.filter((whisper) => whisper.channel === this.channel.id).map((whisper) => ({ ...whisper, whisper: true }));
    const all = [...this.byChannel.get(this.channel.id).values(), ...whispers].sort(inOrder).slice(-KEPT);
    for (const message of all) this.place(message, false);
    this.roving.refresh();
    if (low) this.toEnd();
    else this.log.scrollTop = top;
    this.window.show(this.own().forms);
  }

  place(message, fresh) {
    const entry = { message, shape: this.shape(message) };
    const root = message.thread && message.thread !== message.id ? this.messages.get(message.thread) : null;
    this.messages.set(message.id, entry);
    entry.item = this.item(entry, Boolean(root));
    if (fresh) entry.item.classList.add("fresh");
    if (root) this.reply(root, entry);
    else {
      const before = this.list.lastElementChild;
      const later = [...this.list.children].slice(1).find((item) => inOrder(message, this.messages.get(item.dataset.id).message) < 0);
      this.list.insertBefore(entry.item, later ?? null);
      this.join(later ? null : before, entry);
    }
  }

  /** Messages of one author one after another stand together under one name. */
  join(before, entry) {
    if (!before?.dataset.id || !this.client.joins || entry.message.whisper) return;
    const previous = this.messages.get(before.dataset.id);
    const near = Date.parse(entry.message.time) - Date.parse(previous.message.time) < TOGETHER;
    const same = previous.message.author === entry.message.author && previous.message.author_id === entry.message.author_id;
    entry.item.classList.toggle("joined", near && same && !previous.thread && !previous.message.whisper);
  }

  intro() {
    const others = new Intl.ListFormat("en-GB").format(this.others);
    return el("li", { class: "intro" }, el("b", {}, `${this.client.sign}${this.channel.name}`), `What is said here is also said on ${others}, and the other way round.`);
  }

  // --- one message ------------------------------------------------------------------------------

  item(entry, inThread) {
    const { message } = entry;
    entry.body = el("div", { class: "text" });
    entry.marks = el("div", { class: "reactions" });
    entry.note = el("p", { class: "complaint", role: "alert", hidden: true });
    entry.edited = el("small", { class: "edited", hidden: true }, this.client.edited);
    entry.pin = el("small", { class: "pin", hidden: true }, "📌 Pinned");
    const picture = avatar(message.author, message.picture, this.mediaFrom);
    if (message.bot) picture.classList.add("bot");
    const time = el("time", { datetime: message.time, title: new Date(message.time).toLocaleString() }, clock.format(new Date(message.time)));
    const head = el(
      "header", {},
      el("b", { class: "author" }, message.author),
      message.bot ? el("span", { class: "badge" }, this.client.badge) : null,
      time, entry.edited, entry.pin,
    );
    const alone = message.whisper ? el("p", { class: "alone" }, "Only you can see this") : null;
    const article = el("article", { "aria-label": `${message.author}, ${clock.format(new Date(message.time))}` }, picture, el("div", { class: "main" }, alone, head, entry.body, entry.note, entry.marks), message.whisper ? null : this.tools(entry));
    article.addEventListener("click", (event) => {
      if (message.whisper || event.target.closest("a, button, input, select, textarea, label, summary, video, audio, form") || !getSelection().isCollapsed) return;
      this.on.explain(entry.message);
    });
    article.addEventListener("keydown", (event) => this.key(event, entry, article));
    this.fill(entry);
    const item = el("li", { class: `post ${inThread ? "reply" : ""} ${message.whisper ? "whisper" : ""}`, "data-id": message.id }, article);
    if (this.client.answerLine && !inThread && !message.whisper) item.append(this.answerLine(entry));
    return item;
  }

  /** With the focus on a message: letters for what its buttons do. */
  key(event, entry, article) {
    if (event.target !== article || event.ctrlKey || event.metaKey || event.altKey || entry.message.whisper) return;
    const does = {
      Enter: () => this.on.explain(entry.message), r: () => this.answer(entry), "+": () => this.react(entry, article),
      e: () => this.isEditable(entry.message) && this.edit(entry), Delete: () => this.isOwn(entry.message) && this.remove(entry),
    }[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  }

  isOwn(message) {
    return !message.bot && message.author_id === this.writer.value;
  }

  isEditable(message) {
    return this.client.edits && this.isOwn(message);
  }

  tools(entry) {
    const tool = (name, title, path, does) => {
      const node = el("button", { type: "button", class: name, title, "aria-label": `${title}: ${entry.message.author}` }, icon(path));
      node.addEventListener("click", () => does(node));
      return node;
    };
    const { message } = entry;
    return el(
      "div", { class: "acts" },
      tool("react", "Add a reaction", SMILE, (node) => this.react(entry, node)),
      tool("answer", this.client.threads ? "Reply in thread" : "Reply", REPLY, () => this.answer(entry)),
      this.isEditable(message) ? tool("edit", "Edit", PEN, () => this.edit(entry)) : null,
      this.isOwn(message) ? tool("delete", "Delete", BIN, () => this.remove(entry)) : null,
      this.client.pins ? tool("pin-tool", "Pin or unpin", PIN, () => this.do(entry, "pins", { pinned: !entry.message.pinned })) : null,
      tool("explain", "How did it get here?", WAY, () => this.on.explain(entry.message)),
    );
  }

  answer(entry) {
    const root = this.messages.get(entry.message.thread)?.message ?? entry.message;
    this.composer.answer(entry.message, root);
  }

  answerLine(entry) {
    const answer = el("button", { type: "button", class: "answer" }, icon(REPLY), "Reply");
    answer.addEventListener("click", () => this.answer(entry));
    return el("p", { class: "answer-line" }, answer);
  }

  fill(entry) {
    const { message } = entry;
    const fields = new Fields();
    entry.body.replaceChildren(...this.on.render(message.native, this.ui(fields, entry)));
    entry.edited.hidden = !message.edited;
    this.mark(entry);
  }

  /** Reactions and the pin. */
  mark(entry) {
    const { message } = entry;
    entry.pin.hidden = !message.pinned;
    const mine = this.writer.value;
    entry.marks.replaceChildren(...Object.entries(message.reactions ?? {}).map(([sign, people]) => {
      const own = people.includes(mine);
      const names = people.map((id) => this.side.names[id] ?? "Bridge").join(", ");
      const node = el("button", { type: "button", class: "reaction", "aria-pressed": String(own), title: names, "aria-label": `${sign}, ${people.length}: ${names}` }, el("span", {}, sign), ` ${people.length}`);
      node.addEventListener("click", () => this.do(entry, "reactions", { emoji: sign, taken_back: own }));
      return node;
    }));
  }

  renew(entry, message, kind) {
    entry.message = message;
    if (kind === "marked") {
      if (message.native.poll) this.fill(entry);
      else this.mark(entry);
      return;
    }
    this.fill(entry);
    if (kind !== "edited") return;
    entry.item.classList.add("growing");
    clearTimeout(entry.timer);
    entry.timer = setTimeout(() => entry.item.classList.remove("growing"), GROWING);
  }

  note(entry, text) {
    entry.note.hidden = !text;
    entry.note.textContent = text ?? "";
  }

  /** A line that only the writer sees, and that no platform keeps. */
  tellWriter(text) {
    const line = el("li", { class: "intro told" }, el("b", {}, "Only you can see this"), text);
    this.list.append(line);
    this.toEnd();
  }

  // --- what people do with it -------------------------------------------------------------------

  async do(entry, what, more = {}) {
    const answer = await act(this.platform, what, { ...this.where(), message: entry.message.id, ...more });
    this.note(entry, trouble(answer));
    return answer.ok;
  }

  async react(entry, beside) {
    const picked = await pickEmoji(beside);
    if (picked) await this.do(entry, "reactions", { emoji: picked.text });
  }

  async remove(entry) {
    await this.do(entry, "deletions");
  }

  /** The words become a box; Enter keeps them, Escape does not. */
  edit(entry) {
    const box = el("textarea", { class: "editing", rows: 2, "aria-label": "Edit the message" }, entry.message.text);
    const done = () => this.fill(entry);
    const save = el("button", { type: "button", class: "control primary" }, "Save");
    const cancel = el("button", { type: "button", class: "control" }, "Cancel");
    const keep = async () => {
      if (await this.do(entry, "edits", { text: box.value })) done();
    };
    save.addEventListener("click", keep);
    cancel.addEventListener("click", done);
    box.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") done();
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        keep();
      }
    });
    entry.body.replaceChildren(box, el("div", { class: "row" }, save, cancel));
    box.focus();
  }

  // --- threads ----------------------------------------------------------------------------------

  reply(root, entry) {
    root.thread ??= this.threadOf(root);
    const { list, label, faces } = root.thread;
    const later = [...list.children].find((item) => inOrder(entry.message, this.messages.get(item.dataset.id).message) < 0);
    list.insertBefore(entry.item, later ?? null);
    const count = list.children.length;
    label.textContent = this.client.replies(count);
    const authors = [...list.children].map((item) => this.messages.get(item.dataset.id).message);
    const different = [...new Map(authors.map((message) => [message.author, message])).values()].slice(-3);
    faces.replaceChildren(...different.map((message) => avatar(message.author, message.picture, this.mediaFrom)));
  }

  threadOf(root) {
    const list = el("ol", { class: "replies" });
    const label = el("span", { class: "count" });
    const faces = el("span", { class: "faces", "aria-hidden": "true" });
    const name = this.client.namedThreads ? el("b", { class: "name" }, threadName(root.body.textContent)) : null;
    const toggle = el("button", { type: "button", class: "toggle", "aria-expanded": "true" }, name, faces, label);
    const section = el("section", { class: "thread", "aria-label": `Thread of ${root.message.author}, ${clock.format(new Date(root.message.time))}` }, toggle, list);
    toggle.addEventListener("click", () => {
      const folded = section.classList.toggle("folded");
      toggle.setAttribute("aria-expanded", String(!folded));
    });
    root.item.querySelector("article").after(section);
    root.item.classList.add("rooted");
    return { list, label, faces };
  }

  isLow() {
    return this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 80;
  }

  toEnd() {
    this.log.scrollTop = this.log.scrollHeight;
  }
}

function inOrder(one, other) {
  return Date.parse(one.time) - Date.parse(other.time) || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}

function threadName(text) {
  const line = text.trim().split("\n")[0];
  return line.length > 42 ? `${line.slice(0, 41)}…` : line;
}

const REPLY = "M8.5 4 3 9l5.5 5v-3.2c4 0 6.5 1.2 8.5 4.2-.5-4.5-3-7.8-8.5-8.3z";
const WAY = "M5 3a2.3 2.3 0 0 1 .8 4.5V9c0 1 .7 1.7 1.7 1.7h5c1.7 0 3 1.3 3 3v.1a2.3 2.3 0 1 1-1.5 0v-.1c0-.9-.6-1.5-1.5-1.5h-5c-.6 0-1.2-.2-1.7-.5v1.9a2.3 2.3 0 1 1-1.5 0V7.5A2.3 2.3 0 0 1 5 3z";
const SMILE = "M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15zm0 1.6a5.9 5.9 0 1 1 0 11.8 5.9 5.9 0 0 1 0-11.8zM7.4 7.2a1.1 1.1 0 1 0 0 2.2 1.1 1.1 0 0 0 0-2.2zm5.2 0a1.1 1.1 0 1 0 0 2.2 1.1 1.1 0 0 0 0-2.2zm-5.9 3.9a3.6 3.6 0 0 0 6.6 0h-1.5a2.2 2.2 0 0 1-3.6 0z";
const PEN = "M13.6 3.2a1.6 1.6 0 0 1 2.3 0l.9.9a1.6 1.6 0 0 1 0 2.3L7.5 15.7 3.6 16.4l.7-3.9zM5.7 13.2l-.3 1.4 1.4-.3 6.6-6.6-1.1-1.1z";
const BIN = "M8 3h4l.6 1.2H16v1.5H4V4.200h3.400zM5.200 6.900h9.600L14 16.500H6z";
const PIN = "M12.500 2.500 17.500 7.500 16 8.300 13.300 11.600 13 14.600 12 15.600 8.700 12.300 4.500 16.500 3.500 16.500 3.500 15.500 7.700 11.300 4.400 8 5.400 7 8.400 6.700 11.700 4z";
