/** Unpacks bytes if they are gzip, whatever the name of their source. */
import {Transform} from "node:stream";
import {pipeline} from "node:stream/promises";
import {createGunzip} from "node:zlib";
import {SourceError} from "./sourceStep.ts";

/**
 * Passes chunks on, or unpacks them if the first two bytes are gzip's. Ends `chunks` when it ends.
 *
 * @throws SourceError if they do not unpack
 */
export async function* unpacked(
  path: string,
  chunks: AsyncGenerator<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    let ahead = Buffer.alloc(0);
    while (ahead.length < 2) {
      const next = await chunks.next();
      if (next.done === true) break;
      ahead = Buffer.concat([ahead, next.value]);
    }
    const all = (async function* () {
      yield ahead;
      yield* chunks;
    })();
    if (ahead[0] === 0x1f && ahead[1] === 0x8b) yield* gunzip(path, all, signal);
    else yield* all;
  } finally {
    // A caller that stops within `ahead` never reaches the rest of `chunks`, whose file would stay open.
    await chunks.return(undefined);
  }
}

async function* gunzip(
  path: string,
  packed: AsyncGenerator<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const out = new Transform({transform: (chunk, _encoding, done) => done(undefined, chunk)});
  const unpacking = pipeline(packed, createGunzip(), out, {signal}).catch(error => out.destroy(error));
  try {
    yield* out;
  } catch (error) {
    if (!signal.aborted)
      throw new SourceError(`${path} does not unpack: ${(error as Error).message}`, {cause: error});
  } finally {
    out.destroy();
    await unpacking;
  }
}
