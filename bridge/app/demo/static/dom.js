// Names and values -> DOM nodes. Strings become text, never markup.

export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** A picture made of one path on a square of 20. */
export function icon(path) {
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

const SAFE = /^(?:https?:\/\/[^\s]+|mailto:[^\s]+)$/i;

/** A link that opens elsewhere; an address of another kind stays text. */
export function link(url, children) {
  if (!SAFE.test(url)) return el("span", {}, children);
  return el("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, children);
}

const COLOURS = ["#4a6fa5", "#b5523b", "#3f7d58", "#8d5a97", "#9a7300", "#2f7f86", "#b0417a"];

export function colourOf(name) {
  let sum = 0;
  for (const character of name) sum = (sum * 31 + character.codePointAt(0)) % 9973;
  return COLOURS[sum % COLOURS.length];
}

export function initialsOf(name) {
  const words = name.replace(/[^\p{L}\p{N}\s]/gu, " ").trim().split(/\s+/);
  return (words[0]?.[0] ?? "?").toUpperCase() + (words[1]?.[0] ?? "").toUpperCase();
}

/** Whether a file may be loaded: it lies on this machine, or in the message itself. */
export function loadable(url, mediaFrom) {
  return typeof url === "string" && (url.startsWith("/") || mediaFrom.some((origin) => url.startsWith(`${origin}/`)));
}

/** A picture, or, where it lies elsewhere, a frame with its description and a link to it. */
export function picture(url, alt, mediaFrom, className = "") {
  if (loadable(url, mediaFrom)) {
    return el("img", { class: `picture ${className}`, src: url, alt: alt || "", loading: "lazy" });
  }
  return el("span", { class: `picture elsewhere ${className}` }, link(String(url ?? ""), ["🖼 ", alt || "picture"]));
}

/** The person's picture where it comes from this machine, else initials. */
export function avatar(name, picture, mediaFrom) {
  if (picture && loadable(picture, mediaFrom ?? [])) {
    return el("img", { class: "avatar", src: picture, alt: "", loading: "lazy" });
  }
  const drawn = el("span", { class: "avatar drawn", "aria-hidden": "true" }, initialsOf(name));
  drawn.style.setProperty("--colour", colourOf(name));
  return drawn;
}
