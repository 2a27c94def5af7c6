/** Blocks from trie logs (docs/importing.md): one per line, as hex digits or as the node's JSON has it. */
import {toHex} from "../../storage/hex.ts";
import {type SourceBlock, SourceError} from "../blocks/sourceStep.ts";
import {decodeTrieLog, MAX_TRIE_LOG_BYTES, type TrieLog} from "../blocks/trielogs/trieLog.ts";
import {toDifferences} from "../blocks/trielogs/trieLogDifference.ts";
import {parseBytes, parseFixedBytes, parseObject, parseQuantity} from "../rpc/answerValues.ts";
import {atLine, parseJson} from "./lineScanner.ts";

/** The digits of the longest trie log, and the fields around them. */
const MAX_LINE_BYTES = 2 * MAX_TRIE_LOG_BYTES + 4096;
const NEWLINE = 0x0a;

/** @param signal - if it ended `chunks` early, an incomplete line is no error. @throws SourceError naming the line */
export async function* readTrieLogLines(
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<SourceBlock> {
  let number = 0;
  for await (const bytes of readLines(chunks)) {
    number++;
    if (signal.aborted) return;
    const text = bytes.toString("latin1").trim();
    if (text !== "") yield parseLine(text, number);
  }
}

/** The lines without their ends. @throws SourceError for a line that is too long */
async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let parts: Uint8Array[] = [];
  let partBytes = 0;
  let line = 1;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); ; end = chunk.indexOf(NEWLINE, start)) {
      const part = chunk.subarray(start, end === -1 ? chunk.length : end);
      partBytes += part.length;
      if (partBytes > MAX_LINE_BYTES)
        throw new SourceError(`line ${line}: longer than ${MAX_LINE_BYTES} bytes, the longest trie log`);
      parts.push(part);
      if (end === -1) break;
      yield Buffer.concat(parts);
      parts = [];
      partBytes = 0;
      line++;
      start = end + 1;
    }
  }
  if (partBytes > 0) yield Buffer.concat(parts);
}

function parseLine(text: string, line: number): SourceBlock {
  const log = atLine({line}, () => (text.startsWith("{") ? parseFields(text) : decodeDigits(text)));
  const header = {number: log.blockNumber, hash: new Uint8Array(log.blockHash)};
  const chain = header.number === 0 ? {chain: {}} : {};
  return {
    kind: "block",
    line,
    ...header,
    origin: "the trie log",
    difference: async () => ({header, accounts: atLine({line}, () => toDifferences(log)), ...chain}),
  };
}

function parseFields(text: string): TrieLog {
  const {blockNumber, blockHash, trieLog} = parseObject(parseJson(text, "it"), "the line");
  const log = decodeTrieLog(parseBytes(trieLog, "trieLog", MAX_TRIE_LOG_BYTES));
  const number = Number(parseQuantity(blockNumber, "blockNumber", 48));
  if (number !== log.blockNumber)
    throw new SourceError(`blockNumber is ${number}, but the trie log is of block ${log.blockNumber}`);
  if (Buffer.compare(parseFixedBytes(blockHash, "blockHash", 32), log.blockHash) !== 0)
    throw new SourceError(`blockHash is ${blockHash}, but the trie log is of ${toHex(log.blockHash)}`);
  return log;
}

/** With or without 0x, also in quotes. */
function decodeDigits(text: string): TrieLog {
  const digits = /^("?)(?:0x)?(.*)\1$/s.exec(text)?.[2] ?? "";
  const bytes = Buffer.from(digits, "hex");
  if (bytes.length !== digits.length / 2 || bytes.length === 0)
    throw new SourceError(
      `expected pairs of hex digits, or an object with blockNumber, blockHash and trieLog: digit ${2 * bytes.length + 1} is wrong`,
    );
  return decodeTrieLog(bytes);
}
