/**
 * A block's header as RLP, from eth_getBlockByNumber. Its keccak256 is the block's hash.
 *
 *   [parentHash, sha3Uncles, miner, stateRoot, transactionsRoot, receiptsRoot, logsBloom, difficulty, number, gasLimit, gasUsed,
 *    timestamp, extraData, mixHash, nonce,
 *    baseFeePerGas, withdrawalsRoot, blobGasUsed, excessBlobGas, parentBeaconBlockRoot, requestsHash, blockAccessListHash,
 *    slotNumber]
 *
 * The fields of the second and third line came with later forks. The list ends with the last one that the block has.
 */
import {MAX_EXTRA_DATA_BYTES} from "../../storage/block/blockRecord.ts";
import {encodeList, encodeNumber} from "../../storage/rlp/rlpWriter.ts";
import {type JsonObject, parseBytes, parseFixedBytes, parseQuantity} from "../rpc/answerValues.ts";

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

/** @param where - names the block in messages. @throws NodeFailure */
export function encodeHeader(block: JsonObject, where: string): Uint8Array {
  return encodeList(listHeaderFields(block, where));
}

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
