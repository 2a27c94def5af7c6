/** What the EVM and a chain's rules need to know of a block besides its state. */
import type {BlockHeader} from "../../storage/block/blockDifference.ts";
import type {StateReader} from "../../storage/block/stateReader.ts";
import {MAX_ANCESTORS} from "../../storage/commit/firstBlock.ts";

export interface BlockContext {
  /** The fields of its header that are known, but for number and hash. */
  readonly header: Omit<BlockHeader, "number" | "hash">;
  /** Hashes of the blocks before it, newest first: at most 256, and fewer if older ones are not known. */
  readonly ancestors: readonly Uint8Array[];
  /** geth's genesis config, as JSON text. undefined: not known. */
  readonly config: string | undefined;
}

/** @param block - held. @throws StoreError RECORD_MISSING, RECORD_DAMAGED */
export function readContext(reader: StateReader, block: number): BlockContext {
  const {number, hash, ...header} = reader.blockOrThrow(block).header;
  const ancestors: Uint8Array[] = [];
  for (let before = number - 1; before >= 0 && ancestors.length < MAX_ANCESTORS; before--) {
    const ancestor = reader.readBlockHash(before);
    if (ancestor === undefined) break;
    ancestors.push(ancestor);
  }
  return {header, ancestors, config: reader.readChain()?.config};
}
