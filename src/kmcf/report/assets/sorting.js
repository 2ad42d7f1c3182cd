// Pressing the heading of a column sorts its table; texts alphabetically, numbers by size, missing ones last.
for (const table of document.querySelectorAll("table")) {
  table.querySelectorAll("thead th").forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of table.querySelectorAll("thead th")) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort((a, b) => compare(a.cells[column], b.cells[column], up ? 1 : -1)));
    });
  });
}

function compare(a, b, sign) {
  const [x, y] = [a, b].map((cell) => (cell.dataset.value === undefined ? null : Number(cell.dataset.value)));
  if (x !== null && y !== null) return sign * (x - y);
  if (x !== null || y !== null) return x !== null ? -1 : 1;
  return sign * a.textContent.localeCompare(b.textContent, "en", {numeric: true});
}
