import assert from "node:assert/strict";
import {test} from "node:test";
import {MerklePatriciaTrie} from "@ethereumjs/mpt";
import {RLP} from "@ethereumjs/rlp";
import {checkBlockBody} from "../../../../evm/execution/blockBody.ts";
import {toHex} from "../../../../storage/hex.ts";
import {listRoot} from "../../../../storage/trie/listRoot.ts";
import {readDemoBlocks} from "../../../support/nodes/demoNode.ts";

type Parts = [header: Uint8Array[], transactions: unknown[], uncles: unknown[], withdrawals: unknown[]];

/** A block of the demo chain with several transactions and withdrawals, as its parts. */
async function busyParts(): Promise<Parts> {
  const block = (await readDemoBlocks()).find(
    ({transactions, withdrawals}) => transactions.length > 2 && (withdrawals?.length ?? 0) > 0,
  );
  assert.ok(block);
  return RLP.decode(block.serialize()) as unknown as Parts;
}

function check(parts: readonly unknown[]): void {
  checkBlockBody(RLP.encode(parts as Uint8Array[]));
}

test("the root of a list is that of the library's trie, for every number of values up to 300 and short ones", async () => {
  const trie = new MerklePatriciaTrie();
  const values: Uint8Array[] = [];
  for (let at = 0; at < 300; at++) {
    assert.equal(toHex(listRoot(values)), toHex(trie.root()), `${at} values`);
    const value = new Uint8Array(1 + ((at * 7) % 90)).fill(1 + (at % 255));
    values.push(value);
    await trie.put(RLP.encode(at), value);
  }
});

test("every block of the demo chain has the body that its header names", async () => {
  for (const block of await readDemoBlocks()) checkBlockBody(block.serialize());
});

test("a transaction that is missing, changed, repeated or at another place is found", async () => {
  const [header, transactions, uncles, withdrawals] = await busyParts();
  const [first, second, ...rest] = transactions;
  const bad = [
    transactions.slice(1),
    [second, first, ...rest],
    [first, first, second, ...rest],
    [...transactions.slice(0, -1), new Uint8Array([2, 1])],
    [],
  ];
  for (const list of bad)
    assert.throws(
      () => check([header, list, uncles, withdrawals]),
      /^ExecutionError: its transactions have the root 0x[0-9a-f]{64}, its header names 0x/,
    );
});

test("uncles and withdrawals that are not the header's are found", async () => {
  const [header, transactions, uncles, withdrawals] = await busyParts();
  assert.throws(() => check([header, transactions, [header], withdrawals]), /its uncles have the root/);
  assert.throws(() => check([header, transactions, uncles, []]), /its withdrawals have the root/);
  assert.throws(() => check([header, transactions, uncles]), /its withdrawals are missing/);
  assert.throws(
    () => check([header.slice(0, 16), transactions, uncles, withdrawals]),
    /it has withdrawals, its header has none/,
  );
});

test("bytes that are no block are refused", () => {
  for (const bytes of [
    [],
    [0xc0],
    [0xc3, 1, 2, 3],
    [0xff, 1],
    [0xc3, 0xc0, 0xc0],
    [0xc4, 0xc0, 0xc0, 0xc0, 0],
  ])
    assert.throws(() => checkBlockBody(Uint8Array.from(bytes)), /^ExecutionError: it is not a block: /);
});
