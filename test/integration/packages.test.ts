/** What a user gets of `npm pack`: each package in an empty folder, with what npm installs beside it, does what its README says. */
import assert from "node:assert/strict";
import {readdir, readFile, stat, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {readArtefact} from "../../contracts/artefacts.ts";
import {VERSION} from "../../server/version.ts";
import {WorkFolder} from "../support/chains/serviceChain.ts";
import {runChild} from "../support/processes/childProcesses.ts";
import {runProofd, startDaemon} from "../support/processes/daemon.ts";
import {installPackedService, unpackPackage} from "../support/processes/packedPackages.ts";

const ROOT = fileURLToPath(new URL("./", import.meta.resolve("#package/package.json")));
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");

/** What uws.build.js compresses. */
const BINARIES = ["linux x64 115", "linux x64 127", "linux arm64 127"];
/** Of a binary that uws.build.js has compressed: 2 MB. */
const MOST_BLOCKS = 4000;

let folder: WorkFolder;
let home: string;
/** It and all of its dependencies. */
let folders: string[];
/** The packed program. */
let main: string;
before(async () => {
  folder = await WorkFolder.create();
  folders = await installPackedService(folder.path);
  [home = ""] = folders;
  const {bin} = JSON.parse(await readFile(join(home, "package.json"), "utf8"));
  main = join(home, bin.proofd);
});
after(() => folder.remove());

/** @returns paths of all files of a folder, sorted */
async function listFiles(path: string): Promise<string[]> {
  const entries = await readdir(path, {recursive: true, withFileTypes: true});
  const files = entries.filter(entry => entry.isFile());
  return files.map(({parentPath, name}) => join(parentPath, name).slice(path.length + 1)).sort();
}

test("the package of proofd has no sources, tests and benches, but documents and a licence", async () => {
  const files = await listFiles(home);
  for (const name of ["LICENSE", "README.md", "CHANGELOG.md", "docs/operations.md", "dist/built.json"])
    assert.ok(files.includes(name), name);
  const needless = /\.ts$|\.map$|\.sol$|^dist\/(test|demo|contracts|bench|load)/;
  assert.deepEqual(
    files.filter(name => needless.test(name)),
    [],
  );
});

test("the package of the load generator has what runs, its types, and what its page of a report is made of", async () => {
  const installed = folders.find(path => path.endsWith("node_modules/proofd-load"));
  const files = await listFiles(installed ?? assert.fail("proofd does not depend on it"));
  for (const name of ["LICENSE", "README.md", "package.json", "dist/load.d.ts", "page/charts.js"])
    assert.ok(files.includes(name), name);
  const needless = /(?<!\.d)\.ts$|\.map$|^dist\/(client|test)/;
  assert.deepEqual(
    files.filter(name => needless.test(name)),
    [],
  );
});

test("proofd and its dependencies take less than 60 MB", async t => {
  let bytes = 0;
  // A dependency within another one's folder is in the list, too.
  for (const path of folders.filter(
    path => path.lastIndexOf("node_modules/") === path.indexOf("node_modules/"),
  ))
    for (const name of await listFiles(path)) {
      // Those of `npm pack` are smaller (uws.build.js).
      const {blocks} = name.endsWith(".br") ? {blocks: MOST_BLOCKS} : await stat(join(path, name));
      bytes += blocks * 512;
    }
  t.diagnostic(`${bytes >> 20} MB`);
  assert.ok(bytes < 60 << 20, `${bytes >> 20} MB`);
});

test("npm finds nothing to warn about in the first command of a clone", async () => {
  const {stderr, code} = await runChild("npm", ["ci", "--dry-run", "--offline"], {cwd: ROOT});
  assert.equal(code, 0, stderr);
  assert.doesNotMatch(stderr, /EBADENGINE|deprecated|install-scripts/);
});

test("proofd from its package serves the demo chain, loads itself, and says which build it is; the client beside it pulls a folder", async () => {
  const options = {main, cwd: folder.path};
  const {commit} = JSON.parse(await readFile(join(ROOT, "dist/built.json"), "utf8"));
  const version = await runProofd(["version"], options);
  assert.ok(
    version.stdout.startsWith(`proofd ${VERSION}\ncommit ${commit ?? "unknown"}\nNode `),
    version.stdout,
  );
  const service = await startDaemon(["--demo"], {...options, estimates: true});
  await service.waitForStderr(/proofd serves http:\S+ \(demo chain, blocks 0 to 100\); Ctrl-C stops it\n/);
  const {platform, arch, versions} = process;
  const isPacked = BINARIES.includes(`${platform} ${arch} ${versions.modules}`);
  assert.equal(service.announcement.http, isPacked ? "uws" : "node");
  const call = {from: "0x5388ec1a76991e8bd86669888458fbab8b5278f7", to: `0x${"11".repeat(20)}`};
  assert.equal((await service.call("chain_estimateGas", [call])).result.gasLimit, "0x5208");
  // It verifies what it gets: the command ends with 1 where an answer is wrong.
  const pace = ["--rate", "50", "--duration", "1", "--warm-up", "0", "--connections", "2", "--threads", "1"];
  const flags = ["--url", service.url, "--html", folder.file("load.html"), ...pace];
  const load = await runProofd(["load", ...flags], options);
  assert.equal(load.code, 0, load.stderr + load.stdout);
  const program = `import {createProofClient, sha256Suite} from "proofd-client";
import {checkFolder, pullFolder, readManifest} from "proofd-client/folder";
const [url, folder] = process.argv.slice(2);
const {number, stateRoot} = await createProofClient({url, verify: false}).getStateRoot({block: "finalized"});
const asked = {url, suite: "sha256", format: "parquet", pulled: "all", block: Number(number), stateRoot};
const client = createProofClient({url, suite: sha256Suite, trustedRoot: stateRoot});
const [progress, {signal}] = [{show() {}}, new AbortController()];
const {rows} = await pullFolder(client, asked, {folder, resume: false, command: "", signal, progress});
await checkFolder(folder, readManifest(folder));
console.log(rows.accounts);
`;
  await writeFile(folder.file("pull.mjs"), program);
  const args = [folder.file("pull.mjs"), service.url, folder.file("pulled")];
  const pulled = await runChild(process.execPath, args, {cwd: folder.path});
  assert.ok(Number(pulled.stdout) > 10, pulled.stderr);
  assert.equal((await service.stop()).code, 0);
});

test("the package of the contracts has sources, and ABIs whose literals are types", async () => {
  const contracts = await unpackPackage("proofd-contracts", folder.path, "-w", "contracts");
  const sources = (await readdir(join(ROOT, "contracts/src"))).map(name => `src/${name}`);
  const others = ["LICENSE", "README.md", "deploy.js", "package.json"];
  for (const name of [
    "contracts.d.ts",
    "contracts.js",
    "deploy/creation.js",
    "deploy/main.js",
    "deploy/node.js",
  ])
    others.push(`dist/${name}`);
  assert.deepEqual(await listFiles(contracts), [...others, ...sources].sort());
  const program = `import {Sha256ProofVerifier} from "proofd-contracts";
type Function = Extract<(typeof Sha256ProofVerifier.abi)[number], {readonly type: "function"}>;
export const name: Function["name"] = "verifySlots";
// @ts-expect-error: there is no such function
export const wrong: Function["name"] = "verifySlot";
export const bytecode: \`0x\${string}\` = Sha256ProofVerifier.bytecode;
console.log(JSON.stringify(Sha256ProofVerifier));
`;
  await writeFile(folder.file("program.ts"), program);
  await writeFile(folder.file("package.json"), '{"type": "module"}');
  const options = ["--strict", "--module", "nodenext", "--lib", "es2023,dom", "--types", "", "program.ts"];
  const compiled = await runChild(process.execPath, [TSC, ...options], {cwd: folder.path});
  assert.equal(compiled.code, 0, compiled.stdout);
  const {stdout, stderr} = await runChild(process.execPath, ["program.js"], {cwd: folder.path});
  const {abi, bytecode} = readArtefact("Sha256ProofVerifier");
  assert.deepEqual(JSON.parse(stdout || stderr), {abi, bytecode});
  // Its imports are found beside the package.
  const deploy = await runChild(process.execPath, [join(contracts, "deploy.js"), "--help"]);
  assert.match(deploy.stdout, /^Deploys contracts/, deploy.stderr);
});
