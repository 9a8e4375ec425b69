"use strict";
// The list of channels beside a page, and keys: j and k for the next and the last message, / to search.
(() => {
  const body = document.body;
  const top = body.dataset.top;
  const list = document.getElementById("channels");
  (window.CHANNELS || []).forEach(([name, address], number) => {
    const link = document.createElement("a");
    link.href = top + address;
    link.textContent = name;
    if (String(number) === body.dataset.channel) link.setAttribute("aria-current", "page");
    const item = document.createElement("li");
    item.append(link);
    list.append(item);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input, select, textarea")) return;
    if (event.key === "/") {
      event.preventDefault();
      location.href = top + "search.html";
    } else if (event.key === "j" || event.key === "k") {
      step(event.key === "j" ? 1 : -1);
    }
  });
  function step(by) {
    const messages = [...document.querySelectorAll("article")];
    const at = messages.indexOf(document.activeElement.closest("article"));
    const next = at < 0 ? messages.find((one) => one.getBoundingClientRect().top >= 0) : messages[at + by];
    if (next) {
      next.focus();
      next.scrollIntoView({ block: "nearest" });
    }
  }
})();
