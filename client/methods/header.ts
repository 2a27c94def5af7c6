/** chain_getHeader: what executing calls on a block needs besides its state. */
import type {Hex} from "../bytes/hex.ts";
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
import {type GetStateRootParameters, type RootedBlock, readRootedBlock} from "./block.ts";
import type {RpcCaller} from "./connection.ts";

/** Fields of a block's header, as far as the server knows them. */
export interface HeaderFields {
  readonly parentHash: Hex | undefined;
  readonly timestamp: bigint | undefined;
  readonly gasLimit: bigint | undefined;
  readonly baseFeePerGas: bigint | undefined;
  readonly miner: Hex | undefined;
  readonly mixHash: Hex | undefined;
  readonly extraData: Hex | undefined;
  readonly difficulty: bigint | undefined;
  /** The chain's own state root, which is not the root of proofd's trees. */
  readonly stateRoot: Hex | undefined;
  readonly gasUsed: bigint | undefined;
  readonly blobGasUsed: bigint | undefined;
  readonly excessBlobGas: bigint | undefined;
}

/** What the server claims of a block, without proofs. */
export interface BlockContext {
  readonly block: RootedBlock;
  readonly header: HeaderFields;
  /** The header as RLP: its keccak256 is the block's hash. undefined if the server has single fields only. */
  readonly headerRlp: Hex | undefined;
  /** Hashes of the blocks before it, newest first: at most 256. */
  readonly ancestors: readonly Hex[];
  readonly chainId: bigint | undefined;
  /** geth's genesis config: the chain's hard forks. */
  readonly config: Readonly<Record<string, unknown>> | undefined;
}

const MAX_ANCESTORS = 256;
const HEADER_BYTES = 1 << 20;

const readContext = fieldsOf<BlockContext>({
  block: readRootedBlock,
  header: fieldsOf<HeaderFields>({
    parentHash: optional(readHash),
    timestamp: optional(readQuantity),
    gasLimit: optional(readQuantity),
    baseFeePerGas: optional(readQuantity),
    miner: optional(readBytesText),
    mixHash: optional(readHash),
    extraData: optional(readBytesText),
    difficulty: optional(readQuantity),
    stateRoot: optional(readHash),
    gasUsed: optional(readQuantity),
    blobGasUsed: optional(readQuantity),
    excessBlobGas: optional(readQuantity),
  }),
  headerRlp: optional(readBytesText),
  ancestors: listOf(0, MAX_ANCESTORS, readHash),
  chainId: optional(readQuantity),
  config: optional(readObject),
});

export function getHeader(
  caller: RpcCaller,
  {block = "latest", atLeast, signal}: GetStateRootParameters = {},
): Promise<BlockContext> {
  const request = {method: "chain_getHeader", params: [encodeBlock(block)], maxAnswerBytes: HEADER_BYTES};
  const ask = async () => readContext("header", await caller.call(request, signal));
  return askNotBefore(caller, {block, atLeast, signal}, ask, answer => answer.block.number);
}
