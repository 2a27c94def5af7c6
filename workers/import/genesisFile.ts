/** Reads a genesis file as a stream: one account at a time is in memory as JSON. */
import {GenesisFile} from "../../evm/execution/genesis.ts";
import {invalidGenesis} from "../../evm/execution/gethJson.ts";
import {SourceError, Stopped} from "../../nodes/blocks/sourceStep.ts";
import {openInput} from "../../nodes/files/inputFile.ts";
import {LineScanner} from "../../nodes/files/lineScanner.ts";

const CHUNK_BYTES = 256 << 10;
/** An account with a million slots has 140 MB. */
const MAX_ACCOUNT_BYTES = 256 << 20;

/** @throws SourceError, also for a pipe; ExecutionError GENESIS_INVALID; Stopped if the signal came before the end */
export async function readGenesis(path: string, signal: AbortSignal): Promise<GenesisFile> {
  const file = new GenesisFile();
  const scanner = new LineScanner(/^alloc$/i, MAX_ACCOUNT_BYTES, file, true);
  const scan = (chunk?: Uint8Array): void => {
    try {
      if (chunk === undefined) scanner.finish();
      else scanner.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
    } catch (error) {
      if (!(error instanceof SourceError || error instanceof SyntaxError)) throw error;
      throw invalidGenesis("the file", `is not JSON: line ${scanner.line}: ${error.message}`);
    }
  };
  for await (const chunk of await openInput(path, {chunkBytes: CHUNK_BYTES, signal, takesPipe: false}))
    scan(chunk);
  if (signal.aborted) throw new Stopped();
  scan();
  return file;
}
