/** Opens the source of an import job. */
import {
  SettingsFault,
  type SourceBlock,
  SourceError,
  type SourceStep,
} from "../../nodes/blocks/sourceStep.ts";
import {readDifferenceLines} from "../../nodes/files/differenceLines.ts";
import {openInput} from "../../nodes/files/inputFile.ts";
import {readTrieLogLines} from "../../nodes/files/trieLogLines.ts";
import {toHex} from "../../storage/hex.ts";
import type {ImportJob} from "../messages/importJob.ts";
import type {
  FeedSource,
  ImportSource,
  NodeSource,
  PullSource,
  StateSource,
} from "../messages/importSource.ts";
import type {SourceHost} from "./sourceHost.ts";

/** What gives single blocks. */
export type BlockSource = Exclude<ImportSource, PullSource | StateSource>;

const TEXT_CHUNK_BYTES = 256 << 10;
/** A few blocks: each takes a while to execute, and progress is counted by the bytes read. */
const CHAIN_CHUNK_BYTES = 32 << 10;

/** @throws SourceError, ExecutionError; Stopped if the signal came before the genesis file was read */
export async function openSource(
  source: BlockSource,
  job: ImportJob,
  host: SourceHost,
): Promise<AsyncGenerator<SourceStep>> {
  if (host.reader.isSliced && source.kind !== "node" && source.kind !== "feed")
    throw new SettingsFault("the store has slices: only a node (--l2) or a feed has blocks for it");
  if (source.kind === "node") {
    const {readNode} = await import("./follow/nodeSource.ts");
    return readNode(source, job, host);
  }
  if (source.kind === "feed") {
    const {readFeed} = await import("./feed/feedSource.ts");
    return readFeed(source, job, host);
  }
  const blocks = await openFile(source, host);
  return job.head === undefined ? blocks : endAtHead(blocks, job.head, host.signal);
}

async function openFile(
  source: Exclude<BlockSource, NodeSource | FeedSource>,
  host: SourceHost,
): Promise<AsyncGenerator<SourceBlock>> {
  const {signal, progress} = host;
  const text = {chunkBytes: TEXT_CHUNK_BYTES, signal, progress};
  if (source.kind === "diffs") return readDifferenceLines(await openInput(source.path, text), signal);
  if (source.kind === "trielogs") {
    const {path, genesisPath} = source;
    const lines = await openInput(path, text);
    if (genesisPath === undefined) return readTrieLogLines(lines, signal);
    // The trie is loaded for the genesis file only.
    const {readTrieLogBlocks} = await import("./chainBlocks.ts");
    return readTrieLogBlocks(genesisPath, lines, host);
  }
  const blocks = await openInput(source.blocksPath, {chunkBytes: CHAIN_CHUNK_BYTES, signal, progress});
  // Loads the EVM and the trie, which differences do not need.
  const {readChainBlocks} = await import("./chainBlocks.ts");
  return readChainBlocks(source.genesisPath, blocks, host);
}

/**
 * Gives a block when the next one, whose parent hash commits to it, comes. @param head - the last block's hash
 *
 * @param signal - if it ended `source` early, the last block read is dropped without an error
 * @throws SourceError if the source ends at another block, or has blocks after this one
 */
async function* endAtHead(
  source: AsyncGenerator<SourceBlock>,
  head: Uint8Array,
  signal: AbortSignal,
): AsyncGenerator<SourceBlock> {
  let last: SourceBlock | undefined;
  for await (const block of source) {
    if (last !== undefined) {
      yield last;
      if (isHead(last, head))
        throw new SourceError(
          `expected the source to end at block ${last.number}, the head that --head names, got block ${block.number} after it`,
        );
    }
    last = block;
  }
  if (signal.aborted) return;
  const expected = `expected the source to end at the head ${toHex(head)}`;
  if (last === undefined) throw new SourceError(`${expected}, got no block`);
  if (!isHead(last, head))
    throw new SourceError(`${expected}, got block ${last.number} (${toHex(last.hash)})`);
  yield last;
}

function isHead({hash}: SourceBlock, head: Uint8Array): boolean {
  return Buffer.compare(hash, head) === 0;
}
