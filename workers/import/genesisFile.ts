/** Reads a genesis file, plain or .gz. */
import {openInput} from "./inputFile.ts";
import {SourceError, Stopped} from "./sourceBlock.ts";

const CHUNK_BYTES = 256 << 10;
/** Larger genesis files do not fit a string of V8. */
const MAX_GENESIS_BYTES = 480 << 20;

/** @throws SourceError; Stopped if the signal came before the end */
export async function readGenesis(path: string, signal: AbortSignal): Promise<string> {
  const {chunks} = await openInput(path, {chunkBytes: CHUNK_BYTES, signal});
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
