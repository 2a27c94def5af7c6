/** What a user gets of `npm pack`: each package in an empty folder, with what npm installs beside it, does what its README says. */
import assert from "node:assert/strict";
import {readdir, readFile, rm, stat, writeFile} from "node:fs/promises";
import {basename, join} from "node:path";
import {before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {UWS_NEEDS} from "../../server/listener/uwsBinaries.ts";
import {VERSION} from "../../server/version.ts";
import {WorkFolder} from "../support/chains/serviceChain.ts";
import {readArtefact} from "../support/contracts/readArtefact.ts";
import {uwsLoads} from "../support/http/testedHttp.ts";
import {runChild} from "../support/processes/childProcesses.ts";
import {type Daemon, runProofd, startDaemon} from "../support/processes/daemon.ts";
import {installPackedService, unpackPackage} from "../support/processes/packedPackages.ts";
import {makeVectors} from "../support/reference/ownVectors.ts";

const ROOT = fileURLToPath(new URL("./", import.meta.resolve("#package/package.json")));
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");

/** Of a file that uws.build.js has compressed: 2.3 MB. */
const MOST_BLOCKS = 4500;
/** What viem and contracts take is typed so. It is compiled, and does not run. */
const CLIENT_TYPES = `import {type Account, type Finalization, type Hex, type KeyedLeaf, type ProofClient, type RootedBlock} from "proofd-client";
import {compact, encodeHex, sha256Suite, verifyCompact, verifyMultiProof} from "proofd-client";
export const hashes = (block: RootedBlock, {stateRoot, l1}: Finalization, account: Account): \`0x\${string}\`[] =>
  [block.hash, block.stateRoot, stateRoot, l1.transactionHash, account.storageRoot, account.codeHash];
export async function ask(client: ProofClient, root: Uint8Array, address: Hex) {
  const {stateRoot, proof} = await client.getProof({address});
  const calldata: \`0x\${string}\` = encodeHex(compact(sha256Suite, {address}, proof));
  verifyCompact(sha256Suite, root, {address}, calldata);
  verifyMultiProof(sha256Suite, root, [{address}], (await client.getMultiProof({entries: [{address}]})).proof);
  const text: \`0x\${string}\` = stateRoot;
  return text;
}
export const addressOf = (leaf: KeyedLeaf): \`0x\${string}\` | undefined => (leaf.role === "account" ? leaf.address : undefined);
`;
/** An account of the demo chain. */
const SENDER = "0x5388ec1a76991e8bd86669888458fbab8b5278f7";

const folder = new WorkFolder();
let home: string;
/** It and all of its dependencies. */
let folders: string[];
/** The packed program. */
let main: string;
/** Of proofd-client, which proofd-load depends on. */
let client: string;
before(async () => {
  folders = await installPackedService(folder.path);
  [home = ""] = folders;
  const {bin} = JSON.parse(await readFile(join(home, "package.json"), "utf8"));
  main = join(home, bin.proofd);
  client = folders.find(path => path.endsWith("node_modules/proofd-client")) ?? "";
});

async function listFiles(path: string): Promise<string[]> {
  const entries = await readdir(path, {recursive: true, withFileTypes: true});
  const files = entries.filter(entry => entry.isFile());
  return files.map(({parentPath, name}) => join(parentPath, name).slice(path.length + 1)).sort();
}

/** Runs an ES module in the folder. @returns what it prints */
async function runModule(name: string, text: string, ...args: readonly string[]): Promise<string> {
  await writeFile(folder.file(name), text);
  const {code, stdout, stderr} = await runChild(process.execPath, [name, ...args], {cwd: folder.path});
  assert.equal(code, 0, stderr);
  return stdout;
}

test("the package of the client has compiled modules with types, its README and its licence, and nothing else", async () => {
  const names = (await listFiles(client)).map(path => basename(path));
  for (const name of ["client.js", "client.d.ts", "README.md", "CHANGELOG.md", "LICENSE", "package.json"])
    assert.ok(names.includes(name), name);
  assert.deepEqual(
    names.filter(name => !/\.(?:d\.ts|js|md)$|^(?:LICENSE|package\.json)$/.test(name)),
    [],
  );
});

test("the client verifies a vector, and is made of a url and of a request function, without Buffer and process", async () => {
  await writeFile(folder.file("vectors.json"), makeVectors("verifier", "poseidon2"));
  const script = `import {readFileSync} from "node:fs";
// A browser has neither.
delete globalThis.Buffer;
delete globalThis.process;
const {createProofClient, decodeHex, layer1Root, poseidon2Suite, verifyMultiProof} = await import("proofd-client");
const {vectors} = JSON.parse(readFileSync("vectors.json", "utf8"));
const {root, request, proof} = vectors.find(({what}) => what === "bytes: many");
const [{account, slots}] = verifyMultiProof(poseidon2Suite, decodeHex(root), request, decodeHex(proof));
console.log(String(account.nonce), slots.map(String).join());
const url = "http://localhost";
const trust = {suite: poseidon2Suite, trustedRoot: layer1Root({url, contract: "0x" + "11".repeat(20)})};
const [one, other] = [createProofClient({url, ...trust}), createProofClient({request: async () => ({}), ...trust})];
console.log(Object.keys(one).join() === Object.keys(other).join());`;
  assert.equal(await runModule("vector.mjs", script), "7 16,undefined\ntrue\n");
});

test("the package of proofd has no sources, tests and benches, but documents and a licence", async () => {
  const files = await listFiles(home);
  for (const name of ["LICENSE", "NOTICE", "README.md", "deploy/Dockerfile", "examples/relayer/relay.js"])
    assert.ok(files.includes(name), name);
  const needless = /\.ts$|\.map$|\.sol$|\.png$|decisions\.md$|^dist\/(test|demo|contracts|bench|load)/;
  assert.deepEqual(
    files.filter(name => needless.test(name)),
    [],
  );
  // An operator's own files, which are no part of a fresh clone.
  const ignored = (await readFile(join(ROOT, ".gitignore"), "utf8")).match(/(?<=^\/)deploy\/.+/gm) ?? [];
  const {files: packed} = JSON.parse(await readFile(join(home, "package.json"), "utf8"));
  assert.deepEqual(
    ignored.filter(pattern => !packed.includes(`!${pattern}`)),
    [],
  );
});

test("links of its documents lead to its files, but for sources and what is for those who change it", async () => {
  const files = await listFiles(home);
  const missing = new Set<string>();
  for (const file of files.filter(name => name.endsWith(".md")))
    for (const [, link = ""] of (await readFile(join(home, file), "utf8")).matchAll(
      /\]\(([^)#\s]+)[^)]*\)/g,
    )) {
      const target = join(file, "..", link);
      const isThere = files.some(name => name === target || name.startsWith(`${target.replace(/\/$/, "")}/`));
      if (!/^[a-z]+:/.test(link) && !isThere) missing.add(target);
    }
  const left = /^(CONTRIBUTING\.md|docs\/decisions\.md|docs\/images\/[\w-]+\.png|contracts\/src\/\w+\.sol)$/;
  assert.deepEqual(
    [...missing].filter(target => !left.test(target)),
    [],
  );
});

test("the package of the load generator has what runs, its types, and what its page of a report is made of", async () => {
  const installed = folders.find(path => path.endsWith("node_modules/proofd-load"));
  const files = await listFiles(installed ?? assert.fail("proofd does not depend on it"));
  for (const name of ["LICENSE", "README.md", "package.json", "dist/load.d.ts", "report/html/charts.js"])
    assert.ok(files.includes(name), name);
  const needless = /(?<!\.d)\.ts$|\.map$|^dist\/(client|test)/;
  assert.deepEqual(
    files.filter(name => needless.test(name)),
    [],
  );
});

test("proofd and its dependencies take less than 60 000 000 bytes", async t => {
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
  t.diagnostic(`${bytes} bytes`);
  assert.ok(bytes < 60e6, `${bytes} bytes`);
});

test("npm finds nothing to warn about in the first command of a clone", async () => {
  const {stderr, code} = await runChild("npm", ["ci", "--dry-run", "--offline"], {cwd: ROOT});
  assert.equal(code, 0, stderr);
  assert.doesNotMatch(stderr, /EBADENGINE|deprecated|install-scripts/);
});

test("proofd from its package serves the demo chain, loads itself, and says which build it is; the client beside it pulls a folder", async t => {
  const options = {main, cwd: folder.path};
  const {commit} = JSON.parse(await readFile(join(ROOT, "dist/built.json"), "utf8"));
  const version = await runProofd(["version"], options);
  assert.ok(
    version.stdout.startsWith(`proofd ${VERSION}\ncommit ${commit ?? "unknown"}\nNode `),
    version.stdout,
  );
  const service = await startDaemon(["--demo", "--http", "auto"], {...options, estimates: true});
  t.after(() => service.stop());
  await service.waitForStderr(/proofd serves http:\S+ \(demo chain, blocks 0 to 100\); Ctrl-C stops it\n/);
  assert.equal(service.announcement.http, uwsLoads() ? "uws" : "node");
  const call = {from: SENDER, to: `0x${"11".repeat(20)}`};
  assert.equal((await service.call("chain_estimateGas", [call])).result.gasLimit, "0x5208");
  // It verifies what it gets: the command ends with 1 where an answer is wrong.
  const pace = ["--rate", "50", "--duration", "1", "--warm-up", "0", "--connections", "2", "--threads", "1"];
  const flags = ["--url", service.url, "--html", folder.file("load.html"), ...pace];
  const load = await runProofd(["load", ...flags], options);
  assert.equal(load.code, 0, load.stderr + load.stdout);
  await runExamples(service);
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
  const accounts = await runModule("folder.mjs", program, service.url, folder.file("pulled"));
  assert.ok(Number(accounts) > 10, accounts);
  assert.equal((await service.stop()).code, 0);
});

test("without a binary of uWebSockets.js, --http auto warns what Node's own server costs and what to install, node does not warn, and uws refuses", async () => {
  const listener = join(home, "dist/server/listener");
  for (const name of await readdir(listener)) if (name.endsWith(".br")) await rm(join(listener, name));
  const program = `import {pino} from "pino";
const {createListener} = await import(process.argv[2]);
const log = pino({base: null, timestamp: false}, process.stdout);
for (const http of ["auto", "node"]) console.log((await createListener({http}, {}, log)).library);
`;
  const said = await runModule("listener.mjs", program, join(listener, "createListener.js"));
  const [warning = "", ...libraries] = said.trimEnd().split("\n");
  const {level, reason, needs, msg} = JSON.parse(warning);
  assert.equal(level, 40);
  assert.match(reason, /no binary for Node|ENOENT/);
  assert.equal(needs, UWS_NEEDS);
  assert.match(msg, /Node's own HTTP server is used, which takes about twice the processor time/);
  assert.deepEqual(libraries, ["node", "node"]);
  const options = {main, cwd: folder.path};
  const {code, stderr} = await runProofd(["serve", "--demo", "--port", "0", "--http", "uws"], options);
  assert.equal(code, 2, "a restart does not help");
  assert.match(stderr, /^error: --http uws: uWebSockets\.js does not load: .*\. It needs Linux on x64 /);
});

/** The examples of the client's README ask the service, and verify its answers. */
async function runExamples(service: Daemon): Promise<void> {
  const page = await readFile(join(client, "README.md"), "utf8");
  const example = (what: string) =>
    [...page.matchAll(/```js\n([\s\S]*?)```/g)].find(([, text]) => text?.includes(what))?.[1] as string;
  const {number, stateRoot} = (await service.call("chain_getStateRoot", ["finalized"])).result;
  const first = example("client.getProof(")
    .replace('"http://127.0.0.1:8545"', JSON.stringify(service.url))
    .replace("rootOf(block)", `(block === ${Number(number)}n ? "${stateRoot}" : undefined)`)
    .replace('address: "0x…", storageKeys: ["0x0"]', `address: "${SENDER}", storageKeys: ["0x1"]`);
  const show = "console.log(typeof account.nonce, slots.length);\n";
  assert.equal(await runModule("example.mjs", `${first}${show}`), "bigint 1\n");
  // A package whose file for threads is missing would go on without them.
  const pulls = `import {createProofClient, pullState as pull, sha256Suite} from "proofd-client";
const client = createProofClient({url: "${service.url}", suite: sha256Suite, trustedRoot: "${stateRoot}"});
const [block, saved] = [${Number(number)}];
let count = 0;
async function save(tree, leaves) { count += leaves.length; }
${example("pullState(client,")}
console.log(count > 10);
const ready = new Promise((resolve, reject) =>
  process.once("worker", worker => {
    worker.once("message", resolve).once("error", reject).ref();
  }));
for await (const {leaves, end, nextFreeNode} of pull(client, {tree: "all", block, leavesPerRange: 9, threads: 1})) {
  count -= leaves.length;
  if (end < nextFreeNode) await ready;
}
console.log(count);
`;
  assert.equal(await runModule("pulls.mjs", pulls), "true\n0\n");
}

test("the package of the contracts has sources, and ABIs whose literals are types", async () => {
  const contracts = await unpackPackage("proofd-contracts", folder.path);
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
  await writeFile(folder.file("client.ts"), CLIENT_TYPES);
  await writeFile(folder.file("package.json"), '{"type": "module"}');
  const files = ["program.ts", "client.ts"];
  const options = ["--strict", "--module", "nodenext", "--lib", "es2023,dom", "--types", "", ...files];
  const compiled = await runChild(process.execPath, [TSC, ...options], {cwd: folder.path});
  assert.equal(compiled.code, 0, compiled.stdout);
  const {stdout, stderr} = await runChild(process.execPath, ["program.js"], {cwd: folder.path});
  const {abi, bytecode} = readArtefact("Sha256ProofVerifier");
  assert.deepEqual(JSON.parse(stdout || stderr), {abi, bytecode});
  // Its imports are found beside the package.
  const deploy = await runChild(process.execPath, [join(contracts, "deploy.js"), "--help"]);
  assert.match(deploy.stdout, /^Deploys contracts/, deploy.stderr);
});
