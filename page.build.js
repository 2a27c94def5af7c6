/** Makes the page of the service: its styles, and its script with the client in it, as one file dist/page/page.html. Run by `npm run build`. */
import {mkdirSync, readFileSync, writeFileSync} from "node:fs";
import {build} from "esbuild";

/** Browsers of 2022 and later. */
const TARGET = ["chrome105", "firefox104", "safari16"];

const {version, homepage} = JSON.parse(readFileSync("package.json", "utf8"));
const {outputFiles} = await build({
  entryPoints: ["page/main.ts", "page/styles.css"],
  outdir: "dist/page",
  bundle: true,
  minify: true,
  format: "esm",
  target: TARGET,
  define: {VERSION: JSON.stringify(version), DEMO: readFileSync("demo/addresses.json", "utf8")},
  write: false,
  logLevel: "warning",
});
const textOf = ending => outputFiles.find(({path}) => path.endsWith(ending)).text.trim();
const page = readFileSync("page/page.html", "utf8")
  // Functions, since a text would be searched for $ patterns.
  // Until package.json says where the documents are published, the page has no link to them.
  .replace(/ *<a href="#docs">.*<\/a>\n/, link =>
    homepage === undefined ? "" : link.replace("#docs", homepage),
  )
  .replace("<style></style>", () => `<style>${textOf(".css")}</style>`)
  .replace('<script type="module"></script>', () => `<script type="module">${textOf(".js")}</script>`);
mkdirSync("dist/page", {recursive: true});
writeFileSync("dist/page/page.html", page);
