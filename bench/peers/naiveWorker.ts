/**
 * A thread of the naive server: one call of chain_getProof per task, one record per node, plain objects.
 *
 * It reads with LevelDB's synchronous calls, the fastest ones: the comparison is about the design, not the driver.
 */
import {createHash} from "node:crypto";
import {workerData} from "node:worker_threads";
import {Level} from "level";
import {sha256Suite} from "../../storage/hash/sha256Suite.ts";
import {emptyTree} from "../../storage/tree/emptyTree.ts";
import {ACCOUNTS, hKeyKey, LEVEL_OPTIONS, leafKey, nodeKey, OPENING_BYTES, rootKey} from "./naiveLayout.ts";

export interface NaiveCall {
  /** Text with 0x, like the slots. */
  readonly address: string;
  readonly slots: readonly string[];
}

interface PathProof {
  readonly value: string;
  readonly proofRelatedNodes: readonly string[];
}

type KeyProof =
  | {readonly key: string; readonly leafIndex: number; readonly proof: PathProof}
  | {
      readonly key: string;
      readonly leftLeafIndex: number;
      readonly leftProof: PathProof;
      readonly rightLeafIndex: number;
      readonly rightProof: PathProof;
    };

const HEIGHT = 40;
const NEXT_AT = 32;
const STORAGE_ROOT_AT = 64;
const {zeros, topRoot} = emptyTree(sha256Suite);
const NEW_TREE_ROOT = Buffer.from(topRoot).toString("hex");

const db = new Level<string, Buffer>((workerData as {db: string}).db, LEVEL_OPTIONS);
await db.open();

export default async function prove({
  address,
  slots,
}: NaiveCall): Promise<{accountProof: KeyProof; storageProofs: KeyProof[]}> {
  const hKey = sha256(Buffer.from(address.slice(2).padStart(64, "0"), "hex"));
  const accountProof = await proveKey(ACCOUNTS, address.toLowerCase(), hKey);
  const value = "proof" in accountProof ? accountProof.proof.value.slice(2) : undefined;
  const storageRoot = value?.slice(2 * STORAGE_ROOT_AT, 2 * STORAGE_ROOT_AT + 64) ?? NEW_TREE_ROOT;
  const storageProofs: KeyProof[] = [];
  for (const slot of slots) {
    const word = slot.slice(2).toLowerCase().padStart(64, "0");
    const slotHKey = sha256(Buffer.from(word, "hex"));
    storageProofs.push(
      await proveKey(storageRoot === NEW_TREE_ROOT ? undefined : hKey, `0x${word}`, slotHKey),
    );
  }
  return {accountProof, storageProofs};
}

/** @param tree - undefined: a new tree, which is not stored */
async function proveKey(tree: string | undefined, key: string, hKey: string): Promise<KeyProof> {
  if (tree === undefined) return {key, ...proveAbsence(new NewTree(), 0, 1)};
  const stored = new StoredTree(tree);
  const index = db.getSync(hKeyKey(tree, hKey));
  if (index !== undefined) return {key, leafIndex: Number(index), proof: stored.prove(Number(index))};
  const [left] = await db
    .values({gte: hKeyKey(tree, ""), lt: hKeyKey(tree, hKey), reverse: true, limit: 1})
    .all();
  const leftLeafIndex = Number(left);
  const next = stored.leaf(leftLeafIndex)?.subarray(NEXT_AT, NEXT_AT + 32);
  return {key, ...proveAbsence(stored, leftLeafIndex, Number(`0x${next?.toString("hex")}`))};
}

interface Tree {
  prove(index: number): PathProof;
}

function proveAbsence(tree: Tree, leftLeafIndex: number, rightLeafIndex: number) {
  return {
    leftLeafIndex,
    leftProof: tree.prove(leftLeafIndex),
    rightLeafIndex,
    rightProof: tree.prove(rightLeafIndex),
  };
}

class StoredTree implements Tree {
  private readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  prove(index: number): PathProof {
    const nodes = [toHex(db.getSync(rootKey(this.name)))];
    for (let height = HEIGHT - 1; height >= 1; height--) {
      const zero = Buffer.from(zeros[height - 1] as Uint8Array);
      const sibling = siblingOf(Math.floor(index / 2 ** height));
      nodes.push(toHex(db.getSync(nodeKey(this.name, height, sibling)) ?? Buffer.concat([zero, zero])));
    }
    const leaf = this.leaf(index);
    nodes.push(toHex(this.leaf(siblingOf(index))?.subarray(0, OPENING_BYTES) ?? Buffer.alloc(32)));
    nodes.push(toHex(leaf?.subarray(0, OPENING_BYTES)));
    return {value: toHex(leaf?.subarray(OPENING_BYTES)), proofRelatedNodes: nodes};
  }

  leaf(index: number): Buffer | undefined {
    return db.getSync(leafKey(this.name, index));
  }
}

/** A tree with only head and tail. */
class NewTree implements Tree {
  prove(index: number): PathProof {
    const openings = [Buffer.alloc(OPENING_BYTES), Buffer.alloc(OPENING_BYTES)] as const;
    sha256Suite.encodeLeafOpeningInto(openings[0], 0, 0, 1, Buffer.alloc(32), Buffer.alloc(32));
    sha256Suite.encodeLeafOpeningInto(openings[1], 0, 0, 1, sha256Suite.tailHKey, Buffer.alloc(32));
    const rootNode = Buffer.alloc(sha256Suite.rootNodeBytes);
    sha256Suite.encodeRootNodeInto(rootNode, 0, 2, emptyTree(sha256Suite).subRoot);
    const nodes = [toHex(rootNode)];
    for (let height = HEIGHT - 1; height >= 1; height--) {
      const zero = Buffer.from(zeros[height - 1] as Uint8Array);
      nodes.push(toHex(Buffer.concat([zero, zero])));
    }
    nodes.push(toHex(openings[siblingOf(index) as 0 | 1]), toHex(openings[index as 0 | 1]));
    return {value: toHex(Buffer.alloc(32)), proofRelatedNodes: nodes};
  }
}

function siblingOf(index: number): number {
  return index % 2 === 0 ? index + 1 : index - 1;
}

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function toHex(bytes: Buffer | undefined): string {
  if (bytes === undefined) throw new Error("a record is missing");
  return `0x${bytes.toString("hex")}`;
}
