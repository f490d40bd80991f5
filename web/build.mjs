// Bundles src/ into dist/page.html, one file without references to others. `heddle` puts its data in place of <!--data-->.
// The file names the hash of what it was made of; tests/web/bundle.sh compares it.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync, mkdirSync } from "node:fs";
import { build } from "esbuild";

const sources = ["build.mjs", "package-lock.json", "package.json", ...readdirSync("src").sort().map((name) => `src/${name}`)];
const hash = createHash("sha256");
for (const name of sources) hash.update(readFileSync(name));

const bundle = await build({ entryPoints: ["src/main.js"], bundle: true, minify: true, write: false, format: "iife", target: "es2022", legalComments: "none", charset: "utf8" });
const script = bundle.outputFiles[0].text.replaceAll("</script", "<\\/script");
const style = readFileSync("src/page.css", "utf8");

// The licences of what is inside.
const packages = Object.entries(JSON.parse(readFileSync("package-lock.json", "utf8")).packages)
  .filter(([path, about]) => path && !about.dev && !about.optional)
  .map(([path]) => path);
const licences = packages.map((path) => {
  const about = JSON.parse(readFileSync(`${path}/package.json`, "utf8"));
  const file = readdirSync(path).find((name) => /^licen[cs]e/i.test(name));
  return `${about.name} ${about.version}, ${about.license}\n${file ? readFileSync(`${path}/${file}`, "utf8").trim() : ""}`;
});
mkdirSync("dist", { recursive: true });

const page = readFileSync("src/page.html", "utf8")
  .replace("/*licences*/", () => licences.join("\n\n----\n\n").replaceAll("</", "<\\/"))
  .replace("/*style*/", () => style)
  .replace("/*script*/", () => script)
  .replace("<head>", () => `<head>\n<!-- sources ${hash.digest("hex")}\n     contains ${packages.map((p) => p.replace("node_modules/", "")).join(", ")}: their licences are at the end -->`);
writeFileSync("dist/page.html", page);
console.log(`dist/page.html: ${page.length} bytes`);
