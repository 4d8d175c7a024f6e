/* Plays the episodes of the run. The pictures were escaped when the page was made; everything else is set as text. */
(async () => {
  const root = document.getElementById("player");
  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  const bytes = Uint8Array.from(atob(document.getElementById("films").textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const films = JSON.parse(await new Response(stream).text());
  const varied = (name) => new Set(films.map((one) => one.labels[name])).size > 1;
  const labels = Object.fromEntries(films.map((one) =>
    [one.key, Object.entries(one.labels).filter(([name]) => varied(name)).map((pair) => pair.join(" ")).join(", ")]));
  const title = (one) => `${one.key}  ${one.sign}  ${labels[one.key]}`;
  let mark = "";
  const long = films.filter((one) => one.turns.length > 2);
  const decoded = (one) => one.marks.includes("decoded");
  let film = long.find(decoded) || films.find(decoded) || long[0] || films[0];
  let at = 0;
  let moment = "";

  const write = (name, text) => { const node = part(name); node.textContent = text || ""; node.hidden = !text; };
  const draw = (name, picture, note, words) => {
    const node = part(name);
    node.hidden = !picture && !note && !words;
    node.querySelector("div").innerHTML = picture || "";
    if (words) node.querySelector("div").append(Object.assign(document.createElement("pre"), { textContent: words }));
    node.querySelector("figcaption").textContent = note || "";
  };
  const found = () => {
    const words = part("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    return films.filter((one) => (!mark || one.marks.includes(mark)) &&
      words.every((word) => `${one.key} ${labels[one.key]} ${one.task} ${one.outcome}`.toLowerCase().includes(word)));
  };

  function list() {
    const shown = found();
    part("episode").replaceChildren(...shown.map((one) => new Option(title(one), one.key, false, one === film)));
    write("count", shown.length === 1 ? "1 episode" : `${shown.length} episodes`);
    if (shown.length && !shown.includes(film)) open(shown[0], 0);
  }

  function strip() {
    part("strip").replaceChildren(...film.turns.map((turn, index) => {
      const frame = document.createElement("button");
      frame.type = "button";
      frame.textContent = index + 1;
      frame.className = { "optimal": "good", "not optimal": "bad", "they part here": "bad", "unusable": "mute" }[turn.verdict] || "";
      frame.title = `Turn ${index + 1}: ${turn.move}${turn.verdict ? ", " + turn.verdict : ""}`;
      frame.addEventListener("click", () => show(index));
      return frame;
    }));
    part("slider").max = film.turns.length;
    part("slider").disabled = film.turns.length < 2;
  }

  /* The map decoded at one of several places in the answer; the place stays from turn to turn. */
  function moments(turn) {
    const several = turn.moments || [];
    const chosen = several.find((one) => one.at === moment) || several[0] || { decoded: turn.decoded, note: turn.decoded_note };
    draw("decoded", chosen.decoded, chosen.note, turn.decoded_drawn);
    part("moments").replaceChildren(...several.map((one) => {
      const step = document.createElement("button");
      step.type = "button";
      step.textContent = one.at;
      step.setAttribute("aria-current", one === chosen);
      step.addEventListener("click", () => { moment = one.at; moments(turn); });
      return step;
    }));
    part("moments").hidden = !several.length;
  }

  function show(index) {
    at = Math.max(0, Math.min(index, film.turns.length - 1));
    const turn = film.turns[at];
    [...part("strip").children].forEach((frame, i) => frame.setAttribute("aria-current", i === at));
    part("slider").value = at + 1;
    write("move", `Turn ${at + 1} of ${film.turns.length + film.hidden}: ${turn.move}`);
    write("verdict", turn.verdict);
    part("verdict").className = turn.verdict === "optimal" ? "optimal" : "off";
    write("best", turn.best && `Optimal: ${turn.best}`);
    write("why", turn.why && `Why: ${turn.why}`);
    write("odds", turn.odds && `Probabilities: ${turn.odds}`);
    write("facts", turn.facts);
    draw("truth", turn.truth, turn.truth ? [turn.truth_title || "True map", turn.truth_note].filter(Boolean).join("; ") : turn.truth_title || turn.truth_note, turn.drawn);
    moments(turn);
    write("thought", turn.thought);
    write("said", turn.said);
    if (turn.read) {
      const from = turn.said.lastIndexOf(turn.read);
      const mark = document.createElement("mark");
      mark.textContent = turn.read;
      mark.title = "read as the answer";
      part("said").replaceChildren(turn.said.slice(0, from), mark, turn.said.slice(from + turn.read.length));
    }
    write("shown", turn.shown);
    write("sent", turn.sent);
    for (const name of ["thought", "said", "shown", "sent"]) part(name).parentElement.hidden = !turn[name];
    part("shown").parentElement.open = part("shown").parentElement.open || !(turn.thought || turn.said);
    history.replaceState(null, "", `#episode=${film.key}&turn=${at + 1}`);
  }

  function open(one, index) {
    film = one;
    part("episode").value = film.key;
    write("task", film.task && `Task: ${film.task}`);
    write("outcome", `${film.outcome[0].toUpperCase()}${film.outcome.slice(1)}.`);
    strip();
    show(index);
  }

  function step(by) {
    const shown = found();
    const next = shown[shown.indexOf(film) + by];
    if (next) open(next, 0);
  }

  function follow() {
    const link = new URLSearchParams(location.hash.slice(1));
    const linked = films.find((one) => one.key === link.get("episode"));
    if (linked) open(linked, Number(link.get("turn") || 1) - 1);
    return Boolean(linked);
  }

  for (const button of root.querySelectorAll("[data-mark]")) {
    const own = films.filter((one) => !button.dataset.mark || one.marks.includes(button.dataset.mark)).length;
    button.append(` ${own}`);
    button.disabled = !own;
    button.addEventListener("click", () => {
      mark = button.dataset.mark;
      root.querySelectorAll("[data-mark]").forEach((other) => other.setAttribute("aria-pressed", other === button));
      list();
    });
  }
  part("search").addEventListener("input", list);
  part("episode").addEventListener("change", (event) => open(films.find((one) => one.key === event.target.value), 0));
  part("slider").addEventListener("input", (event) => show(event.target.value - 1));
  part("before").addEventListener("click", () => step(-1));
  part("after").addEventListener("click", () => step(1));
  root.addEventListener("keydown", (event) => {
    if (event.target.matches("input, select")) return;
    const known = { ArrowLeft: () => show(at - 1), ArrowRight: () => show(at + 1), ArrowUp: () => step(-1), ArrowDown: () => step(1) };
    if (known[event.key]) { event.preventDefault(); known[event.key](); }
  });
  addEventListener("hashchange", follow);
  root.hidden = false;
  list();
  const hash = location.hash;
  open(film, 0);
  if (hash) { history.replaceState(null, "", hash); if (follow()) root.scrollIntoView(); }
  else history.replaceState(null, "", location.pathname + location.search);
})();
