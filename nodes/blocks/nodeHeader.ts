/** The header of a block, from eth_getBlockByNumber. Its hash is computed and compared. */
import type {BlockHeader} from "../../storage/block/blockDifference.ts";
import {MAX_EXTRA_DATA_BYTES} from "../../storage/block/blockRecord.ts";
import {keccak256} from "../../storage/hash/keccak.ts";
import {toHex} from "../../storage/hex.ts";
import {encodeList, encodeNumber} from "../../storage/rlp/rlpWriter.ts";
import {type JsonObject, parseBytes, parseFixedBytes, parseQuantity} from "../rpc/answerValues.ts";
import {NodeFailure} from "../rpc/node.ts";
import {parseHeaderFields} from "./headerFields.ts";

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
  // Nodes write null for a field of a later fork.
  const given = Object.fromEntries(Object.entries(block).filter(([, value]) => value !== null));
  // The fields that every header has were found.
  return {...parseHeaderFields(given, `block ${number}: `), number, hash} as NodeHeader;
}

/** A length in bytes, or what else the field is. */
type FieldKind = number | "quantity" | "extraData";

const FIRST_FIELDS: readonly (readonly [name: string, kind: FieldKind])[] = [
  ["parentHash", 32],
  ["sha3Uncles", 32],
  ["miner", 20],
  ["stateRoot", 32],
  ["transactionsRoot", 32],
  ["receiptsRoot", 32],
  ["logsBloom", 256],
  ["difficulty", "quantity"],
  ["number", "quantity"],
  ["gasLimit", "quantity"],
  ["gasUsed", "quantity"],
  ["timestamp", "quantity"],
  ["extraData", "extraData"],
  ["mixHash", 32],
  ["nonce", 8],
];

const LATER_FIELDS: readonly (readonly [name: string, kind: FieldKind])[] = [
  ["baseFeePerGas", "quantity"], // EIP-1559
  ["withdrawalsRoot", 32], // EIP-4895
  ["blobGasUsed", "quantity"], // EIP-4844
  ["excessBlobGas", "quantity"],
  ["parentBeaconBlockRoot", 32], // EIP-4788
  ["requestsHash", 32], // EIP-7685
  ["blockAccessListHash", 32], // EIP-7928
  ["slotNumber", "quantity"], // EIP-7843
];

/** The fields in the order of the RLP. @param where - names the block in messages. @throws NodeFailure */
export function listHeaderFields(block: JsonObject, where: string): Uint8Array[] {
  const parseField = ([name, kind]: readonly [string, FieldKind]): Uint8Array => {
    const field = `${where}: ${name}`;
    if (kind === "quantity") return encodeNumber(parseQuantity(block[name], field, 256));
    if (kind === "extraData") return parseBytes(block[name], field, MAX_EXTRA_DATA_BYTES);
    return parseFixedBytes(block[name], field, kind);
  };
  const has = (name: string): boolean => (block[name] ?? undefined) !== undefined;
  const last = LATER_FIELDS.findLastIndex(([name]) => has(name));
  return [
    ...FIRST_FIELDS.map(parseField),
    // geth writes a field that is missing before another one as an empty string.
    ...LATER_FIELDS.slice(0, last + 1).map(field => (has(field[0]) ? parseField(field) : new Uint8Array(0))),
  ];
}
