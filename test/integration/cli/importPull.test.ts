/** A store from a pull: `proofd pull --all` of a real service, `proofd import --pull`, and what the new store answers. */
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {existsSync, readFileSync, writeFileSync} from "node:fs";
import {writeFile} from "node:fs/promises";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {type DifferenceLine, encodeLines} from "../../support/chains/differenceLine.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {runHere} from "../../support/processes/ownCommand.ts";
import {double, dropFirst, forgeFolder} from "../../support/pulled/forgedFolder.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {importLines} from "../../support/stores/importedStore.ts";

/** The block of the pull: BLOCKHASH reaches 256 blocks below it. */
const FIRST = 300;
const LAST = 306;
const CONFIG = {
  chainId: 1337,
  homesteadBlock: 0,
  eip150Block: 0,
  eip155Block: 0,
  eip158Block: 0,
  byzantiumBlock: 0,
  constantinopleBlock: 0,
  petersburgBlock: 0,
  istanbulBlock: 0,
  berlinBlock: 0,
  londonBlock: 0,
  shanghaiTime: 0,
  terminalTotalDifficulty: 0,
};
/** Reverts with the hash of the block that the call names. */
const HASHES = addressOf("hashes");
/** Reverts with what the block says of itself: number, timestamp, coinbase, gas limit, base fee, random, and slot 1. */
const TELLS = addressOf("tells");
const CODES = {
  [HASHES]: "0x5f35405f5260205ffd",
  [TELLS]: "0x435f52426020524160405245606052486080524460a05260015460c05260e05ffd",
};
const HOLDERS = Array.from({length: 60}, (_, i) => addressOf(`holder ${i}`));

function digest(text: string): string {
  return `0x${createHash("sha256").update(text).digest("hex")}`;
}

function addressOf(text: string): string {
  return digest(text).slice(0, 42);
}

const quantity = (number: number): string => `0x${number.toString(16)}`;

function lineOf(number: number): DifferenceLine {
  const accounts: DifferenceLine["accounts"] = {};
  if (number === 0) {
    for (const [i, holder] of HOLDERS.entries()) accounts[holder] = {balance: quantity(i + 1)};
    for (const [address, code] of Object.entries(CODES)) accounts[address] = {code, nonce: "0x1"};
  }
  const holder = HOLDERS[number % HOLDERS.length] as string;
  accounts[holder] =
    number % 7 === 3 ? null : {nonce: quantity(number), storage: {[quantity(number)]: "0x1"}};
  accounts[TELLS] = {
    ...accounts[TELLS],
    storage: {"0x1": quantity(number + 1), [quantity(number + 2)]: "0x5"},
  };
  return {
    number: quantity(number),
    hash: digest(`block ${number}`),
    ...(number === 0 ? {chainId: "0x539", config: CONFIG} : {parentHash: digest(`block ${number - 1}`)}),
    timestamp: quantity(1_700_000_000 + number),
    gasLimit: "0x1c9c380",
    baseFeePerGas: "0x7",
    miner: addressOf("miner"),
    mixHash: digest(`random ${number}`),
    extraData: "0x11",
    accounts,
  };
}

const lines = Array.from({length: LAST + 1}, (_, number) => lineOf(number));
const folder = new WorkFolder();
let whole: OwnService;
let replica: OwnService;
let pulled: string;
let root: string;

const serve = (db: string) => OwnService.serve(["--db", db, "--workers", "1"], {estimates: true});
const importPull = (db: string, from = pulled, ...more: readonly string[]) =>
  runHere(["import", "--db", folder.file(db), "--pull", from, ...more]);

before(async () => {
  await importLines(folder.file("whole"), lines, {finalized: "last"});
  whole = await serve(folder.file("whole"));
  root = (await whole.call("chain_getStateRoot", [quantity(FIRST)])).result.stateRoot;
  pulled = folder.file("pulled");
  const from = ["--url", whole.url, "--block", String(FIRST), "--root", root];
  const pull = await runHere(["pull", ...from, "--all", "--out", pulled]);
  assert.equal(pull.code, 0, pull.stderr);
  const imported = await importPull("replica");
  assert.equal(
    imported.stdout,
    `the store begins with the state of block ${FIRST} under the root ${root}\n` +
      `imported 1 block; the store has block ${FIRST}, finalized up to ${FIRST}; head: block ${FIRST}, ${digest(`block ${FIRST}`)}\n`,
    imported.stderr,
  );
  replica = await serve(folder.file("replica"));
});

after(async () => {
  await replica.stop();
  await whole.stop();
});

/**
 * Both services answer the call alike, but that the pulled root vouches for the block in one of them only. @returns the answer
 */
async function askBoth(method: string, params: readonly unknown[]) {
  const [expected, got] = await Promise.all([whole, replica].map(one => one.call(method, [...params])));
  if (method === "chain_getProofAt" && expected.result !== undefined) {
    const isPulled = params[2] === quantity(FIRST);
    assert.deepEqual(
      [expected.result.unverified, got.result.unverified],
      [true, isPulled ? undefined : true],
    );
    if (isPulled) delete expected.result.unverified;
  }
  assert.deepEqual(got, expected, `${method} ${JSON.stringify(params)}`);
  return got;
}

async function compareBlock(block: number): Promise<void> {
  const at = quantity(block);
  await askBoth("chain_getStateRoot", [at]);
  await askBoth("chain_getHeader", [at]);
  await askBoth("chain_getLeaves", ["accounts", "0x0", "0x1000", at]);
  await askBoth("chain_getLeaves", [TELLS, "0x0", "0x1000", at]);
  for (const address of [...HOLDERS.slice(0, 12), TELLS, HASHES, addressOf("nobody")])
    await askBoth("chain_getProofAt", [address, ["0x1", quantity(block), quantity(FIRST)], at]);
  const told = await askBoth("chain_estimateGas", [{to: TELLS}, at]);
  assert.equal(told.error?.code, 3);
  for (const back of [1, 2, 255, 256, 257]) {
    const data = `0x${(block - back).toString(16).padStart(64, "0")}`;
    const {error} = await askBoth("chain_estimateGas", [{to: HASHES, data}, at]);
    assert.equal(error?.data, back > 256 ? `0x${"00".repeat(32)}` : digest(`block ${block - back}`));
  }
}

test("a store from a pull answers at its block as the store that was pulled from", async () => {
  await compareBlock(FIRST);
  await askBoth("chain_chainId", []);
  const {result} = await replica.call("chain_getCoverage", []);
  const {earliest, finalized, latest, ranges} = result;
  const first = quantity(FIRST);
  assert.deepEqual([earliest, finalized, latest, ranges], [first, first, first, [[first, first]]]);
});

test("of older blocks it says from which block on it can prove", async () => {
  for (const block of [quantity(FIRST - 1), "0x0"]) {
    for (const [method, params] of [
      ["chain_getProof", [TELLS, [], block]],
      ["chain_getStateRoot", [block]],
      ["chain_estimateGas", [{to: TELLS}, block]],
    ] as const) {
      const {error} = await replica.call(method, [...params]);
      assert.equal(error?.code, -32001);
      assert.deepEqual(error?.data, {earliest: quantity(FIRST), finalized: quantity(FIRST)});
      assert.match(error?.message as string, /is not in the store: it has blocks 0x12c to 0x12c$/);
    }
  }
});

test("later blocks are imported on top, from a file that begins with block 0 too", async () => {
  const path = folder.file("all.ndjson");
  await writeFile(path, encodeLines(lines));
  await replica.stop();
  const db = folder.file("replica");
  const imported = await runHere([
    "import",
    "--db",
    db,
    "--allow-unverified",
    "--diffs",
    path,
    "--finalized",
    "last",
  ]);
  assert.match(
    imported.stdout,
    new RegExp(
      `imported ${LAST - FIRST} blocks, ${FIRST + 1} already in the store; the store has blocks ${FIRST} to ${LAST}`,
    ),
  );
  assert.deepEqual((await checkStore(db)).found, []);
  replica = await serve(db);
  for (const block of [FIRST, LAST]) await compareBlock(block);
});

test("the same pull again changes nothing, a store with blocks takes no other one, and none below is left to roll back to", async () => {
  const again = await importPull("again");
  assert.equal(again.code, 0, again.stderr);
  const second = await importPull("again");
  assert.equal(second.code, 0, second.stderr);
  assert.match(second.stdout, /^imported 0 blocks, 1 already in the store; the store has block 300/m);
  await importLines(folder.file("other"), lines.slice(0, 2));
  const other = await importPull("other");
  assert.equal(other.code, 1);
  assert.match(other.stderr, /error: expected block 2 next, got block 300/);
  const rolled = await runHere(["rollback", "--db", folder.file("again"), "--to", "299", "--finalized"]);
  assert.equal(rolled.code, 1);
  assert.match(rolled.stderr, /block 299 is not in the store, which begins with block 300/);
});

/** What is changed in which file, and what is said of it. */
const FORGERIES: Readonly<Record<string, readonly [string, (text: string) => string, RegExp]>> = {
  "a balance is changed": [
    "accounts-000001.ndjson",
    text => text.replace('"balance":"', '"balance":"9'),
    /expected root 0x[0-9a-f]{64} of the accounts, they give/,
  ],
  "code is left out": ["codes-000001.ndjson", dropFirst, /the code 0x[0-9a-f]{64} of account .* is missing/],
  "a header field is none": [
    "manifest.json",
    text => text.replace(/"timestamp": "\w+"/, '"timestamp": "soon"'),
    /manifest.json: context.header.timestamp: expected a quantity/,
  ],
};

test("a folder that says anything else is refused, and no store is left", async () => {
  const forge = (name: string, file: string, change: (text: string) => string) =>
    forgeFolder(pulled, folder.file(name), file, change);
  for (const [at, [what, [file, change, expected]]] of Object.entries(FORGERIES).entries()) {
    const forged = forge(`forged${at}`, file, change);
    const refused = await importPull(`refused${at}`, forged);
    assert.equal(refused.code, 1, what);
    assert.match(refused.stderr, expected, what);
    assert.equal(existsSync(folder.file(`refused${at}`)), false, what);
    // What only the server says, no root shows.
    const verified = await runHere(["pull", "--verify", forged]);
    assert.equal(verified.code, file === "manifest.json" ? 0 : 1, what);
  }
  for (const [at, change] of [dropFirst, double].entries()) {
    const {stderr} = await runHere(["pull", "--verify", forge(`codes${at}`, "codes-000001.ndjson", change)]);
    assert.match(
      stderr,
      /codes-000001\.ndjson.*: (expected the code 0x[0-9a-f]{64}, got 0x|no account has the code)/,
    );
  }
  const torn = forge("torn", "manifest.json", text => text);
  const part = join(torn, "slots-000001.ndjson");
  writeFileSync(part, readFileSync(part, "utf8").replace('"value"', '"Value"'));
  assert.match((await importPull("torn-store", torn)).stderr, /slots-000001.ndjson/);
});

test("a pull that is not of everything, of another suite or of another chain is refused", async () => {
  const from = ["--url", whole.url, "--block", String(FIRST), "--root", root];
  const accounts = folder.file("accounts");
  assert.equal((await runHere(["pull", ...from, "--accounts", "--out", accounts])).code, 0);
  for (const [code, refused, expected] of [
    [
      1,
      await importPull("r1", accounts),
      /expected a pull of everything \(proofd pull --all\), got one of accounts/,
    ],
    [2, await importPull("r2", pulled, "--suite", "poseidon2"), /--suite: expected sha256, that of the pull/],
    [2, await importPull("r3", pulled, "--chain-id", "7"), /expected chain 7, got chain 1337/],
    [1, await importPull("r4", pulled, "--head", digest("block 1")), /expected the head 0x/],
    [1, await importPull("r5", folder.path), /--pull: .*there is no pull/],
  ] as const) {
    assert.equal(refused.code, code, String(expected));
    assert.match(refused.stderr, expected);
  }
  assert.equal(existsSync(folder.file("r3")), false);
});
