"use strict";
// Filters that live in the address, and copying of commands. The page says everything without this script too.
(() => {
  const every = (selector, within = document) => [...within.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);

  // Copying: a button beside each command.
  const select = (code) => {
    const range = document.createRange();
    range.selectNodeContents(code);
    const chosen = window.getSelection();
    chosen.removeAllRanges();
    chosen.addRange(range);
  };
  const copy = async (button, code) => {
    let word = "copied";
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      select(code);
      if (!document.execCommand("copy")) word = "selected";
    }
    button.textContent = word;
    window.setTimeout(() => { button.textContent = "copy"; }, 1600);
  };
  for (const holder of every(".copy, .cmd")) {
    const code = holder.querySelector("code");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "copy";
    button.setAttribute("aria-label", `copy the command ${code.textContent}`);
    button.addEventListener("click", () => copy(button, code));
    holder.append(button);
  }

  // Filters: what is wanted stands in the address after the #; a bare #name is a place on the page.
  const NAMES = ["show", "client", "fault", "find"];
  const rows = every("tr[data-verdict], article[data-verdict]");
  const groups = every("[data-group]").reverse(); // inner ones first
  const cells = every("td[data-cell]");
  const links = every(".counts a");
  const find = byId("find");
  const texts = new Map();

  const wanted = () => {
    const hash = location.hash.slice(1);
    const found = new URLSearchParams(hash.includes("=") ? hash : "");
    if (!links.some((link) => link.dataset.show === found.get("show"))) found.delete("show");
    return { found, at: hash.includes("=") ? found.get("at") : hash };
  };
  const address = (found) => {
    const kept = new URLSearchParams();
    for (const name of [...NAMES, "at"]) if (found.get(name)) kept.set(name, found.get(name));
    const at = kept.get("at");
    return "#" + (at && [...kept.keys()].length === 1 ? at : kept.toString());
  };
  const textOf = (row) => {
    if (!texts.has(row)) {
      const head = row.closest("details[data-many]")?.querySelector("summary > b")?.textContent ?? "";
      texts.set(row, `${head} ${row.textContent}`.toLowerCase());
    }
    return texts.get(row);
  };
  const isClient = (own, client) => own === client || client.startsWith(`${own} (`) || client.startsWith(`${own},`);

  const fits = (row, { show, client, fault, find: words }) =>
    (!show || row.dataset.verdict === show) && (!client || isClient(row.dataset.client, client)) &&
    (!fault || row.dataset.fault === fault) && (!words || textOf(row).includes(words));

  const chip = (name, value, found) => {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `${value} ✕`;
    button.setAttribute("aria-label", `remove the filter ${name} ${value}`);
    button.addEventListener("click", () => {
      found.delete(name);
      location.hash = address(found);
      links[0].focus();
    });
    item.append(button);
    return item;
  };

  const filter = () => {
    const { found } = wanted();
    const filters = Object.fromEntries(NAMES.map((name) => [name, found.get(name) || ""]));
    const active = NAMES.some((name) => filters[name]);
    if (document.activeElement !== find) find.value = filters.find;
    filters.find = filters.find.trim().toLowerCase();
    for (const row of rows) row.hidden = active && !fits(row, filters);
    const open = [];
    for (const group of groups) {
      group.hidden = active && !group.querySelector("[data-verdict]:not([hidden])");
      if (group.matches("details[data-many]") && !group.hidden) open.push(group);
    }
    if (active && open.length <= 8) for (const one of open) one.open = true;
    for (const link of links) {
      link.setAttribute("aria-current", String((link.dataset.show || "") === filters.show));
    }
    for (const cell of cells) {
      const parameters = new URLSearchParams(cell.firstElementChild.hash.slice(1));
      const here = parameters.get("client") === filters.client && parameters.get("fault") === filters.fault;
      cell.classList.toggle("here", here);
      cell.classList.toggle("off", Boolean(filters.show) && cell.dataset.cell !== filters.show);
    }
    byId("chips").replaceChildren(
      ...["client", "fault"].filter((name) => filters[name]).map((name) => chip(name, filters[name], found)));
    const seen = rows.filter((row) => !row.hidden && row.matches(".times tr")).length;
    const word = links.find((link) => filters.show && link.dataset.show === filters.show)?.dataset.word;
    const told = [word, filters.client, filters.fault, filters.find].filter(Boolean).map((one) => `“${one}”`).join(", ");
    byId("shown").textContent = active
      ? `Showing only what is ${told}: ${seen} ${seen === 1 ? "measure" : "measures"}. Choose “all” to see everything.` : "";
  };

  // Links: a filter is added to those that are set, a place is gone to without losing them.
  const go = (id, behavior = "auto") => {
    const place = id && byId(id);
    if (!place) return;
    for (let at = place; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (!place.hasAttribute("tabindex") && !place.matches("a, button")) place.tabIndex = -1;
    const bar = document.querySelector(".bar");
    const covered = getComputedStyle(bar).position === "sticky" ? bar.offsetHeight : 0;
    document.documentElement.style.scrollPaddingTop = `${covered + 14}px`;
    place.scrollIntoView({ behavior });
    place.focus({ preventScroll: true });
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    const { found } = wanted();
    found.delete("at");
    if ("show" in link.dataset) {
      if (link.dataset.show) found.set("show", link.dataset.show);
      else for (const name of NAMES) found.delete(name);
    } else if (link.hash.includes("=")) {
      const chosen = [...new URLSearchParams(link.hash.slice(1))];
      const again = chosen.every(([name, value]) => found.get(name) === value);
      for (const [name, value] of chosen) {
        if (again) found.delete(name);
        else found.set(name, value);
      }
    } else {
      found.set("at", link.hash.slice(1));
    }
    const next = address(found);
    if (next === (location.hash || "#")) go(found.get("at"));
    else location.hash = next;
  });
  find.closest("[hidden]").hidden = false;
  find.addEventListener("input", () => {
    const { found } = wanted();
    found.delete("at");
    found.set("find", find.value);
    location.replace(address(found));
  });
  window.addEventListener("hashchange", () => { filter(); go(wanted().at); });
  filter();
  if (location.hash.includes("=")) go(wanted().at, "instant");

  // On paper, everything is open but the longest lists.
  const opened = new Set();
  window.addEventListener("beforeprint", () => {
    for (const one of every("details:not([open], [data-long])")) {
      one.open = true;
      opened.add(one);
    }
  });
  window.addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
    opened.clear();
  });
})();
