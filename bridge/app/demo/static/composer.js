// The box in which a person writes: words, emoji, files, commands; in the channel or in a thread.

import { act, trouble } from "./acts.js";
import { el } from "./dom.js";
import { pickEmoji } from "./emoji.js";
import { asGiven } from "./fields.js";

const LARGEST = 10_000_000; // bytes of a file

export class Composer {
  /** `pane` gives who writes and where; `pane.said(text)` shows what only the writer sees. */
  constructor(pane, box) {
    this.pane = pane;
    this.box = box;
    this.input = box.elements.text;
    this.files = [];
    this.thread = null;
    this.listen();
  }

  listen() {
    const { box, input } = this;
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        box.requestSubmit();
      }
      if (event.key === "Escape") this.answer(null);
    });
    input.addEventListener("input", () => this.grow());
    input.addEventListener("paste", (event) => {
      if (event.clipboardData?.files.length) this.attach(event.clipboardData.files);
    });
    box.addEventListener("dragover", (event) => event.preventDefault());
    box.addEventListener("drop", (event) => {
      event.preventDefault();
      this.attach(event.dataTransfer.files);
    });
    box.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    box.querySelector(".cancel").addEventListener("click", () => this.answer(null));
    const chooser = box.querySelector("input[type=file]");
    box.querySelector(".attach").hidden = !this.pane.client.files;
    box.querySelector(".attach").addEventListener("click", () => chooser.click());
    chooser.addEventListener("change", () => {
      this.attach(chooser.files);
      chooser.value = "";
    });
    box.querySelector(".emoji-button").addEventListener("click", async (event) => {
      const picked = await pickEmoji(event.currentTarget);
      if (picked) input.setRangeText(picked.text, input.selectionStart, input.selectionEnd, "end");
      input.focus();
    });
  }

  grow() {
    this.input.style.height = "auto";
    this.input.style.height = `${Math.min(this.input.scrollHeight, 140)}px`;
  }

  attach(files) {
    if (!this.pane.client.files) return this.complain("People share no files here.");
    for (const file of files) {
      if (file.size > LARGEST) this.complain(`${file.name} is larger than 10 MB; the demo takes smaller files.`);
      else this.files.push(file);
    }
    this.showFiles();
  }

  showFiles() {
    const list = this.box.querySelector(".attached");
    list.hidden = !this.files.length;
    list.replaceChildren(...this.files.map((file, at) => {
      const remove = el("button", { type: "button", "aria-label": `Remove ${file.name}` }, "×");
      remove.addEventListener("click", () => {
        this.files.splice(at, 1);
        this.showFiles();
      });
      return el("li", {}, file.name, remove);
    }));
  }

  /** Answer in the thread of this message; null: in the channel. */
  answer(message, root = message) {
    this.thread = message ? (message.thread ?? message.id) : null;
    const line = this.box.querySelector(".answering");
    line.hidden = !message;
    if (!message) return;
    const { threads } = this.pane.client;
    line.querySelector("span").textContent = threads ? `Replying in the thread of ${root.author}` : `Replying to ${message.author}`;
    this.input.focus();
  }

  complain(text) {
    const node = this.box.querySelector(".trouble");
    node.hidden = !text;
    node.textContent = text ?? "";
  }

  async submit() {
    const text = this.input.value;
    const files = this.files;
    if (!text.trim() && !files.length) return;
    this.input.value = "";
    this.files = [];
    this.showFiles();
    this.grow();
    const problem = await this.send(text, files);
    this.complain(problem);
    if (problem) this.pane.pressed(null);
    else this.answer(null);
    if (problem && !this.input.value) {
      this.input.value = text;
      this.files = files;
      this.showFiles();
    }
  }

  /** Gives what went wrong, if something did. */
  async send(text, files) {
    const { pane } = this;
    const command = /^\/(\w+)\s*([^]*)$/.exec(text.trim());
    if (command && !files.length) return this.command(command[1], command[2]);
    const post = { ...pane.where(), text };
    if (this.thread) post.thread = this.thread;
    pane.pressed();
    if (!files.length) return trouble(await act(pane.platform, "posts", post));
    return trouble(await act(pane.platform, "files", { ...post, files: await Promise.all(files.map(asGiven)) }));
  }

  /** Commands are the bot's own where bots have some; else one mentions it. */
  async command(name, text) {
    const { pane } = this;
    if (!pane.client.commands) {
      return trouble(await act(pane.platform, "posts", { ...pane.where(), text: `@${pane.side.bot} ${text}`.trim() }));
    }
    const answer = await act(pane.platform, "actions/command", { ...pane.where(), command: `/${name}`, text });
    if (answer.ok && answer.body.notice) pane.tellWriter(answer.body.notice);
    return trouble(answer);
  }
}
