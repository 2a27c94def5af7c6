/** Rows of pulls, made of numbers: the same ones for the same numbers. */
import type {AskedPull} from "../../../client/folder/manifestParts.ts";
import type {AccountRow, SlotRow, TreeRow} from "../../../client/folder/row/tables.ts";

export function bytesOf(length: number, seed: number): Uint8Array {
  return new Uint8Array(length).map((_, at) => (seed * 31 + at * 7) % 256);
}

/** Every fourth account has code and storage. */
export function accountRow(leafIndex: number): AccountRow {
  const isRich = leafIndex % 4 === 0;
  const hash = (seed: number) => (isRich ? bytesOf(32, leafIndex + seed) : undefined);
  return {
    leafIndex,
    address: bytesOf(20, leafIndex),
    nonce: leafIndex === 5 ? 2n ** 64n - 1n : BigInt(leafIndex),
    balance: leafIndex === 6 ? 2n ** 256n - 1n : 10n ** BigInt(leafIndex % 60) + 1n,
    storageRoot: hash(1),
    codeHash: hash(2),
    keccakCodeHash: hash(3),
    codeSize: isRich ? 24_576n : 0n,
  };
}

export function treeRow(accountIndex: number, leaves: number): TreeRow {
  return {
    accountIndex,
    address: bytesOf(20, accountIndex),
    root: bytesOf(32, accountIndex + 1),
    nextFreeNode: 2 * leaves + 2,
    leaves,
  };
}

/** Every second position of a tree is used. */
export function slotRow(accountIndex: number, at: number): SlotRow {
  return {
    accountIndex,
    address: bytesOf(20, accountIndex),
    leafIndex: 2 + 2 * at,
    slot: BigInt(at) << 200n,
    value: BigInt(at) + 1n,
  };
}

export function askedOf(more: Partial<AskedPull> = {}): AskedPull {
  return {
    suite: "sha256",
    format: "ndjson",
    pulled: "all",
    block: 100,
    stateRoot: `0x${"ab".repeat(32)}`,
    ...more,
  };
}
