/** The header of a block, from eth_getBlockByNumber. Its hash is computed and compared. */
import type {BlockHeader} from "../../storage/block/blockDifference.ts";
import {MAX_EXTRA_DATA_BYTES} from "../../storage/block/blockRecord.ts";
import {keccak256} from "../../storage/hash/keccak.ts";
import {toHex} from "../../storage/hex.ts";
import {encodeList} from "../../storage/rlp/rlpWriter.ts";
import {type JsonObject, parseBytes, parseFixedBytes, parseQuantity} from "../rpc/answerValues.ts";
import {NodeFailure} from "../rpc/node.ts";
import {listHeaderFields} from "./headerRlp.ts";

export interface NodeHeader extends BlockHeader {
  readonly parentHash: Uint8Array;
  readonly timestamp: bigint;
  readonly difficulty: bigint;
  readonly stateRoot: Uint8Array;
}

interface CheckedHeader {
  /** All fields, in the order of the RLP. */
  readonly fields: readonly Uint8Array[];
  /** 32 bytes. */
  readonly hash: Uint8Array;
}

/**
 * @param number - of the block that was asked for
 * @throws NodeFailure if a field is missing or wrong, if it is another block, or if its hash is not that of its fields
 */
export function checkHeader(block: JsonObject, number: number): CheckedHeader {
  const where = `block ${number}`;
  const said = parseQuantity(block.number, `${where}: number`, 64);
  if (said !== BigInt(number)) throw new NodeFailure(`expected block ${number}, got block ${said}`);
  const hash = parseFixedBytes(block.hash, `${where}: hash`, 32);
  const fields = listHeaderFields(block, where);
  const computed = keccak256(encodeList(fields));
  if (Buffer.compare(hash, computed) !== 0)
    throw new NodeFailure(
      `${where}: the node says that its hash is ${toHex(hash)}, but its header has the hash ${toHex(computed)}`,
    );
  return {fields, hash};
}

/** @param number - of the block that was asked for. @throws NodeFailure as `checkHeader` */
export function parseNodeHeader(block: JsonObject, number: number): NodeHeader {
  const {hash} = checkHeader(block, number);
  const where = `block ${number}`;
  const quantity = (name: string, bits: number): bigint =>
    parseQuantity(block[name], `${where}: ${name}`, bits);
  const bytes = (name: string, length: number): Buffer =>
    parseFixedBytes(block[name], `${where}: ${name}`, length);
  return {
    number,
    hash,
    parentHash: bytes("parentHash", 32),
    timestamp: quantity("timestamp", 64),
    gasLimit: quantity("gasLimit", 64),
    ...((block.baseFeePerGas ?? undefined) !== undefined && {baseFeePerGas: quantity("baseFeePerGas", 256)}),
    miner: bytes("miner", 20),
    mixHash: bytes("mixHash", 32),
    extraData: parseBytes(block.extraData, `${where}: extraData`, MAX_EXTRA_DATA_BYTES),
    difficulty: quantity("difficulty", 256),
    stateRoot: bytes("stateRoot", 32),
    gasUsed: quantity("gasUsed", 64),
    ...((block.excessBlobGas ?? undefined) !== undefined && {
      blobGasUsed: quantity("blobGasUsed", 64),
      excessBlobGas: quantity("excessBlobGas", 64),
    }),
  };
}
