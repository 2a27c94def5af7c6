/** Valid proof bytes, read, changed and written again. */
import {askAccounts} from "../../../client/compact/askedKeys.ts";
import {decodeProofBytes, encodeProofBytes} from "../../../client/compact/proofBytes.ts";
import type {PartLeaf, TreePart} from "../../../client/compact/treePart.ts";
import type {HashSuite} from "../../../client/hash/hashSuites.ts";
import type {CompactCase} from "./compactCases.ts";

type Mutable<Fields> = {-readonly [Name in keyof Fields]: Fields[Name]};
export type EditedLeaf = Mutable<PartLeaf>;

export interface EditedPart {
  nextFreeNode: number;
  keys: TreePart["keys"][number][];
  leaves: EditedLeaf[];
}

/** @param change - gets the part of the account tree, and that of the first storage tree if there is one, else the former again */
export function editProof(
  suite: HashSuite,
  {bytes, request}: CompactCase,
  change: (part: EditedPart, storage: EditedPart) => void,
): Uint8Array {
  const part = structuredClone(decodeProofBytes(suite, bytes, askAccounts(suite, request))) as EditedPart;
  const account = part.leaves.find(
    ({content}) => content.role === "account" && content.storage !== undefined,
  );
  const storage = account?.content.role === "account" ? account.content.storage : undefined;
  change(part, (storage ?? part) as EditedPart);
  return encodeProofBytes(suite, "accounts", part);
}

/** Sends a sibling where the bitmap has none. */
export function insertSibling(leaf: EditedLeaf, height: number, sibling: Uint8Array): void {
  let before = 0;
  for (let h = 0; h < height; h++) before += Math.floor(leaf.bitmap / 2 ** h) % 2;
  leaf.bitmap += 2 ** height;
  leaf.siblings = [...leaf.siblings.slice(0, before), sibling, ...leaf.siblings.slice(before)];
}
