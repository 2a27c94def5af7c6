/**
 * The events that a rollup contract emits for finalizations. Each word has 32 bytes.
 *
 *   DataFinalizedV4   topics   signature | start block | end block | rolling hash   data   end offset | parent hash | final hash
 *   DataFinalizedV3   topics   signature | start block | end block | shnarf         data   parent root | final root
 *   DataFinalized     topics   signature | end block | parent root | final root     data   with proof
 *
 * A contract emits one of them, and after an upgrade a newer one. V4 names blocks by their hashes, the
 * others by their state roots. The first V4 after a state root has zero as its parent.
 */
import type {FinalityEvent} from "../../storage/commit/finalityStep.ts";
import {toHex} from "../../storage/hex.ts";
import {type JsonObject, parseFixedBytes, parseNumber, parseObject} from "../rpc/answerValues.ts";
import {callNamedBlock, type NamedBlock, parseNamedBlock} from "../rpc/namedBlock.ts";
import {type Node, NodeFailure} from "../rpc/node.ts";

/** keccak256 of DataFinalizedV4(uint256,uint256,bytes32,uint256,bytes32,bytes32) */
const FINALIZED_V4 = "0x86710ea04c20fbcfc0b7200362c5174c71b7183bbc324b36a83f61824be0cdef";
/** keccak256 of DataFinalizedV3(uint256,uint256,bytes32,bytes32,bytes32) */
const FINALIZED_V3 = "0xa0262dc79e4ccb71ceac8574ae906311ae338aa4a2044fd4ec4b99fad5ab60cb";
/** keccak256 of DataFinalized(uint256,bytes32,bytes32,bool) */
const FINALIZED = "0x1335f1a2b3ff25f07f5fef07dd35d8fb4312c3c73b138e2fad9347b3319ab53c";
/** Words of data, by signature. */
const DATA_WORDS: ReadonlyMap<unknown, number> = new Map([
  [FINALIZED_V4, 3],
  [FINALIZED_V3, 2],
  [FINALIZED, 1],
]);
/** All of them have three indexed parameters. */
const TOPICS = 4;
const WORD_BYTES = 32;
const MAX_BLOCK = 2 ** 48 - 1;
/** Most events in one response. A network finalizes a few times an hour. */
const MAX_EVENTS = 10_000;

/** Explains a node that contradicts itself. */
export const LOAD_BALANCER_HINT =
  "perhaps there are several nodes behind its URL, and one is behind or on a fork";

export interface RollupEvent extends FinalityEvent {
  /** 32 bytes. */
  readonly layer1Hash: Uint8Array;
}

export interface RollupRange {
  readonly events: readonly RollupEvent[];
  /** The last block of the range, on the node that sent the events. */
  readonly last: NamedBlock;
}

/**
 * Reads the events of `contract` in the layer-1 blocks `from` to `to`, in order, and block `to`.
 *
 * A node that lags leaves out events silently, and several may be behind one URL: so the block is requested in the same
 * batch, before the events, since a load balancer sends one HTTP request to one node.
 *
 * @throws NodeRefusal if the node does not read as many blocks at once; NodeFailure for an event that was not
 *   requested, or if the node does not have block `to`
 */
export async function readRollupEvents(
  node: Node,
  contract: Uint8Array,
  from: number,
  to: number,
): Promise<RollupRange> {
  const filter = {
    address: toHex(contract),
    topics: [[...DATA_WORDS.keys()]],
    fromBlock: `0x${from.toString(16)}`,
    toBlock: `0x${to.toString(16)}`,
  };
  const calls = [callNamedBlock(to), {method: "eth_getLogs", params: [filter]}];
  const [block, answer] = await node.requestAll(calls);
  const last = parseNamedBlock(block, to);
  if (last === undefined)
    throw new NodeFailure(`it answers eth_getLogs without having block ${to}: ${LOAD_BALANCER_HINT}`);
  if (!Array.isArray(answer)) throw new NodeFailure(`it answers eth_getLogs with no array`);
  if (answer.length > MAX_EVENTS)
    throw new NodeFailure(`it answers with ${answer.length} events, more than ${MAX_EVENTS}`);
  const events = answer.map(log => parseEvent(log, contract));
  let before: RollupEvent | undefined;
  for (const event of events) {
    const {layer1Block, logIndex} = event;
    if (layer1Block < from || layer1Block > to)
      throw new NodeFailure(
        `it answers with an event of block ${layer1Block} when asked for ${from} to ${to}`,
      );
    if (before !== undefined && !isAfter(event, before))
      throw new NodeFailure(`it answers with events out of order at block ${layer1Block}, ${logIndex}`);
    before = event;
  }
  return {events, last};
}

/** In the order of layer 1. */
export function isAfter(event: Place, before: Place): boolean {
  if (event.layer1Block !== before.layer1Block) return event.layer1Block > before.layer1Block;
  return event.logIndex > before.logIndex;
}

function parseEvent(value: unknown, contract: Uint8Array): RollupEvent {
  const log = parseObject(value, "an event");
  const layer1Block = parseNumber(log.blockNumber, "an event's block");
  const what = `the event in block ${layer1Block}`;
  const address = parseFixedBytes(log.address, `the contract of ${what}`, contract.length);
  if (Buffer.compare(address, contract) !== 0)
    throw new NodeFailure(`${what} is of contract ${toHex(address)}`);
  if (log.removed !== undefined && log.removed !== false) throw new NodeFailure(`${what} was removed`);
  const logIndex = parseNumber(log.logIndex, `the place of ${what}`);
  if (logIndex > 0xffffffff) throw new NodeFailure(`the place of ${what} is ${logIndex}`);
  return {
    ...parseRange(log, what),
    layer1Block,
    logIndex,
    layer1Hash: parseFixedBytes(log.blockHash, `the block hash of ${what}`, WORD_BYTES),
    transactionHash: parseFixedBytes(log.transactionHash, `the transaction of ${what}`, WORD_BYTES),
  };
}

type Place = Pick<FinalityEvent, "layer1Block" | "logIndex">;
type BlockRange = Pick<FinalityEvent, "startBlock" | "endBlock" | "names" | "parent" | "final">;

function parseRange({topics, data}: JsonObject, what: string): BlockRange {
  const signature = Array.isArray(topics) ? topics[0] : undefined;
  const count = DATA_WORDS.get(signature);
  if (!Array.isArray(topics) || count === undefined)
    throw new NodeFailure(`${what} is of another kind than asked for`);
  if (topics.length !== TOPICS)
    throw new NodeFailure(`${what}: expected ${TOPICS} topics, got ${topics.length}`);
  const [first, second, third] = topics
    .slice(1)
    .map(topic => parseFixedBytes(topic, `a topic of ${what}`, WORD_BYTES)) as [Buffer, Buffer, Buffer];
  const words = parseFixedBytes(data, `the data of ${what}`, count * WORD_BYTES);
  if (signature === FINALIZED) {
    const endBlock = readBlockNumber(first, what);
    return {startBlock: undefined, endBlock, names: "stateRoot", parent: second, final: third};
  }
  return {
    startBlock: readBlockNumber(first, what),
    endBlock: readBlockNumber(second, what),
    names: signature === FINALIZED_V4 ? "blockHash" : "stateRoot",
    parent: words.subarray(-2 * WORD_BYTES, -WORD_BYTES),
    final: words.subarray(-WORD_BYTES),
  };
}

function readBlockNumber(word: Buffer, what: string): number {
  const block = BigInt(toHex(word));
  if (block > MAX_BLOCK) throw new NodeFailure(`${what} names block ${block}`);
  return Number(block);
}
