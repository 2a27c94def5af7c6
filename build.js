/**
 * Builds what runs: `npm run build`. Nothing is done where no source has changed since the last build. Everything is done again where a
 * source or a script has come, gone, or this file or a setting has changed; otherwise what depends on the changed files.
 *
 *   dist/              proofd, its tests and benches
 *   dist/built.json    what was built: {"commit": "89ca6c3", "sources": hash of the sources' paths, sizes and times}
 *   dist/steps.json    of the last build that did not fail: {"all": hash of the paths and settings, "wasm": hash of AssemblyScript}
 *   client/dist/       the package proofd-client
 *   load/dist/         the package proofd-load
 *   contracts/dist/    the package proofd-contracts
 */
import {execFileSync} from "node:child_process";
import {createHash} from "node:crypto";
import {existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {readCommit} from "./commit.build.js";

const ROOT = import.meta.dirname;
const OUTPUTS = ["dist", "client/dist", "load/dist", "contracts/dist"].map(path => join(ROOT, path));
const BUILT = join(ROOT, "dist/built.json");
const STEPS = join(ROOT, "dist/steps.json");
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");
/** Which also say how. */
const SETTINGS = /^[^/]*\.js$|(^|\/)(package|package-lock|tsconfig)\.json$/;

const files = listSources();
const sources = hash(files, describe);
const commit = readCommit(ROOT);
const last = readJson(BUILT);
if (last.sources !== sources || OUTPUTS.some(path => !existsSync(path))) {
  say("Building proofd, as a source has changed. This takes 10 seconds, or a minute on a slow machine.");
  const steps = {
    all: hash(files, path => (SETTINGS.test(path) ? describe(path) : path)),
    wasm: hash(
      files.filter(path => path.includes("/wasm/")),
      describe,
    ),
  };
  const lastSteps = readJson(STEPS);
  const isWhole = steps.all !== lastSteps.all || OUTPUTS.some(path => !existsSync(path));
  rmSync(BUILT, {force: true});
  const begun = Date.now();
  // Each imports those before it by their names, and proofd the types of its WebAssembly.
  for (const project of ["client", "load"]) compile(project, isWhole);
  if (isWhole || steps.wasm !== lastSteps.wasm) run("WebAssembly", join(ROOT, "wasm.build.js"));
  for (const project of [".", "page"]) compile(project, isWhole);
  run("bundle of the page", join(ROOT, "page.build.js"));
  run("files of the package proofd-contracts", join(ROOT, "dist/contracts/packageFiles.js"));
  // Its types are what was written just now.
  compile("contracts", isWhole);
  if (isWhole) removeOlder(begun);
  writeFileSync(STEPS, `${JSON.stringify(steps)}\n`);
}
if (last.sources !== sources || last.commit !== commit)
  writeFileSync(BUILT, `${JSON.stringify({commit, sources})}\n`);

function say(line) {
  process.stderr.write(`${line}\n`);
}

/** @param what - is made. Each step says so before it begins: one may take half a minute */
function run(what, program, ...args) {
  say(`  ${what}`);
  try {
    execFileSync(process.execPath, [program, ...args], {cwd: ROOT, stdio: "inherit"});
  } catch (error) {
    // The program has said why.
    process.exit(error.status ?? 1);
  }
}

/** TypeScript's own record of a build says which files it has to look at again. */
function compile(project, isWhole) {
  const name = project === "." ? "proofd" : project;
  const record = join(ROOT, "dist", `${name}.tsbuildinfo`);
  if (isWhole) rmSync(record, {force: true});
  run(`TypeScript of ${name}`, TSC, "-p", join(ROOT, project), "--incremental", "--tsBuildInfoFile", record);
}

function readJson(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
}

/** @returns their paths, sorted */
function listSources() {
  const {include} = JSON.parse(readFileSync(join(ROOT, "tsconfig.json"), "utf8"));
  const files = readdirSync(ROOT).filter(name => /\.(js|json)$/.test(name));
  for (const folder of [...include, "page"])
    for (const name of readdirSync(join(ROOT, folder), {recursive: true}))
      if (/\.(ts|sol|json|html|css)$/.test(name) && !/(^|\/)(dist|node_modules)\//.test(name))
        files.push(join(folder, name));
  return files.sort();
}

function describe(path) {
  const {size, mtimeMs} = statSync(join(ROOT, path));
  return `${path} ${size} ${mtimeMs}`;
}

function hash(paths, lineOf) {
  return createHash("sha256").update(paths.map(lineOf).join("\n")).digest("hex");
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
