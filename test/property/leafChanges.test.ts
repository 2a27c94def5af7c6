/** Law: what differs between two blocks is, to the byte, the reference's, and makes one state of the other. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {isDeepStrictEqual} from "node:util";
import fc from "fast-check";
import {decodeHex, encodeHex} from "../../client/bytes/hex.ts";
import {type ChangeRange, verifyChanges} from "../../client/leaves/changeRange.ts";
import {splitCursor} from "../../client/leaves/changesReader.ts";
import type {LeafChange} from "../../client/leaves/foldChanges.ts";
import type {KeyedLeaf} from "../../client/leaves/treeLeaf.ts";
import {ChangeScope, packChanges} from "../../workers/messages/changesCall.ts";
import {ProofForm} from "../../workers/messages/packedCall.ts";
import {growingChains} from "../support/chains/growingBlocks.ts";
import {forkedChains, type RandomChain} from "../support/chains/randomBlocks.ts";
import {type ComparedBlock, changeParts, joinChanges, LAST_CURSOR} from "../support/reference/changeBytes.ts";
import {type KeyOf, keysOf} from "../support/reference/rangeBytes.ts";
import {ReferenceState} from "../support/reference/referenceState.ts";
import {ReferenceTree} from "../support/reference/referenceTree.ts";
import {isSoak, propertyRuns, sampleOf} from "../support/soak.ts";
import {memoisedPoseidon2, memoisedSha256} from "../support/stores/everyKey.ts";
import {proveBothForms} from "../support/stores/proveCalls.ts";
import {TemporaryStore} from "../support/stores/temporaryStore.ts";

/** How many leaves pages may have, taken in turn, and which blocks are compared. */
const pages = fc.array(fc.oneof(fc.integer({min: 1, max: 9}), fc.constantFrom(64, 4096)), {
  minLength: 1,
  maxLength: 8,
});
const pairs = fc.array(fc.tuple(fc.nat(), fc.nat()), {minLength: 3, maxLength: 6, size: "max"});

/** Leaves by position, as text. */
type Leaves = Map<number, string>;
type Blocks = readonly [from: ComparedBlock, to: ComparedBlock];

class Comparison {
  private turn = 0;
  private readonly keyOf: KeyOf;

  constructor(
    private readonly store: TemporaryStore,
    private readonly state: ReferenceState,
    private readonly chain: RandomChain,
    private readonly counts: readonly number[],
  ) {
    this.keyOf = keysOf(state.suite, chain.lines);
  }

  /** Compares two blocks both ways, in every kind of tree. */
  async check(first: number, second: number): Promise<void> {
    const [from, to] = [first, second].map(number => ({
      number,
      hash: this.chain.lines[number]?.hash as string,
    })) as [ComparedBlock, ComparedBlock];
    for (const blocks of [
      [from, to],
      [to, from],
    ] as const)
      for (const tree of ["accounts", "all", ...this.chain.addresses])
        this.checkDifference(blocks, tree, await this.pull(blocks, tree));
  }

  private async pull(blocks: Blocks, tree: string): Promise<ChangeRange[]> {
    const {state, counts} = this;
    const ranges: ChangeRange[] = [];
    let cursor: bigint | undefined = 0n;
    while (cursor !== undefined) {
      const count = counts[this.turn++ % counts.length] as number;
      const call = {
        fromBlock: blocks[0].number,
        toBlock: blocks[1].number,
        scope: {accounts: ChangeScope.ACCOUNTS, all: ChangeScope.ALL}[tree] ?? ChangeScope.STORAGE,
        address: tree.startsWith("0x") ? decodeHex(tree.toLowerCase()) : undefined,
        cursor: splitCursor(cursor),
        count,
      };
      const bytes = await proveBothForms(
        this.store.engine,
        packChanges(call, ProofForm.CHANGES_HEX),
        packChanges(call, ProofForm.CHANGES_BYTES),
      );
      if (typeof bytes === "string") assert.fail(bytes);
      const [from, to] = blocks.map(({number}) => state.stateRoot(number)) as [Uint8Array, Uint8Array];
      const range = verifyChanges(state.suite, {from, to}, {tree, cursor, count}, bytes);
      let opened = 0;
      const expected = changeParts(state, blocks, tree, cursor, range.end ?? LAST_CURSOR, this.keyOf, {
        onChange: ({owner, leafIndex}) => {
          if (owner === undefined || leafIndex > 0) opened++;
        },
      });
      assert.equal(encodeHex(bytes), encodeHex(joinChanges(expected)), `${tree} from ${cursor}`);
      assert.ok(
        range.end === undefined ? opened <= count : opened === count,
        "a page is as full as it may be",
      );
      ranges.push(range);
      cursor = range.end;
    }
    return ranges;
  }

  /** The changes of all pages lead from the one state to the other, and none of them is needless. */
  private checkDifference([from, to]: Blocks, tree: string, ranges: readonly ChangeRange[]): void {
    const {state} = this;
    const [before, after] = [from, to].map(({number}) => state.accountTree(number)) as [
      ReferenceTree,
      ReferenceTree,
    ];
    if (tree === "accounts" || tree === "all") {
      const accounts = ranges.flatMap(range => range.accounts);
      assert.deepEqual(apply(leavesOf(before), accounts), leavesOf(after));
    } else assert.ok(ranges.every(({accounts}) => accounts.length === 0));
    const [old, young] = [from, to].map(({number}) => this.storagesOf(number, tree)) as [
      Map<number, Leaves>,
      Map<number, Leaves>,
    ];
    const none = leavesOf(ReferenceTree.create(state.suite));
    for (const {account, slots} of ranges.flatMap(range => range.storages))
      old.set(account, apply(old.get(account) ?? none, slots));
    // An account without storage has a new tree. So has one that is absent.
    for (const storages of [old, young])
      for (const [account, leaves] of storages) if (isDeepStrictEqual(leaves, none)) storages.delete(account);
    assert.deepEqual(old, young, `${tree} from ${from.number} to ${to.number}`);
  }

  /** By leaf index of their account. */
  private storagesOf(block: number, tree: string): Map<number, Leaves> {
    const {state} = this;
    const storages = new Map<number, Leaves>();
    if (tree === "accounts") return storages;
    for (const address of state.listAddresses(block)) {
      const storage = state.readAccount(block, address)?.storage;
      if (storage === undefined || (tree !== "all" && address !== tree.toLowerCase())) continue;
      const hKey = encodeHex(state.suite.hashAddress(decodeHex(address)));
      const {positions} = state.accountTree(block);
      const account = positions.findIndex(leaf => leaf !== null && encodeHex(leaf.hKey) === hKey);
      storages.set(account, leavesOf(storage));
    }
    return storages;
  }
}

/** @returns `leaves` with the changes, each of which changes something */
function apply(leaves: Leaves, changes: readonly LeafChange<KeyedLeaf>[]): Leaves {
  const changed = new Map(leaves);
  const text = (leaf: LeafChange<KeyedLeaf>["before"]) =>
    leaf && [leaf.prev, leaf.next, encodeHex(leaf.hKey), encodeHex(leaf.hVal)].join();
  for (const {leafIndex, before, after} of changes) {
    const [old, young] = [text(before), text(after)];
    assert.equal(changed.get(leafIndex), old, `leaf ${leafIndex} before`);
    assert.notEqual(old, young);
    if (young === undefined) changed.delete(leafIndex);
    else changed.set(leafIndex, young);
  }
  return new Map([...changed].sort(([a], [b]) => a - b));
}

function leavesOf({positions}: ReferenceTree): Leaves {
  const leaves: Leaves = new Map();
  for (const [leafIndex, leaf] of positions.entries()) {
    if (leaf === null) continue;
    const {prev, next, hKey, hVal} = leaf;
    leaves.set(leafIndex, [prev, next, encodeHex(hKey), encodeHex(hVal)].join());
  }
  return leaves;
}

/** The reference's poseidon2 takes some ten times as long as its sha256. */
const EXTENTS = [
  {suite: memoisedSha256, maxBlocks: 8, boundaries: sampleOf([32, 8, 128, 512], 4)},
  {suite: memoisedPoseidon2, maxBlocks: 3, boundaries: isSoak() ? [32] : []},
];

for (const {suite, maxBlocks, boundaries} of EXTENTS) {
  test(`${suite.name}: what differs between any blocks of a random chain makes one of the other, also after a rollback`, async () => {
    const property = fc.asyncProperty(
      forkedChains({maxBlocks: Math.ceil(maxBlocks / 2)}),
      pages,
      pairs,
      async ({trunk, left, right}, counts, chosen) => {
        await TemporaryStore.use(suite.name, async store => {
          await store.mustImport(left.lines, trunk);
          await store.engine.writes.rollback(trunk);
          await store.mustImport(right.lines, "last");
          await checkPairs(store, new ReferenceState(suite, right.lines), right, counts, chosen);
        });
      },
    );
    await fc.assert(property, {numRuns: propertyRuns(2), includeErrorInReport: true});
  });

  for (const boundary of boundaries)
    test(`${suite.name}: so it does in trees that grow past ${boundary} leaves and lose them`, async () => {
      const property = fc.asyncProperty(
        growingChains({boundary, maxBlocks: 3}),
        pages,
        pairs,
        async (chain, counts, chosen) => {
          await TemporaryStore.use(suite.name, async store => {
            await store.mustImport(chain.lines, "last");
            await checkPairs(
              store,
              new ReferenceState(suite, chain.lines),
              chain,
              counts,
              chosen.slice(0, 3),
            );
          });
        },
      );
      await fc.assert(property, {numRuns: propertyRuns(1), includeErrorInReport: true});
    });
}

async function checkPairs(
  store: TemporaryStore,
  state: ReferenceState,
  chain: RandomChain,
  counts: readonly number[],
  chosen: readonly (readonly [number, number])[],
): Promise<void> {
  const comparison = new Comparison(store, state, chain, counts);
  const blocks = state.latest + 1;
  for (const [first, second] of [[0, state.latest] as const, ...chosen])
    await comparison.check(first % blocks, second % blocks);
}
