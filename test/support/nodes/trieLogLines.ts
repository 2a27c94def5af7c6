/** Trie logs of chains that are written as differences. */
import {readDifferenceLines} from "../../../nodes/files/differenceLines.ts";
import {type DifferenceLine, encodeLines} from "../chains/differenceLine.ts";
import type {LoggedBlock} from "../chains/loggedBlock.ts";
import {TrieLogWriter} from "../chains/trieLogWriter.ts";

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
