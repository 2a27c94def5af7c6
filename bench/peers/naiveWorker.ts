/**
 * A thread of the naive server: one call of chain_getProof per task, one record per node, plain objects.
 *
 * It reads with LevelDB's synchronous calls, the fastest ones: the comparison is about the design, not the driver.
 */
import {hash} from "node:crypto";
import {workerData} from "node:worker_threads";
import {Level} from "level";
import {sha256Suite} from "../../storage/hash/sha256Suite.ts";
import {emptyTree} from "../../storage/tree/emptyTree.ts";
import {ACCOUNTS, keyOf, LEVEL_OPTIONS, NEW, OPENING_BYTES} from "./naiveLayout.ts";

export interface NaiveCall {
  /** Text with 0x, like the slots. */
  readonly address: string;
  readonly slots: readonly string[];
}

interface PathProof {
  readonly value: string;
  readonly proofRelatedNodes: readonly string[];
}

const HEIGHT = 40;
const NEXT_AT = 32;
const STORAGE_ROOT_AT = 64;
const {zeros, topRoot} = emptyTree(sha256Suite);
const NEW_TREE_ROOT = Buffer.from(topRoot).toString("hex");

const db = new Level<string, Buffer>((workerData as {db: string}).db, LEVEL_OPTIONS);
await db.open();

export default async function prove({address, slots}: NaiveCall): Promise<object> {
  const hKey = hashWord(address.slice(2).padStart(64, "0"));
  const accountProof = await proveKey(ACCOUNTS, address.toLowerCase(), hKey);
  const value = "proof" in accountProof ? accountProof.proof.value.slice(2) : undefined;
  const storageRoot = value?.slice(2 * STORAGE_ROOT_AT, 2 * STORAGE_ROOT_AT + 64) ?? NEW_TREE_ROOT;
  const storageProofs: object[] = [];
  for (const slot of slots) {
    const word = slot.slice(2).toLowerCase().padStart(64, "0");
    const tree = storageRoot === NEW_TREE_ROOT ? NEW : hKey;
    storageProofs.push(await proveKey(tree, `0x${word}`, hashWord(word)));
  }
  return {accountProof, storageProofs};
}

async function proveKey(tree: string, key: string, hKey: string) {
  const index = db.getSync(keyOf.hKey(tree, hKey));
  if (index !== undefined) return {key, leafIndex: Number(index), proof: provePath(tree, Number(index))};
  const [left] = await db
    .values({gte: keyOf.hKey(tree, ""), lt: keyOf.hKey(tree, hKey), reverse: true, limit: 1})
    .all();
  const leftLeafIndex = Number(left);
  const next = db.getSync(keyOf.leaf(tree, leftLeafIndex))?.subarray(NEXT_AT, NEXT_AT + 32);
  const rightLeafIndex = Number(toHex(next));
  const leftProof = provePath(tree, leftLeafIndex);
  return {key, leftLeafIndex, leftProof, rightLeafIndex, rightProof: provePath(tree, rightLeafIndex)};
}

function provePath(tree: string, index: number): PathProof {
  const nodes = [toHex(db.getSync(keyOf.root(tree)))];
  for (let height = HEIGHT - 1; height >= 1; height--) {
    const zero = Buffer.from(zeros[height - 1] as Uint8Array);
    const sibling = siblingOf(Math.floor(index / 2 ** height));
    nodes.push(toHex(db.getSync(keyOf.node(tree, height, sibling)) ?? Buffer.concat([zero, zero])));
  }
  const leaf = db.getSync(keyOf.leaf(tree, index));
  const sibling = db.getSync(keyOf.leaf(tree, siblingOf(index)));
  nodes.push(toHex(sibling?.subarray(0, OPENING_BYTES) ?? Buffer.alloc(32)));
  nodes.push(toHex(leaf?.subarray(0, OPENING_BYTES)));
  return {value: toHex(leaf?.subarray(OPENING_BYTES)), proofRelatedNodes: nodes};
}

function siblingOf(index: number): number {
  return index % 2 === 0 ? index + 1 : index - 1;
}

/** @param word - 64 digits */
function hashWord(word: string): string {
  return hash("sha256", Buffer.from(word, "hex"));
}

function toHex(bytes: Buffer | undefined): string {
  if (bytes === undefined) throw new Error("a record is missing");
  return `0x${bytes.toString("hex")}`;
}
