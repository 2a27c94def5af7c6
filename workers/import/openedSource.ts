/** Opens the source of an import job. */
import type {ImportJob} from "../messages/importJob.ts";
import type {
  FeedSource,
  ImportSource,
  NodeSource,
  PullSource,
  StateSource,
} from "../messages/importSource.ts";
import {readDifferenceLines} from "./differenceLines.ts";
import {openInput, readGenesis} from "./inputFile.ts";
import {endAtHead} from "./sourceEnd.ts";
import type {SourceHost} from "./sourceHost.ts";
import type {SourceBlock, SourceStep} from "./sourceStep.ts";
import {readTrieLogLines} from "./trieLogLines.ts";

/** What gives blocks one after the other. */
export type BlockSource = Exclude<ImportSource, PullSource | StateSource>;

const TEXT_CHUNK_BYTES = 256 << 10;
/** Holds only a few blocks: each takes a while to execute, and progress is counted by the bytes read. */
const CHAIN_CHUNK_BYTES = 32 << 10;

/** @throws SourceError, ExecutionError; Stopped if the signal came before the genesis file was read */
export async function openSource(
  source: BlockSource,
  job: ImportJob,
  host: SourceHost,
): Promise<AsyncGenerator<SourceStep>> {
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
    const genesis = genesisPath === undefined ? undefined : await readGenesis(genesisPath, signal);
    const lines = await openInput(path, text);
    if (genesis === undefined) return readTrieLogLines(lines, signal);
    // The genesis file needs the trie; trie logs do not.
    const {readTrieLogBlocks} = await import("./chainBlocks.ts");
    return readTrieLogBlocks(genesis, lines, host);
  }
  const genesis = await readGenesis(source.genesisPath, signal);
  const blocks = await openInput(source.blocksPath, {chunkBytes: CHAIN_CHUNK_BYTES, signal, progress});
  // Loads the EVM and the trie, which differences do not need.
  const {readChainBlocks} = await import("./chainBlocks.ts");
  return readChainBlocks(genesis, blocks, host);
}
