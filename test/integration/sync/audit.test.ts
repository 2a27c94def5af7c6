/** `proofd audit` against a real node: a store that agrees, and stores with wrong values, which are named. */
import assert from "node:assert/strict";
import {mkdtemp, rm, writeFile} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, type TestContext, test} from "node:test";
import type {DifferenceLine} from "../../support/chains/differenceLine.ts";
import {Anvil} from "../../support/processes/anvil.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {runHere} from "../../support/processes/ownCommand.ts";
import {importLines} from "../../support/stores/importedStore.ts";

const SENDER = `0x${"a1".repeat(20)}`;
const RECIPIENT = `0x${"b2".repeat(20)}`;
/** Stores its first word of calldata in slot 1. */
const STORING = `0x${"c3".repeat(20)}`;
const STORING_CODE = "0x600035600155";
const BENEFICIARY = `0x${"d4".repeat(20)}`;
/** Creates a contract with the 3 bytes of code 600160. */
const CREATION = "0x626001606000526003601df3";
const SLOT = `0x${"1".padStart(64, "0")}`;
const FUNDS = "0xde0b6b3a7640000";

interface AnvilBlock {
  readonly hash: string;
  readonly parentHash: string;
  readonly timestamp: string;
}

let folder: string;
/** In words why there is none. */
let anvil: Anvil | string;
const lines: DifferenceLine[] = [];
let created = "";
let stores = 0;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "proofd-audit-"));
  const alloc = {
    [SENDER]: {balance: FUNDS},
    [RECIPIENT]: {balance: "0x1"},
    [STORING]: {balance: "0x0", code: STORING_CODE},
  };
  const genesis = {
    config: {chainId: 4242, londonBlock: 0, terminalTotalDifficulty: 0, shanghaiTime: 0},
    ...{nonce: "0x0", timestamp: "0x67748580", extraData: "0x", gasLimit: "0x1c9c380", difficulty: "0x0"},
    ...{mixHash: `0x${"0".repeat(64)}`, coinbase: BENEFICIARY, baseFeePerGas: "0x7", alloc},
  };
  const path = join(folder, "genesis.json");
  await writeFile(path, JSON.stringify(genesis));
  const flags = "--hardfork shanghai --chain-id 4242 --accounts 0 --auto-impersonate --no-mining";
  anvil = await Anvil.start(["--init", path, ...flags.split(" ")]);
  if (typeof anvil === "string") return;
  await addLine(anvil, 0);
  const send = (fields: object) =>
    (anvil as Anvil).request<string>("eth_sendTransaction", {from: SENDER, gas: "0x186a0", ...fields});
  await send({to: RECIPIENT, value: "0x5"});
  await send({to: STORING, data: `0x${"77".repeat(32)}`});
  await anvil.request("evm_mine");
  await addLine(anvil, 1);
  await send({to: STORING, data: `0x${"99".repeat(32)}`});
  await send({to: RECIPIENT, value: "0x6"});
  const hash = await send({data: CREATION});
  await anvil.request("evm_mine");
  created = (await anvil.request<{contractAddress: string}>("eth_getTransactionReceipt", hash))
    .contractAddress;
  await addLine(anvil, 2);
});

after(async () => {
  if (anvil instanceof Anvil) await anvil.stop();
  await rm(folder, {recursive: true});
});

/** The block with the node's own values of every account that the traffic can change. */
async function addLine(node: Anvil, number: number): Promise<void> {
  const at = `0x${number.toString(16)}`;
  const {hash, parentHash, timestamp} = await node.request<AnvilBlock>("eth_getBlockByNumber", at, false);
  const accounts: DifferenceLine["accounts"] = {};
  const addresses = [SENDER, RECIPIENT, STORING, BENEFICIARY, `0x${"0".repeat(40)}`, created];
  for (const address of addresses.filter(text => text !== "")) {
    const code = await node.request<string>("eth_getCode", address, at);
    accounts[address] = {
      balance: await node.request<string>("eth_getBalance", address, at),
      nonce: await node.request<string>("eth_getTransactionCount", address, at),
      ...(code === "0x" ? {} : {code}),
      ...(address === STORING
        ? {storage: {[SLOT]: await node.request<string>("eth_getStorageAt", address, SLOT, at)}}
        : {}),
    };
  }
  lines.push({number: at, hash, parentHash, timestamp, ...(number === 0 && {chainId: "0x1092"}), accounts});
}

/** @returns the folder of a store that holds the lines */
async function makeStore(changed: readonly DifferenceLine[]): Promise<string> {
  const directory = join(folder, `store-${++stores}`);
  await importLines(directory, changed);
  return directory;
}

function nodeOrSkip(t: TestContext): Anvil | undefined {
  if (anvil instanceof Anvil) return anvil;
  t.diagnostic(`NOT CHECKED against a real node: ${anvil}`);
  notRun(t, anvil);
  return undefined;
}

test("a store that agrees with the node passes, at the newest block and at an older one", async t => {
  const node = nodeOrSkip(t);
  if (node === undefined) return;
  const directory = await makeStore(lines);
  for (const [args, block] of [
    [[], 2],
    [["--block", "1"], 1],
    [["--block", "0"], 0],
  ] as const) {
    const {code, stdout, stderr} = await runHere(["audit", "--db", directory, "--l2", node.url, ...args]);
    assert.equal(code, 0, `${stdout}${stderr}`);
    assert.match(
      stdout,
      new RegExp(
        `^compared \\d+ values of \\d+ accounts as of block ${block} with ${node.url}: all are the same\n$`,
      ),
    );
    assert.equal(stderr, "");
  }
});

test("a wrong balance, nonce, slot and code are each named with block, account and both values", async t => {
  const node = nodeOrSkip(t);
  if (node === undefined) return;
  const last = structuredClone(lines[2] as DifferenceLine);
  const {[RECIPIENT]: recipient, [SENDER]: sender, [STORING]: storing, [created]: contract} = last.accounts;
  Object.assign(recipient as object, {balance: "0xd"});
  Object.assign(sender as object, {nonce: "0x9"});
  Object.assign(storing as object, {storage: {[SLOT]: `0x${"98".repeat(32)}`}});
  Object.assign(contract as object, {code: "0x600161"});
  const directory = await makeStore([...lines.slice(0, 2), last]);
  const args = ["audit", "--db", directory, "--l2", node.url, "--sample", "100"];
  const {code, stdout} = await runHere(args);
  assert.equal(code, 1);
  const found = stdout.trimEnd().split("\n");
  const expected = [
    `block 2: account ${RECIPIENT}: balance is 13 here, 12 at ${node.url}`,
    `block 2: account ${SENDER}: nonce is 9 here, 5 at ${node.url}`,
    `block 2: account ${STORING}: slot ${SLOT} is 0x${"98".repeat(32)} here, 0x${"99".repeat(32)} at ${node.url}`,
    `block 2: account ${created}: code is 0x600161 here, 0x600160 at ${node.url}`,
  ];
  assert.deepEqual(found.slice(0, -1).sort(), expected.sort());
  assert.match(found.at(-1) as string, /: 4 differ$/);
  const older = await runHere([...args, "--block", "1"]);
  assert.equal(older.code, 0, "the block before is right");
});

test("nothing is compared with a node that has another block, and a block that is not held is named", async t => {
  const node = nodeOrSkip(t);
  if (node === undefined) return;
  const hash = `0x${"12".repeat(32)}`;
  const directory = await makeStore([...lines.slice(0, 2), {...(lines[2] as DifferenceLine), hash}]);
  const args = ["audit", "--db", directory, "--l2", node.url];
  const other = await runHere(args);
  assert.equal(other.code, 1);
  assert.ok(
    other.stderr.includes(
      `nothing was compared: block 2 is ${hash} here, ${node.url} has block ${lines[2]?.hash}`,
    ),
    other.stderr,
  );
  const unknown = await runHere([...args, "--block", "3"]);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /cannot audit the store in .*: block 3 is not held/);
});

test("an audit without a node is a usage error", async () => {
  const {code, stderr} = await runHere(["audit", "--db", join(folder, "none")]);
  assert.equal(code, 2);
  assert.match(stderr, /--l2: expected the URL of a layer-2 node, got nothing/);
});
