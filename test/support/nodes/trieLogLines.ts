/** Chains as trie logs, in the forms that `proofd import --trielogs` reads. */
import {toHex} from "../../../storage/hex.ts";
import {readDifferenceLines} from "../../../workers/import/differenceLines.ts";
import {type DifferenceLine, encodeLines} from "../chains/differenceLine.ts";
import {TrieLogWriter} from "./trieLogWriter.ts";

export interface LoggedBlock {
  readonly number: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  readonly trieLog: Uint8Array;
}

/** The trie log of each line's block. */
export async function logLines(lines: readonly DifferenceLine[]): Promise<LoggedBlock[]> {
  const writer = new TrieLogWriter();
  const logged: LoggedBlock[] = [];
  const chunks = (async function* () {
    yield Buffer.from(encodeLines(lines));
  })();
  for await (const block of readDifferenceLines(chunks))
    logged.push({
      number: block.number,
      hash: block.hash,
      trieLog: writer.write(await block.difference()),
    });
  return logged;
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
