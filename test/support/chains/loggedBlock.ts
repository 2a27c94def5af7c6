/** Blocks as trie logs, in the forms that `proofd import --trielogs` reads. */
import {toHex} from "../../../storage/hex.ts";

export interface LoggedBlock {
  readonly number: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  readonly trieLog: Uint8Array;
}

/** As the node answers it, one block per line. */
export function encodeJsonLines(blocks: readonly LoggedBlock[]): string {
  return blocks
    .map(({number, hash, trieLog}) =>
      JSON.stringify({blockNumber: number, blockHash: toHex(hash), trieLog: toHex(trieLog)}),
    )
    .map(line => `${line}\n`)
    .join("");
}

/** Hex digits alone, one block per line. */
export function encodeHexLines(blocks: readonly LoggedBlock[]): string {
  return blocks.map(({trieLog}) => `${toHex(trieLog)}\n`).join("");
}
