/**
 * Reads a node's blocks after the newest one that is held, and goes on as the node's chain grows.
 *
 *   newest held < node's head     ranges are read ahead, each block is linked to the one before
 *   newest held = node's head     wait for the next head
 *   the node has another block    the common ancestor is found, the blocks above it are removed, and reading goes on there
 *
 * If the node has the same chain but fewer blocks than are held here, nothing is removed: the source waits.
 */

import type {BlockReader, NodeBlock} from "../../../nodes/blocks/blockReader.ts";
import {findCommonAncestor} from "../../../nodes/blocks/commonAncestor.ts";
import {findNamedBlock, type NamedBlock} from "../../../nodes/rpc/namedBlock.ts";
import {type Node, NodeFailure, NodeRefusal} from "../../../nodes/rpc/node.ts";
import type {BlockDifference} from "../../../storage/block/blockDifference.ts";
import type {BlockWriter} from "../../../storage/commit/blockWriter.ts";
import {toHex} from "../../../storage/hex.ts";
import type {SourceState} from "../../messages/importSource.ts";
import {neverHeld, type SourceBlock, SourceError, Stopped} from "../sourceBlock.ts";
import {type ReadRange, readAhead} from "./readAhead.ts";

/** A source that is this far behind the node's head is shown as "reading", not as "following". */
const READING_BLOCKS = 64;
/** For the traces and the states of one block. */
const REREAD_MS = 60_000;
/**
 * The node has every held block, but its next block names another parent. After this many times in a row, the node is said to
 * contradict itself.
 */
const MAX_FALSE_ALARMS = 5;
/** A node that is behind the held blocks this often in a row is waited for: about a second. A gateway may ask another one each time. */
const MAX_LOOKS_BEHIND = 10;

export interface NodeFeed {
  readonly reader: BlockReader;
  /**
   * Runs work with one node until it succeeds.
   *
   * @param ending - ends it earlier than `signal`
   * @param onBytes - called with the length of each part of an answer
   * @throws the signal's reason
   */
  readonly ask: <T>(
    work: (node: Node) => Promise<T>,
    ending?: AbortSignal,
    onBytes?: (bytes: number) => void,
  ) => Promise<T>;
  /** Waits until the node may have another head. */
  readonly pause: () => Promise<void>;
  readonly writer: () => BlockWriter;
  readonly rollback: (to: number, latest: number) => Promise<void>;
  readonly onState: (state: SourceState, reason?: string) => void;
  readonly onTarget: (block: number) => void;
  /** The last block to read; undefined: there is none. */
  readonly end: "head" | number | undefined;
  readonly signal: AbortSignal;
}

/** @throws SourceError; DeepFork if the node's chain differs from the held one at a finalized block */
export async function* readNodeBlocks(feed: NodeFeed): AsyncGenerator<SourceBlock> {
  let end = feed.end;
  let falseAlarms = 0;
  let looksBehind = 0;
  /** The last block that came did not follow the newest one held. */
  let isSuspect = false;
  for (;;) {
    const [name, head] = await feed.ask(async node => [node.name, await readHead(node)] as const);
    if (end === "head") end = head.number;
    const wasRolledBack = await settleFork(feed, head, isSuspect);
    falseAlarms = isSuspect && !wasRolledBack ? falseAlarms + 1 : 0;
    if (falseAlarms >= MAX_FALSE_ALARMS) throw await describeContradiction(feed);
    const latest = feed.writer().latest ?? -1;
    const to = Math.min(head.number, end ?? head.number);
    if (end !== undefined && latest >= end) return;
    if (latest >= to) {
      looksBehind = head.number < latest ? looksBehind + 1 : 0;
      if (looksBehind === 0) feed.onState("following");
      else if (looksBehind >= MAX_LOOKS_BEHIND)
        feed.onState("waiting", `${name}: its newest block is ${head.number}, block ${latest} is held here`);
      await feed.pause();
      isSuspect = false;
      continue;
    }
    if (to - latest >= READING_BLOCKS || looksBehind >= MAX_LOOKS_BEHIND) feed.onState("reading");
    looksBehind = 0;
    feed.onTarget(to);
    isSuspect = yield* readOn(feed, latest + 1, to);
    // The node does not have the blocks up to its own head. Asking again at once would only burden it.
    if (!isSuspect && (feed.writer().latest ?? -1) === latest) await feed.pause();
  }
}

/** @returns whether a block came that does not follow the newest one held */
async function* readOn(feed: NodeFeed, from: number, to: number): AsyncGenerator<SourceBlock, boolean> {
  const {reader, writer, signal} = feed;
  for await (const block of readAhead(createRead(feed), reader, from, to, signal)) {
    const latest = writer().latest ?? -1;
    // An order removed blocks meanwhile.
    if (block.number !== latest + 1) return false;
    if (latest >= 0 && Buffer.compare(block.parentHash, hashOf(writer(), latest)) !== 0) return true;
    const {number, hash, origin} = block;
    const isExecuted = reader.name === "execute";
    const isOutdated = (): boolean => !isNext(writer(), block);
    yield {
      ...{number, hash, origin, isExecuted, isOutdated, difference: () => block.difference()},
      ...(reader.reread && {reread: () => readAgain(feed, block)}),
    };
  }
  return false;
}

function createRead({reader, ask}: NodeFeed): ReadRange {
  return (first, last, ending, answers) => {
    let tries = 0;
    const read = (node: Node): ReturnType<BlockReader["read"]> => {
      answers.begin();
      // A range may be too much for the node, or its answer too long: each try asks for half as much.
      const count = Math.max(1, Math.floor((last - first + 1) / 2 ** tries++));
      return reader.read(node, first, first + count - 1);
    };
    return ask(read, ending, bytes => answers.add(bytes));
  };
}

function isNext(writer: BlockWriter, {number, parentHash}: NodeBlock): boolean {
  const latest = writer.latest ?? -1;
  return number === latest + 1 && (latest < 0 || Buffer.compare(parentHash, hashOf(writer, latest)) === 0);
}

/** One try, and not for long: no block is taken and no order is obeyed meanwhile. @throws Stopped */
async function readAgain(
  {reader, ask, signal}: NodeFeed,
  {number, hash}: NodeBlock,
): Promise<BlockDifference | undefined> {
  const read = async (node: Node): Promise<NodeBlock | undefined> => {
    try {
      return await reader.reread?.(node, number);
    } catch (error) {
      // The import ends with the root that is wrong, and tries again.
      if (error instanceof NodeFailure || error instanceof NodeRefusal) return undefined;
      throw error;
    }
  };
  const limit = AbortSignal.timeout(REREAD_MS);
  try {
    const again = await ask(read, AbortSignal.any([signal, limit]));
    return again !== undefined && Buffer.compare(again.hash, hash) === 0 ? again.difference() : undefined;
  } catch (error) {
    if (signal.aborted) throw new Stopped();
    if (limit.aborted) return undefined;
    throw error;
  }
}

/**
 * @param isSuspect - compare the newest block held even if the node's head is above it
 * @returns whether blocks were removed
 */
async function settleFork(feed: NodeFeed, head: NamedBlock, isSuspect: boolean): Promise<boolean> {
  const {writer, ask} = feed;
  if (!mayDiffer(writer(), head, isSuspect)) return false;
  const ancestor = await ask(async node => {
    // This may be another node than the one that named the head. If it is only behind, no block may be removed.
    const own = await readHead(node);
    if (!mayDiffer(writer(), own, isSuspect)) return undefined;
    const {latest = 0, finalizedTo} = writer();
    const from = Math.min(own.number, latest);
    const held = {
      hashOf: (block: number) => hashOf(writer(), block),
      // A node that ends below the finalized block must have the held blocks up to its end.
      floor: Math.min(Math.max(finalizedTo, 0), from),
      why: finalizedTo >= 0 ? "is finalized" : "is the first one",
    };
    const shared = await findCommonAncestor(node, held, from);
    return shared === from ? undefined : shared;
  });
  const {latest} = writer();
  // An order removed blocks meanwhile, perhaps more than these.
  if (ancestor === undefined || latest === undefined || latest <= ancestor) return false;
  await feed.rollback(ancestor, latest);
  return true;
}

/** Must the node's chain be compared with the held one, block by block? */
function mayDiffer(writer: BlockWriter, head: NamedBlock, isSuspect: boolean): boolean {
  const {latest} = writer;
  if (latest === undefined) return false;
  if (head.number > latest) return isSuspect;
  // A node that has not come to the first block of the store yet.
  if (head.number < writer.firstBlock && writer.blockHash(head.number) === undefined) return false;
  return Buffer.compare(head.hash, hashOf(writer, head.number)) !== 0;
}

async function describeContradiction({ask, writer}: NodeFeed): Promise<SourceError> {
  const latest = writer().latest ?? 0;
  const [name, next] = await ask(async node => [node.name, await findNamedBlock(node, latest + 1)] as const);
  const parent = next === undefined ? "another one" : toHex(next.parentHash);
  return new SourceError(
    `the node ${name} contradicts itself: its block ${latest} is ${toHex(hashOf(writer(), latest))}, as held here, ` +
      `but its block ${latest + 1} names ${parent} as its parent`,
  );
}

async function readHead(node: Node): Promise<NamedBlock> {
  const head = await findNamedBlock(node, "latest");
  if (head === undefined) throw new NodeFailure(`${node.name}: it has no newest block`);
  return head;
}

/** @returns no bytes for a block that an order has removed: no block has that hash */
function hashOf(writer: BlockWriter, block: number): Uint8Array {
  if (block > (writer.latest ?? -1)) return new Uint8Array(0);
  return writer.blockHash(block) ?? neverHeld(block);
}
