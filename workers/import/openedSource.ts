/** Opens the source of an import job: its blocks, and how far its input has been read. */
import type {BlockWriter} from "../../storage/commit/blockWriter.ts";
import type {ImportJob} from "../job/importJob.ts";
import type {SourceEvent} from "../job/importSource.ts";
import {readDifferenceLines} from "./differenceLines.ts";
import {FollowedInput} from "./followedInput.ts";
import {readFollowedLines} from "./followedLines.ts";
import {type InputFile, openInput} from "./inputFile.ts";
import {type SourceBlock, SourceError, Stopped} from "./sourceBlock.ts";
import {endAtHead} from "./sourceEnd.ts";
import {readTrieLogLines} from "./trieLogLines.ts";

const TEXT_CHUNK_BYTES = 256 << 10;
/** Holds only a few blocks: each takes a while to execute, and progress is counted by the bytes read. */
const CHAIN_CHUNK_BYTES = 4 << 10;
/** Larger genesis files do not fit a string of V8. */
const MAX_GENESIS_BYTES = 480 << 20;

export interface OpenedSource {
  readonly blocks: AsyncGenerator<SourceBlock>;
  readonly input: Pick<InputFile, "bytesRead" | "bytesTotal">;
}

/**
 * @param writer - returns the writer of the store, which a rollback replaces
 * @param signal - ends the input
 * @param onEvent - called with what happens to a followed source
 * @throws SourceError, ExecutionError; Stopped if the signal came before the genesis file was read
 */
export async function openSource(
  job: ImportJob,
  writer: () => BlockWriter,
  signal: AbortSignal,
  onEvent: (event: SourceEvent) => void,
): Promise<OpenedSource> {
  const {blocks, input} = await openKind(job, writer, signal, onEvent);
  return {blocks: job.head === undefined ? blocks : endAtHead(blocks, job.head, signal), input};
}

async function openKind(
  {source}: ImportJob,
  writer: () => BlockWriter,
  signal: AbortSignal,
  onEvent: (event: SourceEvent) => void,
): Promise<OpenedSource> {
  if (source.kind === "diffs") {
    const options = {chunkBytes: TEXT_CHUNK_BYTES, signal};
    if (source.follow) {
      const followed = new FollowedInput(source.path, options, onEvent);
      return {blocks: readFollowedLines(followed, signal), input: followed};
    }
    const input = await openInput(source.path, options);
    return {blocks: readDifferenceLines(input.chunks, signal), input};
  }
  if (source.kind === "trielogs") return openTrieLogs(source.path, source.genesisPath, signal);
  const genesis = await readGenesis(source.genesisPath, signal);
  const input = await openInput(source.blocksPath, {chunkBytes: CHAIN_CHUNK_BYTES, signal});
  // Loads the EVM, which costs half a second and 15 MB. Differences do not need it.
  const {readChainBlocks} = await import("./chainBlocks.ts");
  return {blocks: readChainBlocks(genesis, input.chunks, writer, signal), input};
}

async function openTrieLogs(
  path: string,
  genesisPath: string | undefined,
  signal: AbortSignal,
): Promise<OpenedSource> {
  const genesis = genesisPath === undefined ? undefined : await readGenesis(genesisPath, signal);
  const input = await openInput(path, {chunkBytes: TEXT_CHUNK_BYTES, signal});
  if (genesis === undefined) return {blocks: readTrieLogLines(input.chunks, signal), input};
  // The genesis file needs the EVM's libraries; trie logs do not.
  const {readTrieLogBlocks} = await import("./trieLogBlocks.ts");
  return {blocks: readTrieLogBlocks(genesis, input.chunks, signal), input};
}

async function readGenesis(path: string, signal: AbortSignal): Promise<string> {
  const {chunks} = await openInput(path, {chunkBytes: TEXT_CHUNK_BYTES, signal});
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_GENESIS_BYTES) throw new SourceError(`${path} is longer than ${MAX_GENESIS_BYTES} bytes`);
  }
  if (signal.aborted) throw new Stopped();
  return Buffer.concat(parts).toString();
}
