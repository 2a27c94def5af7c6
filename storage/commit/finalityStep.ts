/**
 * Checks what layer 1 said against what is recorded and held, and puts it into a batch, whole or not at all.
 */
import {encodeFinalization, type Finalization} from "../block/finalization.ts";
import {encodeLayer1Mark, type Layer1Mark} from "../block/layer1Mark.ts";
import type {StateReader} from "../block/stateReader.ts";
import {StoreError} from "../errors.ts";
import type {SuiteName} from "../hash/suiteNames.ts";
import {toHex} from "../hex.ts";
import {finalizationKey, META} from "../record/layout.ts";
import type {WriteBatch} from "./writeBatch.ts";

/** A finalization as its event says it. */
export interface FinalityEvent extends Finalization {
  /** 32 bytes: the state root that the contract held before. */
  readonly parentRoot: Uint8Array;
  /** 32 bytes: the hash of `endBlock` by the layer-2 node. undefined: no node was asked. */
  readonly endHash?: Uint8Array;
}

/** What is recorded at once: the next finalizations in the order of layer 1, and how far it has been read. */
export interface FinalityStep {
  readonly events: readonly FinalityEvent[];
  readonly mark: Layer1Mark;
}

/** With this suite, the roots held here are those of the contract. */
const NETWORK_SUITE: SuiteName = "poseidon2";

/**
 * @param reader - sees all blocks that were applied: the batch is flushed
 * @throws StoreError BLOCK_UNKNOWN for a finalization whose last block is not held yet, FINALITY_CONFLICT if layer 1
 *   contradicts itself or a root held here, or if another block is held than the layer-2 node's. Then nothing is put
 */
export function putFinalityStep(reader: StateReader, batch: WriteBatch, {events, mark}: FinalityStep): void {
  const {finalizations} = reader;
  checkMark(finalizations.readMark(), mark);
  let before = finalizations.last();
  for (const event of events) {
    checkFollows(before, event);
    checkHash(reader, event);
    checkRoots(reader, event);
    before = event;
  }
  let count = finalizations.count();
  for (const event of events) batch.put(finalizationKey(count++), encodeFinalization(event));
  batch.put(META.layer1, encodeLayer1Mark(mark, count));
}

function checkMark(before: Layer1Mark | undefined, mark: Layer1Mark): void {
  if (before === undefined) return;
  if (Buffer.compare(before.contract, mark.contract) !== 0)
    throw conflict(
      `the finalizations recorded here are those of contract ${toHex(before.contract)}, not of ${toHex(mark.contract)}`,
    );
  if (mark.block < before.block)
    throw conflict(`layer 1 was read up to block ${before.block} before, now up to ${mark.block}`);
}

function checkFollows(before: Finalization | undefined, event: FinalityEvent): void {
  const {startBlock, endBlock, parentRoot} = event;
  if (startBlock !== undefined && startBlock > endBlock)
    throw conflict(`${describe(event)} begins at block ${startBlock}, after its end`);
  if (before === undefined) return;
  if (endBlock <= before.endBlock)
    throw conflict(`${describe(event)} comes after one that ends at block ${before.endBlock}`);
  if (startBlock !== undefined && startBlock !== before.endBlock + 1)
    throw conflict(
      `${describe(event)} begins at block ${startBlock}, but the one before it ends at block ${before.endBlock}`,
    );
  if (Buffer.compare(parentRoot, before.finalRoot) !== 0)
    throw conflict(
      `${describe(event)} follows state root ${toHex(parentRoot)}, but the one before it, up to block ${before.endBlock}, has ${toHex(before.finalRoot)}`,
    );
}

/**
 * An event names no block hash. So after a reorganisation of layer 2, the block held here may be one of the branch that was left:
 * with a suite that is not the network's, only the hash tells.
 */
function checkHash(reader: StateReader, event: FinalityEvent): void {
  const {endBlock, endHash} = event;
  const {hash} = reader.headerRecordOrThrow(endBlock).header;
  if (endHash === undefined || Buffer.compare(hash, endHash) === 0) return;
  throw conflict(
    `${describe(event)} is of another branch: block ${endBlock} has hash ${toHex(hash)} here, but ${toHex(endHash)} at the layer-2 node`,
  );
}

function checkRoots(reader: StateReader, event: FinalityEvent): void {
  const {startBlock, endBlock, parentRoot, finalRoot} = event;
  const {stateRoot} = reader.headerRecordOrThrow(endBlock);
  if (reader.suite.name !== NETWORK_SUITE) return;
  if (Buffer.compare(stateRoot, finalRoot) !== 0)
    throw conflict(
      `${describe(event)} has state root ${toHex(finalRoot)}, but block ${endBlock} has ${toHex(stateRoot)} here`,
    );
  if (startBlock === undefined || startBlock === 0) return;
  const parent = reader.headerRecordOrThrow(startBlock - 1).stateRoot;
  if (Buffer.compare(parent, parentRoot) !== 0)
    throw conflict(
      `${describe(event)} follows state root ${toHex(parentRoot)}, but block ${startBlock - 1} has ${toHex(parent)} here`,
    );
}

function describe({endBlock, layer1Block, transactionHash}: Finalization): string {
  return `the finalization up to block ${endBlock} (layer-1 block ${layer1Block}, transaction ${toHex(transactionHash)})`;
}

function conflict(message: string): StoreError {
  return new StoreError("FINALITY_CONFLICT", message);
}
