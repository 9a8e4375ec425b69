"use strict";
// Searches the index, whose parts are scripts that are loaded when they are needed.
const A = (() => {
  const PAGE = 30;
  const words = new Map(); // shard -> word -> numbers
  const docs = new Map(); // shard -> messages
  const loading = new Map();
  let total = 0, perShard = 250, shards = new Set();
  const ready = load("index");
  const input = document.getElementById("q"), channel = document.getElementById("in");
  const state = document.getElementById("state"), results = document.getElementById("results");
  const more = document.getElementById("more");
  (window.CHANNELS || []).forEach(([name], number) => channel.append(new Option(name, number)));
  let current = 0;

  function load(name) {
    if (!loading.has(name)) {
      loading.set(name, new Promise((done) => {
        const script = document.createElement("script");
        script.src = "search/" + encodeURIComponent(name) + ".js";
        script.onload = done;
        script.onerror = done;
        document.head.append(script);
      }));
    }
    return loading.get(name);
  }
  const IDEOGRAPHS = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\u0e00-\u0e7f]/g;
  function plain(text) {
    return text.normalize("NFKD").toLowerCase().replace(/\u00df/g, "ss").replace(/\p{M}/gu, "").normalize("NFC");
  }
  function wordsOf(text) {
    return plain(text).replace(IDEOGRAPHS, " $& ").match(/[\p{L}\p{N}]+/gu) || [];
  }
  function shardOf(word) {
    const at = word.startsWith("@") ? "at-" : "", first = word.replace("@", "");
    const ascii = (letter) => letter === undefined || letter.charCodeAt(0) < 128;
    if (ascii(first[0]) && ascii(first[1])) return at + (first.slice(0, 2) + "_").slice(0, 2);
    return at + "u" + (first.codePointAt(0) % 128);
  }
  async function numbersOf(word, prefix) {
    const names = [...shards].filter((name) => prefix && word.replace("@", "").length < 2
      ? name.startsWith(shardOf(word).slice(0, -1)) : name === shardOf(word));
    const found = new Set();
    for (const name of names) {
      await load("w-" + name);
      const lists = words.get(name) || {};
      for (const key of prefix ? Object.keys(lists).filter((one) => one.startsWith(word)) : [word]) {
        let number = 0;
        for (const difference of Object.hasOwn(lists, key) ? lists[key] : []) found.add((number += difference));
      }
    }
    return found;
  }
  async function messageOf(number) {
    const shard = Math.floor(number / perShard);
    await load("d" + shard);
    return (docs.get(shard) || [])[number % perShard];
  }
  function parse(query) {
    const phrases = [], terms = [];
    const rest = query.replace(/"([^"]+)"/g, (_, phrase) => {
      phrases.push(plain(phrase));
      terms.push(...wordsOf(phrase).map((word) => [word, false]));
      return " ";
    });
    const pieces = rest.split(/\s+/).filter(Boolean);
    pieces.forEach((piece, number) => {
      const from = piece.match(/^from:(.+)$/i);
      const last = number === pieces.length - 1 && !/\s$/.test(query);
      const found = wordsOf(from ? from[1] : piece);
      found.forEach((word, place) =>
        terms.push([(from ? "@" : "") + word, (last || piece.endsWith("*")) && place === found.length - 1]));
      if (!from && found.length > 1) phrases.push(plain(piece.replace(/\*$/, "")));
    });
    return { phrases, terms };
  }
  async function search() {
    const run = ++current, query = input.value;
    results.replaceChildren();
    more.hidden = true;
    const { phrases, terms } = parse(query);
    if (!terms.length) {
      state.textContent = "";
      return;
    }
    state.textContent = "Searching …";
    await ready;
    const sets = await Promise.all(terms.map(([word, prefix]) => numbersOf(word, prefix)));
    sets.sort((one, other) => one.size - other.size);
    const numbers = [...sets[0]].filter((number) => sets.every((set) => set.has(number)));
    numbers.sort((one, other) => other - one);
    let at = 0, shown = 0;
    const marked = terms.map(([word]) => word).filter((word) => !word.startsWith("@"));
    const show = async () => {
      const until = shown + PAGE;
      while (at < numbers.length && shown < until && run === current) {
        const message = await messageOf(numbers[at++]);
        if (!message || (channel.value && message[1] !== Number(channel.value))) continue;
        const text = plain(message[4]);
        if (!phrases.every((phrase) => text.includes(phrase))) continue;
        results.append(row(message, marked));
        shown += 1;
      }
      if (run !== current) return;
      more.hidden = at >= numbers.length;
      const all = at >= numbers.length;
      state.textContent = shown ? `${all ? shown : "The newest " + shown + " of about " + numbers.length} found` : "Nothing found";
    };
    more.onclick = show;
    await show();
  }
  function row([address, number, author, time, text], marked) {
    const link = document.createElement("a");
    link.href = address;
    const head = document.createElement("span");
    head.className = "subtle";
    const name = ((window.CHANNELS || [])[number] || ["?"])[0];
    const when = new Date(time * 1000).toISOString().slice(0, 16).replace("T", " ");
    head.textContent = `${author} in ${name}, ${when} UTC`;
    const hit = document.createElement("span");
    hit.className = "hit";
    highlight(hit, excerpt(text, marked), marked);
    link.append(head, hit);
    const item = document.createElement("li");
    item.append(link);
    return item;
  }
  function excerpt(text, marked) {
    const lowered = text.toLowerCase();
    const at = Math.max(0, ...marked.map((word) => lowered.indexOf(word)).filter((place) => place > 0).slice(0, 1));
    const start = Math.max(0, at - 90);
    return (start ? "… " : "") + text.slice(start, start + 280) + (text.length > start + 280 ? " …" : "");
  }
  function highlight(target, text, marked) {
    const quoted = marked.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    if (!quoted.length) {
      target.textContent = text;
      return;
    }
    text.split(new RegExp(`(${quoted.join("|")})`, "giu")).forEach((piece, number) => {
      const part = number % 2 ? document.createElement("mark") : document.createTextNode("");
      part.textContent = piece;
      target.append(part);
    });
  }
  let timer = 0;
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(search, 120);
    history.replaceState(null, "", "#" + encodeURIComponent(input.value));
  };
  input.addEventListener("input", changed);
  channel.addEventListener("change", search);
  document.getElementById("search").addEventListener("submit", (event) => {
    event.preventDefault();
    search();
  });
  if (location.hash.length > 1) {
    try {
      input.value = decodeURIComponent(location.hash.slice(1));
    } catch {
      input.value = "";
    }
    setTimeout(search);
  }
  return {
    index(count, size, names) { total = count; perShard = size; shards = new Set(names); },
    words(name, lists) { words.set(name, lists); },
    docs(number, list) { docs.set(number, list); },
    get size() { return total; },
  };
})();
