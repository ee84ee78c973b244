"use strict";
// Copying a command, and the counts as filters. The page says everything without this script too.
(() => {
  const say = (button, word) => {
    const before = button.dataset.word;
    button.textContent = word;
    window.setTimeout(() => { button.textContent = before; }, 1600);
  };
  const select = (code) => {
    const range = document.createRange();
    range.selectNodeContents(code);
    const chosen = window.getSelection();
    chosen.removeAllRanges();
    chosen.addRange(range);
  };
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.dataset.word = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const code = button.parentElement.querySelector("code");
      try {
        await navigator.clipboard.writeText(code.textContent);
        say(button, "copied");
      } catch {
        select(code);
        say(button, document.execCommand("copy") ? "copied" : "selected");
      }
    });
  }

  const rows = [...document.querySelectorAll("tr[data-verdict], article[data-verdict]")];
  const groups = [...document.querySelectorAll("[data-group]")];
  const shown = document.getElementById("shown");
  const links = [...document.querySelectorAll(".counts a")];
  const filter = () => {
    const wanted = new URLSearchParams(location.hash.slice(1)).get("show");
    const known = links.some((link) => link.dataset.show === wanted) ? wanted : null;
    for (const row of rows) row.hidden = known !== null && row.dataset.verdict !== known;
    for (const group of groups) group.hidden = !group.querySelector("[data-verdict]:not([hidden])");
    for (const link of links) link.setAttribute("aria-current", String((link.dataset.show || null) === known));
    const word = links.find((link) => link.dataset.show === known)?.dataset.word;
    shown.textContent = known === null ? "" : `Showing only rows that say “${word}”. Choose “all” to see everything.`;
  };
  window.addEventListener("hashchange", filter);
  filter();

  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const one of opened) one.open = true;
  });
  window.addEventListener("afterprint", () => { for (const one of opened) one.open = false; });
})();
