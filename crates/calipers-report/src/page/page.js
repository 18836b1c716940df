"use strict";
(() => {
  const json = (id) => {
    const block = document.getElementById(id);
    return block ? JSON.parse(block.textContent) : null;
  };
  const make = (tag, properties = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(properties)) {
      if (key in node) node[key] = value;
      else node.setAttribute(key, value);
    }
    node.append(...children);
    return node;
  };
  // Control and direction characters are spelled out: a name must not rearrange the text around it.
  const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
  const shown = (text) => text.replace(HIDDEN, (c) => `\\u{${c.charCodeAt(0).toString(16)}}`);
  const readable = (x) => {
    if (Number.isInteger(x)) return String(x);
    const size = Math.abs(x);
    if (size < 1e-4 || size >= 1e15) return x.toExponential(3);
    if (size >= 1e6) return x.toFixed(1);
    return size >= 1 ? x.toFixed(4) : x.toPrecision(4);
  };

  // Colours.
  const root = document.documentElement;
  const theme = document.getElementById("theme");
  const remembered = () => {
    try { return localStorage.getItem("calipers-theme"); } catch { return null; }
  };
  const isDark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const label = () => {
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
  };
  if (["light", "dark"].includes(remembered())) root.dataset.theme = remembered();
  label();
  theme.hidden = false;
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("calipers-theme", root.dataset.theme); } catch { /* A page from disk may not remember. */ }
    label();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
  const print = document.getElementById("print");
  print.hidden = false;
  print.addEventListener("click", () => window.print());
  // On paper nothing can be opened: what is undefined, and why, is shown.
  const folded = [...document.querySelectorAll(".fold:not(.inputs)")];
  addEventListener("beforeprint", () => folded.forEach((fold) => { fold.dataset.open = fold.open; fold.open = true; }));
  addEventListener("afterprint", () => folded.forEach((fold) => { fold.open = fold.dataset.open === "true"; }));

  // Where the reader is.
  const links = new Map([...document.querySelectorAll(".top nav a")].map((a) => [a.hash.slice(1), a]));
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      for (const [id, a] of links) {
        if (id === target.id) a.setAttribute("aria-current", "true");
        else a.removeAttribute("aria-current");
      }
    }
  }, { rootMargin: "-20% 0px -75% 0px" });
  document.querySelectorAll("main > section").forEach((section) => watch.observe(section));

  // Definitions: on hover, on focus, and kept open by a click.
  const definitions = json("definitions") ?? {};
  const box = document.getElementById("definition");
  let owner = null, pinned = false, timer = 0;
  const hide = () => {
    clearTimeout(timer);
    if (owner) { owner.removeAttribute("aria-describedby"); owner.setAttribute("aria-expanded", "false"); }
    box.hidden = true; owner = null; pinned = false;
  };
  const tell = (term) => {
    const entries = Object.hasOwn(definitions, term.dataset.metric) ? definitions[term.dataset.metric] : null;
    if (!entries) return;
    if (owner !== term) hide();
    owner = term;
    const list = make("dl");
    for (const [head, text] of entries) list.append(make("dt", { textContent: head }), make("dd", { textContent: text }));
    box.replaceChildren(make("strong", { textContent: term.dataset.metric }), list);
    box.hidden = false;
    term.setAttribute("aria-describedby", "definition");
    term.setAttribute("aria-expanded", "true");
    const place = term.getBoundingClientRect(), size = box.getBoundingClientRect();
    const below = place.bottom + 8 + size.height < innerHeight;
    box.style.left = `${Math.max(12, Math.min(place.left, innerWidth - size.width - 12))}px`;
    box.style.top = `${Math.max(12, below ? place.bottom + 8 : place.top - size.height - 8)}px`;
  };
  const termOf = (event) => (event.target instanceof Element ? event.target.closest(".term") : null);
  // The pointer may rest anywhere in the cell or on the card of a name.
  const cellOf = (event) =>
    event.target instanceof Element ? event.target.closest(".cards li, .group th, .side th")?.querySelector(".term") : null;
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch" || pinned) return;
    const term = termOf(event) ?? cellOf(event);
    clearTimeout(timer);
    if (term) timer = setTimeout(tell, 180, term);
    else if (owner && !box.contains(event.target)) timer = setTimeout(hide, 250);
  });
  document.addEventListener("focusin", (event) => {
    const term = termOf(event);
    if (term && term.matches(":focus-visible")) tell(term);
    else if (owner && !box.contains(event.target) && !pinned) hide();
  });
  document.addEventListener("click", (event) => {
    const term = termOf(event);
    if (term && owner === term && pinned) hide();
    else if (term) { tell(term); pinned = true; }
    else if (owner && !box.contains(event.target)) hide();
    document.querySelectorAll(".save[open]").forEach((menu) => {
      if (!menu.contains(event.target)) menu.open = false;
    });
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    hide();
    document.querySelectorAll(".save[open]").forEach((menu) => {
      menu.open = false;
      menu.querySelector("summary").focus();
    });
  });
  addEventListener("scroll", () => { if (owner && !pinned) hide(); }, { passive: true });

  // Saving.
  const fileName = (name) => name.replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, 100) || "data";
  const save = (name, address) => {
    const link = make("a", { href: address, download: fileName(name) });
    document.body.append(link);
    link.click();
    link.remove();
  };
  const saveBlob = (name, blob) => {
    const address = URL.createObjectURL(blob);
    save(name, address);
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  };
  const saveText = (name, type, text) => saveBlob(name, new Blob([text], { type: `${type};charset=utf-8` }));
  // A spreadsheet must not take text for a formula.
  const guarded = (text) => (/^[=+\-@\t\r\0]/.test(text) ? `'${text}` : text);
  const csvCell = (cell) => {
    if (cell === null || Array.isArray(cell)) return "";
    if (typeof cell === "number") return String(cell);
    const text = guarded(String(cell));
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csv = ({ columns, rows }) => [columns, ...rows].map((row) => row.map(csvCell).join(",")).join("\n") + "\n";
  const objects = ({ columns, rows }) =>
    rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, Array.isArray(row[i]) ? null : row[i]])));
  const drawingText = (svg) => new XMLSerializer().serializeToString(svg);
  const savePng = (name, svg) => {
    const scale = 2, image = new Image();
    const width = svg.viewBox.baseVal.width, height = svg.viewBox.baseVal.height;
    const address = URL.createObjectURL(new Blob([drawingText(svg)], { type: "image/svg+xml" }));
    image.addEventListener("load", () => {
      const canvas = make("canvas", { width: width * scale, height: height * scale });
      const paper = canvas.getContext("2d");
      paper.fillStyle = "#ffffff";
      paper.fillRect(0, 0, canvas.width, canvas.height);
      paper.drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => saveBlob(`${name}.png`, blob), "image/png");
      URL.revokeObjectURL(address);
    });
    image.src = address;
  };

  // Pictures: the switch between drawings, and what can be saved.
  for (const picture of document.querySelectorAll(".picture")) {
    const name = picture.dataset.name;
    const variants = [...picture.querySelectorAll("[data-variant]")];
    if (variants.length > 1) {
      const bar = make("div", { className: "switch", role: "group", "aria-label": "Show" });
      const buttons = variants.map((part, i) => {
        const button = make("button", { type: "button", textContent: part.dataset.variant });
        button.addEventListener("click", () => {
          variants.forEach((other, k) => { other.hidden = k !== i; });
          buttons.forEach((other, k) => other.setAttribute("aria-pressed", String(k === i)));
        });
        return button;
      });
      bar.append(...buttons);
      variants[0].before(bar);
      buttons[0].click();
    }
    const current = () => picture.querySelector(".chart:not([hidden]) .usual svg");
    const entries = [];
    if (current()) {
      entries.push(["Picture as SVG", () => saveText(`${name}.svg`, "image/svg+xml", drawingText(current()))]);
      entries.push(["Picture as PNG", () => savePng(name, current())]);
    }
    picture.querySelectorAll(".panels img").forEach((image, i) => {
      entries.push([`Image ${i + 1} as PNG`, () => save(`${name}-${i + 1}.png`, image.src)]);
    });
    const source = picture.querySelector(".source");
    if (source) {
      const id = source.dataset.table;
      const tables = json(id), several = tables.length > 1;
      tables.forEach((table, i) => {
        const file = several ? `${name}-${table.name}` : name, note = several ? `: ${shown(table.name)}` : "";
        entries.push([`Data as CSV${note}`, () => saveText(`${file}.csv`, "text/csv", csv(json(id)[i]))]);
        entries.push([`Data as JSON${note}`, () =>
          saveText(`${file}.json`, "application/json", JSON.stringify(objects(json(id)[i]), null, 1) + "\n")]);
      });
    }
    if (entries.length === 0) continue;
    const list = make("ul");
    for (const [text, act] of entries) {
      const button = make("button", { type: "button", textContent: text });
      button.addEventListener("click", () => { act(); menu.open = false; });
      list.append(make("li", {}, button));
    }
    const menu = make("details", { className: "save" }, make("summary", { textContent: "Save" }), list);
    picture.querySelector(".tools").replaceWith(menu);
  }

  // Units: sorted, searched, a page at a time.
  const PAGE = 25;
  const collator = new Intl.Collator("en", { numeric: true });
  for (const place of document.querySelectorAll(".units")) {
    const data = json(place.dataset.table);
    if (!data) continue;
    const { columns, reasons, rows } = data;
    const numeric = columns.map((_, i) => i > 0 && rows.some((row) => typeof row[i] === "number"));
    const words = rows.map((row) => row.filter((cell) => typeof cell === "string").join("\n").toLowerCase());
    let order = rows.map((_, i) => i), found = order, sorted = -1, up = true, page = 0;

    // The first score, else the first number, is the example of a condition.
    const isScore = (_, i) => numeric[i] && rows.some((row) => typeof row[i] === "number" && !Number.isInteger(row[i]));
    const example = columns.find(isScore) ?? columns[numeric.indexOf(true)];
    const search = make("input", {
      type: "search", placeholder: example ? `Search, or ${shown(example)} < 0.7` : "Search",
      "aria-label": "Search the units",
    });
    const away = new Set();
    // Which units have pictures, and which picture it is.
    const drawn = new Map([...(place.closest("section")?.querySelectorAll(".picture[data-unit]") ?? [])]
      .map((picture) => [picture.dataset.unit, picture]));
    // `miou < 0.7`, several of them joined by `and` or a comma; anything else is searched for as text.
    const COMPARISON = /^\s*(.+?)\s*(<=|>=|!=|==?|<|>)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*$/i;
    const HOLDS = {
      "<": (x, y) => x < y, "<=": (x, y) => x <= y, ">": (x, y) => x > y, ">=": (x, y) => x >= y,
      "=": (x, y) => x === y, "==": (x, y) => x === y, "!=": (x, y) => x !== y,
    };
    const conditions = (query) => {
      const found = query.split(/,|\band\b|&&/i).map((part) => {
        const match = COMPARISON.exec(part);
        const at = match ? columns.findIndex((name) => name.toLowerCase() === match[1].toLowerCase()) : -1;
        return at > 0 ? (row) => typeof row[at] === "number" && HOLDS[match[2]](row[at], Number(match[3])) : null;
      });
      return found.every(Boolean) ? found : null;
    };
    const count = make("span", { className: "count", role: "status" });
    const back = make("button", { type: "button", className: "step", textContent: "Previous" });
    const next = make("button", { type: "button", className: "step", textContent: "Next" });
    const asCsv = make("button", { type: "button", className: "step", textContent: "CSV" });
    const asJson = make("button", { type: "button", className: "step", textContent: "JSON" });
    const body = make("tbody");
    const heads = columns.map((name, i) => {
      const button = make("button", { type: "button", textContent: shown(name) });
      button.addEventListener("click", () => sortBy(i));
      return make("th", { scope: "col", className: numeric[i] ? "number" : "" }, button);
    });
    const cell = (value, i) => {
      if (Array.isArray(value)) return make("td", { className: "number undefined", textContent: "–", title: shown(reasons[value[0]] || "undefined") });
      if (typeof value === "number") return make("td", { className: "number", textContent: readable(value), title: String(value) });
      const text = shown(String(value));
      if (i === 0) {
        const picture = drawn.get(String(value));
        if (!picture) return make("th", { scope: "row", textContent: text, title: text });
        return make("th", { scope: "row", title: text }, make("a", { href: `#${picture.id}`, textContent: text }));
      }
      return make("td", { className: numeric[i] ? "number" : "", textContent: text, title: text });
    };
    const kept = (cells) => cells.filter((_, i) => !away.has(i));
    const draw = () => {
      const pages = Math.max(1, Math.ceil(found.length / PAGE));
      page = Math.min(page, pages - 1);
      const first = page * PAGE, last = Math.min(first + PAGE, found.length);
      body.replaceChildren(...found.slice(first, last).map((at) => make("tr", {}, ...kept(rows[at].map(cell)))));
      const whole = found.length === rows.length ? "" : ` found among ${rows.length}`;
      count.textContent = found.length ? `${first + 1}–${last} of ${found.length}${whole}` : `none of ${rows.length}`;
      back.disabled = page === 0;
      next.disabled = page === pages - 1;
    };
    const filter = () => {
      const query = search.value.trim().toLowerCase();
      const asked = query ? conditions(query) : null;
      found = asked ? order.filter((at) => asked.every((holds) => holds(rows[at])))
        : query ? order.filter((at) => words[at].includes(query)) : order;
      page = 0;
      draw();
    };
    // What is undefined comes last, whichever way the rest is sorted.
    const sortBy = (i) => {
      up = sorted === i ? !up : true;
      sorted = i;
      const sign = up ? 1 : -1;
      const rank = (x) => (Array.isArray(x) ? 2 : typeof x === "number" ? 0 : 1);
      order = [...order].sort((a, b) => {
        const x = rows[a][i], y = rows[b][i], kind = rank(x) - rank(y);
        if (kind || rank(x) === 2) return kind || a - b;
        return (rank(x) === 0 ? x - y : collator.compare(x, y)) * sign || a - b;
      });
      heads.forEach((head, k) => {
        if (k === i) head.setAttribute("aria-sort", up ? "ascending" : "descending");
        else head.removeAttribute("aria-sort");
        head.firstChild.textContent = shown(columns[k]) + (k === i ? (up ? " ↑" : " ↓") : "");
      });
      filter();
    };
    const chosen = () => ({ columns: kept(columns), rows: found.map((at) => kept(rows[at])) });
    const choices = make("ul", {}, ...columns.slice(1).map((name, k) => {
      const tick = make("input", { type: "checkbox", checked: true, "aria-label": `Show ${shown(name)}` });
      tick.addEventListener("change", () => {
        if (tick.checked) away.delete(k + 1);
        else away.add(k + 1);
        headRow.replaceChildren(...kept(heads));
        draw();
      });
      return make("li", {}, make("label", {}, tick, shown(name)));
    }));
    const choice = make("details", { className: "columns" }, make("summary", { textContent: "Columns" }), choices);
    document.addEventListener("click", (event) => { if (!choice.contains(event.target)) choice.open = false; });
    choice.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !choice.open) return;
      choice.open = false;
      choice.firstChild.focus();
    });
    for (const [unit, picture] of drawn) {
      if (!rows.some((row) => row[0] === unit)) continue;
      const back = make("button", { type: "button", className: "quiet to-row", textContent: "Its numbers" });
      back.addEventListener("click", () => {
        search.value = unit;
        filter();
        place.scrollIntoView();
        search.focus({ preventScroll: true });
      });
      picture.append(back);
    }
    search.addEventListener("input", filter);
    back.addEventListener("click", () => { page -= 1; draw(); });
    next.addEventListener("click", () => { page += 1; draw(); });
    asCsv.addEventListener("click", () => saveText("units.csv", "text/csv", csv(chosen())));
    asJson.addEventListener("click", () =>
      saveText("units.json", "application/json", JSON.stringify(objects(chosen()), null, 1) + "\n"));
    const headRow = make("tr", {}, ...heads);
    const table = make("table", {}, make("thead", {}, headRow), body);
    place.append(
      make("div", { className: "units-bar" }, search, count, back, next, choice, asCsv, asJson),
      make("div", { className: "scroll", tabIndex: 0, role: "group", "aria-label": "Units" }, table),
    );
    draw();
  }
  performance.mark("ready");
  root.dataset.ready = "true";
})();
