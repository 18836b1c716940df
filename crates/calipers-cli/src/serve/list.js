"use strict";

// Names come from files of unknown origin: they are only ever set as text.
(() => {
  const PAUSE = 2000;
  const rows = document.getElementById("rows");
  const state = document.getElementById("state");
  const filter = document.getElementById("filter");
  const compare = document.getElementById("compare");
  let entries = [];
  let tag = "";
  let chosen = [];
  let sorted = { key: "path", up: true };
  const heads = document.getElementById("heads");
  const collator = new Intl.Collator("en", { numeric: true });

  function size(bytes) {
    const units = ["B", "kB", "MB", "GB"];
    let at = 0;
    while (bytes >= 1000 && at < units.length - 1) {
      bytes /= 1000;
      at += 1;
    }
    return (at === 0 ? String(bytes) : bytes.toFixed(1)) + " " + units[at];
  }

  function cell(row, content, kind) {
    const td = document.createElement("td");
    if (kind) td.className = kind;
    if (typeof content === "string") td.textContent = content;
    else td.append(content);
    row.append(td);
  }

  function box(entry) {
    const input = document.createElement("input");
    input.type = "checkbox";
    input.setAttribute("aria-label", "Compare " + entry.path);
    input.disabled = entry.kind === "damaged";
    if (entry.error) input.title = entry.error;
    else if (entry.kind === "report") input.title = "Reports stand side by side; states and per-unit files are compared unit by unit";
    input.checked = chosen.includes(entry.id);
    input.addEventListener("change", () => {
      chosen = chosen.filter((id) => id !== entry.id);
      if (input.checked) chosen = chosen.concat(entry.id);
      show();
    });
    return input;
  }

  // A per-unit file has a page only beside another one.
  function link(entry) {
    if (entry.error !== undefined) {
      const span = document.createElement("span");
      span.className = "error";
      span.textContent = entry.path + ": " + entry.error;
      return span;
    }
    if (entry.kind === "per-unit") return entry.path;
    const a = document.createElement("a");
    a.href = "/report/" + entry.id;
    a.textContent = entry.path;
    return a;
  }

  function number(x) {
    if (x === null || x === undefined) return "–";
    return Number.isInteger(x) ? x.toLocaleString("en") : x.toPrecision(4);
  }

  // What there is to see of each file. Files of one family have a column for each of their first numbers.
  function columns(shown) {
    const families = new Set(shown.flatMap((entry) => entry.families));
    const names = families.size === 1 ? [...new Set(shown.flatMap((entry) => entry.headline.map(([name]) => name)))] : [];
    const value = (entry, name) => (entry.headline.find(([known]) => known === name) ?? [])[1];
    const words = (entry) => entry.headline.map(([name, x]) => name + " " + number(x)).join(" · ");
    const numbers = names.slice(0, 4).map((name) =>
      ({ key: "headline " + name, head: name, kind: "number", of: (entry) => value(entry, name), text: (entry) => number(value(entry, name)) }));
    const together = { key: "headline", head: "Headline", kind: "headline", of: words, text: words };
    return [
      { key: "path", head: "File", of: (entry) => entry.path, text: link },
      { key: "kind", head: "Kind", of: (entry) => entry.kind, text: (entry) => entry.kind },
      { key: "families", head: "Family", of: (entry) => entry.families.join(), text: (entry) => [...new Set(entry.families)].join(", ") },
      ...(numbers.length ? numbers : [together]),
      { key: "units", head: "Units", kind: "number", of: (entry) => entry.units, text: (entry) => number(entry.units) },
      { key: "warnings", head: "Warnings", kind: "number", of: (entry) => entry.warnings, text: (entry) => number(entry.warnings) },
      { key: "bytes", head: "Size", kind: "number", of: (entry) => entry.bytes, text: (entry) => size(entry.bytes) },
      // The Swedish way to write a moment is the one that sorts.
      { key: "modified", head: "Written", of: (entry) => entry.modified, text: (entry) => new Date(entry.modified * 1000).toLocaleString("sv") },
    ];
  }

  function order(shown, all) {
    const by = all.find((column) => column.key === sorted.key) ?? all[0];
    const sign = sorted.up ? 1 : -1;
    // What has no number comes last, whichever way the rest is sorted.
    return [...shown].sort((a, b) => {
      const x = by.of(a), y = by.of(b);
      if (typeof x !== "number" && typeof y !== "number") return collator.compare(x ?? "", y ?? "") * sign;
      if (typeof x !== "number" || typeof y !== "number") return typeof x === "number" ? -1 : 1;
      return (x - y) * sign || collator.compare(a.path, b.path);
    });
  }

  function head(column) {
    const th = document.createElement("th");
    th.scope = "col";
    if (column.kind) th.className = column.kind;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    const own = sorted.key === column.key;
    button.textContent = column.head + (own ? (sorted.up ? " ↑" : " ↓") : "");
    button.setAttribute("aria-label", "Sort by " + column.head);
    if (own) th.setAttribute("aria-sort", sorted.up ? "ascending" : "descending");
    button.addEventListener("click", () => {
      sorted = { key: column.key, up: own ? !sorted.up : true };
      show();
    });
    th.append(button);
    return th;
  }

  function show() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = (entry) => (entry.path + " " + entry.kind + " " + entry.families.join(" ")).toLowerCase();
    const shown = entries.filter((entry) => words.every((word) => text(entry).includes(word)));
    const focused = document.activeElement && document.activeElement.getAttribute("aria-label");
    const all = columns(shown);
    const choose = document.createElement("th");
    choose.scope = "col";
    choose.append(Object.assign(document.createElement("span"), { className: "away", textContent: "Choose" }));
    heads.replaceChildren(choose, ...all.map(head));
    rows.replaceChildren(...order(shown, all).map((entry) => {
      const row = document.createElement("tr");
      cell(row, box(entry));
      all.forEach((column) => cell(row, column.text(entry), column.kind));
      return row;
    }));
    if (focused) {
      const again = [...document.querySelectorAll("tbody input, th button")]
        .find((one) => one.getAttribute("aria-label") === focused);
      if (again) again.focus();
    }
    chosen = chosen.filter((id) => entries.some((entry) => entry.id === id));
    compare.disabled = chosen.length < 2;
    compare.textContent = compare.disabled ? "Choose two or more to compare" : "Compare the " + chosen.length;
    state.textContent = entries.length === shown.length
      ? entries.length + (entries.length === 1 ? " file" : " files")
      : shown.length + " of " + entries.length + " files";
  }

  async function refresh() {
    try {
      const headers = tag ? { "If-None-Match": tag } : {};
      const answer = await fetch("/list.json", { headers, cache: "no-store", credentials: "same-origin" });
      if (answer.status === 200) {
        tag = answer.headers.get("ETag") || "";
        entries = await answer.json();
        show();
      } else if (answer.status !== 304) {
        state.textContent = "The server answers " + answer.status + ": open the address it printed again.";
      }
    } catch {
      state.textContent = "The server has gone.";
    }
    setTimeout(refresh, PAUSE);
  }

  filter.addEventListener("input", show);
  compare.addEventListener("click", () => {
    location.href = "/compare/" + chosen.join("/");
  });
  refresh();
})();
