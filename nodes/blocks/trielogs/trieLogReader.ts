/**
 * Reads the changes of blocks from trie logs of a Besu node with the Shomei plugin.
 *
 *   headers     eth_getBlockByNumber          hash and link checked
 *   trie logs   shomei_getTrieLogsByRange     one for each header, with its hash
 */
import type {AccountDifferences} from "../../../storage/block/accountDifferences.ts";
import {toHex} from "../../../storage/hex.ts";
import {parseArray, parseBytes, parseFixedBytes, parseObject, parseQuantity} from "../../rpc/answerValues.ts";
import {type Node, NodeFailure, orRefusal} from "../../rpc/node.ts";
import type {BlockReader, NodeBlock} from "../blockReader.ts";
import {readLinkedBlocks} from "../linkedBlocks.ts";
import type {NodeHeader} from "../nodeHeader.ts";
import {SourceError} from "../sourceStep.ts";
import {decodeTrieLog, MAX_TRIE_LOG_BYTES} from "./trieLog.ts";
import {toDifferences} from "./trieLogDifference.ts";

/** Block numbers are JSON numbers: the plugin does not accept hexadecimal. */
const METHOD = "shomei_getTrieLogsByRange";
const MAX_BLOCKS = 64;
const HEADER_BYTES = 1024;

/** Whether the node has trie logs. @throws NodeFailure */
export async function probeTrieLogs(node: Node): Promise<boolean> {
  return Array.isArray(await orRefusal(node.request(METHOD, [0, 0])));
}

export class TrieLogReader implements BlockReader {
  readonly name = "trielogs";
  readonly maxBlocks = MAX_BLOCKS;

  /** @param chainId - of the node, which block 0 records in the store */
  constructor(private readonly chainId: bigint | undefined) {}

  async read(node: Node, from: number, to: number): Promise<readonly NodeBlock[]> {
    const blocks = await readLinkedBlocks(node, from, to, false, (_, header) => ({header}));
    const last = blocks.at(-1)?.header.number;
    if (last === undefined) return [];
    const logs = await readLogs(node, from, last);
    return blocks.map(({header}, position) => this.createBlock(header, logs[position], node.name));
  }

  private createBlock(header: NodeHeader, log: unknown, node: string): NodeBlock {
    const {number, hash, parentHash} = header;
    const accounts = parseLog(log, header);
    const chain = number === 0 ? {chainId: this.chainId} : undefined;
    const difference = {header, accounts, chain};
    return {
      number,
      hash,
      parentHash,
      origin: `the trie log of ${node}`,
      bytes: HEADER_BYTES + accounts.bytes,
      difference: async () => difference,
    };
  }
}

/**
 * Asks for one block more: ranges of Besu exclude their last block, those of other nodes may include it.
 *
 * @returns one element per block, fewer if the node lacks the rest
 */
async function readLogs(node: Node, from: number, to: number): Promise<readonly unknown[]> {
  const end = to + 1;
  const logs = parseArray(await node.request(METHOD, [from, end]), METHOD);
  if (logs.length > end - from + 1)
    throw new NodeFailure(
      `${METHOD}: asked for blocks ${from} to ${end}, the node sent ${logs.length} trie logs`,
    );
  return logs.slice(0, to - from + 1);
}

/** @throws NodeFailure if the log is missing, of another block or malformed */
function parseLog(answer: unknown, {number, hash}: NodeHeader): AccountDifferences {
  const where = `trie log of block ${number}`;
  if (answer === undefined) throw new NodeFailure(`the node has block ${number}, but not its trie log`);
  const {blockNumber, blockHash, trieLog} = parseObject(answer, where);
  const reported = parseQuantity(blockNumber, `${where}: blockNumber`, 64);
  if (reported !== BigInt(number))
    throw new NodeFailure(`the node has block ${number}, but sent the trie log of block ${reported} instead`);
  const reportedHash = parseFixedBytes(blockHash, `${where}: blockHash`, 32);
  const bytes = parseBytes(trieLog, `${where}: trieLog`, MAX_TRIE_LOG_BYTES);
  try {
    const log = decodeTrieLog(bytes);
    for (const found of [reportedHash, log.blockHash])
      if (Buffer.compare(found, hash) !== 0)
        throw new NodeFailure(`${where} is of the block ${toHex(found)}, but its header is ${toHex(hash)}`);
    if (log.blockNumber !== number) throw new NodeFailure(`${where} names block ${log.blockNumber}`);
    return toDifferences(log);
  } catch (error) {
    if (error instanceof SourceError) throw new NodeFailure(error.message, {cause: error});
    throw error;
  }
}
