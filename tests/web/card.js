// Added by page.sh to a page of 16 blocks on the 132 SMs of h200: SMs without a block and charts without a value are left out.
(async () => {
  const [run] = JSON.parse(document.getElementById("data").textContent).documents;
  const report = [];
  const ok = (sentence, is) => report.push(`${is ? "ok" : "not ok"} ${sentence}`);
  const all = (selector) => [...document.querySelectorAll(selector)];
  try {
    const { samples } = run.kernels[0];
    const used = samples.resident_groups[0].filter((_, sm) => samples.resident_groups.some((row) => row[sm] > 0)).length;
    const map = all("#time figure").find((figure) => figure.querySelector("figcaption").textContent.startsWith("IPC of each SM"));
    ok(`the run uses a few of many SMs (${used})`, used === 16 && samples.resident_groups[0].length === 132);
    ok("the machine says where its numbers come from", document.querySelector("#run [data-machine]").textContent.endsWith(run.machine_description));
    ok("only they are drawn", map.querySelector("canvas").height === used && map.querySelector("figcaption").textContent.includes(`${used} of 132 SMs`));
    ok("DRAM has no work", samples.channel_busy_cycles.flat().every((busy) => busy === 0));
    ok("and its charts are named, not drawn", document.querySelector("#time .zero").textContent.includes("DRAM channels over time") && !all("#time figcaption").some((caption) => caption.textContent.startsWith("DRAM")));
  } catch (error) {
    ok(`no exception: ${error.stack}`, false);
  }
  const pre = document.createElement("pre");
  pre.id = "verdict";
  pre.textContent = `\n${report.join("\n")}\nend\n`;
  document.body.replaceChildren(pre);
})();
