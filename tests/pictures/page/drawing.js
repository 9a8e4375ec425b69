// Native payloads, drawn by the demo's own renderers; nothing can be pressed here.

import { el } from "/static/dom.js";
import { Fields } from "/static/fields.js";

const RENDER = {}; // platform -> `render` of its draw.js
for (const platform of document.body.dataset.platforms.split(" ")) {
  RENDER[platform] = (await import(`/platforms/${platform}/draw.js`)).render;
}
const ADAPTIVE = "application/vnd.microsoft.card.adaptive";

/** Payloads come as whole messages, or as the part that matters: blocks, components, one card. */
const WHOLE = {
  slack: (payload) => (Array.isArray(payload) ? { blocks: payload } : payload),
  discord: (payload) => (Array.isArray(payload) ? { components: payload } : payload),
  teams: (payload) => (payload.type === "AdaptiveCard" ? { attachments: [{ contentType: ADAPTIVE, content: payload }] } : payload),
};

function drawn(platform, payload, emoji) {
  const ui = {
    names: {}, emoji, people: [], channels: [], fields: new Fields(), mediaFrom: ["https:/", "http:/"],
    press: async () => {}, choose: async () => {},
  };
  try {
    return RENDER[platform](WHOLE[platform]?.(payload) ?? payload, ui);
  } catch (error) {
    return [el("p", { class: "unknown" }, `the renderer failed: ${error.stack}`)];
  }
}

/** `panes`: [{ title, platform, messages, losses }] side by side. */
window.show = (panes, emoji) => {
  document.querySelector("main").replaceChildren(...panes.map((pane) => {
    const messages = pane.messages.map((payload) => el("div", { class: "text" }, drawn(pane.platform, payload, emoji)));
    return el("section", { class: `pane ${pane.platform}` }, el("h1", {}, pane.title), messages, el("pre", { class: "losses" }, pane.losses ?? ""));
  }));
};
window.ready = true;
