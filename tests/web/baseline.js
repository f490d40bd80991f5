// Added by page.sh to a page of runs under stack and dws, with their JSON: speed-ups are quotients of cycles, over the run that the reader
// chooses.
(async () => {
  const expected = JSON.parse(document.getElementById("expected").textContent).runs;
  const report = [];
  const ok = (sentence, is) => report.push(`${is ? "ok" : "not ok"} ${sentence}`);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const settle = () => new Promise((resolve) => setTimeout(resolve, 30));
  const over = (model) => expected.map((run) => expected.find((base) => base.program === run.program && base.divergence === model).total.cycles / run.total.cycles);
  const near = (a, b) => Math.abs(a - b) < 1e-9;
  const isOver = (values, model) => values.length === expected.length && over(model).every((value, i) => near(value, values[i]));
  const bars = () => all('#overview g[aria-label="bar"] rect[data-run]').filter((bar) => bar.closest("figure").querySelector("figcaption").textContent.startsWith("speed-up"));
  /** How long the bars are, in the order of their runs: those of one program lie, those of several stand. */
  const lengths = () => bars().sort((a, b) => a.dataset.run - b.dataset.run).map((bar) => Number(bar.getAttribute(new Set(expected.map((run) => run.program)).size > 1 ? "height" : "width")));
  /** Bars are as long as their speed-ups: in proportion to the first. */
  const areBarsOver = (model) => lengths().length === expected.length && lengths().every((length, i) => Math.abs(length - (lengths()[0] * over(model)[i]) / over(model)[0]) < 0.5);
  /** On an axis that is cut, their differences are in proportion. */
  const areDifferencesOver = (model) => {
    const [values, found] = [over(model), lengths()];
    const far = values.reduce((best, v, i) => (Math.abs(v - values[0]) > Math.abs(values[best] - values[0]) ? i : best), 0);
    const scale = (found[far] - found[0]) / (values[far] - values[0]);
    return scale > 0 && found.every((length, i) => Math.abs(length - found[0] - scale * (values[i] - values[0])) < 0.5);
  };
  const inTable = () => all('#numbers tr[data-key="speedup"] td').map((cell) => Number(cell.dataset.value));
  const control = () => document.querySelector('select[data-select="speed-up over"]');
  const caption = () => bars()[0].closest("figure").querySelector("figcaption").textContent;
  const errors = [];
  addEventListener("error", (event) => errors.push(event.message));
  try {
    ok("the runs differ in cycles", expected.length > 1 && !near(over("stack")[1], 1));
    const isNear = Math.min(...over("stack"), 1) > 0.8 * Math.max(...over("stack"), 1);
    ok("the runs are near each other, and the axis of their bars is cut and says so", isNear && document.querySelector("#overview path.cut") !== null && caption().includes("does not begin at 0") && areDifferencesOver("stack"));
    ok("a small difference is as long as a fifth of the chart", Math.max(...lengths()) - Math.min(...lengths()) > 40);
    document.querySelector('#overview input[type="checkbox"]').click();
    await settle();
    ok("and begins at 0 when the reader asks for it", document.querySelector("#overview path.cut") === null && location.hash.includes("zero=yes"));
    ok("speed-ups are over the first run of each program", isOver(inTable(), "stack") && areBarsOver("stack") && caption().startsWith("speed-up over stack"));
    ok("the control names the baseline and has the others", control().value === "stack" && [...control().options].map((option) => option.value).join() === "stack,dws");
    ok("it has a name", control().closest("label").textContent.startsWith("speed-up over"));
    control().focus();
    control().value = "dws";
    control().dispatchEvent(new Event("change"));
    await settle();
    ok("another baseline changes bars and table", isOver(inTable(), "dws") && areBarsOver("dws") && caption().startsWith("speed-up over dws"));
    ok("the keyboard stays on the control", document.activeElement === control() && control().value === "dws");
    ok("the address has the baseline", location.hash.includes("baseline=dws"));
    bars()[0].dispatchEvent(new MouseEvent("click", { bubbles: true }));
    await settle();
    const shown = expected[bars()[0].dataset.run];
    ok("the run shown has its speed-up too", near(Number(document.querySelector('[data-stat="speed-up"]').dataset.value), over("dws")[expected.indexOf(shown)]));
    location.hash = "";
    await settle();
    ok("without it the first run is the baseline again", isOver(inTable(), "stack"));
    location.hash = "baseline=dws";
    await settle();
    ok("a link opens it", isOver(inTable(), "dws") && control().value === "dws");
    location.hash = "baseline=nothing";
    await settle();
    ok("a baseline that is not there is none", isOver(inTable(), "stack"));
  } catch (error) {
    ok(`no exception: ${error.stack}`, false);
  }
  ok(`no error: ${errors.join("; ")}`, errors.length === 0);
  const pre = document.createElement("pre");
  pre.id = "verdict";
  pre.textContent = `\n${report.join("\n")}\nend\n`;
  document.body.replaceChildren(pre);
})();
