/** Which snapshots may take the place of a store. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {findContradiction} from "../../../../../server/lifecycle/following/snapshotMatch.ts";
import type {BlockRecord} from "../../../../../storage/block/blockRecord.ts";

interface Facts {
  readonly chainId?: bigint;
  readonly first?: number;
  /** How many blocks before the first one are known by their hashes. */
  readonly ancestors?: number;
  readonly finalized?: number;
  /** The first block of another branch, the number of which is its hashes' last byte. */
  readonly fork?: number;
  readonly root?: number;
}

/** A store that holds blocks up to 20. */
function createStore({chainId = 1n, first = 0, ancestors = 0, finalized, fork = 99, root = 7}: Facts) {
  const readBlockHash = (block: number) =>
    block < first - ancestors || block > 20 ? undefined : Uint8Array.of(block, Number(block >= fork));
  const readHeaderRecord = (block: number) =>
    block < first ? undefined : ({stateRoot: Uint8Array.of(root)} as BlockRecord);
  const blockHashOrThrow = (block: number) => readBlockHash(block) as Uint8Array;
  return {
    newest: {chainId, finalized},
    reader: {firstBlock: first, readBlockHash, readHeaderRecord, blockHashOrThrow},
  };
}

for (const [what, stored, snapshot, expected] of [
  ["the same chain", {finalized: 12}, {}, undefined],
  ["another branch after what is finalized", {finalized: 12}, {fork: 13}, undefined],
  ["another branch before nothing is finalized", {}, {fork: 1}, undefined],
  ["a later beginning before nothing is finalized", {}, {first: 15}, undefined],
  ["a later beginning that knows the finalized block", {finalized: 12}, {first: 15, ancestors: 3}, undefined],
  ["an earlier beginning", {first: 10, finalized: 12}, {}, undefined],
  ["another finalized block", {finalized: 12}, {fork: 12}, /^its block 12 is 0x0c01, and 0x0c00 is final/],
  ["another one known by its hash", {finalized: 12}, {first: 15, ancestors: 3, fork: 9}, /^its block 12 is/],
  ["a later beginning", {finalized: 12}, {first: 15, ancestors: 2}, /^it begins with block 15, so block 12/],
  ["another block 0", {}, {fork: 0}, /^its block 0 is 0x0001, and the store begins with 0x0000$/],
  ["another first block", {first: 10}, {fork: 4}, /^its block 10 is 0x0a01, and the store begins with/],
  ["another root", {finalized: 12}, {root: 8}, /^its block 12 has the state root 0x08, and 0x07 is final/],
  ["another chain", {}, {chainId: 2n}, /^it is of the chain 2, and the store of the chain 1$/],
] satisfies [string, Facts, Facts, RegExp | undefined][])
  test(`a snapshot with ${what} ${expected === undefined ? "may take the place" : "is refused"}`, () => {
    const found = findContradiction(createStore(stored), createStore(snapshot));
    if (expected === undefined) assert.equal(found, undefined);
    else assert.match(found ?? "", expected);
  });
