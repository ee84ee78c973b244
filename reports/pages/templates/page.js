"use strict";
// Filters and orders that live in the address, and copying of commands. The page says everything without this script too.
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
  const copy = async (button, text) => {
    const name = button.textContent;
    let word = "copied";
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const shown = document.createElement("pre");
      shown.textContent = text;
      button.after(shown);
      select(shown);
      if (document.execCommand("copy")) shown.remove();
      else word = "selected";
    }
    button.textContent = word;
    window.setTimeout(() => { button.textContent = name; }, 1600);
  };
  const addCopyButton = (holder, name, label, text) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    button.setAttribute("aria-label", label);
    button.addEventListener("click", () => copy(button, text));
    holder.append(button);
  };
  for (const holder of every(".copy, .cmd")) {
    const code = holder.querySelector("code");
    const text = code.dataset.copy ?? code.textContent;
    addCopyButton(holder, "copy", `copy the command ${text}`, text);
  }
  for (const holder of every("[data-summary]")) {
    const name = holder.closest("article").querySelector("h3").textContent;
    addCopyButton(holder, "copy summary", `copy summary of ${name}`, holder.dataset.summary);
  }

  // On a telephone the contents fold, so that the verdict is on the first screen.
  const contents = document.querySelector(".toc");
  const narrow = window.matchMedia("screen and (max-width: 860px)");
  const fold = () => { contents.open = !narrow.matches; };
  narrow.addEventListener("change", fold);
  fold();

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
    for (const name of [...NAMES, "sort", "at"]) if (found.get(name)) kept.set(name, found.get(name));
    const at = kept.get("at");
    return "#" + (at && [...kept.keys()].length === 1 ? at : kept.toString());
  };
  const textOf = (row) => {
    if (!texts.has(row)) {
      const scenario = row.closest("details[data-many]");
      const formulas = every('a[href^="#formula-"]', row).map((link) => byId(link.hash.slice(1))?.textContent);
      const parts = [
        scenario?.querySelector("summary > b")?.textContent, scenario?.dataset.words, row.dataset.words, row.textContent,
        ...formulas,
      ];
      texts.set(row, parts.filter(Boolean).join(" ").replace(/\s+/g, " ").toLowerCase());
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

  // Orders: a button in each heading; sort=-runs.took,times.case stands in the address, a minus for the largest first.
  const order = new Intl.Collator("en", { numeric: true });
  const headsOf = (table) => every("[data-by]", table.tHead ?? table.querySelector(".head"));
  const bodyOf = (table) => table.tBodies?.[0] ?? table;
  const rowsOf = (table) => [...bodyOf(table).children].filter((row) => !row.matches(".head"));
  const pools = new Map(); // what is ordered together: a table, or one that goes on in a second one
  for (const table of every("[data-sort]")) {
    const name = table.dataset.sort;
    const key = "across" in table.dataset ? name : table;
    if (!pools.has(key)) pools.set(key, { name, tables: [], sizes: [], rows: [], now: "" });
    const own = rowsOf(table);
    pools.get(key).tables.push(table);
    pools.get(key).sizes.push(own.length);
    pools.get(key).rows.push(...own);
  }
  const ordersOf = (found) => new Map((found.get("sort") || "").split(",").filter((one) => one.includes(".")).map((one) => {
    const [name, by] = one.replace(/^-/, "").split(".");
    return [name, { by, down: one.startsWith("-") }];
  }));
  const valueOf = (row, place) => {
    const cell = (row.tagName === "TR" ? row : row.firstElementChild).children[place];
    const figure = cell.dataset.n;
    return figure === undefined ? cell.textContent.trim() : figure === "" ? null : Number(figure);
  };
  const ordered = (rows, place, down) => rows.map((row) => [valueOf(row, place), row]).sort(([one], [other]) => {
    if (one === null || other === null) return (one === null) - (other === null); // what is not known comes last
    const difference = typeof one === "number" ? one - other : order.compare(one, other);
    return down ? -difference : difference;
  }).map(([, row]) => row);
  const arrange = (found) => {
    const orders = ordersOf(found);
    const told = new Map();
    for (const pool of pools.values()) {
      const chosen = orders.get(pool.name);
      const place = chosen ? headsOf(pool.tables[0]).findIndex((head) => head.dataset.by === chosen.by) : -1;
      if (place >= 0) {
        const name = headsOf(pool.tables[0])[place].dataset.by;
        told.set(pool.name, `“${pool.tables[0].dataset.of}” by ${name}, ${chosen.down ? "descending" : "ascending"}`);
      }
      const now = place < 0 ? "" : `${chosen.down ? "-" : ""}${chosen.by}`;
      if (now === pool.now) continue;
      pool.now = now;
      let rows = pool.rows;
      if (now) {
        const head = headsOf(pool.tables[0])[place];
        rows = ordered(rows, [...head.parentElement.children].indexOf(head) - (head.tagName === "TH" ? 0 : 1), chosen.down);
      }
      rows = [...rows];
      for (const [part, table] of pool.tables.entries()) {
        bodyOf(table).append(...rows.splice(0, pool.sizes[part]));
        table.classList.toggle("sorted", now !== "");
        headsOf(table).forEach((head, index) => {
          const direction = index === place ? (chosen.down ? "descending" : "ascending") : "";
          if (head.tagName !== "TH") head.firstElementChild?.setAttribute("aria-pressed", String(direction !== ""));
          else if (direction) head.setAttribute("aria-sort", direction);
          else head.removeAttribute("aria-sort");
          head.dataset.now = direction;
        });
      }
    }
    return [...told.values()];
  };
  const turn = (head, name) => {
    const { found } = wanted();
    const orders = ordersOf(found);
    const now = orders.get(name);
    const first = "down" in head.dataset;
    const next = now?.by !== head.dataset.by ? first : now.down === first ? !first : undefined;
    orders.delete(name);
    if (next !== undefined) orders.set(name, { by: head.dataset.by, down: next });
    found.set("sort", [...orders].map(([one, { by, down }]) => `${down ? "-" : ""}${one}.${by}`).join(","));
    const place = head.closest("details[id]")?.id ?? head.closest("section").getAttribute("aria-labelledby");
    found.set("at", place);
    history.pushState(null, "", address(found));
    show();
  };
  for (const pool of pools.values()) {
    if (pool.rows.length < 2) continue;
    for (const table of pool.tables) {
      const line = table.querySelector(":scope > .head");
      line?.removeAttribute("aria-hidden");
      line?.setAttribute("role", "group");
      line?.setAttribute("aria-label", `Order of “${table.dataset.of}”`);
      for (const head of headsOf(table)) {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "sort";
        button.textContent = head.textContent;
        if (line) button.setAttribute("aria-pressed", "false");
        button.addEventListener("click", () => turn(head, pool.name));
        head.replaceChildren(button);
      }
    }
  }

  const show = () => {
    const { found } = wanted();
    const sorted = arrange(found);
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
    const seen = rows.filter((row) => !row.hidden && row.matches("[data-sort=times] tr")).length;
    const word = links.find((link) => filters.show && link.dataset.show === filters.show)?.dataset.word;
    const told = [word, filters.client, filters.fault, filters.find].filter(Boolean).map((one) => `“${one}”`).join(", ");
    const lines = [];
    if (active) lines.push(`Showing only what is ${told}: ${seen} ${seen === 1 ? "measure" : "measures"}.`);
    if (sorted.length) lines.push(`Sorted: ${sorted.join("; ")}.`);
    if (lines.length) lines.push("Choose “all” to see everything as it was.");
    byId("shown").textContent = lines.join(" ");
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
      else for (const name of [...NAMES, "sort"]) found.delete(name);
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
  window.addEventListener("hashchange", () => { show(); go(wanted().at); });
  show();
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
