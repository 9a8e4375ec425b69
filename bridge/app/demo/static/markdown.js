// Markdown of a dialect -> DOM nodes. A dialect is a list of inline rules and of block options;
// whatever no rule knows is text.

import { el, link } from "./dom.js";

const DEEPEST = 8;

/** `dialect`: { rules: [[sticky RegExp, (match, inner) => Node | string]], blocks: {...} } */
export function markdown(text, dialect) {
  return blocks(text.replace(/\r\n?/g, "\n").split("\n"), dialect, 0);
}

function blocks(lines, dialect, depth) {
  const nodes = [];
  let run = [];
  const flush = () => {
    while (run.length && !run[0].trim()) run.shift();
    while (run.length && !run.at(-1).trim()) run.pop();
    if (run.length) nodes.push(...paragraphs(run, dialect, depth));
    run = [];
  };
  for (let at = 0; at < lines.length; ) {
    const block = depth < DEEPEST ? blockAt(lines, at, dialect, depth) : null;
    if (block) {
      flush();
      nodes.push(block.node);
      at = block.next;
    } else {
      run.push(lines[at]);
      at += 1;
    }
  }
  flush();
  return nodes;
}

/** Empty lines part paragraphs; line breaks inside are kept (the style says pre-wrap). */
function paragraphs(lines, dialect, depth) {
  return lines
    .join("\n")
    .split(/\n[ \t]*\n+/)
    .map((text) => el("p", {}, inline(text, dialect, depth)));
}

function blockAt(lines, at, dialect, depth) {
  const line = lines[at];
  return (
    fenced(lines, at) ??
    (dialect.blocks.restQuote && line.startsWith(">>> ") ? restQuoted(lines, at, dialect, depth) : null) ??
    quoted(lines, at, dialect, depth) ??
    heading(line, at, dialect, depth) ??
    (dialect.blocks.lists === false ? null : listed(lines, at, dialect, depth))
  );
}

function fenced(lines, at) {
  const opening = /^ {0,3}(`{3,}|~{3,})([\w+#.-]*)\s*$/.exec(lines[at]);
  if (!opening) return null;
  const end = lines.findIndex((line, index) => index > at && line.trim().startsWith(opening[1]));
  if (end < 0) return null;
  const code = el("code", {}, lines.slice(at + 1, end).join("\n"));
  return { node: el("pre", {}, code), next: end + 1 };
}

function restQuoted(lines, at, dialect, depth) {
  const inner = [lines[at].slice(4), ...lines.slice(at + 1)];
  return { node: el("blockquote", {}, blocks(inner, dialect, depth + 1)), next: lines.length };
}

function quoted(lines, at, dialect, depth) {
  const sign = dialect.blocks.quote;
  let next = at;
  while (next < lines.length && sign.test(lines[next])) next += 1;
  if (next === at) return null;
  const inner = lines.slice(at, next).map((line) => line.replace(sign, ""));
  return { node: el("blockquote", {}, blocks(inner, dialect, depth + 1)), next };
}

function heading(line, at, dialect, depth) {
  const small = dialect.blocks.small && /^-# +(\S.*)$/.exec(line);
  if (small) return { node: el("p", { class: "small" }, inline(small[1], dialect, depth)), next: at + 1 };
  const found = /^(#{1,6}) +(\S.*)$/.exec(line);
  if (!found || found[1].length > dialect.blocks.headings) return null;
  const node = el("p", { class: `heading h${found[1].length}` }, inline(found[2], dialect, depth));
  return { node, next: at + 1 };
}

const ITEM = /^( *)(?:([-*+])|(\d{1,9})[.)]) +(\S.*)$/;

function listed(lines, at, dialect, depth) {
  const first = ITEM.exec(lines[at]);
  if (!first) return null;
  const ordered = first[3] !== undefined;
  const list = el(ordered ? "ol" : "ul", ordered ? { start: first[3] } : {});
  let next = at;
  for (; next < lines.length; next += 1) {
    const item = ITEM.exec(lines[next]);
    if (!item || (item[3] !== undefined) !== ordered) break;
    const level = Math.min(3, Math.floor(item[1].length / 2));
    list.append(el("li", { class: level ? `in${level}` : "" }, inline(item[4], dialect, depth)));
  }
  return { node: list, next };
}

export function inline(text, dialect, depth = 0) {
  if (depth > DEEPEST) return [text];
  const nodes = [];
  let plain = "";
  const add = (node) => {
    if (typeof node === "string") plain += node;
    else {
      if (plain) nodes.push(plain);
      plain = "";
      nodes.push(node);
    }
  };
  const inner = (piece) => inline(piece, dialect, depth + 1);
  for (let at = 0; at < text.length; ) {
    const found = dialect.starts.test(text[at]) ? ruleAt(text, at, dialect) : null;
    if (found) {
      add(found.make(found.match, inner));
      at += found.match[0].length;
    } else {
      plain += text[at];
      at += 1;
    }
  }
  if (plain) nodes.push(plain);
  return nodes;
}

function ruleAt(text, at, dialect) {
  for (const [pattern, make, needs] of dialect.rules) {
    if (needs && text.indexOf(needs, at + needs.length) < 0) continue;
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) return { match, make };
  }
  return null;
}

const styled = (tag, group = 1) => (match, inner) => el(tag, {}, inner(match[group]));

// Rules that both dialects of Markdown share; the third value must stand somewhere behind.
export const COMMON = {
  escape: [/\\([^\sA-Za-z0-9])/y, (match) => match[1]],
  code: [/(`{1,2})(?!`)(.+?)(?<!`)\1(?!`)/ys, (match) => el("code", {}, match[2].trim() || match[2]), "`"],
  link: [
    /\[((?:[^[\]\\]|\\.){1,500})\]\(\s*<?([^\s<>()]+(?:\([^\s<>()]*\)[^\s<>()]*)?)>?(?:\s+"[^"]*")?\s*\)/y,
    (match, inner) => link(match[2], inner(match[1])),
    "](",
  ],
  angle: [/<(https?:\/\/[^\s<>]+)>/y, (match) => link(match[1], [match[1]]), ">"],
  address: [/https?:\/\/[^\s<>]*[^\s<>.,:;!?"'*_~|)\]]/y, (match) => link(match[0], [match[0]])],
  strongEm: [/\*\*\*(?=\S)((?:\\.|[^\\])+?)\*\*\*(?!\*)/ys, (m, inner) => el("strong", {}, el("em", {}, inner(m[1]))), "***"],
  strong: [/\*\*(?=\S)((?:\\.|[^\\])+?)\*\*(?!\*)/ys, styled("strong"), "**"],
  em: [/\*(?=[^\s*])((?:\\.|\*\*(?:\\.|[^\\*])+\*\*|[^\\*])+?)\*(?!\*)/ys, styled("em"), "*"],
  lowEm: [/(?<![\p{L}\p{N}_])_(?=\S)((?:\\.|[^\\_])+?)_(?![\p{L}\p{N}_])/yus, styled("em"), "_"],
  strike: [/~~(?=\S)((?:\\.|[^\\])+?)~~/ys, styled("s"), "~~"],
};
