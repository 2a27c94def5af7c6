/** Checks finalizations against the recorded ones and the stored blocks, and puts all of them into a batch, or none. */
import {encodeFinalization, type Finalization} from "../block/finalization.ts";
import {encodeLayer1Record, type Layer1Mark, type Layer1Record, type RootKind} from "../block/layer1Mark.ts";
import type {StateReader} from "../block/stateReader.ts";
import {StoreError} from "../errors.ts";
import {isSame, toHex} from "../hex.ts";
import {finalizationKey, META} from "../record/layout.ts";
import type {WriteBatch} from "./writeBatch.ts";

export interface FinalityEvent extends Finalization {
  /** 32 bytes: root or hash of the block before the range, by `names`; zero at a change from roots to hashes. */
  readonly parent: Uint8Array | undefined;
  /** 32 bytes: the hash of `endBlock` according to the layer-2 node. undefined: no node was asked. */
  readonly endHash?: Uint8Array | undefined;
}

/** The next finalizations in the order of layer 1, and how far layer 1 has been read: recorded in one write. */
export interface FinalityStep {
  readonly events: readonly FinalityEvent[];
  readonly mark: Layer1Mark;
  /** Which roots the contract stores. "none": not compared. undefined: as recorded, or as these events show. */
  readonly root?: RootKind | "none" | undefined;
  /** The first layer-1 block that counts. Changing it restarts the finality scan. undefined: as recorded. */
  readonly from?: number | undefined;
}

/** Does a step restart the finality scan? Then its first event need not follow the last recorded one. */
export function beginsAgain(before: Layer1Record | undefined, from: number | undefined): boolean {
  return before !== undefined && from !== undefined && from !== before.from;
}

/**
 * @param reader - sees all blocks that were applied: the batch is flushed
 * @returns the newest block whose sparse-tree root was compared. A block hash does not commit to sparse trees
 * @throws StoreError BLOCK_UNKNOWN for a finalization whose last block is not stored yet, FINALITY_CONFLICT if layer 1
 *   contradicts itself or a stored root, or if the layer-2 node has another block. Then nothing is put
 */
export function putFinalityStep(
  reader: StateReader,
  batch: WriteBatch,
  step: FinalityStep,
): number | undefined {
  const {events, mark} = step;
  const {finalizations} = reader;
  const recorded = finalizations.readLayer1();
  const isBegin = beginsAgain(recorded, step.from);
  if (!isBegin) checkContract(recorded?.mark, mark);
  let count = recorded?.count ?? 0;
  const begun = isBegin ? count : (recorded?.begun ?? 0);
  let root = step.root ?? recorded?.root;
  let before = finalizations.last();
  let verified: number | undefined;
  for (const [at, event] of events.entries()) {
    checkRange(before, event);
    if (before !== undefined && count + at > begun) checkFollows(before, event);
    checkHash(reader, event);
    if (event.names === "blockHash") checkHashes(reader, event);
    else if (root !== "none") {
      root = checkRoots(reader, event, root);
      if (root === "suite") verified = event.endBlock;
    }
    before = event;
  }
  for (const event of events) batch.put(finalizationKey(count++), encodeFinalization(event));
  const found = root === "none" ? recorded?.root : root;
  const from = step.from ?? recorded?.from;
  batch.put(META.layer1, encodeLayer1Record({mark, count, begun, from, root: found}));
  return verified;
}

function checkContract(before: Layer1Mark | undefined, mark: Layer1Mark): void {
  if (before !== undefined && Buffer.compare(before.contract, mark.contract) !== 0)
    throw conflict(
      `the finalizations recorded here are those of contract ${toHex(before.contract)}, not of ${toHex(mark.contract)}`,
    );
}

function checkRange(before: Finalization | undefined, event: FinalityEvent): void {
  const {startBlock, endBlock} = event;
  if (startBlock !== undefined && startBlock > endBlock)
    throw conflict(`${describe(event)} begins at block ${startBlock}, after its end`);
  if (before !== undefined && endBlock <= before.endBlock)
    throw conflict(`${describe(event)} comes after one that ends at block ${before.endBlock}`);
}

/** After a switch from state roots to block hashes, or back, only the block numbers must be consecutive. */
function checkFollows(before: Finalization, event: FinalityEvent): void {
  const {startBlock, names, parent} = event;
  if (startBlock !== undefined && startBlock !== before.endBlock + 1)
    throw conflict(
      `${describe(event)} begins at block ${startBlock}, but the one before it ends at block ${before.endBlock}`,
    );
  if (parent !== undefined && names === before.names && !isSame(parent, before.final))
    throw conflict(
      `${describe(event)} follows ${NAMES[names]} ${toHex(parent)}, but the one before it, up to block ${before.endBlock}, has ${toHex(before.final)}`,
    );
}

/** Without hashes, events do not tell apart two blocks of one number and state. The layer-2 node does. */
function checkHash(reader: StateReader, event: FinalityEvent): void {
  const {endBlock, endHash} = event;
  const {hash} = reader.headerRecordOrThrow(endBlock).header;
  if (endHash === undefined || Buffer.compare(hash, endHash) === 0) return;
  throw conflict(
    `${describe(event)} is of another branch: block ${endBlock} has hash ${toHex(hash)} here, but ${toHex(endHash)} at the layer-2 node`,
  );
}

function checkHashes(reader: StateReader, event: FinalityEvent): void {
  const {endBlock, parent, final} = event;
  const {hash} = reader.headerRecordOrThrow(endBlock).header;
  if (!isSame(hash, final))
    throw conflict(
      `${describe(event)} has block hash ${toHex(final)}, but block ${endBlock} has ${toHex(hash)} here`,
    );
  if (parent?.some(byte => byte !== 0) === true)
    checkParent(reader, event, block => reader.headerRecordOrThrow(block).header.hash);
}

function checkRoots(reader: StateReader, event: FinalityEvent, expected: RootKind | undefined): RootKind {
  const {endBlock, final} = event;
  const roots = readRoots(reader, endBlock);
  const kinds = expected === undefined ? ROOT_KINDS : [expected];
  const kind = kinds.find(name => isSame(roots[name], final));
  if (kind === undefined) {
    const stored = kinds.map(name => `${describeRoot(roots[name])} ${PLACE[name]}`).join(" and ");
    const hint = expected === undefined ? " (set --l1-root to the root that the contract stores)" : "";
    throw conflict(
      `${describe(event)} has state root ${toHex(final)}, but block ${endBlock} has ${stored} here${hint}`,
    );
  }
  checkParent(reader, event, block => readRoots(reader, block)[kind]);
  return kind;
}

/** @param readStored - reads what `parent` must be */
function checkParent(
  reader: StateReader,
  event: FinalityEvent,
  readStored: (block: number) => Uint8Array | undefined,
): void {
  const {startBlock, names, parent} = event;
  if (startBlock === undefined || startBlock <= reader.firstBlock || parent === undefined) return;
  const stored = readStored(startBlock - 1);
  if (stored !== undefined && !isSame(stored, parent))
    throw conflict(
      `${describe(event)} follows ${NAMES[names]} ${toHex(parent)}, but block ${startBlock - 1} has ${toHex(stored)} here`,
    );
}

const NAMES: Readonly<Record<Finalization["names"], string>> = {
  stateRoot: "state root",
  blockHash: "block hash",
};
const ROOT_KINDS: readonly RootKind[] = ["header", "suite"];
const PLACE: Readonly<Record<RootKind, string>> = {header: "in its header", suite: "in the trees"};

function readRoots(reader: StateReader, block: number): Readonly<Record<RootKind, Uint8Array | undefined>> {
  const {header, stateRoot} = reader.headerRecordOrThrow(block);
  return {header: header.stateRoot, suite: stateRoot};
}

function describeRoot(root: Uint8Array | undefined): string {
  return root === undefined ? "no root" : toHex(root);
}

function describe({endBlock, layer1Block, transactionHash}: Finalization): string {
  return `the finalization up to block ${endBlock} (layer-1 block ${layer1Block}, transaction ${toHex(transactionHash)})`;
}

function conflict(message: string): StoreError {
  return new StoreError("FINALITY_CONFLICT", message);
}
