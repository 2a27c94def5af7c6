/** The packed client in runtimes other than Node: each fetches an answer of proofd, verifies it, and refuses a forged one. */
import assert from "node:assert/strict";
import {readFile, writeFile} from "node:fs/promises";
import {createServer, type Server} from "node:http";
import type {AddressInfo} from "node:net";
import {extname, join} from "node:path";
import {after, before, type TestContext, test} from "node:test";
import {ACCOUNTS, WorkFolder} from "../../support/chains/serviceChain.ts";
import {FINALIZED, ProvenService} from "../../support/http/provenService.ts";
import {runChild} from "../../support/processes/childProcesses.ts";
import {Chromium, findChromium} from "../../support/processes/chromium.ts";
import {findProgram} from "../../support/processes/foundProgram.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {installClient} from "../../support/processes/packedPackages.ts";

const PACKAGES = {
  "proofd-client": "node_modules/proofd-client/dist/client.js",
  "@noble/hashes/": "node_modules/@noble/hashes/",
};

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".json": "application/json",
};

const DOCUMENT = `<!doctype html>
<script type="importmap">${JSON.stringify({
  imports: Object.fromEntries(Object.entries(PACKAGES).map(([name, path]) => [name, `/files/${path}`])),
})}</script>
<pre id="page"></pre><pre id="worker"></pre>
<script type="module" src="/files/page.mjs"></script>
`;

class ClientPages {
  readonly origin: string;
  private readonly server: Server;

  private constructor(server: Server) {
    this.server = server;
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** @param folder - has page.mjs and node_modules/proofd-client */
  static async start(folder: string): Promise<ClientPages> {
    const server = createServer(async ({url = ""}, response) => {
      const [, room, path] = /^\/(\w*)\/?(.*)$/.exec(url) ?? [];
      if (room === "files" || room === "bundled") {
        const text = await readFile(join(folder, path as string), "utf8").catch(() => undefined);
        response.writeHead(text === undefined ? 404 : 200, {"content-type": TYPES[extname(url)] ?? ""});
        response.end(room === "bundled" && text !== undefined ? writePaths(text) : text);
        return;
      }
      response.writeHead(200, {"content-type": "text/html"}).end(room === "" ? DOCUMENT : "");
    });
    await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
    return new ClientPages(server);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise(resolve => this.server.close(resolve));
  }
}

function writePaths(module: string): string {
  return Object.entries(PACKAGES).reduce(
    (text, [name, path]) => text.replaceAll(`from "${name}`, `from "/bundled/${path}`),
    module,
  );
}

/** Leaves of all trees: each account has three slots, and each tree a head and a tail. */
const POSITIONS = 2 + ACCOUNTS.length * (1 + 2 + 3);

/** Verifies an answer as it comes and in its compact form, and an answer with another value. Pulls all trees. */
const CHECK = `import {compact, createProofClient, decodeHex, pullState, sha256Suite, verifyCompact, verifyProof} from "proofd-client";

async function checkAnswer({url, root, address, keys, block}) {
  const body = JSON.stringify({jsonrpc: "2.0", id: 1, method: "chain_getProof", params: [address, keys, block]});
  const response = await fetch(url, {method: "POST", headers: {"content-type": "application/json"}, body});
  const {result} = await response.json();
  const trusted = decodeHex(root);
  const {account} = verifyProof(sha256Suite, trusted, address, keys, result);
  const request = {address, storageKeys: keys};
  const {slots} = verifyCompact(sha256Suite, trusted, request, compact(sha256Suite, request, result));
  const {proof} = result.accountProof;
  proof.value = proof.value.slice(0, -2) + "ff";
  const client = createProofClient({url, suite: sha256Suite, trustedRoot: root});
  let leaves = 0;
  for await (const range of pullState(client, {tree: "all", block: Number(block), leavesPerRange: 9, threads: 1}))
    leaves += range.leaves.length;
  const refusal = refusalOf(() => verifyProof(sha256Suite, trusted, address, keys, result));
  return [account.balance, slots.map(String), leaves, refusal].join("; ");
}

function refusalOf(verify) {
  try {
    verify();
    return "accepted";
  } catch ({code, at}) {
    return code + " at " + at;
  }
}

export {checkAnswer};
`;

const PAGE = `import {createProofClient} from "proofd-client";
import {checkAnswer} from "./checkAnswer.mjs";
const settings = await (await fetch("/files/settings.json")).json();
const show = (id, text) => { document.getElementById(id).textContent = text; };
show("page", await checkAnswer(settings).catch(String));
globalThis.askCoverage = url => createProofClient({url, verify: false}).getCoverage().catch(String);
const worker = new Worker("/bundled/worker.mjs", {type: "module"});
const said = new Promise(resolve => {
  worker.onmessage = ({data}) => resolve(data);
  worker.onerror = ({message}) => resolve("the worker failed: " + message);
});
worker.postMessage(settings);
show("worker", await said);
`;

const WORKER = `import {checkAnswer} from "./checkAnswer.mjs";
onmessage = async ({data}) => postMessage(await checkAnswer(data).catch(String));
`;

const PROGRAM = `import {checkAnswer} from "./checkAnswer.mjs";
console.log(await checkAnswer(settings));
`;

const folder = new WorkFolder();
let pages: ClientPages;
let service: ProvenService;
let expected: string;
before(async () => {
  // Without any of them, nothing runs.
  if ((findChromium() ?? findProgram("deno", "bun")) === undefined) return;
  await installClient(folder.path);
  pages = await ClientPages.start(folder.path);
  service = await ProvenService.start("--cors", pages.origin);
  const [address, keys, block] = [ACCOUNTS[0] as string, ["0x1"], `0x${FINALIZED.toString(16)}`];
  const {stateRoot: root} = (await service.daemon.call("chain_getStateRoot", [block])).result;
  const {account, slots} = service.verify(
    FINALIZED,
    address,
    keys,
    await service.daemon.call("chain_getProof", [address, keys, block]),
  );
  expected = `${account?.balance}; ${slots.map(String)}; ${POSITIONS}; PROOF_REFUSED at accountProof.proof.value`;
  const settings = JSON.stringify({url: service.daemon.url, root, address, keys, block});
  const files = {
    "checkAnswer.mjs": CHECK,
    "page.mjs": PAGE,
    "worker.mjs": WORKER,
    "program.mjs": PROGRAM,
    "settings.json": settings,
    "package.json": JSON.stringify({type: "module", dependencies: {"proofd-client": "*"}}),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(folder.file(name), text);
  after(async () => {
    await pages.stop();
    await service.stop();
  });
});

test("a page in Chromium and a worker of it verify an answer, and refuse a forged one", async t => {
  const program = findChromium();
  if (program === undefined) return notRun(t, "no Chromium in PATH");
  const chromium = await Chromium.start(program, folder.file("profile"));
  t.after(() => chromium.stop());
  await chromium.open(`${pages.origin}/`);
  await chromium.until("document.getElementById('worker')?.textContent");
  const read = (id: string) => chromium.evaluate(`document.getElementById("${id}").textContent`);
  assert.deepEqual([await read("page"), await read("worker")], [expected, expected]);
  const other = pages.origin.replace("127.0.0.1", "localhost");
  assert.equal(
    await chromium.evaluate(`askCoverage("${other}")`),
    `RpcError: ${other}: no answer: Failed to fetch; pages of ${pages.origin} need a server with --cors ${pages.origin}; the browser's console has the reason`,
  );
});

async function runsProgram(t: TestContext, name: string, ...args: readonly string[]): Promise<void> {
  const program = findProgram(name);
  if (program === undefined) return notRun(t, `no ${name} in PATH`);
  const {code, stdout, stderr} = await runChild(program, [...args, "program.mjs"], {cwd: folder.path});
  assert.equal(code, 0, stderr);
  assert.equal(stdout, `${expected}\n`);
}

test("Deno verifies an answer, and refuses a forged one", t =>
  runsProgram(t, "deno", "run", "--no-lock", "--node-modules-dir=manual", "--allow-net=127.0.0.1"));

test("Bun verifies an answer, and refuses a forged one", t => runsProgram(t, "bun", "run"));
