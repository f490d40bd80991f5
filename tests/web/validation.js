// Added by page.sh to a page of `heddle validate`, with its --csv: the points are those of the table, and answer to clicks and filters.
(async () => {
  const expected = document.getElementById("expected").textContent.trim().split("\n").slice(1).map((line) => line.split(","))
    .map(([workload, size, launches, real, simulated]) => ({ workload, size, real: Number(real), simulated: Number(simulated) }));
  const report = [];
  const ok = (sentence, is) => report.push(`${is ? "ok" : "not ok"} ${sentence}`);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const settle = () => new Promise((resolve) => setTimeout(resolve, 30));
  const points = () => all('#validation g[aria-label="dot"] circle');
  const summary = (name) => Number(document.querySelector(`[data-summary="${name}"]`).dataset.value);
  const near = (a, b) => Math.abs(a - b) < 1e-7; // the page has nine digits
  const errors = [];
  addEventListener("error", (event) => errors.push(event.message));
  try {
    ok("there is a point for each workload", expected.length === 3 && points().length === expected.length);
    ok("points tell their workload and cycles", points().every((point, i) => point.getAttribute("aria-label").startsWith(expected[i].workload) && point.getAttribute("aria-label").includes(`simulated: ${expected[i].simulated.toLocaleString("en")} cycles`)));
    const [left, width] = [Number(points()[0].getAttribute("cx")), Number(points()[1].getAttribute("cx")) - Number(points()[0].getAttribute("cx"))];
    const scale = width / Math.log(expected[1].real / expected[0].real);
    ok("they stand at the logarithms of their real cycles", scale > 0 && points().every((point, i) => Math.abs(Number(point.getAttribute("cx")) - left - scale * Math.log(expected[i].real / expected[0].real)) < 0.5));
    const bottom = Number(points()[0].getAttribute("cy"));
    ok("and of the simulated ones", points().every((point, i) => Math.abs(bottom - Number(point.getAttribute("cy")) - (scale * Math.log(expected[i].simulated / expected[0].simulated) * ratio())) < 0.5));
    const error = expected.map((e) => Math.abs(e.simulated / e.real - 1));
    ok("the mean error is theirs", near(summary("mean error"), error.reduce((a, b) => a + b) / error.length));
    ok("and the median", near(summary("median error"), [...error].sort((a, b) => a - b)[1]));
    const metrics = all("#metrics tr[data-metric]").map((row) => row.dataset.metric);
    const differences = all("#metrics tr[data-difference]").map((row) => Math.abs(Number(row.dataset.difference)));
    ok("counters stand beside the card's", metrics.join() === "instructions,registers" && differences.length === 6);
    ok("the largest difference first", differences.every((value, i) => i === 0 || value <= differences[i - 1]));
    const rows = () => all("#validation .errors tbody tr").map((row) => Math.abs(Number(row.dataset.error)));
    ok("the table begins with the greatest error", rows().length === 3 && near(rows()[0], Math.max(...error)) && near(rows()[2], Math.min(...error)));
    document.querySelector('button[data-sort="error-error"]').click();
    await settle();
    ok("and turns round", near(rows()[0], Math.min(...error)));
    points()[2].dispatchEvent(new MouseEvent("click", { bubbles: true }));
    await settle();
    ok("a click on a point shows its run", document.getElementById("run-title").textContent.includes(expected[2].workload));
    ok("with its lines", document.querySelector("#lines tbody tr") !== null);
    document.querySelector(`input[data-filter="program"][value="${expected[0].workload}"]`).click();
    await settle();
    ok("a filter hides a point and changes the summary", points().length === 2 && rows().length === 2 && near(summary("mean error"), (error[1] + error[2]) / 2));
  } catch (error) {
    ok(`no exception: ${error.stack}`, false);
  }
  ok(`no error: ${errors.join("; ")}`, errors.length === 0);

  /** Height over width of the picture's frame: both axes have one range. */
  function ratio() {
    const box = document.querySelector('#validation svg[role="group"]').viewBox.baseVal;
    return (box.height - 14 - 42) / (box.width - 62 - 16);
  }
  const pre = document.createElement("pre");
  pre.id = "verdict";
  pre.textContent = `\n${report.join("\n")}\nend\n`;
  document.body.replaceChildren(pre);
})();
