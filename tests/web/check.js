// Added by page.sh to a page of a comparison: uses it as a reader does, and compares it with what --json has. Each line of the report
// is "ok SENTENCE" or "not ok SENTENCE".
(async () => {
  const expected = JSON.parse(document.getElementById("expected").textContent);
  expected.runs = [...expected.runs, ...expected.runs]; // page.sh gives them twice
  const report = [];
  const ok = (sentence, is) => report.push(`${is ? "ok" : "not ok"} ${sentence}`);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const settle = () => new Promise((resolve) => setTimeout(resolve, 30));
  const bars = () => all('#overview g[aria-label="bar"] rect[data-run]').filter((bar) => bar.closest("figure").querySelector("figcaption").textContent.startsWith(location.hash.includes("metric=cycles") ? "cycles" : "speed-up"));
  const choose = async (select, value) => {
    select.value = value;
    select.dispatchEvent(new Event("change"));
    await settle();
  };
  const errors = [];
  addEventListener("error", (event) => errors.push(event.message));
  try {
    ok("the page is ready", document.documentElement.dataset.ready === "true");
    ok("there is a bar for each run", bars().length === expected.runs.length);
    ok("bars tell their run and value to screen readers", bars().every((bar) => /speedup: [\d.,]+/.test(bar.getAttribute("aria-label"))));

    const table = new Map(all("#numbers tbody tr[data-key]").map((row) => [row.dataset.key, [...row.querySelectorAll("td")].map((cell) => cell.dataset.value)]));
    const wrong = [];
    expected.runs.forEach((run, i) => {
      for (const [key, value] of Object.entries(run.total))
        if (typeof value === "number" && Number(table.get(key)?.[i]) !== value) wrong.push(`${run.program} ${key}`);
    });
    ok(`the table has every number of every run (${wrong.slice(0, 3)})`, wrong.length === 0 && table.size > 50);

    const limit = document.querySelector("#run [data-limit]"), told = expected.runs[0].limit;
    ok("the first run says what limits it", limit?.dataset.limit === told.by && limit.textContent.toLowerCase().includes(told.evidence.toLowerCase()));
    ok("it has a meter for each unit", [...limit.querySelectorAll("meter")].every((meter) => Math.abs(meter.value - told.share_of_peak[meter.getAttribute("aria-label")]) < 1e-6) && limit.querySelectorAll("meter").length === Object.keys(told.share_of_peak).length);

    await choose(document.querySelector('#overview select[data-select="show"]'), "cycles");
    const heights = bars().map((bar) => Number(bar.getAttribute("height")));
    const cycles = bars().map((bar) => expected.runs[bar.dataset.run].total.cycles);
    const scale = heights[0] / cycles[0];
    ok("bars are as high as their numbers", bars().length === expected.runs.length && heights.every((height, i) => Math.abs(height - scale * cycles[i]) < 0.5));
    ok("the address has the selection", location.hash.includes("metric=cycles"));

    const make = URL.createObjectURL;
    let saved;
    URL.createObjectURL = (blob) => ((saved = blob), "#");
    document.querySelector("#overview .save button").click();
    URL.createObjectURL = make;
    const picture0 = new DOMParser().parseFromString(await saved.text(), "image/svg+xml");
    const words = [...picture0.querySelectorAll("text")].map((text) => text.textContent);
    ok("a chart is saved as an SVG file that needs no page", picture0.documentElement.localName === "svg" && !new XMLSerializer().serializeToString(picture0).includes("var(") && picture0.querySelectorAll('g[aria-label="bar"] rect').length === expected.runs.length);
    ok("with its title and legend", words[0] === "cycles" && expected.runs.every((run) => words.some((word) => word.startsWith(run.divergence))));

    const legendOf = (figure) => [...figure.querySelectorAll(":scope > .legend li")].map((entry) => entry.textContent);
    const went = all("#overview figure").find((figure) => figure.querySelector("figcaption").textContent.startsWith("Where the cycles went"));
    const stallsOf = (object) => Object.keys(object).filter((key) => key.startsWith("stall_")).map((key) => key.slice(6));
    const some = (count) => expected.runs.some((run) => count(run.total) > 0);
    const parts = ["active", ...stallsOf(expected.runs[0].total).filter((word) => word !== "empty" && some((t) => t[`stall_${word}`] - (word === "fetch" ? t.fetch_start : 0))),
      some((t) => t.empty_start + t.fetch_start) && "launch start", some((t) => t.empty_tail) && "tail", some((t) => t.empty_unused) && "SM without a block"].filter(Boolean);
    ok(`the legend has the parts of the cycles (${legendOf(went)}; ${parts})`, JSON.stringify(legendOf(went)) === JSON.stringify(parts));
    const widths = [...went.querySelectorAll('g[aria-label="bar"] rect')].map((rect) => Number(rect.getAttribute("width")));
    const tail = [...went.querySelectorAll('g[aria-label="bar"] rect')].find((rect) => rect.getAttribute("aria-label").includes("tail:"));
    ok("the cycles without a warp are split", widths.length > 0 && tail.getAttribute("aria-label").includes(`tail: ${((100 * expected.runs[0].total.empty_tail) / expected.runs[0].total.sm_cycles).toFixed(1)} %`));

    const last = bars().at(-1);
    last.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    await settle();
    const run = expected.runs[last.dataset.run];
    ok("a click on a bar shows its run", document.getElementById("run-title").textContent.includes(run.program) && document.getElementById("run-title").textContent.includes(run.divergence));
    ok("the run has its cycles", Number(document.querySelector('[data-stat="cycles"]').dataset.value) === run.total.cycles);
    const first = bars()[0];
    first.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    await settle();
    ok("Enter on a bar does the same", document.getElementById("run-title").textContent.includes(expected.runs[0].divergence));

    ok("heat maps are drawn", all("#time canvas").length === 4 && all("#time canvas").every((canvas) => canvas.width > 10 && canvas.getAttribute("aria-label")));
    const picture = document.querySelector("#time canvas");
    const pixels = picture.getContext("2d").getImageData(0, 0, picture.width, picture.height).data;
    ok("and not in one colour", new Set(new Uint32Array(pixels.buffer)).size > 3);

    await choose([...all("#lines select")].at(-1), "ptx");
    const lines = run0Lines();
    ok("stalls of lines too", JSON.stringify(all("#lines header .legend li").map((entry) => entry.textContent.split(":")[0])) === JSON.stringify(stallsOf(expected.runs[0].lines[0].lines[0])));
    ok("and ready, which is no wait, is explained by the word for SMs", all("#lines header .legend li").some((entry) => /^ready: .*structural/.test(entry.textContent)));
    const stallsOfLine = (l) => stallsOf(l).reduce((sum, word) => sum + l[`stall_${word}`], 0);
    const byStalls = expected.runs[0].lines.flatMap((k) => k.lines).sort((a, b) => stallsOfLine(b) - stallsOfLine(a));
    ok("the listing begins with the line that waits most", Number(document.querySelector("#lines tbody tr").dataset.line) === byStalls[0].line);
    document.querySelector('#lines button[data-sort="line"]').click();
    await settle();
    const shown = () => all("#lines tbody tr").map((row) => Number(row.dataset.executed));
    ok("the listing has the executions of each line", JSON.stringify(shown()) === JSON.stringify(lines));
    document.querySelector('#lines button[data-sort="executed"]').click();
    await settle();
    ok("a column sorts it", JSON.stringify(shown()) === JSON.stringify([...lines].sort((a, b) => b - a)) && document.querySelector('#lines th[aria-sort="descending"]') !== null);

    const box = document.querySelector('input[data-filter="program"]');
    box.click();
    await settle();
    const hidden = expected.runs[0].program;
    ok("a filter hides a program", bars().length > 0 && bars().every((bar) => expected.runs[bar.dataset.run].program !== hidden));
    ok("from the table too", document.querySelectorAll("#numbers tbody tr[data-key] td").length === table.size * expected.runs.filter((r) => r.program !== hidden).length);
    document.querySelector('input[data-filter="program"]').click();
    await settle();
    ok("and shows it again", bars().length === expected.runs.length);

    const rects = all('#figure-bars g[aria-label="bar"] rect');
    ok("a figure has our bars", rects.length === 3 && Math.abs(Number(rects[2].getAttribute("height")) - 4 * Number(rects[0].getAttribute("height"))) < 0.5);
    ok("with the paper's marks on them", all('#figure-bars g[aria-label="dot"] path').length === 2 && all('#figure-bars g[aria-label="dot"] path')[0].getAttribute("aria-label").includes("paper: 1.5"));
    ok("and the claims", document.querySelector("#figure-bars .verdict.holds") !== null);
    ok("a sensitivity has lines", all('#figure-lines g[aria-label="line"] path').length === 2 && all('#figure-lines g[aria-label="dot"] circle').length === 4);
    ok("names are text, whatever they contain", document.querySelector("#figure-lines figcaption").textContent.startsWith('speed <with> "marks" & <\/script>'));

    location.hash = "run=1&theme=dark";
    await settle();
    ok("a link opens its selection", document.getElementById("run-title").textContent.includes(expected.runs[1].divergence) && document.documentElement.dataset.theme === "dark");
    ok("nothing is wider than the window", document.documentElement.scrollWidth <= innerWidth);
    ok("every picture and control has a name", all("canvas, svg[role], button, select, input").every((e) => e.getAttribute("aria-label") || e.textContent.trim() || e.closest("label") || e.title));
  } catch (error) {
    ok(`no exception: ${error.stack}`, false);
  }
  ok(`no error: ${errors.join("; ")}`, errors.length === 0);

  function run0Lines() {
    const most = (kernel) => kernel.lines.reduce((sum, l) => sum + l.executed + l.stall_memory + l.stall_dependency + l.stall_fetch + l.stall_barrier + l.stall_ready, 0);
    const kernel = expected.runs[0].lines.reduce((a, b) => (most(a) >= most(b) ? a : b));
    return kernel.lines.map((l) => l.executed).filter((n) => n > 0);
  }
  const pre = document.createElement("pre");
  pre.id = "verdict";
  pre.textContent = `\n${report.join("\n")}\nend\n`;
  document.body.replaceChildren(pre);
})();
