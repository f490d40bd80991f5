// Added by page.sh to a page of `heddle compare bfs histogram` under stack and dws: the difference of two runs, an interval of time, the
// memory chart, occupancy and the coloured table have the numbers of the page's data.
(async () => {
  const { documents } = JSON.parse(document.getElementById("data").textContent);
  const runs = documents[0].runs;
  const report = [];
  const ok = (sentence, is) => report.push(`${is ? "ok" : "not ok"} ${sentence}`);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const settle = () => new Promise((resolve) => setTimeout(resolve, 40));
  const figure = (title) => all("#run figure").find((f) => f.querySelector("figcaption").textContent.startsWith(title));
  const open = async (details) => {
    details.open = true;
    await settle();
  };
  const number = (text) => Number(text.replaceAll(",", "").replace("−", "-").replace("+", ""));
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  const errors = [];
  addEventListener("error", (event) => errors.push(event.message));
  try {
    location.hash = "run=1";
    await settle();
    const [a, b] = [runs[0], runs[1]];
    const order = all("#run > *").map((part) => part.id || part.className || part.localName);
    ok(`the sentence and the meters come before the evidence, and that before all else (${order})`, order.indexOf("limit") < order.indexOf("evidence") && order.indexOf("evidence") < order.indexOf("totals") && document.querySelectorAll("#evidence figure").length >= 2);

    ok("two runs of one program are compared", document.querySelector("[data-why]").textContent.includes(`${Math.abs(b.total.cycles - a.total.cycles).toLocaleString("en")} cycles ${b.total.cycles < a.total.cycles ? "fewer" : "more"}`));
    const cause = figure("Cycles by cause");
    await open(cause.querySelector("details"));
    const steps = [...cause.querySelectorAll("tbody tr")].map((row) => number(row.lastElementChild.textContent));
    ok(`the causes add up to the difference (${steps})`, steps.length > 1 && Math.abs(sum(steps) - (b.total.cycles - a.total.cycles)) <= steps.length);
    const memory = [...cause.querySelectorAll("tbody tr")].find((row) => row.firstElementChild.textContent === "memory");
    const perSm = (run, key) => (run.total[key] * run.total.cycles) / run.total.sm_cycles;
    ok("and each is the SMs' mean", Math.abs(number(memory.lastElementChild.textContent) - (perSm(b, "stall_memory") - perSm(a, "stall_memory"))) < 1);
    ok("the launches are there too", figure("By launch").querySelectorAll("tbody tr").length === a.kernels.length);
    ok("and the lanes that regrouping wins or loses at each line", /→/.test(figure("By line").querySelector("tbody tr").textContent));

    const lost = [...cause.querySelectorAll("tbody tr")].find((row) => row.firstElementChild.textContent === "divergence");
    const idle = (run) => (run.limit.sm_cycles.divergence * run.total.cycles) / run.total.sm_cycles;
    ok("cycles of idle lanes are a cause of their own", Math.abs(number(lost.lastElementChild.textContent) - (idle(b) - idle(a))) < 1);

    const told = runs.findIndex((run) => run.limit.line);
    location.hash = `run=${told}`;
    await settle();
    document.querySelector(".limit .go").click();
    await settle();
    ok("the sentence leads to its line", Number(document.querySelector("#lines tr.found")?.dataset.line) === (runs[told].limit.line.source_line ?? runs[told].limit.line.line));
    location.hash = "run=1";
    await settle();

    const way = figure("Data flow");
    await open(way.querySelector("details"));
    ok("the memory chart has every level", b.memory.levels.every((level) => [...way.querySelectorAll("tbody th")].some((th) => th.textContent === level.name)));
    const arrows = [...way.querySelectorAll("polygon")].map((polygon) => polygon.points.getItem(2).y);
    const bytes = ["L1", "crossbar", "DRAM"].map((name) => b.memory.levels.find((level) => level.name === name).bytes);
    const middle = way.querySelector("polygon").points.getItem(0).y;
    const thick = arrows.map((y) => 2 * (middle - y));
    ok(`its arrows are as wide as their bytes (${thick})`, thick.length === 3 && thick.every((t, i) => Math.abs(t - Math.max(1.5, (44 * bytes[i]) / Math.max(...bytes))) < 0.1));
    ok("the roofline has a point for each level with traffic", figure("Roofline").querySelectorAll("circle").length === b.memory.levels.filter((level) => level.name !== "crossbar" && level.bytes > 0).length);
    const occupancy = b.kernels[0].occupancy;
    const isGrid = b.kernels[0].grid.reduce((x, y) => x * y) < occupancy.blocks * b.peaks.sms;
    ok("occupancy names its limiter, the grid if it has too few blocks", figure("Occupancy").querySelector("tbody tr").children[3].textContent === (isGrid ? "the grid" : occupancy.limited_by));
    ok("no more warps are there than fit", runs.every((run) => run.kernels.every((k) => k.occupancy.achieved <= k.occupancy.theoretical + 1e-6)));
    const tile = (name) => document.querySelector(`#totals [data-stat="${name}"]`)?.dataset.value;
    ok("misses of loads and of stores are apart", Number(tile("L1 misses of loads")) === (b.total.l1_misses - b.total.l1_write_misses) / (b.total.l1_accesses - b.total.l1_writes) && Number(tile("L1 misses of stores")) === b.total.l1_write_misses / b.total.l1_writes);
    ok("the next step names panels, not options that are in use", runs.some((run) => run.limit.next.includes("--lines")) && !/--(lines|html|branches) shows/.test(document.querySelector(".limit").textContent));

    const kernel = b.kernels.filter((k) => k.samples).reduce((x, y) => (y.cycles > x.cycles ? y : x));
    const { every_cycles: every, thread_instructions: issued } = kernel.samples;
    ok("the stalls of a launch are drawn over time", figure("Where the cycles went over time") !== undefined);
    const labels = all("#time .map .axis:not(.down) span");
    const misplaced = labels.filter((label) => {
      const [own, canvas] = [label.getBoundingClientRect(), label.closest(".map").querySelector("canvas").getBoundingClientRect()];
      const at = Number(label.dataset.at);
      const point = at === 0 ? own.left : at === 1 ? own.right : (own.left + own.right) / 2;
      const cycles = Number(label.textContent.replace(/ cycles|[KMG]/g, "")) * (/K/.test(label.textContent) ? 1e3 : /M/.test(label.textContent) ? 1e6 : 1);
      const whole = every * issued.length;
      return Math.abs(point - canvas.left - (cycles / whole) * canvas.width) > 2 + 0.01 * canvas.width;
    });
    ok(`labels of cycles stand at their cycles (${misplaced.map((label) => label.textContent)})`, labels.length >= 15 && misplaced.length === 0);
    const rows = all("#time .map .axis.down:not(.names) span");
    ok("labels of rows stand at their rows", rows.length > 4 && rows.every((label) => {
      const [own, canvas] = [label.getBoundingClientRect(), label.closest(".map").querySelector("canvas").getBoundingClientRect()];
      return Math.abs((own.top + own.bottom) / 2 - canvas.top - Number(label.dataset.at) * canvas.height) < 2;
    }));
    const scaleOf = (title) => figure(title)?.querySelector(".scale").textContent.trim();
    ok(`warps are coloured by the slots of an SM, channels by all cycles (${scaleOf("Warps on each SM")}, ${scaleOf("DRAM channels")})`, scaleOf("Warps on each SM") === `0  ${b.peaks.slots} groups` && scaleOf("DRAM channels") === "0  1 of the cycles");
    const frame = document.querySelector("#time .map .frame");
    const box = frame.getBoundingClientRect();
    const point = (type, share) => frame.dispatchEvent(new PointerEvent(type, { bubbles: true, pointerId: 1, button: 0, clientX: box.left + share * box.width, clientY: box.top + 5 }));
    frame.setPointerCapture = () => {};
    point("pointerdown", 0.25);
    point("pointermove", 0.4);
    point("pointerup", 0.5);
    await settle();
    const [first, end] = [Math.floor(0.25 * issued.length), Math.ceil(0.5 * issued.length)];
    const near = (value, wanted) => Math.abs(value - wanted) <= every;
    const at = new URLSearchParams(location.hash.slice(1));
    ok(`dragging over a chart chooses an interval (${location.hash})`, near(Number(at.get("from")), first * every) && near(Number(at.get("to")), end * every));
    const chosen = [Number(at.get("from")) / every, Number(at.get("to")) / every];
    const cell = (name) => [...document.querySelectorAll("#slice tbody tr")].find((row) => row.firstElementChild.textContent === name).children[1].textContent;
    const ipc = sum(issued.slice(...chosen).flat()) / (every * (chosen[1] - chosen[0]));
    ok(`its IPC is that of its samples (${cell("IPC")}, ${ipc})`, Math.abs(number(cell("IPC")) - ipc) < 0.01 * ipc);
    const stalls = kernel.samples.sm_cycles.slice(...chosen);
    ok("and its stalls", cell("SM cycles: memory") === `${((100 * sum(stalls.map((row) => row[1]))) / sum(stalls.flat())).toFixed(1)} %`);
    ok("its lines are listed", document.querySelectorAll("#slice .hot tbody tr").length > 0);
    const before = sum(b.kernels.filter((k) => k.launch < kernel.launch).map((k) => k.cycles));
    ok(`the timeline's command has its cycles (${document.querySelector("#slice .command").textContent})`, document.querySelector("#slice .command").textContent.includes(`--trace-cycles ${before + chosen[0] * every}..${before + chosen[1] * every}`));
    ok("every time chart shows the interval", all("#time .band").length > 4 && all("#time .band").every((band) => !band.hidden));
    const slider = document.querySelector('[data-focus="interval-from"]');
    slider.focus();
    slider.value = 0;
    slider.dispatchEvent(new Event("change"));
    await settle();
    ok("the keyboard changes it with a slider, and stays there", new URLSearchParams(location.hash.slice(1)).get("from") === "0" && document.activeElement.dataset.focus === "interval-from");
    document.querySelector('[data-focus="interval-all"]').click();
    await settle();
    ok("and back to the whole launch", !location.hash.includes("from=") && all("#time .band").every((band) => band.hidden));

    const line = document.querySelector("#lines button.unfold");
    line?.click();
    ok("a line of CUDA opens to its PTX", line === null || (document.querySelectorAll("#lines tr.part").length > 0 && line.getAttribute("aria-expanded") === "true"));

    location.hash = "run=2";
    await settle();
    const { samples } = runs[2].kernels[0];
    const channels = figure("DRAM channels");
    await open(channels.querySelector("details"));
    const means = [...channels.querySelectorAll("tbody tr")].map((row) => number(row.children[1].textContent));
    const moved = sum(samples.channel_busy_cycles.flat()) / samples.every_cycles / samples.channel_busy_cycles.length;
    ok("some transfers end after the interval in which they begin", samples.channel_busy_cycles.flat().some((cycles) => cycles > samples.every_cycles));
    ok("no channel is busy for longer than an interval", channels.querySelector("canvas").getAttribute("aria-label").endsWith("most 1 of the cycles"));
    ok(`and no transfer is lost (${sum(means)}, ${moved})`, Math.abs(sum(means) - moved) < 0.01 * moved);
    const colorsIn = async (theme) => {
      location.hash = `run=1&theme=${theme}`;
      await settle();
      const picture = document.querySelector("#time canvas");
      return picture.getContext("2d").getImageData(0, 0, picture.width, picture.height).data.join();
    };
    ok("a value has one colour on light and on dark", (await colorsIn("light")) === (await colorsIn("dark")));
    location.hash = "as=table&metric=cycles";
    await settle();
    const cells = all("#overview .matrix td[data-run]");
    ok("the coloured table has a cell for each run", cells.length === runs.length && cells.every((td) => number(td.textContent) === runs[td.dataset.run].total.cycles));
    const shade = (td) => td.style.backgroundColor;
    const [least, most] = [cells.reduce((x, y) => (number(y.textContent) < number(x.textContent) ? y : x)), cells.reduce((x, y) => (number(y.textContent) > number(x.textContent) ? y : x))];
    ok("in the colours of their values", shade(least) !== shade(most) && cells.every((x) => cells.every((y) => x.textContent !== y.textContent || shade(x) === shade(y))));
    cells[3].dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    await settle();
    ok("and the keyboard opens a run there", document.getElementById("run-title").textContent.includes(runs[3].program));
  } catch (error) {
    ok(`no exception: ${error.stack}`, false);
  }
  ok(`no error: ${errors.join("; ")}`, errors.length === 0);
  const pre = document.createElement("pre");
  pre.id = "verdict";
  pre.textContent = `\n${report.join("\n")}\nend\n`;
  document.body.replaceChildren(pre);
})();
