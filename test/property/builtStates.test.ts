/** Law: a store that begins with a whole state proves, to the byte, what a store of the whole chain does. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {decodeHex} from "../../client/bytes/hex.ts";
import {hashWord, readWord, word} from "../../client/hash/hashSuites.ts";
import type {BuiltBlock} from "../../storage/commit/firstBlock.ts";
import {StateBuilder} from "../../storage/commit/stateBuilder.ts";
import type {WriteTarget} from "../../storage/commit/writeBatch.ts";
import {StoreError} from "../../storage/errors.ts";
import {PrunedBlocks} from "../../storage/prune/prunedBlocks.ts";
import {createRetention} from "../../storage/prune/retention.ts";
import {stripZeros} from "../../storage/tree/shortNumber.ts";
import type {DifferenceLine} from "../support/chains/differenceLine.ts";
import {growingChains} from "../support/chains/growingBlocks.ts";
import {type RandomChain, randomChains} from "../support/chains/randomBlocks.ts";
import {WorkFolder} from "../support/chains/serviceChain.ts";
import {type ReferenceAccount, ReferenceState} from "../support/reference/referenceState.ts";
import type {ReferenceTree} from "../support/reference/referenceTree.ts";
import {isSoak, propertyRuns} from "../support/soak.ts";
import {checkStore} from "../support/stores/checkedStore.ts";
import {checkEveryKey, memoisedPoseidon2, memoisedSha256} from "../support/stores/everyKey.ts";
import {openOwned} from "../support/stores/importedStore.ts";
import {pruneStore} from "../support/stores/prunedStore.ts";
import {reachablePages, storedPages} from "../support/stores/reachablePages.ts";
import {TemporaryStore} from "../support/stores/temporaryStore.ts";

interface FedLeaf {
  readonly leafIndex: number;
  /** An address, or a slot of 32 bytes. */
  readonly key: Uint8Array;
  /** 192 bytes of an account, 32 of a slot. */
  readonly value: Uint8Array;
}

interface FedTree {
  /** The leaf index of the account. undefined: the tree of all accounts. */
  readonly owner: number | undefined;
  readonly nextFreeNode: number;
  readonly leaves: FedLeaf[];
}

/** What is fed. A test may change it before. */
interface FedState {
  block: BuiltBlock;
  /** The account tree first. */
  readonly trees: FedTree[];
  readonly codes: Uint8Array[];
}

function gatherState(state: ReferenceState, lines: readonly DifferenceLine[], number: number): FedState {
  const held = state
    .listAddresses(number)
    .map(text => ({address: decodeHex(text), account: state.readAccount(number, text) as ReferenceAccount}));
  const {suite} = state;
  const addressOf = new Map(held.map(({address}) => [textOf(suite.hashAddress(address)), address]));
  const accounts = feedTree(state.accountTree(number), undefined, addressOf);
  const indexOf = new Map(
    state.accountTree(number).positions.map((leaf, index) => [leaf === null ? "" : textOf(leaf.hKey), index]),
  );
  const storages = held.flatMap(({address, account: {storage, slots}}) => {
    if (storage.nextFreeNode === 2) return [];
    const owner = indexOf.get(textOf(suite.hashAddress(address)));
    const slotOf = new Map([...slots.keys()].map(slot => [textOf(hashWord(suite, slot)), word(slot)]));
    return [feedTree(storage, owner, slotOf)];
  });
  const codes = held.flatMap(({account: {code}}) => (code.length === 0 ? [] : [code]));
  const hash = (block: number): Uint8Array => decodeHex(lines[block]?.hash as string);
  const ancestors = Array.from({length: Math.min(256, number)}, (_, i) => hash(number - 1 - i));
  const block = {
    header: {number, hash: hash(number)},
    stateRoot: state.stateRoot(number),
    chain: {},
    ancestors,
  };
  return {block, trees: [accounts, ...storages], codes};
}

async function feedState(target: WriteTarget, {block, trees, codes}: FedState): Promise<void> {
  const [accounts, ...storages] = trees as [FedTree, ...FedTree[]];
  const builder = await StateBuilder.create(target, block, accounts.nextFreeNode, () => {});
  for (const {leafIndex, key, value} of accounts.leaves) {
    const wordAt = (at: number): Uint8Array => value.subarray(32 * at, 32 * at + 32);
    const codeSize = Number(readWord(wordAt(5)));
    builder.addAccount(leafIndex, key, {
      nonce: stripZeros(wordAt(0)),
      balance: stripZeros(wordAt(1)),
      code: codeSize === 0 ? undefined : {codeHash: wordAt(3), keccakCodeHash: wordAt(4), codeSize},
      storageRoot: Buffer.compare(wordAt(2), target.reader.empty.topRoot) === 0 ? undefined : wordAt(2),
    });
  }
  for (const {owner, nextFreeNode, leaves} of storages) {
    builder.beginSlots(owner as number, nextFreeNode);
    for (const {leafIndex, key, value} of leaves) builder.addSlot(leafIndex, key, value);
    await builder.endSlots();
  }
  for (const code of codes) await builder.addCode(code);
  await builder.finish();
}

function feedTree(
  {positions, nextFreeNode}: ReferenceTree,
  owner: number | undefined,
  keys: ReadonlyMap<string, Uint8Array>,
): FedTree {
  const leaves = positions.flatMap((leaf, leafIndex) => {
    const key = leaf === null ? undefined : keys.get(textOf(leaf.hKey));
    return leaf === null || key === undefined ? [] : [{leafIndex, key, value: leaf.value}];
  });
  return {owner, nextFreeNode, leaves};
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}

/** The reference's poseidon2 takes some ten times as long as its sha256. */
const EXTENTS = [
  {suite: memoisedSha256, maxBlocks: 8, boundary: isSoak() ? 1200 : 130, runs: 2},
  {suite: memoisedPoseidon2, maxBlocks: 3, boundary: isSoak() ? 40 : undefined, runs: 1},
] as const;

for (const {suite, maxBlocks, boundary, runs} of EXTENTS)
  test(`${suite.name}: a store that begins with a whole state proves what the whole chain's store does`, async () => {
    const chains: fc.Arbitrary<RandomChain> = fc.oneof(
      randomChains({maxBlocks}),
      ...(boundary === undefined ? [] : [growingChains({boundary, maxBlocks: 3})]),
    );
    const plans = fc.record({chain: chains, at: fc.nat()});
    const property = fc.asyncProperty(plans, async ({chain, at}) => {
      const state = new ReferenceState(suite, chain.lines);
      const first = at % chain.lines.length;
      const fed = gatherState(state, chain.lines, first);
      const store = await TemporaryStore.made(suite.name, async directory => {
        const built = await openOwned(directory, suite.name);
        await feedState(built, fed);
        assert.deepEqual(await storedPages(built), reachablePages(built.reader, [first]));
        await built.close();
      });
      try {
        assert.deepEqual(store.engine.chain.head(), {earliest: first, finalized: first, latest: first});
        await checkEveryKey(store.engine, state, chain, [first]);
        // Blocks before the first one are passed over, the first one is compared.
        const outcome = await store.importLines(chain.lines, "last");
        assert.ok(outcome.ok, outcome.ok ? "" : outcome.message);
        assert.equal(outcome.blocks, chain.lines.length - 1 - first);
        const later = chain.lines.map((_, block) => block).slice(first);
        await checkEveryKey(store.engine, state, chain, later);
        for (const block of [0, first - 1].filter(one => one >= 0 && one < first)) {
          const failure = store.engine.chain.readBlock(block);
          assert.ok("failure" in failure && failure.failure === "BLOCK_UNKNOWN");
          assert.match(failure.detail, new RegExp(`begins with block ${first}$`));
        }
        assert.deepEqual((await checkStore(store.directory)).found, []);
        await pruneTo(store, state, chain);
        assert.deepEqual((await checkStore(store.directory)).found, []);
      } finally {
        await store.close();
      }
    });
    await fc.assert(property, {numRuns: propertyRuns(runs), includeErrorInReport: true});
  });

for (const {suite, maxBlocks, runs} of EXTENTS)
  test(`${suite.name}: a state that differs in anything is refused, and nothing of it is left`, async () => {
    const plans = fc.record({chain: randomChains({maxBlocks}), seed: fc.nat()});
    const property = fc.asyncProperty(plans, async ({chain, seed}) => {
      const state = new ReferenceState(suite, chain.lines);
      const gather = () => gatherState(state, chain.lines, state.latest);
      const folder = new WorkFolder();
      const store = await openOwned(folder.file("db"), suite.name);
      for (const [name, forge] of Object.entries(FORGERIES)) {
        const fed = gather();
        if (!forge(fed, seed)) continue;
        await assert.rejects(feedState(store, fed), (error: Error) => {
          assert.ok(error instanceof StoreError, `${name}: ${error.stack}`);
          assert.match(error.code, /^(BLOCK_INVALID|STATE_ROOT_MISMATCH)$/, name);
          return true;
        });
        assert.equal(await store.reader.latest(), undefined, name);
        assert.equal(store.reader.readChain(), undefined, name);
      }
      // What a killed process leaves is the same, and goes when the store is opened again.
      await store.reclaim();
      assert.deepEqual(await storedPages(store), []);
      await feedState(store, gather());
      assert.deepEqual(
        store.reader.blockOrThrow(state.latest).stateRoot,
        Buffer.from(state.stateRoot(state.latest)),
      );
      await assert.rejects(feedState(store, gather()), {code: "BLOCK_CONFLICT"});
      await store.close();
    });
    await fc.assert(property, {numRuns: propertyRuns(runs), includeErrorInReport: true});
  });

/** Each changes the state, if it has what it takes. @returns whether it did */
const FORGERIES: Readonly<Record<string, (state: FedState, seed: number) => boolean>> = {
  "a leaf is left out": ({trees}, seed) => changeLeaf(trees, seed, (leaves, at) => leaves.splice(at, 1)),
  "a leaf is doubled": ({trees}, seed) =>
    changeLeaf(trees, seed, (leaves, at) => leaves.splice(at, 0, leaves[at] as FedLeaf)),
  "a leaf is there again at the end": ({trees}, seed) => {
    const tree = pick(trees, seed);
    const leaf = tree?.leaves[0];
    if (tree === undefined || leaf === undefined) return false;
    trees[trees.indexOf(tree)] = {
      ...tree,
      nextFreeNode: tree.nextFreeNode + 1,
      leaves: [...tree.leaves, {...leaf, leafIndex: tree.nextFreeNode}],
    };
    return true;
  },
  "a value is changed": ({trees}, seed) =>
    changeLeaf(trees, seed, (leaves, at) => {
      const leaf = leaves[at] as FedLeaf;
      const value = Buffer.from(leaf.value);
      value[31] = (value[31] as number) ^ 3;
      leaves[at] = {...leaf, value};
    }),
  "a key is another one": ({trees}, seed) =>
    changeLeaf(trees, seed, (leaves, at) => {
      const leaf = leaves[at] as FedLeaf;
      leaves[at] = {...leaf, key: Buffer.alloc(leaf.key.length, 0x11)};
    }),
  "a leaf stands elsewhere": ({trees}, seed) => {
    const tree = pick(trees, seed);
    const last = tree?.leaves.at(-1);
    if (tree === undefined || last === undefined) return false;
    trees[trees.indexOf(tree)] = {
      ...tree,
      nextFreeNode: tree.nextFreeNode + 1,
      leaves: [...tree.leaves.slice(0, -1), {...last, leafIndex: last.leafIndex + 1}],
    };
    return true;
  },
  "the next free index is another one": ({trees}, seed) => {
    const tree = pick(trees, seed) as FedTree;
    trees[trees.indexOf(tree)] = {...tree, nextFreeNode: tree.nextFreeNode + 1};
    return true;
  },
  "a storage tree is left out": ({trees}) => trees.length > 1 && trees.pop() !== undefined,
  "a storage tree is there twice": ({trees}) => trees.length > 1 && trees.push(trees.at(-1) as FedTree) > 0,
  "a code is left out": ({codes}) => {
    const first = codes.pop();
    for (let at = codes.length - 1; at >= 0; at--)
      if (Buffer.compare(codes[at] as Uint8Array, first as Uint8Array) === 0) codes.splice(at, 1);
    return first !== undefined;
  },
  "the root is another one": fed => {
    fed.block = {...fed.block, stateRoot: Buffer.alloc(32, 0x11)};
    return true;
  },
};

function pick(trees: readonly FedTree[], seed: number): FedTree | undefined {
  return trees[seed % trees.length];
}

function changeLeaf(
  trees: readonly FedTree[],
  seed: number,
  change: (leaves: FedLeaf[], at: number) => unknown,
): boolean {
  const leaves = pick(trees, seed)?.leaves ?? [];
  if (leaves.length === 0) return false;
  change(leaves, seed % leaves.length);
  return true;
}

/** Prunes all blocks but the newest, the first one among them: exactly the pages of the newest are left. */
async function pruneTo(store: TemporaryStore, state: ReferenceState, chain: RandomChain): Promise<void> {
  await store.engine.close();
  const open = await openOwned(store.directory);
  const retention = createRetention(
    {kind: "newest", blocks: 1},
    {from: () => undefined, last: () => undefined},
  );
  assert.ok(await pruneStore(open, retention, {pages: 100, goesOn: () => true}));
  assert.deepEqual(await storedPages(open), reachablePages(open.reader, [state.latest]));
  const pruned = await PrunedBlocks.read(open.reader);
  assert.deepEqual(pruned.unprunedRanges(state.latest, 9), {
    ranges: [[state.latest, state.latest]],
    count: 1,
  });
  await open.close();
  await store.reopen();
  await checkEveryKey(store.engine, state, chain, [state.latest]);
}
