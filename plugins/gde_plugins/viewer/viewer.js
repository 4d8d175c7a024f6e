/* Keeps the list and the live page up to date. Everything received is set as text, or was escaped by the server. */
(() => {
  const every = (seconds, act) => { const go = async () => { try { if (await act()) return; } catch { /* the server is gone or busy */ } setTimeout(go, 1000 * seconds); }; go(); };
  const filter = document.querySelector('[data-part="filter"]');
  const sift = () => {
    for (const row of document.querySelectorAll("table.runs tbody tr")) row.hidden = !row.textContent.toLowerCase().includes(filter.value.toLowerCase());
  };
  if (filter) filter.addEventListener("input", sift);
  const list = document.querySelector("table[data-live]");
  if (list) {
    every(3, async () => {
      const text = await (await fetch("/")).text();
      const fresh = new DOMParser().parseFromString(text, "text/html").querySelector("table.runs");
      const chosen = [...list.querySelectorAll("input:checked")].map((one) => [one.name, one.value]);
      list.tBodies[0].replaceWith(fresh.tBodies[0]);
      sift();
      for (const one of list.querySelectorAll("input")) one.checked = chosen.some(([name, value]) => one.name === name && one.value === value);
      return !fresh.dataset.live;
    });
  }
  const live = document.getElementById("live");
  if (!live) return;
  const part = (name) => live.querySelector(`[data-part="${name}"]`);
  const begun = performance.now();
  let last = 0;
  let first = null;
  const spoken = (seconds) => seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
  every(1, async () => {
    const now = await (await fetch(`/live/${live.dataset.run}?after=${last}`)).json();
    if (now.over) { location.reload(); return true; }
    const far = now.done + now.within;
    first ??= far;
    for (const name of ["status", "done", "total", "count"]) part(name).textContent = now[name];
    part("bar").max = now.total;
    part("bar").value = now.done;
    const rate = (far - first) / ((performance.now() - begun) / 1000);
    part("left").textContent = rate > 0 ? `(about ${spoken((now.total - far) / rate)} left)` : "";
    for (const turn of now.turns) {
      const item = document.createElement("li");
      const head = document.createElement("strong");
      head.textContent = `${turn.episode}, turn ${turn.turn}: ${turn.decision}`;
      item.append(head);
      if (turn.best) item.append(` (optimal: ${turn.best.join(", ") || "none"})`);
      part("turns").prepend(item);
    }
    while (part("turns").children.length > 200) part("turns").lastChild.remove();
    last = now.last;
    return false;
  });
})();
