// Files of a message: pictures, films and sounds are shown, others are a name with a size.

import { el, link, loadable } from "./dom.js";

/** `file`: { url, name, type, size, alt, spoiler } */
export function fileLine(file, ui) {
  const open = loadable(file.url, ui.mediaFrom);
  const kind = (file.type ?? "").split("/")[0];
  const label = file.alt || file.name || "file";
  if (open && kind === "image") {
    const shown = el("img", { class: "picture", src: file.url, alt: label, loading: "lazy" });
    return file.spoiler ? hidden(shown) : shown;
  }
  if (open && kind === "video") return el("video", { class: "picture", src: file.url, controls: true, preload: "metadata", "aria-label": label });
  if (open && kind === "audio") return el("audio", { src: file.url, controls: true, preload: "metadata", "aria-label": label });
  const size = file.size ? el("small", {}, ` ${readable(file.size)}`) : null;
  const name = open ? el("a", { href: file.url, download: file.name ?? "", target: "_blank", rel: "noopener" }, file.name ?? "file") : link(String(file.url ?? ""), [file.name ?? "file"]);
  return el("p", { class: "file" }, el("span", { "aria-hidden": "true" }, "📄 "), name, size);
}

function hidden(node) {
  return el("details", { class: "hidden-media" }, el("summary", {}, "Spoiler"), node);
}

function readable(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(0)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
