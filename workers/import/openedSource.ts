/** Opens the source of an import job: its blocks, and how far its input has been read. */
import type {ImportJob} from "../messages/importJob.ts";
import type {ImportSource, PullSource} from "../messages/importSource.ts";
import {readDifferenceLines} from "./differenceLines.ts";
import {openInput, readGenesis} from "./inputFile.ts";
import {endAtHead} from "./sourceEnd.ts";
import type {OpenedSource, SourceHost} from "./sourceHost.ts";
import {readTrieLogLines} from "./trieLogLines.ts";

/** What gives blocks one after the other. */
type BlockSource = Exclude<ImportSource, PullSource>;

const TEXT_CHUNK_BYTES = 256 << 10;
/** Holds only a few blocks: each takes a while to execute, and progress is counted by the bytes read. */
const CHAIN_CHUNK_BYTES = 32 << 10;

/** @throws SourceError, ExecutionError; Stopped if the signal came before the genesis file was read */
export async function openSource(
  source: BlockSource,
  job: ImportJob,
  host: SourceHost,
): Promise<OpenedSource> {
  const {blocks, input} = await openKind(source, job, host);
  return {blocks: job.head === undefined ? blocks : endAtHead(blocks, job.head, host.signal), input};
}

async function openKind(source: BlockSource, job: ImportJob, host: SourceHost): Promise<OpenedSource> {
  const {signal} = host;
  if (source.kind === "node") {
    const {openNode} = await import("./follow/openedNode.ts");
    return openNode(source, job, host);
  }
  if (source.kind === "feed") {
    const {openFeed} = await import("./feed/openedFeed.ts");
    return openFeed(source, job, host);
  }
  if (source.kind === "diffs") {
    const input = await openInput(source.path, {chunkBytes: TEXT_CHUNK_BYTES, signal});
    return {blocks: readDifferenceLines(input.chunks, signal), input};
  }
  if (source.kind === "trielogs") return openTrieLogs(source.path, source.genesisPath, host);
  const genesis = await readGenesis(source.genesisPath, signal);
  const input = await openInput(source.blocksPath, {chunkBytes: CHAIN_CHUNK_BYTES, signal});
  // Loads the EVM and the trie, which differences do not need.
  const {readChainBlocks} = await import("./chainBlocks.ts");
  return {blocks: readChainBlocks(genesis, input.chunks, host), input};
}

async function openTrieLogs(
  path: string,
  genesisPath: string | undefined,
  host: SourceHost,
): Promise<OpenedSource> {
  const {signal} = host;
  const genesis = genesisPath === undefined ? undefined : await readGenesis(genesisPath, signal);
  const input = await openInput(path, {chunkBytes: TEXT_CHUNK_BYTES, signal});
  if (genesis === undefined) return {blocks: readTrieLogLines(input.chunks, signal), input};
  // The genesis file needs the trie; trie logs do not.
  const {readTrieLogBlocks} = await import("./chainBlocks.ts");
  return {blocks: readTrieLogBlocks(genesis, input.chunks, host), input};
}
