/** eth_getBalance, eth_getTransactionCount, eth_getCode and eth_getStorageAt over a real socket, from each kind of store. */
import assert from "node:assert/strict";
import {test} from "node:test";
import type {DifferenceLine} from "../../support/chains/differenceLine.ts";
import {headLines} from "../../support/chains/headedLines.ts";
import {CHAIN_ID, hashOfBlock, WorkFolder} from "../../support/chains/serviceChain.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {importLines} from "../../support/stores/importedStore.ts";

const LATEST = 4;
const FINALIZED = 3;
const [GROWING, DELETED, DELEGATED, ABSENT] = ["a1", "b2", "c3", "d4"].map(
  pair => `0x${pair.repeat(20)}`,
) as [string, string, string, string];
const LARGE = `0x${"f".repeat(64)}`;
const LONG_CODE = `0x${"5b".repeat(24_576)}`;
const TOO_LONG_CODE = `0x${"5b".repeat(128 * 1024 + 1)}`;
const SLOTS = ["0x0", "0x1", LARGE];

interface State {
  readonly balance?: string;
  readonly nonce?: string;
  readonly code?: string;
  readonly storage?: Readonly<Record<string, string>>;
}

/** What each block changes. null deletes the account. */
const BLOCKS: readonly Readonly<Record<string, State | null>>[] = [
  {
    [GROWING]: {balance: "0x1", storage: {"0x0": "0x7", [LARGE]: LARGE}},
    [DELETED]: {balance: LARGE, nonce: "0x1", code: LONG_CODE, storage: {"0x1": "0x100"}},
  },
  {[GROWING]: {balance: "0x100", nonce: "0x80", storage: {"0x0": "0x0", "0x1": "0xff"}}},
  {[DELETED]: null, [DELEGATED]: {nonce: "0x1", code: `0xef0100${"12".repeat(20)}`}},
  {[DELETED]: {balance: "0x2"}, [DELEGATED]: {code: TOO_LONG_CODE}},
  {[GROWING]: {balance: "0x5"}},
];
const LINES: readonly DifferenceLine[] = BLOCKS.map((accounts, number) => ({
  number: `0x${number}`,
  hash: hashOfBlock(number),
  ...(number === 0 ? {chainId: CHAIN_ID} : {parentHash: hashOfBlock(number - 1)}),
  accounts: accounts as DifferenceLine["accounts"],
}));

function stateAt(block: number, address: string): State {
  let state: State = {};
  for (const accounts of BLOCKS.slice(0, block + 1)) {
    const change = accounts[address];
    if (change === null) state = {};
    else state = {...state, ...change, storage: {...state.storage, ...change?.storage}};
  }
  return state;
}

const folder = new WorkFolder();

const word = (number: string) => `0x${number.slice(2).padStart(64, "0")}`;

const STORES: readonly {readonly what: string; readonly suite: string; readonly isHeaded: boolean}[] = [
  {what: "sparse trees alone", suite: "sha256", isHeaded: false},
  {what: "sparse trees and Ethereum's trie", suite: "sha256", isHeaded: true},
  {what: "Ethereum's trie alone", suite: "keccak", isHeaded: true},
];

for (const {what, suite, isHeaded} of STORES)
  test(`a store with ${what} answers every account and slot at every finalized block`, async () => {
    const db = folder.file(`${suite}-${isHeaded}`);
    await importLines(db, isHeaded ? (await headLines(LINES)).lines : LINES, {suite, finalized: FINALIZED});
    const service = await OwnService.start({db});
    for (let block = 0; block <= FINALIZED; block++)
      for (const address of [GROWING, DELETED, DELEGATED, ABSENT]) {
        const {balance = "0x0", nonce = "0x0", code = "0x", storage = {}} = stateAt(block, address);
        const calls = [
          ["eth_getBalance", address],
          ["eth_getTransactionCount", address.toUpperCase().replace("X", "x")],
          ["eth_getCode", address],
          ...SLOTS.map(slot => ["eth_getStorageAt", address, slot]),
        ].map(([method, ...params], id) => ({jsonrpc: "2.0", id, method, params: [...params, `0x${block}`]}));
        const answers: {result?: string; error?: object}[] = await service.send(calls);
        const isTooLong = code === TOO_LONG_CODE;
        assert.deepEqual(
          answers.map(({result}) => result),
          [balance, nonce, isTooLong ? undefined : code, ...SLOTS.map(slot => word(storage[slot] ?? "0x0"))],
          `${address} at block ${block}`,
        );
        if (isTooLong)
          assert.deepEqual(answers[2]?.error, {
            code: -32005,
            message: `the code of ${address} has 131073 bytes: eth_getCode answers at most 131072. Use chain_getCodes`,
            data: {limit: 131_072, got: 131_073},
          });
      }
    await service.stop();
  });

test("blocks are named as for proofs, by default the newest finalized one, and slots as geth reads them", async () => {
  const {lines} = await headLines(LINES);
  const db = folder.file("selectors");
  await importLines(db, lines, {finalized: FINALIZED});
  const service = await OwnService.start({db});
  const slotAt = async (...more: unknown[]) => service.call("eth_getStorageAt", [GROWING, ...more]);
  const [old, recent] = [word("0x0"), word("0xff")];
  for (const [block, value] of [
    [[], recent],
    [[null], recent],
    [["latest"], recent],
    [["earliest"], old],
    [[lines[0]?.hash], old],
    [[{blockHash: lines[1]?.hash}], recent],
    [[{blockNumber: "0x0"}], old],
  ] as const)
    for (const slot of ["0x1", "0x01", `0x${"0".repeat(63)}1`])
      assert.equal((await slotAt(slot, ...block)).result, value, JSON.stringify([slot, block]));
  assert.equal((await slotAt("0x", "0x0")).result, word("0x7"));
  const refusals: readonly [code: number, params: readonly unknown[], message: RegExp][] = [
    [-32602, ["1"], /^params\[1\] \(slot\): expected 0x and 1 to 64 hex digits, got "1"$/],
    [-32602, [`${LARGE}0`], /^params\[1\] \(slot\): /],
    [-32602, ["0x1", "0x01"], /^params\[2\] \(block\): /],
    [-32602, ["0x1", "latest", {}], /^params: expected \[address, slot, block\], got 4 elements$/],
    [-32001, ["0x1", "0xff"], /^block 0xff is not in the store/],
    [-32002, ["0x1", `0x${LATEST}`], /^block 0x4 is not finalized/],
  ];
  for (const [code, params, message] of refusals) {
    const {error} = await slotAt(...params);
    assert.equal(error?.code, code, JSON.stringify(error));
    assert.match(error.message, message);
  }
  for (const method of ["eth_getBalance", "eth_getTransactionCount", "eth_getCode"]) {
    assert.match(
      (await service.call(method, ["0x12"])).error.message,
      /^params\[0\] \(address\): expected 20/,
    );
    assert.match((await service.call(method, [GROWING, "x"])).error.message, /^params\[1\] \(block\): /);
  }
  await service.stop();
});
