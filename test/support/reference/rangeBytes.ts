/** Answers of chain_getLeaves by docs/proofs.md, section 15, slow and obvious, in parts that can be forged. */
import {concatBytes, isEqual, isZero, joinBytes} from "../../../client/bytes/byteString.ts";
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import {compactAnswers} from "../../../client/compact/compactProof.ts";
import {type HashSuite, hashWord, newTreeRoot, word} from "../../../client/hash/hashSuites.ts";
import {splitAccount} from "../../../client/proof/account.ts";
import type {DifferenceLine} from "../chains/differenceLine.ts";
import type {ReferenceState} from "./referenceState.ts";
import type {ReferenceLeaf, ReferenceTree} from "./referenceTree.ts";

export interface RangeParts {
  /** 0x03, the block, and of a storage tree its account's proof. */
  readonly head: Uint8Array;
  /** undefined: an account without storage, after whose proof the bytes end. */
  readonly range:
    | {
        readonly nextFreeNode: number;
        readonly from: number;
        readonly records: readonly Uint8Array[];
        readonly nodes: readonly Uint8Array[];
      }
    | undefined;
}

/** The key behind an hKey. */
export type KeyOf = (hKey: Uint8Array, isAccounts: boolean) => Uint8Array;

/** Those of a chain: every address and slot that its blocks name. */
export function keysOf(suite: HashSuite, lines: readonly DifferenceLine[]): KeyOf {
  // Apart: with sha256, an address and the slot of the same number have one hKey.
  const [addresses, slots] = [new Map<string, Uint8Array>(), new Map<string, Uint8Array>()];
  for (const [address, difference] of lines.flatMap(({accounts}) => Object.entries(accounts))) {
    const bytes = decodeHex(address.toLowerCase());
    addresses.set(encodeHex(suite.hashAddress(bytes)), bytes);
    for (const slot of Object.keys(difference?.storage ?? {}).map(BigInt))
      slots.set(encodeHex(hashWord(suite, slot)), stripped(word(slot)));
  }
  return (hKey, isAccounts) => (isAccounts ? addresses : slots).get(encodeHex(hKey)) as Uint8Array;
}

export function rangeParts(
  state: ReferenceState,
  block: {readonly number: number; readonly hash: string},
  address: string | undefined,
  from: number,
  count: number,
  keyOf: KeyOf,
): RangeParts {
  const {suite} = state;
  const root = state.stateRoot(block.number);
  const head = [bigEndian(3, 1), bigEndian(block.number, 6), decodeHex(block.hash), root];
  if (address === undefined)
    return {
      head: joinBytes(head),
      range: treeRange(suite, state.accountTree(block.number), true, from, count, keyOf),
    };
  const proof = compactAnswers(suite, [{address, storageKeys: []}], [state.prove(block.number, address, [])]);
  const storage = state.readAccount(block.number, address)?.storage;
  const isNone = storage === undefined || isEqual(storage.topRoot(), newTreeRoot(suite));
  return {
    head: concatBytes(...head, bigEndian(proof.length, 2), proof),
    range: isNone ? undefined : treeRange(suite, storage, false, from, count, keyOf),
  };
}

function treeRange(
  suite: HashSuite,
  tree: ReferenceTree,
  isAccounts: boolean,
  from: number,
  count: number,
  keyOf: KeyOf,
): RangeParts["range"] {
  const {nextFreeNode, positions} = tree;
  const to = Math.min(from + count, nextFreeNode);
  const width = widthOf(nextFreeNode);
  const records = positions
    .slice(from, to)
    .map((leaf, i) => leafRecord(suite, leaf, from + i, isAccounts, width, keyOf));
  const nodes: Uint8Array[] = [];
  const visit = (height: number, index: number): void => {
    const start = index * 2 ** height;
    if (start >= nextFreeNode) return;
    if (start + 2 ** height <= from || start >= to) nodes.push(tree.node(height, index));
    else if (height > 0) {
      visit(height - 1, 2 * index);
      visit(height - 1, 2 * index + 1);
    }
  };
  visit(40, 0);
  return {nextFreeNode, from, records, nodes};
}

/** The record of a leaf in a range. @param leaf - null: deleted. @param hasKey - false: the key is that of the record before */
export function leafRecord(
  suite: HashSuite,
  leaf: ReferenceLeaf | null,
  index: number,
  isAccounts: boolean,
  width: number,
  keyOf: KeyOf,
  hasKey = true,
): Uint8Array {
  if (leaf === null) return Uint8Array.of(isAccounts ? 0x0f : 0);
  const {prev, next, hKey, value} = leaf;
  if (index === 0) return bigEndian(next, width);
  if (index === 1) return bigEndian(prev, width);
  const links = linksOf(leaf, width);
  const none = new Uint8Array();
  const key = hasKey ? keyOf(hKey, isAccounts) : none;
  if (!isAccounts) {
    const digits = stripped(value);
    return concatBytes(Uint8Array.of(digits.length), hasKey ? numberOf(key) : none, links, digits);
  }
  const [nonce, balance, storageRoot, codeHash, keccakCodeHash, codeSize] = splitAccount(value);
  const hasCode = !isZero(codeSize);
  const hasStorage = !isEqual(storageRoot, newTreeRoot(suite));
  const nonceDigits = stripped(nonce);
  const flags = nonceDigits.length | (hasCode ? 0x40 : 0) | (hasStorage ? 0x80 : 0);
  return concatBytes(
    Uint8Array.of(flags),
    key,
    links,
    nonceDigits,
    numberOf(balance),
    ...(hasCode ? [numberOf(codeSize), codeHash, keccakCodeHash] : []),
    ...(hasStorage ? [storageRoot] : []),
  );
}

export function linksOf({prev, next}: ReferenceLeaf, width: number): Uint8Array {
  return concatBytes(bigEndian(prev, width), bigEndian(next, width));
}

export function joinRange({head, range}: RangeParts): Uint8Array {
  if (range === undefined) return head;
  const {nextFreeNode, from, records, nodes} = range;
  return concatBytes(
    head,
    bigEndian(nextFreeNode, 5),
    bigEndian(from, 5),
    bigEndian(records.length, 2),
    joinBytes(records),
    joinBytes(nodes),
  );
}

/** Bytes of a link in a tree of so many positions. */
export function widthOf(positions: number): number {
  return stripped(word(positions - 1)).length;
}

function numberOf(value: Uint8Array): Uint8Array {
  const digits = stripped(value);
  return concatBytes(Uint8Array.of(digits.length), digits);
}

function stripped(value: Uint8Array): Uint8Array {
  const first = value.findIndex(byte => byte !== 0);
  return first < 0 ? new Uint8Array() : value.subarray(first);
}

export function bigEndian(value: number | bigint, bytes: number): Uint8Array {
  return word(value).subarray(32 - bytes);
}
