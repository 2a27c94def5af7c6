/** Verifies a part of the account tree with the storage parts in it, or one storage part (docs/proofs.md, section 10). */
import {concatBytes} from "../bytes/byteString.ts";
import {encodeHex} from "../bytes/hex.ts";
import {type HashSuite, hashSlotValue, word} from "../hash/hashSuites.ts";
import type {Proven, ProvenAccount} from "../proof/proofVerifier.ts";
import {check} from "../proof/strictJson.ts";
import {type AskedAccounts, slotsOf} from "./askedKeys.ts";
import type {SeeNode} from "./foldPart.ts";
import {keysOfLeaves} from "./keyTable.ts";
import type {PartLeaf, TreePart} from "./treePart.ts";
import {type VerifiedPart, verifyPart} from "./verifyPart.ts";

/** Whoever wants to see the nodes of a part says how. */
export type SeePart = (part: TreePart) => SeeNode;

export interface VerifiedSlots extends VerifiedPart {
  /** One per key; undefined: absent. */
  readonly values: readonly (bigint | undefined)[];
}

export interface VerifiedAccounts extends VerifiedPart {
  /** Per leaf; undefined: a leaf that is no account asked for. */
  readonly accounts: readonly (ProvenAccount | undefined)[];
  /** Per leaf; undefined: it has no storage part. */
  readonly storages: readonly (VerifiedSlots | undefined)[];
  /** Per entry of the request. */
  readonly proven: readonly Proven[];
}

/**
 * @param minNextFreeNode - 3 within a part of the account tree
 * @returns the root to which the part folds, and what it proves if that root is trusted
 * @throws ProofError
 */
export function verifySlotsPart(
  suite: HashSuite,
  at: string,
  part: TreePart,
  hKeys: readonly Uint8Array[],
  minNextFreeNode: 2 | 3,
  seePart?: SeePart,
): VerifiedSlots {
  const hashContent = (leaf: number, here: string): Uint8Array => {
    const {content} = part.leaves[leaf] as PartLeaf;
    check(content.role === "slot" && content.value !== 0n, here, "a slot is stored as zero");
    return hashSlotValue(suite, content.value);
  };
  const verified = verifyPart(part, {
    suite,
    at,
    hKeys,
    minNextFreeNode,
    hashContent,
    seeNode: seePart?.(part),
  });
  const values = part.keys.map(place => {
    const content = "leaf" in place ? part.leaves[place.leaf]?.content : undefined;
    return content?.role === "slot" ? content.value : undefined;
  });
  return {...verified, values};
}

/**
 * @returns as above
 * @throws ProofError
 */
export function verifyAccountsPart(
  suite: HashSuite,
  at: string,
  part: TreePart,
  asked: AskedAccounts,
  seePart?: SeePart,
): VerifiedAccounts {
  const named = keysOfLeaves(part.keys, part.leaves.length);
  const accounts = new Array<ProvenAccount | undefined>(part.leaves.length).fill(undefined);
  const storages = new Array<VerifiedSlots | undefined>(part.leaves.length).fill(undefined);
  const hashContent = (leaf: number, here: string): Uint8Array => {
    const {leafIndex, content} = part.leaves[leaf] as PartLeaf;
    check(content.role === "account", here, "no account's value");
    if (content.storage !== undefined) {
      const slots = slotsOf(asked, named[leaf] ?? []);
      storages[leaf] = verifySlotsPart(suite, `${here}.storageTree`, content.storage, slots, 3, seePart);
    }
    const storageRoot = storages[leaf]?.root ?? content.storageRoot;
    check(storageRoot !== undefined, here, "no storageRoot");
    check(suite.isDigest(storageRoot), here, "storageRoot is no digest of the suite");
    const {nonce, balance, codeHash, keccakCodeHash, codeSize} = content;
    check(suite.isDigest(codeHash), here, "codeHash is no digest of the suite");
    accounts[leaf] = {
      ...{leafIndex, nonce, balance},
      storageRoot: encodeHex(storageRoot),
      codeHash: encodeHex(codeHash),
      keccakCodeHash: encodeHex(keccakCodeHash),
      codeSize,
    };
    const words = [word(nonce), word(balance), storageRoot, codeHash, keccakCodeHash, word(codeSize)];
    return suite.hashAccountValue(concatBytes(...words));
  };
  const verified = verifyPart(part, {
    ...{suite, at, hKeys: asked.hKeys, minNextFreeNode: 2, hashContent},
    seeNode: seePart?.(part),
  });
  return {...verified, accounts, storages, proven: sortByEntry(part, asked, accounts, storages)};
}

/** A leaf's slots are those of its entries one after the other. */
function sortByEntry(
  part: TreePart,
  {slots}: AskedAccounts,
  accounts: readonly (ProvenAccount | undefined)[],
  storages: readonly (VerifiedSlots | undefined)[],
): Proven[] {
  const given = new Array<number>(part.leaves.length).fill(0);
  return part.keys.map((place, entry) => {
    const count = slots[entry]?.length ?? 0;
    if (!("leaf" in place)) return {account: undefined, slots: new Array(count).fill(undefined)};
    const {leaf} = place;
    const first = given[leaf] as number;
    given[leaf] = first + count;
    const values = storages[leaf]?.values.slice(first, first + count);
    return {account: accounts[leaf], slots: values ?? new Array(count).fill(undefined)};
  });
}
