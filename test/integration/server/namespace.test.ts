/** `proofd serve --namespace linea` over a real socket: the answers that clients of the live network's server rely on. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {decodeHex} from "../../../client/bytes/hex.ts";
import {sha256Suite} from "../../../client/hash/hashSuites.ts";
import type {DifferenceLine} from "../../support/chains/differenceLine.ts";
import {
  ABSENT_ACCOUNT,
  ACCOUNTS,
  createLine,
  createLines,
  WorkFolder,
} from "../../support/chains/serviceChain.ts";
import {type Answer, assertError} from "../../support/http/jsonrpcAnswer.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {verifyProof} from "../../support/reference/exactProof.ts";
import {importLines} from "../../support/stores/importedStore.ts";

const FINALIZED = 3;
const LATEST = 5;
const ACCOUNT = ACCOUNTS[0] as string;
/** Has a balance and never had a slot. */
const PLAIN_ACCOUNT = `0x${"ab".repeat(20)}`;
/** A block said of its slot only that it is zero. */
const ZEROED_ACCOUNT = `0x${"ef".repeat(20)}`;
/** Had a slot, which is zero now. */
const EMPTIED_ACCOUNT = `0x${"cd".repeat(20)}`;
const BLOCK_MISSING = {code: -32600, message: "BLOCK_MISSING_IN_CHAIN - block is missing"};

function createChain(): DifferenceLine[] {
  const genesis = createLine(0);
  const [first, ...others] = createLines(1, LATEST) as [DifferenceLine, ...DifferenceLine[]];
  const plain = {[PLAIN_ACCOUNT]: {balance: "0x5"}};
  const zeroed = {[ZEROED_ACCOUNT]: {balance: "0x5", storage: {"0x1": "0x0"}}};
  const filled = {[EMPTIED_ACCOUNT]: {balance: "0x6", storage: {"0x1": "0x7"}}};
  const emptied = {[EMPTIED_ACCOUNT]: {balance: "0x6", storage: {"0x1": "0x0"}}};
  return [
    {...genesis, accounts: {...genesis.accounts, ...plain, ...zeroed, ...filled}},
    {...first, accounts: {...first.accounts, ...emptied}},
    ...others,
  ];
}

const folder = new WorkFolder();
let daemon: OwnService;

before(async () => {
  const db = folder.file("db");
  await importLines(db, createChain(), {finalized: FINALIZED});
  daemon = await OwnService.serve(
    ["--db", db, "--workers", "1", "--hardfork", "prague", "--namespace", "linea"],
    {estimates: true},
  );
});

after(() => daemon.stop());

async function textOf(method: string, params: unknown): Promise<string> {
  return (await daemon.post(JSON.stringify({jsonrpc: "2.0", id: 7, method, params}))).text;
}

test("the proof of an account with storage is that of chain_getProof, to the byte", async () => {
  for (const address of [ACCOUNT, EMPTIED_ACCOUNT])
    for (const block of ["latest", "0x0", "0x2"]) {
      const params = [address, ["0x1", "0x99"], block];
      const own = await textOf("linea_getProof", params);
      assert.equal(own, await textOf("chain_getProof", params));
      assert.equal(JSON.parse(own).result.storageProofs.length, 2);
    }
});

test("an account that is missing or never had a slot has no storage proofs, and its own proof verifies", async () => {
  const {stateRoot} = (await daemon.call("chain_getStateRoot", ["finalized"])).result;
  for (const address of [ABSENT_ACCOUNT, PLAIN_ACCOUNT, ZEROED_ACCOUNT]) {
    const {result} = await daemon.call("linea_getProof", [address, ["0x1", "0x2"], "latest"]);
    assert.deepEqual(result.storageProofs, []);
    const {account} = verifyProof(sha256Suite, decodeHex(stateRoot), address, [], result);
    assert.equal(account?.balance, address === ABSENT_ACCOUNT ? undefined : 5n);
    const other = await daemon.call("chain_getProof", [address, ["0x1", "0x2"], "latest"]);
    assert.deepEqual(other.result.accountProof, result.accountProof);
    assert.equal(other.result.storageProofs.length, 2);
  }
});

test("address and keys come back in lower case, keys as 32 bytes", async () => {
  const address = ACCOUNT.toUpperCase().replace("0X", "0x");
  const {result} = await daemon.call("linea_getProof", [address, ["0xAbC"], "latest"]);
  assert.equal(result.accountProof.key, ACCOUNT);
  assert.equal(result.storageProofs[0].key, `0x${"abc".padStart(64, "0")}`);
});

test("a block that cannot be proved is missing in the chain, whatever the reason", async () => {
  const selectors = [
    `0x${(FINALIZED + 1).toString(16)}`,
    "0xff",
    {blockNumber: "0xff"},
    `0x${"12".repeat(32)}`,
  ];
  for (const block of selectors) {
    const answer: Answer = await daemon.call("linea_getProof", [ACCOUNT, [], block]);
    assert.deepEqual(answer, {jsonrpc: "2.0", id: 1, error: BLOCK_MISSING});
  }
  const batch: Answer[] = await daemon.send(
    selectors.map((block, id) => {
      return {
        jsonrpc: "2.0",
        id,
        method: "linea_getProof",
        params: [ACCOUNT, [], id === 1 ? "0x0" : block],
      };
    }),
  );
  assert.deepEqual(
    batch.map(({error}) => error?.code),
    [-32600, undefined, -32600, -32600],
  );
});

test("a block is named by its hash too", async () => {
  const {result} = await daemon.call("chain_getStateRoot", ["0x3"]);
  for (const [method, params] of [
    ["linea_getProof", [ACCOUNT, ["0x1"]]],
    ["linea_estimateGas", [{from: ACCOUNT, to: ABSENT_ACCOUNT}]],
  ] as const)
    assert.equal(await textOf(method, [...params, result.hash]), await textOf(method, [...params, "0x3"]));
});

test("wrong parameters are refused as elsewhere, under the method's own name", async () => {
  assertError(await daemon.call("linea_getProof", ["0x12", [], "latest"]), -32602);
  for (const method of ["linea_getProof", "linea_estimateGas"]) {
    const answer: Answer = await daemon.call(method, {address: ACCOUNT});
    assertError(answer, -32602);
    assert.match(answer.error?.message ?? "", new RegExp(`params of ${method}: expected the array`));
  }
});

test("an estimate is that of chain_estimateGas", async () => {
  for (const params of [[{from: ACCOUNT, to: ABSENT_ACCOUNT, value: "0x1"}], [{}, "0x0"], [{}, "0xff"], []])
    assert.equal(await textOf("linea_estimateGas", params), await textOf("chain_estimateGas", params));
});
