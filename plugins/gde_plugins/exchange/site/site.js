/* Shows the rows of the runs that hold every word of the filter. */
(() => {
  const filter = document.getElementById("filter");
  const rows = [...document.querySelectorAll("table.runs tbody tr")];
  filter.hidden = false;
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
  });
})();
