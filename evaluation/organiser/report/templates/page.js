"use strict";
(() => {
  const settings = JSON.parse(document.getElementById("settings").textContent);
  const root = document.documentElement;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const views = new Map(); // of Vega, by the name of the figure
  let chosenTheme = null;
  let chosenCase = "";
  const chosenTeams = new Set(); // none: all are shown
  const teamCells = [...document.querySelectorAll("table.sortable")].flatMap((table) => {
    const position = [...table.tHead.rows[0].cells].findIndex((head) => head.textContent === "team");
    return position < 0 ? [] : [...table.tBodies[0].rows].map((row) => row.cells[position]).filter((cell) => cell.textContent !== "–");
  });
  const teams = new Set(teamCells.map((cell) => cell.textContent));

  // A figure's tables have the keys of their rows once, unless these differ, and each text of a column.
  const rowsOf = ({ columns, texts, rows }) => rows.map((row) => Object.fromEntries(row.map((cell, position) => {
    const column = columns[position];
    return [column, texts[column]?.[cell] ?? cell];
  })));
  const contentOf = (element) => {
    const content = JSON.parse(element.querySelector(":scope > script").textContent);
    if (!content.datasets) return content;
    const tables = Object.entries(content.datasets).map(([name, table]) => [name, Array.isArray(table) ? table : rowsOf(table)]);
    return { ...content, datasets: Object.fromEntries(tables) };
  };
  const say = (text) => { document.getElementById("status").textContent = text; };
  const made = (tag, properties = {}, ...content) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...content);
    return element;
  };

  // --- Figures ---------------------------------------------------------------------------------------------

  const complete = (specification, theme, width) => ({
    config: settings.themes[theme], width, autosize: { type: "fit-x", contains: "padding" }, ...specification,
  });

  async function draw(figure) {
    const name = figure.dataset.chart;
    try {
      views.get(name)?.finalize();
      const content = ofChosenTeams(contentOf(figure));
      const drawing = figure.querySelector(".drawing");
      const available = drawing.clientWidth || 480;
      const width = Math.max(available, content.usermeta?.leastWidth ?? 0); // a wider one is scrolled
      const narrow = available < 500; // a phone: one name a line
      const legend = { ...settings.themes[root.dataset.theme].legend, columns: narrow ? 1 : 2, labelLimit: narrow ? available - 90 : 260 };
      const specification = complete(content, root.dataset.theme, width);
      const many = Object.values(content.datasets).some((rows) => rows.length > 3000);
      const renderer = many ? "canvas" : "svg";
      specification.config = { ...specification.config, legend };
      const result = await vegaEmbed(drawing, specification, { mode: "vega-lite", renderer, actions: false });
      drawing.querySelector("svg, canvas")?.setAttribute("aria-label", figure.querySelector("h3").textContent);
      views.set(name, result);
      if (settings.selectedCase in result.view.getState().signals) {
        result.view.addEventListener("click", (_event, item) => {
          const name = item?.datum?.case ?? item?.datum?.datum?.case;
          if (typeof name === "string") choose(name, true);
        });
        if (chosenCase) await result.view.signal(settings.selectedCase, chosenCase).runAsync();
      }
      figure.dataset.state = "drawn";
    } catch (error) {
      figure.dataset.state = "failed";
      console.error(`figure ${name}: ${error}`);
    }
  }

  async function drawAll() {
    const figures = [...document.querySelectorAll("figure.chart")];
    const folded = (figure) => figure.closest("[hidden]") !== null;
    for (const figure of [...figures.filter((one) => !folded(one)), ...figures.filter(folded)]) await draw(figure);
    root.dataset.state = "drawn";
  }

  // Figures are laid out again for the page, half of it or all: scaled ones would have letters too small to read.
  const [HALF_PAGE, WHOLE_PAGE] = [320, 670];
  addEventListener("beforeprint", () => {
    for (const figure of document.querySelectorAll("figure.chart[data-state=drawn]")) {
      const { view } = views.get(figure.dataset.chart);
      const least = contentOf(figure).usermeta?.leastWidth ?? 0;
      figure.dataset.width = view.width();
      view.width(Math.max(figure.classList.contains("wide") ? WHOLE_PAGE : HALF_PAGE, Math.min(least, WHOLE_PAGE))).run();
    }
  });
  addEventListener("afterprint", () => {
    for (const figure of document.querySelectorAll("figure.chart[data-width]")) views.get(figure.dataset.chart).view.width(Number(figure.dataset.width)).run();
  });

  function setTheme(theme) {
    root.dataset.theme = theme;
    const button = document.getElementById("theme");
    button.textContent = theme === "dark" ? "Light" : "Dark";
    return drawAll();
  }

  // --- Downloads -------------------------------------------------------------------------------------------

  function save(name, content, type) {
    const href = content.startsWith("data:") ? content : URL.createObjectURL(new Blob([content], { type }));
    made("a", { href, download: name }).click();
    if (!content.startsWith("data:")) setTimeout(() => URL.revokeObjectURL(href), 1000);
  }

  const csvCell = (value) => {
    if (value === null || value === undefined) return "";
    let text = String(value);
    // A spreadsheet would run such a text as a formula.
    if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };

  function csvOf(datasets) {
    const names = Object.keys(datasets);
    const columns = [...new Set(names.flatMap((name) => datasets[name].flatMap((row) => Object.keys(row))))];
    const lines = [["table", ...columns]];
    for (const name of names) {
      for (const row of datasets[name]) lines.push([name, ...columns.map((column) => row[column])]);
    }
    return lines.map((line) => line.map(csvCell).join(",") + "\r\n").join("");
  }

  async function download(figure, format) {
    const name = figure.dataset.chart;
    const { view } = views.get(name);
    if (format === "SVG") save(`${name}.svg`, await view.toSVG(), "image/svg+xml");
    if (format === "PNG") save(`${name}.png`, await view.toImageURL("png", 3), "image/png");
    if (format === "CSV") save(`${name}.csv`, csvOf(contentOf(figure).datasets), "text/csv");
    if (format === "Vega-Lite") {
      const specification = { $schema: settings.schema, ...complete(contentOf(figure), "light", 480) };
      save(`${name}.vl.json`, JSON.stringify(specification, null, 1), "application/json");
    }
  }

  // The data of a figure as a table for those who cannot see it, made when it is asked for.
  const MOST_ROWS = 200;
  function showData(details) {
    if (details.querySelector("table")) return;
    for (const [name, rows] of Object.entries(contentOf(details.closest("figure")).datasets)) {
      if (!rows.length) continue;
      const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
      const table = made("table");
      table.createCaption().textContent = rows.length > MOST_ROWS ? `${name}: ${MOST_ROWS} of ${rows.length} rows; the CSV holds all` : name;
      table.createTHead().insertRow().append(...columns.map((column) => made("th", { scope: "col" }, column.replaceAll("_", " "))));
      table.createTBody().append(...rows.slice(0, MOST_ROWS).map((row) => (
        made("tr", {}, ...columns.map((column) => made("td", { textContent: row[column] ?? "–" })))
      )));
      details.append(made("div", { className: "scroll long", tabIndex: 0 }, table));
    }
  }

  // --- Folded parts and the search -------------------------------------------------------------------------

  function fold(more, closed) {
    if (closed) more.setAttribute("hidden", "until-found"); else more.removeAttribute("hidden");
    const button = document.querySelector(`[aria-controls="${more.id}"]`);
    button.setAttribute("aria-expanded", String(!closed));
  }

  function reveal(element) {
    const more = element?.closest(".more[hidden]");
    if (more) fold(more, false);
  }

  function makeSearch() {
    const input = document.getElementById("find");
    const cases = [...document.querySelectorAll(".table.cases")].flatMap((block) => contentOf(block).rows.map((row) => String(row[0])));
    const cells = teamCells;
    const names = [...teams, ...new Set(cases)];
    if (!names.length) return;
    input.hidden = false;
    document.getElementById("names").replaceChildren(...names.slice(0, 2000).map((value) => made("option", { value })));
    input.addEventListener("change", () => {
      const wanted = input.value.trim().toLowerCase();
      const matches = (name) => name.toLowerCase() === wanted;
      for (const cell of cells) cell.parentElement.toggleAttribute("data-found", wanted !== "" && matches(cell.textContent));
      const name = cases.find(matches);
      if (name !== undefined) { choose(name, true); return; }
      const found = cells.filter((cell) => wanted && matches(cell.textContent));
      reveal(found[0]);
      found[0]?.scrollIntoView({ block: "center" });
      say(found.length ? `${found.length} rows of ${input.value} are marked.` : "Nothing is called so.");
    });
  }

  // --- Choice of teams: tables and figures without the others ----------------------------------------------

  // A team keeps its colour and shape, and places stay those among all teams.
  function ofChosenTeams(content) {
    if (!chosenTeams.size) return content;
    const isOther = (name) => teams.has(name) && !chosenTeams.has(name);
    const datasets = Object.fromEntries(Object.entries(content.datasets).map(([name, rows]) => {
      // A column of a heat map can be a rank that is the name of a team, too.
      const keys = ["team", "name", ...["row", "column"].filter((key) => rows.every((row) => teams.has(row[key])))];
      return [name, rows.filter((row) => !keys.some((key) => isOther(row[key])))];
    }));
    const without = (part) => {
      if (Array.isArray(part)) return part.length && part.every((one) => teams.has(one)) ? part.filter((one) => !isOther(one)) : part.map(without);
      if (part === null || typeof part !== "object") return part;
      const scaled = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, without(value)]));
      if (Array.isArray(part.domain) && Array.isArray(part.range) && part.domain.length === part.range.length) {
        scaled.range = part.range.filter((_value, position) => !isOther(part.domain[position]));
      }
      return scaled;
    };
    const { datasets: all, ...specification } = content;
    const down = (specification.encoding ?? specification.layer?.at(-1).encoding ?? {}).y;
    const rowsOf = (tables) => new Set(Object.values(tables).flatMap((rows) => rows.map((row) => row[down?.field]))).size;
    const share = down?.type === "nominal" && rowsOf(all) ? rowsOf(datasets) / rowsOf(all) : 1;
    const height = typeof content.height === "number" ? { height: Math.max(30, content.height * share) } : {};
    return { ...without(specification), ...height, datasets };
  }

  function makeTeams() {
    const choice = document.getElementById("teams");
    if (teams.size < 3) return;
    choice.hidden = false;
    const boxes = [...teams].map((team) => {
      const box = made("input", { type: "checkbox", value: team });
      choice.querySelector("div").append(made("label", {}, box, ` ${team}`));
      return box;
    });
    let waiting = 0;
    choice.addEventListener("change", () => {
      chosenTeams.clear();
      for (const box of boxes) if (box.checked) chosenTeams.add(box.value);
      for (const cell of teamCells) cell.parentElement.hidden = chosenTeams.size > 0 && !chosenTeams.has(cell.textContent);
      choice.querySelector("summary").textContent = chosenTeams.size ? `Teams: ${chosenTeams.size} of ${teams.size}` : "Teams";
      say(chosenTeams.size ? `${chosenTeams.size} of ${teams.size} teams are shown.` : "All teams are shown.");
      root.dataset.state = "drawing";
      clearTimeout(waiting);
      waiting = setTimeout(drawAll, 200);
    });
    addEventListener("keydown", (event) => { if (event.key === "Escape") choice.open = false; });
  }

  // --- Case viewer: layers of one case by team, moved together ---------------------------------------------

  function makeViewer(block) {
    const { sides, cases } = contentOf(block);
    const part = Object.fromEntries([...block.querySelectorAll("[data-part]")].map((one) => [one.dataset.part, one]));
    const stage = block.querySelector(".stage");
    const view = { zoom: 1, x: 0, y: 0, plane: 0 };
    let order = [];
    let at = 0;
    const option = (text, value = text) => made("option", { value }, text);
    part.task.replaceChildren(...[...new Set(cases.map((one) => one.task))].map((task) => option(task)));

    function fillOrder() {
      const members = cases.filter((one) => one.task === part.task.value);
      const metrics = [...new Set(members.flatMap((one) => Object.keys(one.values)))];
      part.order.replaceChildren(option("as in the phase", ""), ...metrics.flatMap((metric) => [option(`${metric}, rising`, `+${metric}`), option(`${metric}, falling`, `-${metric}`)]));
      sort(members[0]?.case);
    }

    function sort(name) {
      const members = cases.filter((one) => one.task === part.task.value);
      const [sign, metric] = [part.order.value[0], part.order.value.slice(1)];
      const mean = (one) => {
        const known = (one.values[metric] ?? []).filter((value) => value !== null);
        return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
      };
      order = metric ? sorted(members, mean, sign === "-") : members;
      show(Math.max(0, order.findIndex((one) => one.case === name)));
    }

    function show(position) {
      at = (position + order.length) % order.length;
      const one = order[at];
      if (!one) return;
      view.plane = Math.floor(one.planes.length / 2);
      part.plane.max = one.planes.length - 1;
      part.plane.closest("label").hidden = one.planes.length < 2;
      const ground = one.sides.map((side) => side[0]).find((source) => source);
      const rows = Math.ceil(one.planes.length / one.columns);
      stage.replaceChildren(...one.sides.map(([image, areas, outlines], number) => {
        const moved = made("div", { className: "moved" });
        const frame = made("div", { className: "frame" }, moved);
        // A limit of the height would change the ratio of the sides: the width follows from it instead.
        const ratio = one.size[1] / (one.size[0] * one.aspect);
        Object.assign(frame.style, { aspectRatio: ratio, width: `min(100%, calc(70vh * ${ratio}))` });
        for (const [name, source] of Object.entries({ image: areas ? image ?? ground : image, areas, outlines })) {
          if (!source) continue;
          const layer = made("div", { className: `layer ${name}` });
          layer.style.backgroundImage = `url("${source}")`;
          layer.style.backgroundSize = `${100 * one.columns}% ${100 * rows}%`;
          moved.append(layer);
        }
        const values = Object.entries(one.values).map(([metric, of]) => `${metric} ${of[number] === null || of[number] === undefined ? "–" : shown(of[number], 3)}`);
        const caption = [sides[number], ...values].filter((text) => text).join(" · ");
        return made("figure", {}, frame, made("figcaption", {}, caption));
      }));
      block.dataset.case = one.case;
      move();
    }

    function move() {
      const one = order[at];
      const rows = Math.ceil(one.planes.length / one.columns);
      view.plane = Math.max(0, Math.min(one.planes.length - 1, view.plane));
      part.plane.value = view.plane;
      const [column, row] = [view.plane % one.columns, Math.floor(view.plane / one.columns)];
      const share = (position, count) => (count > 1 ? (100 * position) / (count - 1) : 0);
      for (const layer of stage.querySelectorAll(".layer")) layer.style.backgroundPosition = `${share(column, one.columns)}% ${share(row, rows)}%`;
      for (const moved of stage.querySelectorAll(".moved")) moved.style.transform = `translate(${view.x}px, ${view.y}px) scale(${view.zoom})`;
      for (const layer of stage.querySelectorAll(".areas")) layer.style.opacity = part.opacity.value / 100;
      for (const layer of stage.querySelectorAll(".outlines")) layer.hidden = !part.outlines.checked;
      const plane = one.ofPlanes > 1 ? `, plane ${one.planes[view.plane] + 1} of ${one.ofPlanes} (${one.planes.length} are shown)` : "";
      const shows = one.structures.length ? `. Shows ${one.structures.join(", ")}` : one.structured ? ". Nothing is there in prediction or reference" : "";
      block.querySelector(".caption").textContent = `${one.case}, ${at + 1} of ${order.length}${plane}${shows}`;
    }

    const step = (by) => { show(at + by); choose(order[at].case, false); };
    const planeBy = (by) => { view.plane += by; move(); };
    const zoomBy = (factor) => {
      const zoom = Math.max(1, Math.min(20, view.zoom * factor));
      Object.assign(view, zoom === 1 ? { x: 0, y: 0 } : { x: (view.x * zoom) / view.zoom, y: (view.y * zoom) / view.zoom }, { zoom });
      move();
    };
    const areasBy = (by) => { part.opacity.value = Number(part.opacity.value) + by; move(); };
    const whole = () => { Object.assign(view, { zoom: 1, x: 0, y: 0 }); move(); };
    const keys = {
      ArrowLeft: () => step(-1), ArrowRight: () => step(1), ArrowUp: () => planeBy(-1), ArrowDown: () => planeBy(1),
      "+": () => zoomBy(1.25), "-": () => zoomBy(0.8), "[": () => areasBy(-10), "]": () => areasBy(10), 0: whole,
      o: () => { part.outlines.checked = !part.outlines.checked; move(); },
    };
    stage.addEventListener("keydown", (event) => {
      if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
    });
    stage.addEventListener("wheel", (event) => {
      if (event.ctrlKey) { event.preventDefault(); zoomBy(event.deltaY < 0 ? 1.25 : 0.8); }
      else if (order[at].planes.length > 1) { event.preventDefault(); planeBy(Math.sign(event.deltaY)); }
    }, { passive: false });
    stage.addEventListener("pointermove", (event) => {
      if (event.buttons !== 1) return;
      view.x += event.movementX;
      view.y += event.movementY;
      move();
    });
    part.task.addEventListener("change", fillOrder);
    part.order.addEventListener("change", () => sort(order[at].case));
    part.previous.addEventListener("click", () => step(-1));
    part.next.addEventListener("click", () => step(1));
    part.reset.addEventListener("click", whole);
    part.plane.addEventListener("input", () => { view.plane = Number(part.plane.value); move(); });
    for (const one of [part.opacity, part.outlines]) one.addEventListener("input", move);
    document.addEventListener("case", () => {
      const position = order.findIndex((one) => one.case === chosenCase);
      if (position >= 0 && position !== at) show(position);
    });
    fillOrder();
    block.dataset.state = "ready";
  }

  // --- Tables ----------------------------------------------------------------------------------------------

  const compare = (first, second) => {
    if (first === second) return 0;
    if (first === null) return 1;
    if (second === null) return -1;
    if (typeof first === "number" && typeof second === "number") return first - second;
    return String(first).localeCompare(String(second), "en", { numeric: true });
  };

  // Sorts rows by a column; what is missing comes last either way.
  function sorted(rows, valueOf, descending) {
    const sign = descending ? -1 : 1;
    return [...rows].sort((a, b) => {
      const [first, second] = [valueOf(a), valueOf(b)];
      return first === null || second === null ? compare(first, second) : sign * compare(first, second);
    });
  }

  function turn(heads, head) {
    const descending = head.getAttribute("aria-sort") === "ascending";
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    return descending;
  }

  function makeSortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    const valueOf = (position) => (row) => {
      const cell = row.cells[position];
      if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
      return /^–\d*$/.test(cell.textContent) ? null : cell.textContent;
    };
    heads.forEach((head, position) => {
      const cells = [...body.rows].map((row) => row.cells[position]);
      if (cells.some((cell) => cell.dataset.value !== undefined)) {
        for (const cell of [head, ...cells]) cell.classList.add("number");
      }
      head.firstElementChild.addEventListener("click", () => {
        body.append(...sorted(body.rows, valueOf(position), turn(heads, head)));
      });
    });
  }

  const AT_FIRST = 100;
  const shown = (cell, digits) => {
    if (cell === null) return "–";
    if (typeof cell !== "number") return cell;
    return (digits === null ? String(cell) : cell.toFixed(digits)).replace("-", "−");
  };

  function makeCases(block) {
    const { columns, rows } = contentOf(block);
    const table = block.querySelector("table");
    const [filter, more, count, choice] = ["input", "[data-action=more]", ".count", "select"].map((one) => block.querySelector(one));
    const texts = new Map(rows.map((row) => [row, row.map((cell, i) => shown(cell, columns[i][1])).join("\n").toLowerCase()]));
    const numeric = columns.map((_column, position) => rows.some((row) => typeof row[position] === "number"));
    let ordered = rows;
    let limit = AT_FIRST;
    let visible = []; // the positions of the columns that are chosen
    const groups = [...new Set(columns.map(([, , group]) => group).filter((group) => group))];
    choice.replaceChildren(...["main ones", ...groups, "all"].map((value) => made("option", { value }, value)));
    choice.parentElement.hidden = columns.every(([, , , main]) => main);
    const isVisible = ([, , group, main]) => choice.value === "all" || (choice.value === "main ones" ? main : !group || group === choice.value);
    const heads = columns.map(([title], position) => {
      const button = made("button", { type: "button" }, title);
      const cell = made("th", { scope: "col", className: numeric[position] ? "number" : "" }, button);
      button.addEventListener("click", () => {
        ordered = sorted(rows, (row) => row[position], turn(heads, cell));
        fill();
      });
      return cell;
    });

    function showColumns() {
      visible = [...columns.keys()].filter((position) => isVisible(columns[position]));
      table.tHead.replaceChildren(made("tr", {}, ...visible.map((position) => heads[position])));
      fill();
    }

    function fill() {
      const wanted = filter.value.trim().toLowerCase().split(/\s+/);
      const matching = ordered.filter((row) => wanted.every((word) => texts.get(row).includes(word)));
      const first = matching.slice(0, limit);
      const chosen = matching.find((row) => row[0] === chosenCase);
      if (chosen && !first.includes(chosen)) first.push(chosen);
      table.tBodies[0].replaceChildren(...first.map(rowOf));
      count.textContent = `${matching.length} of ${rows.length} cases`;
      more.hidden = first.length === matching.length;
    }

    function rowOf(row) {
      const line = made("tr");
      line.dataset.case = row[0];
      line.setAttribute("aria-selected", String(row[0] === chosenCase));
      for (const position of visible) {
        const cell = row[position];
        const place = line.insertCell();
        if (position) {
          place.textContent = shown(cell, columns[position][1]);
          if (numeric[position]) place.classList.add("number");
          continue;
        }
        const button = made("button", { type: "button" }, cell);
        button.addEventListener("click", () => choose(cell === chosenCase ? "" : cell, false));
        place.append(button);
      }
      return line;
    }

    filter.addEventListener("input", fill);
    choice.addEventListener("change", showColumns);
    more.addEventListener("click", () => { limit = Infinity; fill(); });
    addEventListener("beforeprint", () => { limit = Infinity; fill(); });
    block.querySelector("[data-action=clear]").addEventListener("click", () => choose("", false));
    document.addEventListener("case", ({ detail }) => {
      if (detail.show && !rows.some((row) => row[0] === chosenCase && texts.get(row).includes(filter.value.trim().toLowerCase()))) {
        filter.value = "";
      }
      fill();
      const line = [...table.tBodies[0].rows].find((row) => row.dataset.case === chosenCase);
      if (detail.show && line) {
        reveal(block);
        block.scrollIntoView({ block: "nearest" });
        line.scrollIntoView({ block: "nearest" });
        line.querySelector("button").focus({ preventScroll: true });
      }
    });
    showColumns();
  }

  // Chooses a case everywhere: in tables, figures and pictures; "show" also brings its row into sight.
  function choose(name, show) {
    chosenCase = name;
    for (const { view } of views.values()) {
      if (settings.selectedCase in view.getState().signals) view.signal(settings.selectedCase, name).runAsync();
    }
    for (const picture of document.querySelectorAll(".picture")) {
      picture.toggleAttribute("data-chosen", name !== "" && picture.dataset.case === name);
    }
    document.dispatchEvent(new CustomEvent("case", { detail: { show } }));
    say(name ? `Case ${name} is chosen.` : "No case is chosen.");
  }

  // --- Start -----------------------------------------------------------------------------------------------

  for (const table of document.querySelectorAll("table.sortable")) makeSortable(table);
  for (const block of document.querySelectorAll(".cases")) makeCases(block);
  for (const figure of document.querySelectorAll("figure.chart")) {
    for (const button of figure.querySelectorAll("[data-format]")) {
      button.addEventListener("click", () => download(figure, button.dataset.format));
    }
  }
  for (const details of document.querySelectorAll("details.data")) details.addEventListener("toggle", () => showData(details));
  for (const more of document.querySelectorAll(".more")) {
    document.querySelector(`[aria-controls="${more.id}"]`).addEventListener("click", () => fold(more, !more.hidden));
    more.addEventListener("beforematch", () => fold(more, false));
  }
  document.getElementById("unfold")?.addEventListener("click", ({ target }) => {
    const open = target.getAttribute("aria-pressed") !== "true";
    target.setAttribute("aria-pressed", String(open));
    target.textContent = open ? "Fold" : "Show all";
    for (const more of document.querySelectorAll(".more")) fold(more, !open);
  });
  addEventListener("hashchange", () => reveal(document.getElementById(location.hash.slice(1))));
  makeSearch();
  makeTeams();
  for (const block of document.querySelectorAll(".viewer")) makeViewer(block);
  document.getElementById("theme").addEventListener("click", () => {
    chosenTheme = root.dataset.theme === "dark" ? "light" : "dark";
    setTheme(chosenTheme);
  });
  addEventListener("keydown", (event) => { if (event.key === "Escape" && chosenCase) choose("", false); });
  prefersDark.addEventListener("change", () => { if (!chosenTheme) setTheme(prefersDark.matches ? "dark" : "light"); });

  const bar = document.querySelector("nav");
  // A bar of several lines would hide the heading that a link leads to.
  new ResizeObserver(() => { root.style.scrollPaddingTop = `${bar.offsetHeight + 12}px`; }).observe(bar);
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const inSight = new IntersectionObserver((entries) => {
    for (const entry of entries) links.get(entry.target.id)?.toggleAttribute("data-in-sight", entry.isIntersecting);
    const current = [...links.values()].find((link) => link.hasAttribute("data-in-sight"));
    for (const link of links.values()) link.removeAttribute("aria-current");
    current?.setAttribute("aria-current", "true");
  }, { rootMargin: "-80px 0px -40% 0px" });
  for (const section of document.querySelectorAll("main > section")) inSight.observe(section);

  setTheme(prefersDark.matches ? "dark" : "light");
})();
