/* Sorts tables, copies them as CSV or LaTeX, and saves figures as SVG. */
(() => {
  const text = (cell) => cell.innerText.replace(/\s+/g, " ").trim();
  const rows = (table) => [...table.querySelectorAll("tr")].filter((row) => row.cells.length)
    .map((row) => [...row.cells].filter((cell) => cell.getAttribute("aria-hidden") !== "true").map(text));
  const csv = (table) => rows(table).map((row) => row.map((cell) => /[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell).join(",")).join("\n");
  const escaped = (cell) => cell.replace(/\\/g, "\\textbackslash ").replace(/[&%$#_{}]/g, "\\$&").replace(/\u2212/g, "$-$");
  const latex = (table) => {
    const [head, ...body] = rows(table);
    const line = (row) => `${row.map(escaped).join(" & ")} \\\\`;
    return ["\\begin{tabular}{l" + "r".repeat(head.length - 1) + "}", "\\toprule", line(head), "\\midrule", ...body.map(line), "\\bottomrule", "\\end{tabular}"].join("\n");
  };
  const button = (label, title, act) => {
    const made = Object.assign(document.createElement("button"), { type: "button", textContent: label, title });
    made.addEventListener("click", async () => { await act(); made.textContent = "done"; setTimeout(() => { made.textContent = label; }, 1200); });
    return made;
  };
  const tools = (...buttons) => {
    const made = Object.assign(document.createElement("div"), { className: "keep" });
    made.append(...buttons);
    return made;
  };
  const copy = (words) => navigator.clipboard.writeText(words);

  function number(cell) {
    const found = text(cell).replace(/\u2212/g, "-").match(/-?\d+(\.\d+)?/);
    return found ? Number(found[0]) : null;
  }

  function sort(table, column, head) {
    const down = head.getAttribute("aria-sort") !== "descending";
    table.querySelectorAll("thead th").forEach((other) => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    for (const body of table.tBodies) {
      const told = [...body.rows].filter((row) => row.cells.length > column).map((row) => {
        const value = column ? number(row.cells[column]) : text(row.cells[0]);
        return { row, value };
      });
      const order = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : a === null ? -1 : b === null ? 1 : `${a}`.localeCompare(`${b}`);
      told.sort((a, b) => (down ? -1 : 1) * order(a.value, b.value)).forEach(({ row }) => body.append(row));
    }
  }

  for (const table of document.querySelectorAll("table")) {
    const around = table.closest(".scroll") || table;
    around.before(tools(button("CSV", "Copy this table as CSV", () => copy(csv(table))), button("LaTeX", "Copy this table as LaTeX", () => copy(latex(table)))));
    if (!table.tHead) continue;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      if (!text(head)) return;
      head.setAttribute("aria-sort", "none");
      head.tabIndex = 0;
      head.addEventListener("click", () => sort(table, column, head));
      head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(table, column, head); });
    });
  }

  // A table that is wider than its place is shown row by row, as on a narrow screen.
  function fit() {
    for (const place of document.querySelectorAll(".scroll")) {
      place.classList.remove("narrow");
      place.classList.toggle("narrow", place.scrollWidth > place.clientWidth);
    }
  }
  addEventListener("resize", fit);
  document.addEventListener("toggle", fit, true);
  fit();

  const drawn = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "font", "text-anchor", "dominant-baseline", "paint-order", "color"];
  function keep(picture, name) {
    const made = picture.cloneNode(true);
    const shapes = [...picture.querySelectorAll("*")];
    [...made.querySelectorAll("*")].forEach((shape, i) => {
      const style = getComputedStyle(shapes[i]);
      drawn.forEach((property) => { if (style.getPropertyValue(property)) shape.setAttribute(property, style.getPropertyValue(property)); });
    });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(made)], { type: "image/svg+xml" }));
    link.download = `${name.toLowerCase().replace(/\W+/g, "-")}.svg`;
    link.click();
    URL.revokeObjectURL(link.href);
  }
  for (const figure of document.querySelectorAll("figure[aria-label]")) {
    const picture = figure.querySelector("svg");
    if (picture) figure.append(tools(button("SVG", "Save this figure as SVG", () => keep(picture, figure.getAttribute("aria-label")))));
  }
})();
