/** `npm run build`: the real build.js with its compilers, on a project of a few small sources. */
import assert from "node:assert/strict";
import {cp, mkdir, readdir, readFile, rm, stat, symlink, writeFile} from "node:fs/promises";
import {dirname, join} from "node:path";
import {before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {WorkFolder} from "../support/chains/serviceChain.ts";
import {type Finished, runChild} from "../support/processes/childProcesses.ts";

const ROOT = fileURLToPath(new URL("./", import.meta.resolve("#package/package.json")));
const COPIED = [
  "build.js",
  "commit.build.js",
  "wasm.build.js",
  "page.build.js",
  "demo/addresses.json",
].concat(["client", "load", "page", "contracts"].map(name => `${name}/tsconfig.json`));
const SAYS = [
  "Building proofd, as a source has changed. This takes 10 seconds, or a minute on a slow machine.",
  ...["TypeScript of client", "TypeScript of load"],
  ...["WebAssembly", "TypeScript of proofd", "TypeScript of page"],
  ...["bundle of the page", "files of the package proofd-contracts", "TypeScript of contracts"],
].join("\n  ");

const SOURCES: Readonly<Record<string, string>> = {
  "package.json": '{"type": "module", "version": "1.0.0"}',
  "storage/kept.ts": 'export const kept: string = "first";\n',
  "storage/removed.ts": "export const removed = 1;\n",
  "evm/kept.ts": "export const kept = 1;\n",
  "workers/sum/sum.ts":
    'import type {Exports} from "./sum.wasm.d.ts";\n\n' +
    "export const add = ({sum}: Exports): number => sum(1, true);\n",
  "workers/sum/wasm/sum.ts": "export function sum(a: i32, b: bool): bool { return a != i32(b); }\n",
  "client/client.ts": "export const client = 1;\n",
  "load/load.ts": "export const load = 1;\n",
  "page/main.ts": 'import {client} from "../client/client.ts";\n\ndocument.title = String(client);\n',
  "page/page.html": '<style></style><script type="module"></script>',
  "page/styles.css": "body { margin: 0 }",
  "contracts/deploy/deploy.ts": "export const deploy = 1;\n",
  "contracts/packageFiles.ts":
    'import {mkdirSync, writeFileSync} from "node:fs";\n\nmkdirSync("contracts/dist", {recursive: true});\n' +
    'writeFileSync("contracts/dist/abi.js", "export const abi = [];");\n',
};

const folder = new WorkFolder();
before(async () => {
  for (const [path, text] of Object.entries(SOURCES)) await write(path, text);
  for (const path of COPIED) await cp(join(ROOT, path), folder.file(path));
  const settings = JSON.parse(await readFile(join(ROOT, "tsconfig.json"), "utf8"));
  const include = ["storage", "evm", "workers", "client", "contracts"];
  await write("tsconfig.json", JSON.stringify({...settings, include}));
  await symlink(join(ROOT, "node_modules"), folder.file("node_modules"));
});

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(folder.file(path)), {recursive: true});
  await writeFile(folder.file(path), text);
}

function build(): Promise<Finished> {
  return runChild(process.execPath, [folder.file("build.js")], {cwd: folder.path});
}

/** What lies in dist, with the times at which it was written. */
async function readOutputs(): Promise<Map<string, number>> {
  const outputs = new Map<string, number>();
  for (const name of (await readdir(folder.file("dist"), {recursive: true})).sort()) {
    const status = await stat(folder.file(join("dist", name)));
    if (status.isFile()) outputs.set(name, status.mtimeMs);
  }
  return outputs;
}

test("a build that fails says where, and is not taken for built", async () => {
  await write("storage/kept.ts", "export const kept: string = 2;\n");
  const {code, stdout} = await build();
  assert.notEqual(code, 0);
  assert.match(stdout, /storage\/kept\.ts\(1,14\): error TS2322/);
  assert.ok(!(await readOutputs()).has("built.json"));
});

test("a build makes every output once and removes what has no source; without a change it does nothing", async () => {
  assert.ok((await readOutputs()).has("storage/removed.js"), "the build that failed made it");
  await rm(folder.file("storage/removed.ts"));
  await write("storage/kept.ts", 'export const kept: string = "second";\n');
  const first = await build();
  assert.deepEqual([first.code, first.stderr.trim()], [0, SAYS], first.stdout);
  const outputs = await readOutputs();
  for (const name of ["storage/kept.js", "workers/sum/sum.wasm", "page/page.html", "built.json"])
    assert.ok(outputs.has(name), name);
  assert.deepEqual(
    [...outputs.keys()].filter(name => name.includes("removed")),
    [],
  );
  assert.match(await readFile(folder.file("dist/storage/kept.js"), "utf8"), /second/);
  const page = await readFile(folder.file("dist/page/page.html"), "utf8");
  assert.match(page, /<style>body\{margin:0\}<\/style><script type="module">.*document\.title=/s);
  const second = await build();
  assert.deepEqual([second.code, second.stderr, second.stdout], [0, "", ""]);
  assert.deepEqual(await readOutputs(), outputs);
});

test("what the exports of a module became is an error where they are called", async () => {
  const wasm = "workers/sum/wasm/sum.ts";
  await write(wasm, "export function sum(a: i32, b: i32): i32 { return a + b; }\n");
  const {code, stdout} = await build();
  assert.notEqual(code, 0);
  assert.match(stdout, /workers\/sum\/sum\.ts\(3,\d+\): error TS2345.*'boolean'/);
  await write(wasm, SOURCES[wasm] as string);
  assert.equal((await build()).code, 0);
});

test("after a change in some files only what depends on them is made again", async () => {
  const first = await readOutputs();
  const wasm = "workers/sum/wasm/sum.ts";
  await write("storage/kept.ts", 'export const kept: string = "third";\n');
  await write(wasm, `${SOURCES[wasm]}\n// longer\n`);
  const {code, stderr, stdout} = await build();
  assert.deepEqual([code, stderr.trim(), stdout], [0, SAYS, ""]);
  assert.match(await readFile(folder.file("dist/storage/kept.js"), "utf8"), /third/);
  const second = await readOutputs();
  assert.deepEqual([...second.keys()], [...first.keys()]);
  for (const [name, isMade] of [
    ["storage/kept.js", true],
    ["workers/sum/sum.wasm", true],
    ["evm/kept.js", false],
  ] as const)
    assert.equal(second.get(name) !== first.get(name), isMade, name);
});
