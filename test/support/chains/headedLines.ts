/** Lines with whole headers, which name the state roots that their changes give. */
import {listHeaderFields} from "../../../nodes/blocks/nodeHeader.ts";
import {readDifferenceLines} from "../../../nodes/files/differenceLines.ts";
import {keccak256} from "../../../storage/hash/keccak.ts";
import {toHex} from "../../../storage/hex.ts";
import {encodeList} from "../../../storage/rlp/rlpWriter.ts";
import {type DifferenceLine, encodeLines} from "./differenceLine.ts";
import {MemoryState} from "./memoryState.ts";

/** As eth_getBlockByNumber gives it. */
export type Header = Readonly<Record<string, string>>;

interface HeadedChain {
  /** With the hashes of the headers, and the headers. */
  readonly lines: DifferenceLine[];
  readonly headers: Header[];
}

/** @param lines - block 0 first. Of their headers, nothing is kept */
export async function headLines(lines: readonly DifferenceLine[]): Promise<HeadedChain> {
  const state = new MemoryState();
  const chain: HeadedChain = {lines: [], headers: []};
  for (const {number, accounts, finalized, chainId} of lines) {
    const parentHash = chain.headers.at(-1)?.hash;
    const hash = `0x${"00".repeat(32)}`;
    const line = {number, accounts, ...(finalized && {finalized}), ...(chainId && {chainId})};
    const chunks = (async function* () {
      yield Buffer.from(encodeLines([{...line, hash}]));
    })();
    for await (const block of readDifferenceLines(chunks)) state.apply(await block.difference());
    const header = headerOf(Number(line.number), toHex(await state.computeTrieRoot()), parentHash ?? hash);
    const {bytes, ...fields} = header;
    chain.headers.push(fields);
    chain.lines.push({
      ...line,
      hash: fields.hash,
      header: bytes,
      ...(parentHash !== undefined && {parentHash}),
    });
  }
  return chain;
}

function headerOf(
  number: number,
  stateRoot: string,
  parentHash: string,
): {readonly bytes: string; readonly hash: string} & Header {
  const word = `0x${"00".repeat(32)}`;
  const fields = {
    number: `0x${number.toString(16)}`,
    parentHash,
    sha3Uncles: word,
    miner: `0x${"0c".repeat(20)}`,
    stateRoot,
    transactionsRoot: word,
    receiptsRoot: word,
    logsBloom: `0x${"00".repeat(256)}`,
    difficulty: "0x0",
    gasLimit: "0x1c9c380",
    gasUsed: "0x0",
    timestamp: `0x${(1_700_000_000 + number).toString(16)}`,
    extraData: "0x",
    mixHash: word,
    nonce: "0x0000000000000000",
    baseFeePerGas: "0x7",
  };
  const bytes = encodeList(listHeaderFields(fields, `block ${number}`));
  return {...fields, bytes: toHex(bytes), hash: toHex(keccak256(bytes))};
}
