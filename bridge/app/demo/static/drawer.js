// The drawer at the right: how a message got here, and the room's archive as UACS.

import { el } from "./dom.js";

const drawer = document.getElementById("drawer");
const title = document.getElementById("drawer-title");
const body = drawer.querySelector(".body");
let showing = null; // what the drawer shows now: a function that shows it anew

let before = null; // what had the focus

drawer.querySelector(".close").addEventListener("click", close);
drawer.addEventListener("keydown", (event) => {
  if (event.key === "Escape") close();
});

function close() {
  showing = null;
  drawer.hidden = true;
  if (!before?.matches("[role=log]")) before?.focus();
}

function open(heading, show) {
  title.textContent = heading;
  showing = show;
  body.replaceChildren(el("p", { class: "quiet" }, "…"));
  body.scrollTop = 0;
  if (!drawer.hidden) return;
  before = document.activeElement;
  drawer.hidden = false;
  drawer.querySelector(".close").focus({ preventScroll: true });
}

/** Something changed: what is shown may be older than it. */
let waiting = 0;
export function refresh() {
  if (!showing || waiting) return;
  waiting = setTimeout(() => {
    waiting = 0;
    showing?.();
  }, 250);
}

// --- the archive --------------------------------------------------------------------------------

export async function showArchive(room) {
  const show = async () => {
    const answer = await fetch(`/archive/${encodeURIComponent(room)}`);
    const conversation = await answer.json();
    if (showing !== show) return;
    const count = conversation.messages?.length ?? 0;
    const low = body.scrollHeight - body.scrollTop - body.clientHeight < 60;
    body.replaceChildren(
      el("p", { class: "quiet" }, `The room is one UACS Conversation, and this is it: ${count} message${count === 1 ? "" : "s"}. It grows while you write. `,
        el("a", { href: `/archive/${encodeURIComponent(room)}`, target: "_blank", rel: "noopener" }, "Open as a document")),
      json(conversation),
    );
    if (low) body.scrollTop = body.scrollHeight;
  };
  open(`Archive of the room “${room}”`, show);
  await show();
}

// --- one message --------------------------------------------------------------------------------

const DONE = { done: "delivered", dead: "dead letter", unproved: "unproved", waiting: "waiting", sending: "sending", cancelled: "cancelled" };

export async function showExplanation(message) {
  const query = new URLSearchParams({ platform: message.platform, channel: message.channel, id: message.id });
  const show = async () => {
    const answer = await fetch(`/explain?${query}`);
    const found = await answer.json();
    if (showing !== show) return;
    if (answer.status !== 200) body.replaceChildren(el("p", { class: "quiet" }, found.error)); // 202: not yet
    else body.replaceChildren(...explanation(found));
  };
  open("How this message got here", show);
  await show();
}

function explanation(found) {
  const nodes = [
    el("p", { class: "subject" }, el("b", {}, found.author), ` ${found.said_on ? `on ${found.said_on_label}` : "(an agent behind the bridge)"}`),
    el("p", { class: "quiet mono" }, found.id),
  ];
  const steps = el("ol", { class: "steps" });
  if (found.received) {
    steps.append(step("Received and kept", `${found.received.kind}, on disk before ${found.said_on_label ?? "the platform"} was told`, time(found.kept_at), null, found.said_on));
  }
  steps.append(step("Decided", outcome(found.outcome), null, null));
  for (const line of found.timelines) steps.append(step(`No. ${line.number} in the ${line.kind}`, line.where, null, null, "quiet"));
  for (const one of found.operations) steps.append(operation(one));
  nodes.push(steps, folded("The message in UACS", json(found.uacs), true));
  if (found.received) nodes.push(folded("The payload as it came", json(found.received.payload)));
  return nodes;
}

function outcome(word) {
  return { answer: "an agent’s answer: to every channel of the room", routed: "routed to the room’s other channels" }[word] ?? word;
}

function operation(one) {
  const what = one.type === "post_message" ? "Posted" : one.type === "edit_message" ? "Edited, final state" : one.type;
  const ids = one.native_ids.length ? `as ${one.native_ids.join(", ")}` : "";
  const details = [
    `${DONE[one.state] ?? one.state} ${ids}`.trim(),
    one.thread ? `in the thread ${one.thread}` : null,
    one.attempts > 1 ? `${one.attempts} attempts` : null,
    one.error || null,
  ].filter(Boolean).join(" · ");
  const took = one.whole_ms === null ? null : `${Math.round(one.whole_ms)} ms`;
  const losses = one.losses.map((loss) => el("li", {}, `${loss.what}: shown as ${loss.shown_as || "nothing"}`));
  return step(`${what} on ${one.label} #${one.channel}`, details, took, losses.length ? el("ul", { class: "losses" }, losses) : null, one.platform);
}

function step(what, details, at, more, platform) {
  return el(
    "li", { class: platform ?? "" },
    el("p", { class: "what" }, el("b", {}, what), at ? el("span", { class: "took" }, at) : null),
    el("p", { class: "details" }, details), more,
  );
}

function time(text) {
  return text ? new Date(text).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hour12: false }) : null;
}

function folded(name, content, open = false) {
  return el("details", { open }, el("summary", {}, name), content);
}

// --- JSON ---------------------------------------------------------------------------------------

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Indented and coloured; all of it text. */
export function json(value) {
  const text = JSON.stringify(value, null, 2);
  const pre = el("pre", { class: "json", tabindex: "0" });
  let last = 0;
  for (const match of text.matchAll(TOKEN)) {
    pre.append(text.slice(last, match.index));
    const kind = match[2] ? "key" : match[1] ? "string" : "value";
    pre.append(el("span", { class: kind }, match[1] ?? match[0]), match[2] ?? "");
    last = match.index + match[0].length;
  }
  pre.append(text.slice(last));
  return pre;
}
