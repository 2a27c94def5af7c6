/** Feeds a StateBuilder with the whole state of one block of the reference, as a pull of a right server gives it. */
import {decodeHex} from "../../../client/bytes/hex.ts";
import {hashSlot, readWord, word} from "../../../client/hash/hashSuites.ts";
import {type BuiltBlock, StateBuilder} from "../../../storage/commit/stateBuilder.ts";
import type {WriteTarget} from "../../../storage/commit/writeTarget.ts";
import {stripZeros} from "../../../storage/tree/shortNumber.ts";
import type {DifferenceLine} from "../chains/differenceLine.ts";
import type {ReferenceAccount, ReferenceState} from "../reference/referenceState.ts";
import type {ReferenceTree} from "../reference/referenceTree.ts";

export interface FedLeaf {
  readonly leafIndex: number;
  /** An address, or a slot of 32 bytes. */
  readonly key: Uint8Array;
  /** 192 bytes of an account, 32 of a slot. */
  readonly value: Uint8Array;
}

export interface FedTree {
  /** The leaf index of the account. undefined: the tree of all accounts. */
  readonly owner: number | undefined;
  readonly nextFreeNode: number;
  readonly leaves: FedLeaf[];
}

/** What is fed. A test may change it before. */
export interface FedState {
  block: BuiltBlock;
  /** The account tree first. */
  readonly trees: FedTree[];
  readonly codes: Uint8Array[];
}

export function gatherState(
  state: ReferenceState,
  lines: readonly DifferenceLine[],
  number: number,
): FedState {
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
    const slotOf = new Map([...slots.keys()].map(slot => [textOf(hashSlot(suite, slot)), word(slot)]));
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

export async function feedState(target: WriteTarget, {block, trees, codes}: FedState): Promise<void> {
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
