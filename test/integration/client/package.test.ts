/** The client as users install it: packed, unpacked into an empty folder, and run without what only Node has. */
import assert from "node:assert/strict";
import {readdir, readFile, writeFile} from "node:fs/promises";
import {after, before, test} from "node:test";
import {ACCOUNTS, WorkFolder} from "../../support/chains/serviceChain.ts";
import {FINALIZED, ProvenService} from "../../support/http/provenService.ts";
import {runChild} from "../../support/processes/childProcesses.ts";
import {installPackedClient} from "../../support/processes/packedPackages.ts";
import {makeVectors} from "../../support/reference/ownVectors.ts";

/** Leaves of all trees: each account has three slots, and each tree a head and a tail. */
const POSITIONS = 2 + ACCOUNTS.length * (1 + 2 + 3);

/** Runs first in each script: a browser has neither. */
const WITHOUT_NODE = "delete globalThis.Buffer;\ndelete globalThis.process;\n";

let folder: WorkFolder;
before(async () => {
  folder = await WorkFolder.create();
  await installPackedClient(folder.path);
});
after(() => folder.remove());

/** Runs an ES module in the folder. @returns what it prints */
async function runModule(name: string, text: string): Promise<string> {
  await writeFile(folder.file(name), text);
  const {code, stdout, stderr} = await runChild(process.execPath, [name], {cwd: folder.path});
  assert.equal(code, 0, stderr);
  return stdout;
}

test("the package has compiled modules with types, its README and its licence, and nothing else", async () => {
  const files = await readdir(folder.file("node_modules/proofd-client"), {
    recursive: true,
    withFileTypes: true,
  });
  const names = files.filter(file => file.isFile()).map(({name}) => name);
  for (const name of ["client.js", "client.d.ts", "README.md", "CHANGELOG.md", "LICENSE", "package.json"])
    assert.ok(names.includes(name), name);
  assert.deepEqual(
    names.filter(name => !/\.(?:d\.ts|js|md)$|^(?:LICENSE|package\.json)$/.test(name)),
    [],
  );
});

test("the package verifies a vector without Buffer and process", async () => {
  const vectors = makeVectors("verifier", "poseidon2");
  await writeFile(folder.file("vectors.json"), vectors);
  const script = `import {readFileSync} from "node:fs";
${WITHOUT_NODE}
const {decodeHex, poseidon2Suite, verifyMultiProof} = await import("proofd-client");
const {vectors} = JSON.parse(readFileSync("vectors.json", "utf8"));
const {root, request, proof} = vectors.find(({what}) => what === "bytes: many");
const [{account, slots}] = verifyMultiProof(poseidon2Suite, decodeHex(root), request, decodeHex(proof));
console.log(String(account.nonce), slots.map(String).join());`;
  assert.equal(await runModule("vector.mjs", script), "7 16,undefined\n");
});

test("the client is made of a url and of a request function without Buffer and process", async () => {
  const script = `${WITHOUT_NODE}
const {createProofClient, pullProofs, layer1Root, sha256Suite} = await import("proofd-client");
const trust = {suite: sha256Suite, trustedRoot: layer1Root({url: "http://localhost", contract: "0x" + "11".repeat(20)})};
const client = createProofClient({url: "http://localhost", ...trust});
const other = createProofClient({request: async () => ({}), ...trust});
console.log(typeof pullProofs, Object.keys(client).join() === Object.keys(other).join());`;
  assert.equal(await runModule("client.mjs", script), "function true\n");
});

test("the examples of the README ask proofd and verify its answers", async () => {
  const page = await readFile(folder.file("node_modules/proofd-client/README.md"), "utf8");
  const blocks = [...page.matchAll(/```js\n([\s\S]*?)```/g)].map(([, text]) => text as string);
  const service = await ProvenService.start();
  try {
    const block = `0x${FINALIZED.toString(16)}`;
    const {stateRoot} = (await service.daemon.call("chain_getStateRoot", [block])).result;
    const fill = (text: string) =>
      text
        .replace('"http://127.0.0.1:8545"', JSON.stringify(service.daemon.url))
        .replace("rootOf(block)", `(block === ${FINALIZED}n ? "${stateRoot}" : undefined)`)
        .replace('address: "0x…", storageKeys: ["0x0"]', `address: "${ACCOUNTS[0]}", storageKeys: ["0x1"]`);
    const first = fill(blocks.find(text => text.includes("client.getProof(")) as string);
    const show = "console.log(typeof account.nonce, slots.length);\n";
    assert.equal(await runModule("example.mjs", `${first}${show}`), "bigint 1\n");
    const client = `import {createProofClient, pullState as pull, sha256Suite} from "proofd-client";
const client = createProofClient({url: "${service.daemon.url}", suite: sha256Suite, trustedRoot: "${stateRoot}"});
const [block, saved] = [${FINALIZED}];
let count = 0;
`;
    const example = blocks.find(text => text.includes("pullState(client,")) as string;
    const save = "async function save(tree, leaves) { count += leaves.length; }\n";
    const print = "console.log(count);\n";
    assert.equal(await runModule("pull.mjs", `${client}${save}${example}${print}`), `${POSITIONS}\n`);
    // A package whose file for threads is missing would go on without them.
    const threads = `const ready = new Promise((resolve, reject) =>
  process.once("worker", worker => {
    worker.once("message", resolve).once("error", reject).ref();
  }));
for await (const {leaves, end, nextFreeNode} of pull(client, {tree: "all", block, leavesPerRange: 9, threads: 1})) {
  count += leaves.length;
  if (end < nextFreeNode) await ready;
}
`;
    assert.equal(await runModule("threads.mjs", `${client}${threads}${print}`), `${POSITIONS}\n`);
  } finally {
    await service.stop();
  }
});
