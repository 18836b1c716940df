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
    input.disabled = entry.kind === "report";
    if (input.disabled) input.title = "A report holds no units to compare; states and per-unit files do";
    input.checked = chosen.includes(entry.id);
    input.addEventListener("change", () => {
      chosen = chosen.filter((id) => id !== entry.id);
      if (input.checked) chosen = chosen.concat(entry.id).slice(-2);
      show();
    });
    return input;
  }

  // A per-unit file has a page only beside another one.
  function link(entry) {
    if (entry.kind === "per-unit") return entry.path;
    const a = document.createElement("a");
    a.href = "/report/" + entry.id;
    a.textContent = entry.path;
    return a;
  }

  function show() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = (entry) => (entry.path + " " + entry.kind + " " + entry.families.join(" ")).toLowerCase();
    const shown = entries.filter((entry) => words.every((word) => text(entry).includes(word)));
    const focused = document.activeElement && document.activeElement.getAttribute("aria-label");
    rows.replaceChildren(...shown.map((entry) => {
      const row = document.createElement("tr");
      cell(row, box(entry));
      cell(row, link(entry));
      cell(row, entry.kind);
      cell(row, [...new Set(entry.families)].join(", "));
      cell(row, entry.units.toLocaleString("en"), "number");
      cell(row, entry.warnings.toLocaleString("en"), "number");
      cell(row, size(entry.bytes), "number");
      // The Swedish way to write a moment is the one that sorts.
      cell(row, new Date(entry.modified * 1000).toLocaleString("sv"));
      return row;
    }));
    if (focused) {
      const again = [...rows.querySelectorAll("input")].find((one) => one.getAttribute("aria-label") === focused);
      if (again) again.focus();
    }
    chosen = chosen.filter((id) => entries.some((entry) => entry.id === id));
    compare.disabled = chosen.length !== 2;
    compare.textContent = compare.disabled ? "Choose two to compare" : "Compare the two";
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
    location.href = "/compare/" + chosen[0] + "/" + chosen[1];
  });
  refresh();
})();
