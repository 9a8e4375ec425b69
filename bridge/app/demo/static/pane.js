// One platform's pane: its messages as its own client would show them, and a box to write in.

import { avatar, el } from "./dom.js";

const GROWING = 1800; // milliseconds after an edit in which a message is taken to be still written
const TOGETHER = 5 * 60 * 1000;
const KEPT = 400; // messages of a channel that stay on the page

const clock = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit", hour12: false });

export class Pane {
  /** `act`: { render, explain(message), say(post), room(name) } */
  constructor(node, act) {
    this.node = node;
    this.act = act;
    this.platform = node.dataset.platform;
    this.list = node.querySelector(".messages");
    this.title = node.querySelector(".title");
    this.box = node.querySelector("form");
    this.input = this.box.elements.text;
    this.messages = new Map(); // id -> { message, item, body }
    this.folded = new Set();
    this.thread = null;
    this.listen();
    // Whoever was reading the newest message still does when the pane gets another size.
    this.low = true;
    const size = () => `${this.list.clientWidth} ${this.list.clientHeight}`;
    let known = size();
    this.list.addEventListener("scroll", () => {
      if (size() === known) this.low = this.isLow();
    }, { passive: true });
    new ResizeObserver(() => {
      known = size();
      if (this.low) this.toEnd();
    }).observe(this.list);
  }

  /** Everything anew: after the start, and after a lost connection. */
  begin(side, messages, picturesFrom) {
    this.side = side;
    this.picturesFrom = picturesFrom;
    this.byChannel = new Map(side.channels.map((channel) => [channel.id, new Map()]));
    for (const message of messages) this.byChannel.get(message.channel)?.set(message.id, message);
    if (this.channel) this.draw();
  }

  open(room) {
    this.channel = this.side.channels.find((channel) => channel.room === room);
    this.title.textContent = this.channel.name;
    const hash = this.platform === "teams" ? "" : "#";
    if (this.platform !== "teams") this.input.placeholder = `Message ${hash}${this.channel.name}`;
    for (const button of this.node.querySelectorAll(".channel")) {
      const here = button.dataset.room === room;
      if (here) button.setAttribute("aria-current", "page");
      else button.removeAttribute("aria-current");
      if (here) button.classList.remove("unread");
    }
    this.answer(null);
    this.draw();
  }

  take({ kind, message }) {
    const known = this.byChannel.get(message.channel);
    if (!known) return;
    if (kind === "deleted") known.delete(message.id);
    else known.set(message.id, message);
    if (message.channel !== this.channel?.id) {
      const other = this.side.channels.find((channel) => channel.id === message.channel);
      this.node.querySelector(`.channel[data-room="${CSS.escape(other.room)}"]`)?.classList.add("unread");
      return;
    }
    const low = this.isLow();
    const shown = this.messages.get(message.id);
    if (kind === "deleted" || (shown && this.shape(message) !== shown.shape)) this.draw();
    else if (shown) this.renew(shown, message, kind);
    else this.place(message, true);
    if (low) this.toEnd();
  }

  /** What an edit in place does not change. */
  shape(message) {
    return `${message.thread ?? ""}|${message.author}`;
  }

  draw() {
    this.messages.clear();
    this.list.replaceChildren(this.intro());
    const all = [...this.byChannel.get(this.channel.id).values()].sort(inOrder).slice(-KEPT);
    for (const message of all) this.place(message, false);
    this.toEnd();
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
    if (!before?.dataset.id || this.platform === "teams") return;
    const previous = this.messages.get(before.dataset.id);
    const near = Date.parse(entry.message.time) - Date.parse(previous.message.time) < TOGETHER;
    const same = previous.message.author === entry.message.author && previous.message.author_id === entry.message.author_id;
    entry.item.classList.toggle("joined", near && same && !previous.thread);
  }

  intro() {
    const others = { slack: "Discord and Teams", discord: "Slack and Teams", teams: "Slack and Discord" }[this.platform];
    const sign = this.platform === "teams" ? "" : "#";
    return el("li", { class: "intro" }, el("b", {}, `${sign}${this.channel.name}`), `What is said here is also said on ${others}, and the other way round.`);
  }

  item(entry, inThread) {
    const { message } = entry;
    entry.body = el("div", { class: "text" });
    entry.edited = el("small", { class: "edited", hidden: true }, this.platform === "teams" ? "Edited" : "(edited)");
    const picture = avatar(message.author, message.picture, this.picturesFrom);
    if (message.bot) picture.classList.add("bot");
    const time = el("time", { datetime: message.time, title: new Date(message.time).toLocaleString() }, clock.format(new Date(message.time)));
    const head = el(
      "header", {},
      el("b", { class: "author" }, message.author),
      message.bot ? el("span", { class: "badge" }, this.platform === "teams" ? "BOT" : "APP") : null,
      time, entry.edited,
    );
    const article = el("article", {}, picture, el("div", { class: "main" }, head, entry.body), this.actions(entry));
    article.addEventListener("click", (event) => {
      if (event.target.closest("a, button") || !getSelection().isCollapsed) return;
      this.act.explain(entry.message);
    });
    this.fill(entry);
    const item = el("li", { class: inThread ? "post reply" : "post", "data-id": message.id }, article);
    if (this.platform === "teams" && !inThread) item.append(this.answerLine(entry));
    return item;
  }

  actions(entry) {
    const answer = el("button", { type: "button", class: "answer", title: "Reply in thread", "aria-label": `Reply in the thread of ${entry.message.author}` }, icon(REPLY));
    answer.addEventListener("click", () => this.answer(entry.message));
    const explain = el("button", { type: "button", class: "explain", title: "How did it get here?", "aria-label": "How did this message get here?" }, icon(WAY));
    explain.addEventListener("click", () => this.act.explain(entry.message));
    return el("div", { class: "acts" }, answer, explain);
  }

  answerLine(entry) {
    const answer = el("button", { type: "button", class: "answer" }, icon(REPLY), "Reply");
    answer.addEventListener("click", () => this.answer(entry.message));
    return el("p", { class: "answer-line" }, answer);
  }

  fill(entry) {
    const { message } = entry;
    entry.body.replaceChildren(...this.act.render(message.native, this.side.names));
    entry.edited.hidden = !message.edited;
  }

  renew(entry, message, kind) {
    entry.message = message;
    this.fill(entry);
    if (kind !== "edited") return;
    entry.item.classList.add("growing");
    clearTimeout(entry.timer);
    entry.timer = setTimeout(() => entry.item.classList.remove("growing"), GROWING);
  }

  reply(root, entry) {
    root.thread ??= this.threadOf(root);
    const { list, label, faces } = root.thread;
    const later = [...list.children].find((item) => inOrder(entry.message, this.messages.get(item.dataset.id).message) < 0);
    list.insertBefore(entry.item, later ?? null);
    const count = list.children.length;
    label.textContent = { discord: `${count} Message${count > 1 ? "s" : ""} ›` }[this.platform] ?? (count > 1 ? `${count} replies` : "1 reply");
    const authors = [...list.children].map((item) => this.messages.get(item.dataset.id).message);
    const different = [...new Map(authors.map((message) => [message.author, message])).values()].slice(-3);
    faces.replaceChildren(...different.map((message) => avatar(message.author, message.picture, this.picturesFrom)));
  }

  threadOf(root) {
    const list = el("ol", { class: "replies" });
    const label = el("span", { class: "count" });
    const faces = el("span", { class: "faces", "aria-hidden": "true" });
    const name = this.platform === "discord" ? el("b", { class: "name" }, threadName(root.body.textContent)) : null;
    const toggle = el("button", { type: "button", class: "toggle", "aria-expanded": "true" }, name, faces, label);
    const section = el("section", { class: "thread", "aria-label": "Thread" }, toggle, list);
    toggle.addEventListener("click", () => {
      const open = section.classList.toggle("folded");
      toggle.setAttribute("aria-expanded", String(!open));
    });
    root.item.querySelector("article").after(section);
    root.item.classList.add("rooted");
    return { list, label, faces };
  }

  // --- writing ---------------------------------------------------------------------------------

  listen() {
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        this.box.requestSubmit();
      }
      if (event.key === "Escape") this.answer(null);
    });
    this.input.addEventListener("input", () => this.grow());
    this.box.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.box.querySelector(".cancel").addEventListener("click", () => this.answer(null));
    for (const button of this.node.querySelectorAll(".channel")) {
      button.addEventListener("click", () => this.act.room(button.dataset.room));
    }
  }

  grow() {
    this.input.style.height = "auto";
    this.input.style.height = `${Math.min(this.input.scrollHeight, 140)}px`;
  }

  /** Answer in the thread of this message; null: in the channel. */
  answer(message) {
    this.thread = message ? (message.thread ?? message.id) : null;
    const line = this.box.querySelector(".answering");
    line.hidden = !message;
    if (!message) return;
    const root = this.messages.get(this.thread)?.message ?? message;
    line.querySelector("span").textContent = `Replying in the thread of ${root.author}`;
    this.input.focus();
  }

  async submit() {
    const text = this.input.value;
    if (!text.trim()) return;
    const trouble = this.box.querySelector(".trouble");
    const post = { platform: this.platform, channel: this.channel.id, person: this.box.elements.person.value, text, thread: this.thread };
    this.input.value = "";
    this.grow();
    const problem = await this.act.say(post);
    if (!problem) this.answer(null);
    trouble.hidden = !problem;
    trouble.textContent = problem ?? "";
    if (problem && !this.input.value) this.input.value = text;
  }

  isLow() {
    return this.list.scrollHeight - this.list.scrollTop - this.list.clientHeight < 80;
  }

  toEnd() {
    this.list.scrollTop = this.list.scrollHeight;
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

function icon(path) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  const drawn = document.createElementNS(space, "path");
  drawn.setAttribute("d", path);
  drawn.setAttribute("fill", "currentColor");
  svg.append(drawn);
  return svg;
}
