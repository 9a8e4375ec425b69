// Light or dark, before anything is drawn: what was chosen here, else what the system prefers.

(() => {
  const saved = localStorage.getItem("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const set = (name) => (document.documentElement.dataset.theme = name);
  set(saved ?? (dark.matches ? "dark" : "light"));
  dark.addEventListener("change", () => {
    if (!localStorage.getItem("theme")) set(dark.matches ? "dark" : "light");
  });
})();
