/**
 * Builds what runs: `npm run build`. Nothing is done where no source has changed since the last build.
 *
 *   dist/              proofd, its tests and benches
 *   dist/built.json    what was built: {"commit": "89ca6c3", "sources": hash of the sources' paths, sizes and times}
 *   client/dist/       the package proofd-client
 *   load/dist/         the package proofd-load
 *   contracts/dist/    the package proofd-contracts
 */
import {execFileSync} from "node:child_process";
import {createHash} from "node:crypto";
import {existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from "node:fs";
import {join} from "node:path";

const ROOT = import.meta.dirname;
const OUTPUTS = ["dist", "client/dist", "load/dist", "contracts/dist"].map(path => join(ROOT, path));
const BUILT = join(ROOT, "dist/built.json");
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");

const sources = hashSources();
const commit = readCommit();
const last = existsSync(BUILT) ? JSON.parse(readFileSync(BUILT, "utf8")) : {};
if (last.sources !== sources || OUTPUTS.some(path => !existsSync(path))) {
  process.stderr.write("Building proofd. This takes some 10 seconds, and only where a source has changed.\n");
  rmSync(BUILT, {force: true});
  const begun = Date.now();
  // Each imports those before it by their names.
  for (const project of ["client", "load", ".", "page"]) run(TSC, "-p", join(ROOT, project));
  run(join(ROOT, "wasm.build.js"));
  run(join(ROOT, "page.build.js"));
  run(join(ROOT, "dist/contracts/packageFiles.js"));
  // Its types are what was written just now.
  run(TSC, "-p", join(ROOT, "contracts"));
  removeOlder(begun);
}
if (last.sources !== sources || last.commit !== commit)
  writeFileSync(BUILT, `${JSON.stringify({commit, sources})}\n`);

function run(program, ...args) {
  try {
    execFileSync(process.execPath, [program, ...args], {cwd: ROOT, stdio: "inherit"});
  } catch (error) {
    // The program has said why.
    process.exit(error.status ?? 1);
  }
}

function hashSources() {
  const {include} = JSON.parse(readFileSync(join(ROOT, "tsconfig.json"), "utf8"));
  const hash = createHash("sha256");
  const files = readdirSync(ROOT).filter(name => /\.(js|json)$/.test(name));
  for (const folder of [...include, "page"])
    for (const name of readdirSync(join(ROOT, folder), {recursive: true}))
      if (/\.(ts|sol|json|html|css)$/.test(name) && !/(^|\/)(dist|node_modules)\//.test(name))
        files.push(join(folder, name));
  for (const path of files.sort()) {
    const {size, mtimeMs} = statSync(join(ROOT, path));
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  }
  return hash.digest("hex");
}

/** @returns the commit, with " (changed)" where files differ from it; null outside of a clone */
function readCommit() {
  const git = (...args) =>
    execFileSync("git", args, {cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"]});
  try {
    if (git("rev-parse", "--show-prefix").trim() !== "") return null;
    const changes = git("status", "--porcelain", "--untracked-files=no");
    return `${git("rev-parse", "--short", "HEAD").trim()}${changes === "" ? "" : " (changed)"}`;
  } catch {
    return null;
  }
}

/** Removes what sources left that are gone. @param begun - the build's start, ms */
function removeOlder(begun) {
  for (const output of OUTPUTS)
    for (const name of readdirSync(output, {recursive: true})) {
      const path = join(output, name);
      const status = statSync(path);
      if (status.isFile() && status.mtimeMs < begun) rmSync(path);
    }
}
