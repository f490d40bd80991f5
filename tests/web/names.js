// Added by page.sh to a page of tests/web/names.json: kernels of CUB, of Thrust and of a template have short names, and their full ones
// under the pointer.
(async () => {
  const report = [];
  const ok = (sentence, is) => report.push(`${is ? "ok" : "not ok"} ${sentence}`);
  try {
    const options = [...document.querySelectorAll('#lines select[data-select="kernel"] option')];
    const names = options.map((option) => option.textContent);
    ok(`names have no namespaces, and arguments only where they are short or differ (${names.join("; ")})`,
      JSON.stringify(names) === JSON.stringify(["DeviceRadixSortHistogramKernel<…>", "apply<Op<uint, 4>, uint>", "_kernel_agent<…, long>", "_kernel_agent<…, int>"]));
    ok("the full name is the tooltip", options[0].title.startsWith("cub::CUB_300001_SM_900::detail::radix_sort::DeviceRadixSortHistogramKernel<") && options[2].title.startsWith("thrust::cuda_cub::core::_kernel_agent<"));
    const summary = [...document.querySelectorAll("#totals details")].at(-1);
    summary.open = true;
    await new Promise((resolve) => setTimeout(resolve, 50));
    ok("launches have them too", summary.textContent.includes("apply<Op<uint, 4>, uint>") && !summary.textContent.includes("_Z"));
  } catch (error) {
    ok(`no exception: ${error.stack}`, false);
  }
  const pre = document.createElement("pre");
  pre.id = "verdict";
  pre.textContent = `\n${report.join("\n")}\nend\n`;
  document.body.replaceChildren(pre);
})();
