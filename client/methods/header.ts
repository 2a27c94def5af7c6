/** chain_getHeader: what executing calls on a block needs besides its state. */
import {
  fieldsOf,
  listOf,
  optional,
  readBytesText,
  readHash,
  readObject,
  readQuantity,
} from "./answerFields.ts";
import {askNotBefore, encodeBlock} from "./askedBlock.ts";
import {type GetStateRootParameters, readRootedBlock} from "./block.ts";
import type {RpcCaller} from "./connection.ts";

const MAX_ANCESTORS = 256;
const HEADER_BYTES = 1 << 20;

const readHeader = fieldsOf({
  parentHash: optional(readHash),
  timestamp: optional(readQuantity),
  gasLimit: optional(readQuantity),
  baseFeePerGas: optional(readQuantity),
  miner: optional(readBytesText),
  mixHash: optional(readHash),
  extraData: optional(readBytesText),
  difficulty: optional(readQuantity),
  /** The chain's own state root, which is not the root of proofd's trees. */
  stateRoot: optional(readHash),
  gasUsed: optional(readQuantity),
  blobGasUsed: optional(readQuantity),
  excessBlobGas: optional(readQuantity),
});
/** Fields of a block's header, as far as the server knows them. */
export type HeaderFields = ReturnType<typeof readHeader>;

const readContext = fieldsOf({
  block: readRootedBlock,
  header: readHeader,
  /** The header as RLP: its keccak256 is the block's hash. undefined if the server has single fields only. */
  headerRlp: optional(readBytesText),
  /** Hashes of the blocks before it, newest first: at most 256. */
  ancestors: listOf(0, MAX_ANCESTORS, readHash),
  chainId: optional(readQuantity),
  /** geth's genesis config: the chain's hard forks. */
  config: optional(readObject),
});
/** What the server claims of a block, without proofs. */
export type BlockContext = ReturnType<typeof readContext>;

export function getHeader(
  caller: RpcCaller,
  {block = "latest", atLeast, signal}: GetStateRootParameters = {},
): Promise<BlockContext> {
  const request = {method: "chain_getHeader", params: [encodeBlock(block)], maxAnswerBytes: HEADER_BYTES};
  const ask = async () => readContext("header", await caller.call(request, signal));
  return askNotBefore(caller, {block, atLeast, signal}, ask, answer => answer.block.number);
}
