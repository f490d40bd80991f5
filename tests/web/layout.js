// Added by page.sh to several pages, at several widths: no text leaves its card, its chart or its control.
(async () => {
  const report = [];
  const ok = (sentence, is) => report.push(`${is ? "ok" : "not ok"} ${sentence}`);
  const settle = () => new Promise((resolve) => setTimeout(resolve, 30));
  const words = (element) => element.textContent.trim().slice(0, 40);
  const isInside = (inner, outer, slack) => inner.left >= outer.left - slack && inner.right <= outer.right + slack;
  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
  /** What scrolls or cuts its content by itself. */
  const clips = ".table, .scroll, .command, .code, .axis.names, option, [hidden], details:not([open]) > :not(summary)";

  function check(name) {
    ok(`${name}: nothing is wider than the window (${document.documentElement.scrollWidth})`, document.documentElement.scrollWidth <= innerWidth);
    const cards = [...document.querySelectorAll(".card")];
    const out = cards.flatMap((card) => [...card.querySelectorAll("*")].filter((e) => !(e instanceof SVGElement) && hasText(e) && !e.closest(clips) && !isInside(e.getBoundingClientRect(), card.getBoundingClientRect(), 1)));
    ok(`${name}: text stays in its card (${out.slice(0, 3).map(words)})`, cards.length > 0 && out.length === 0);
    const texts = [...document.querySelectorAll(".chart svg text")].filter((text) => text.textContent.trim());
    const cut = texts.filter((text) => !isInside(text.getBoundingClientRect(), text.closest("svg").getBoundingClientRect(), 2));
    ok(`${name}: text of charts stays in its chart (${cut.slice(0, 3).map((text) => `${words(text)} in ${text.closest("figure")?.querySelector("figcaption").firstChild.textContent}`)})`, cut.length === 0);
    const controls = [...document.querySelectorAll(".card select, .card button, .tile dd, .tile dt, .legend li, .pill span, .verdict")].filter((e) => !e.closest(clips) && e.clientWidth > 0);
    const full = controls.filter((e) => e.localName !== "select" && e.scrollWidth > e.clientWidth + 1);
    ok(`${name}: controls and tiles hold their text (${full.slice(0, 3).map(words)})`, full.length === 0);
    const scrolled = [...document.querySelectorAll(".hot .table")].filter((table) => table.scrollWidth > table.clientWidth + 1);
    const hidden = [...document.querySelectorAll(".hot .code")].filter((text) => text.scrollWidth > text.clientWidth + 1 || getComputedStyle(text).textOverflow === "ellipsis");
    ok(`${name}: tables of evidence do not scroll sideways, and show their lines whole (${[...scrolled, ...hidden].slice(0, 3).map(words)})`, scrolled.length === 0 && hidden.length === 0);
    const low = [...document.querySelectorAll(".axis.names span")].filter((text) => text.scrollHeight > text.clientHeight + 1);
    ok(`${name}: names of rows keep their feet (${low.slice(0, 3).map(words)})`, low.length === 0);
    const selects = [...document.querySelectorAll("select")].filter((select) => !isInside(select.getBoundingClientRect(), (select.closest(".card") ?? document.body).getBoundingClientRect(), 1));
    ok(`${name}: selects stay in their card (${selects.length})`, selects.length === 0);
  }

  try {
    check("as it opens");
    location.hash = "as=table&theme=dark";
    await settle();
    check("as a table, in the dark");
  } catch (error) {
    ok(`no exception: ${error.stack}`, false);
  }
  const pre = document.createElement("pre");
  pre.id = "verdict";
  pre.textContent = `\n${report.join("\n")}\nend\n`;
  document.body.replaceChildren(pre);
})();
