// The page: what the server tells goes to the panes, what people write goes to the server.

import { CLIENT } from "./client.js";
import { refresh, showArchive, showExplanation } from "./drawer.js";
import { loadEmoji } from "./emoji.js";
import { Pane } from "./pane.js";

const crossing = document.getElementById("crossing");
let pressed = null; // where, when and as whom somebody at this page sent something
let newest = null; // the message whose way is measured
const seen = new Map(); // "platform channel id" -> when the page showed it
let room = location.hash.slice(1) || "general";

const panes = await Promise.all([...document.querySelectorAll(".pane")].map(async (node) => {
  const { render, form, client } = await import(`/platforms/${node.dataset.platform}/draw.js`);
  return new Pane(node, { render, form, client: { ...CLIENT, ...client }, explain: showExplanation, pressed: began, room: enter });
}));

function enter(name) {
  room = name;
  history.replaceState(null, "", `#${name}`);
  for (const pane of panes) pane.open(room);
}

// --- hearing ------------------------------------------------------------------------------------

await loadEmoji();
const events = new EventSource("/events");

events.addEventListener("everything", (event) => {
  const { sides, messages, media_from: mediaFrom } = JSON.parse(event.data);
  for (const pane of panes) {
    const own = messages.filter((message) => message.platform === pane.platform);
    const others = sides.filter((side) => side.platform !== pane.platform).map((side) => side.label);
    pane.begin(sides.find((side) => side.platform === pane.platform), own, mediaFrom, others);
  }
  const rooms = sides[0].channels.map((channel) => channel.room);
  enter(rooms.includes(room) ? room : rooms[0]);
  document.body.classList.add("live");
  crossing.textContent = "live";
});

events.addEventListener("change", (event) => {
  const change = JSON.parse(event.data);
  panes.find((pane) => pane.platform === change.message.platform)?.take(change);
  if (change.kind === "posted") {
    seen.set(keyOf(change.message), performance.now());
    if (!change.message.bot) measure((newest = change.message), beganAt(change.message));
  }
  refresh();
});

events.addEventListener("private", (event) => {
  const byPlatform = JSON.parse(event.data);
  for (const pane of panes) pane.takePrivate(byPlatform[pane.platform] ?? {});
});

events.addEventListener("error", () => {
  document.body.classList.remove("live");
  crossing.textContent = "the demo does not answer; trying again…";
});

// --- saying -------------------------------------------------------------------------------------

function began(platform, person) {
  pressed = { platform, person, at: performance.now() };
}

/** When it was sent from this page; null where it was said without it, as in a scene. */
function beganAt(message) {
  if (pressed?.platform !== message.platform || pressed.person !== message.author_id) return null;
  const { at } = pressed;
  pressed = null;
  return at;
}

/** How long after one pane the others showed it, as this page saw it; without `began`, how long the
 * bridge had it until it stood there. */
async function measure(said, began, tries = 12) {
  await new Promise((resolve) => setTimeout(resolve, 150));
  const query = new URLSearchParams({ platform: said.platform, channel: said.channel, id: said.id });
  const answer = await fetch(`/explain?${query}`);
  const operations = answer.status === 200 ? (await answer.json()).operations.filter((one) => one.type === "post_message") : [];
  if (!operations.length || operations.some((one) => one.state === "waiting" || one.state === "sending")) {
    if (tries && newest === said) await measure(said, began, tries - 1);
    return;
  }
  if (newest !== said) return;
  const texts = operations.map((one) => `${one.label} ${tookUntil(one, began)}`);
  crossing.textContent = `${labelOf(said.platform)} → ${texts.join(" · ")}`;
}

function tookUntil(operation, began) {
  if (began === null) return operation.whole_ms === null ? operation.state : inMilliseconds(operation.whole_ms);
  const pane = panes.find((one) => one.platform === operation.platform);
  const channels = pane.side.channels.map((channel) => channel.id);
  const times = operation.native_ids.flatMap((id) => channels.map((channel) => seen.get(`${operation.platform} ${channel} ${id}`)));
  const last = Math.max(...times.filter((time) => time !== undefined));
  return Number.isFinite(last) ? inMilliseconds(last - began) : operation.state;
}

function inMilliseconds(time) {
  return `${Math.max(1, Math.round(time))} ms`;
}

function labelOf(platform) {
  return panes.find((pane) => pane.platform === platform).side.label;
}

function keyOf(message) {
  return `${message.platform} ${message.channel} ${message.id}`;
}

// --- the bar ------------------------------------------------------------------------------------

document.getElementById("archive").addEventListener("click", () => showArchive(room));
for (const name of ["scene", "card"]) {
  document.getElementById(name).addEventListener("click", async (event) => {
    const button = event.currentTarget;
    button.disabled = true;
    enter("general");
    await fetch(`/plays/${name}`, { method: "POST", headers: { "Content-Type": "application/json" } });
    setTimeout(() => (button.disabled = false), 4000);
  });
}
document.getElementById("theme").addEventListener("click", () => {
  const name = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = name;
  localStorage.setItem("theme", name);
});
