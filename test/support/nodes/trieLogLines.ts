/** Trie logs of chains that are written as differences. */
import type {LoggedBlock} from "../../../bench/chains/loggedBlock.ts";
import {TrieLogWriter} from "../../../bench/chains/trieLogWriter.ts";
import {readDifferenceLines} from "../../../workers/import/differenceLines.ts";
import {type DifferenceLine, encodeLines} from "../chains/differenceLine.ts";

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
