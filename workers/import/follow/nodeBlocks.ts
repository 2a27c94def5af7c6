/**
 * Reads a node's blocks after the newest stored one, and follows the node's chain.
 *
 *   newest stored < node's head     ranges are read ahead, each block is linked to its parent
 *   newest stored = node's head     wait for the next head
 *   the node has another block      the blocks above the common ancestor are removed, and reading continues there
 *
 * If the node has the same chain but fewer blocks than the store, nothing is removed: the source waits.
 */

import type {BlockReader, NodeBlock} from "../../../nodes/blocks/blockReader.ts";
import {findCommonAncestor} from "../../../nodes/blocks/commonAncestor.ts";
import {
  type SourceBlock,
  SourceError,
  type SourceStep,
  Stopped,
  throwMissing,
} from "../../../nodes/blocks/sourceStep.ts";
import {findNamedBlock, type NamedBlock, readNamedBlock} from "../../../nodes/rpc/namedBlock.ts";
import type {HeadSignal} from "../../../nodes/rpc/newHeads.ts";
import {type Node, NodeFailure, NodeRefusal} from "../../../nodes/rpc/node.ts";
import type {Nodes} from "../../../nodes/rpc/nodes.ts";
import type {BlockDifference} from "../../../storage/block/blockDifference.ts";
import type {BlockWriter} from "../../../storage/commit/blockWriter.ts";
import {toHex} from "../../../storage/hex.ts";
import type {SourceHost} from "../sourceHost.ts";
import type {HeadSurvey} from "./headSurvey.ts";
import type {NodeWatch} from "./nodeWatch.ts";
import {type ReadRange, readAhead} from "./readAhead.ts";

/** A source that is at least this far behind the node's head is "reading", not "following". */
const READING_BLOCKS = 64;
/** For the traces and the states of one block. */
const REREAD_MS = 60_000;
/** The node has every stored block, but its next block has another parent. So often in a row, it contradicts itself. */
const MAX_FALSE_ALARMS = 5;
/** How often in a row, in about a second, a node may be behind the store. A gateway may ask another node each time. */
const MAX_LOOKS_BEHIND = 10;

export interface NodeChain {
  readonly nodes: Pick<Nodes, "use" | "useOthers">;
  readonly heads: Pick<HeadSignal, "next">;
  /** undefined: the first healthy node is read, even if another one is ahead. */
  readonly survey: HeadSurvey | undefined;
  readonly watch: NodeWatch;
  readonly host: SourceHost;
}

/** Waits until the nodes may have a new block. */
export async function waitForHead({survey, heads, host: {signal}}: NodeChain): Promise<void> {
  // Not awaited: an unresponsive node must not delay the followed one. The next look throws if this one failed.
  void survey?.look(signal);
  await heads.next(signal);
}

/** @param lastBlock - where the source ends; "head": at the node's head at the start; undefined: never */
export async function* readNodeBlocks(
  chain: NodeChain,
  reader: BlockReader,
  lastBlock: "head" | number | undefined,
): AsyncGenerator<SourceStep> {
  const {nodes, watch, host} = chain;
  const {writer, signal, progress} = host;
  let end = lastBlock;
  let falseAlarms = 0;
  let looksBehind = 0;
  /** The last block did not follow the newest stored one. */
  let isSuspect = false;
  for (;;) {
    const [name, head] = await nodes.use(async node => [node.name, await readHead(node)] as const, signal);
    if (end === "head") end = head.number;
    const ancestor = await findFork(chain, head, isSuspect);
    if (ancestor !== undefined) yield {kind: "rollback", to: ancestor};
    falseAlarms = isSuspect && ancestor === undefined ? falseAlarms + 1 : 0;
    if (falseAlarms >= MAX_FALSE_ALARMS) throw await describeContradiction(chain);
    const latest = writer.latest ?? -1;
    const to = Math.min(head.number, end ?? head.number);
    if (end !== undefined && latest >= end) return;
    isSuspect = false;
    if (latest >= to) {
      looksBehind = head.number < latest ? looksBehind + 1 : 0;
      if (looksBehind === 0) watch.set("following");
      else if (looksBehind >= MAX_LOOKS_BEHIND)
        watch.set("waiting", `${name}: its newest block is ${head.number}, block ${latest} is in the store`);
      await waitForHead(chain);
      continue;
    }
    if (to - latest >= READING_BLOCKS || looksBehind >= MAX_LOOKS_BEHIND) watch.set("reading");
    looksBehind = 0;
    progress.target = to;
    const from = latest < 0 && reader.begin !== undefined ? reader.begin(to) : latest + 1;
    const wanted = {from, to, maxBlocks: reader.maxBlocks};
    for await (const block of readAhead(createRead(chain, reader), wanted, signal)) {
      // A command may have removed blocks.
      const {newest} = writer;
      if (block.number !== (newest === undefined ? from : newest.number + 1)) break;
      isSuspect = newest !== undefined && Buffer.compare(block.parentHash, newest.hash) !== 0;
      if (isSuspect) break;
      yield toStep(chain, reader, block);
    }
    // The node lacks blocks below its own head. Asking again immediately would only burden it.
    if (!isSuspect && (writer.latest ?? -1) === latest) await waitForHead(chain);
  }
}

function toStep(chain: NodeChain, reader: BlockReader, block: NodeBlock): SourceBlock {
  return {
    ...block,
    kind: "block",
    isExecuted: reader.name === "execute",
    readElsewhere: () => readElsewhere(chain, reader, block),
    reread: reader.reread && (() => readAgain(chain, reader, block)),
  };
}

function createRead({nodes, host: {progress}}: NodeChain, reader: BlockReader): ReadRange {
  return (first, last, ending, answers) => {
    let tries = 0;
    const read = async (node: Node): Promise<readonly NodeBlock[]> => {
      answers.begin();
      // The range may be too much for the node, or its response too long: each attempt asks for half as much.
      const count = Math.max(1, Math.floor((last - first + 1) / 2 ** tries++));
      const blocks = await reader.read(node, first, first + count - 1);
      progress.bytesRead += blocks.reduce((sum, {bytes}) => sum + bytes, 0);
      return blocks;
    };
    return nodes.use(read, ending, bytes => answers.add(bytes));
  };
}

/** One attempt at each node. @throws Stopped */
async function readElsewhere(
  {nodes, host: {signal}}: NodeChain,
  reader: BlockReader,
  {number, hash, origin}: NodeBlock,
): Promise<BlockDifference[]> {
  const found: BlockDifference[] = [];
  const read = async (node: Node): Promise<void> => {
    const [block] = await reader.read(node, number, number);
    // The preferred node may have changed.
    if (block !== undefined && block.origin !== origin && Buffer.compare(block.hash, hash) === 0)
      found.push(await block.difference());
  };
  await nodes.useOthers(read, AbortSignal.any([signal, AbortSignal.timeout(REREAD_MS)]));
  if (signal.aborted) throw new Stopped();
  return found;
}

/** One attempt. Blocks and commands wait for it. @throws Stopped */
async function readAgain(
  {nodes, host: {signal}}: NodeChain,
  reader: BlockReader,
  {number, hash}: NodeBlock,
): Promise<BlockDifference | undefined> {
  const read = async (node: Node): Promise<NodeBlock | undefined> => {
    try {
      return await reader.reread?.(node, number);
    } catch (error) {
      // The import ends with the wrong root, and tries again.
      if (error instanceof NodeFailure || error instanceof NodeRefusal) return undefined;
      throw error;
    }
  };
  const limit = AbortSignal.timeout(REREAD_MS);
  try {
    const again = await nodes.use(read, AbortSignal.any([signal, limit]));
    return again !== undefined && Buffer.compare(again.hash, hash) === 0 ? again.difference() : undefined;
  } catch (error) {
    if (signal.aborted) throw new Stopped();
    if (limit.aborted) return undefined;
    throw error;
  }
}

/**
 * @param isSuspect - compare the newest stored block even if the node's head is above it
 * @returns the common ancestor, if blocks above it must be removed
 */
async function findFork(
  {nodes, host: {writer, signal}}: NodeChain,
  head: NamedBlock,
  isSuspect: boolean,
): Promise<number | undefined> {
  if (!mayDiffer(writer, head, isSuspect)) return undefined;
  return await nodes.use(async node => {
    // This may be another node than the one whose head it is. If it only lags, no block may be removed.
    const own = await readHead(node);
    if (!mayDiffer(writer, own, isSuspect)) return undefined;
    const {latest = 0, finalizedTo, firstBlock} = writer;
    // A store of slices begins with a block that is not final, and begins again if that was replaced.
    if (firstBlock > Math.max(finalizedTo, 0) && own.number >= firstBlock) {
      const first = await readNamedBlock(node, firstBlock, `${node.name}: it has no block ${firstBlock}`);
      if (Buffer.compare(first.hash, hashOf(writer, firstBlock)) !== 0) return firstBlock - 1;
    }
    const from = Math.min(own.number, latest);
    const stored = {
      hashOf: (block: number) => hashOf(writer, block),
      // A node that ends below the finalized block must have the stored blocks up to its end.
      floor: Math.min(Math.max(finalizedTo, firstBlock), from),
      why: finalizedTo >= 0 ? "is finalized" : "is the first one",
    };
    const shared = await findCommonAncestor(node, stored, from);
    return shared === from ? undefined : shared;
  }, signal);
}

/** Must the node's chain be compared with the stored one, block by block? */
function mayDiffer(writer: BlockWriter, head: NamedBlock, isSuspect: boolean): boolean {
  const {latest} = writer;
  if (latest === undefined) return false;
  if (head.number > latest) return isSuspect;
  // The node has not reached the first block of the store.
  if (head.number < writer.firstBlock && writer.blockHash(head.number) === undefined) return false;
  return Buffer.compare(head.hash, hashOf(writer, head.number)) !== 0;
}

async function describeContradiction({nodes, host: {writer, signal}}: NodeChain): Promise<SourceError> {
  const latest = writer.latest ?? 0;
  const findNext = async (node: Node) => [node.name, await findNamedBlock(node, latest + 1)] as const;
  const [name, next] = await nodes.use(findNext, signal);
  const parent = next === undefined ? "another one" : toHex(next.parentHash);
  return new SourceError(
    `the node ${name} contradicts itself: its block ${latest} is ${toHex(hashOf(writer, latest))}, as in the store, ` +
      `but its block ${latest + 1} names ${parent} as its parent`,
  );
}

function readHead(node: Node): Promise<NamedBlock> {
  return readNamedBlock(node, "latest", `${node.name}: it has no newest block`);
}

/** @returns no bytes for a block that a command has removed, which equal no hash */
function hashOf(writer: BlockWriter, block: number): Uint8Array {
  if (block > (writer.latest ?? -1)) return new Uint8Array(0);
  return writer.blockHash(block) ?? throwMissing(block);
}
