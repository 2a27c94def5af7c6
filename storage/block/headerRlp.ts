/**
 * A block's header: from its RLP to the fields that the store keeps, and back to the same bytes.
 *
 *   header = [parentHash, uncleHash, miner, stateRoot, transactionsRoot, receiptsRoot, logsBloom, difficulty, number,
 *             gasLimit, gasUsed, timestamp, extraData, mixHash, nonce,
 *             (baseFee, (withdrawalsRoot, (blobGasUsed, excessBlobGas, further ones of Ethereum or of another chain ...)))]
 *   rest   = the encoded items without a field in BlockHeader, back to back
 */
import {StoreError} from "../errors.ts";
import {keccak256} from "../hash/keccak.ts";
import {isSame, toHex} from "../hex.ts";
import {RlpError, RlpReader} from "../rlp/rlpReader.ts";
import {EncodedItem, encodeList, encodeNumber} from "../rlp/rlpWriter.ts";
import type {BlockHeader} from "./blockDifference.ts";

/** Since London, and since Cancun. */
type LaterField = "baseFeePerGas" | "blobGasUsed" | "excessBlobGas";
type Whole<T> = {readonly [Name in keyof T]-?: Exclude<T[Name], undefined>};

export interface WholeHeader extends Whole<Omit<BlockHeader, LaterField>>, Pick<BlockHeader, LaterField> {}

/** `name` is also that of its JSON. */
export type HeaderItem = ItemSize &
  (
    | {readonly name: Exclude<keyof BlockHeader, "hash" | "rest">; readonly isRest?: false}
    | {readonly name: string; readonly isRest: true}
  );

/** Bytes, of this length if it is given, or a number of at most so many bytes. */
interface ItemSize {
  readonly bytes?: number;
  readonly numberBytes?: number;
}

export type HeaderValues = ReadonlyMap<string, Uint8Array | bigint>;

/** In the order of the header. Further items of other chains go into `rest` too. */
export const HEADER_ITEMS: readonly HeaderItem[] = [
  {name: "parentHash", bytes: 32},
  {name: "sha3Uncles", bytes: 32, isRest: true},
  {name: "miner", bytes: 20},
  {name: "stateRoot", bytes: 32},
  {name: "transactionsRoot", bytes: 32, isRest: true},
  {name: "receiptsRoot", bytes: 32, isRest: true},
  {name: "logsBloom", bytes: 256, isRest: true},
  {name: "difficulty", numberBytes: 32},
  {name: "number", numberBytes: 6},
  {name: "gasLimit", numberBytes: 8},
  {name: "gasUsed", numberBytes: 8},
  {name: "timestamp", numberBytes: 8},
  {name: "extraData"},
  {name: "mixHash", bytes: 32},
  {name: "nonce", bytes: 8, isRest: true},
  {name: "baseFeePerGas", numberBytes: 32}, // EIP-1559
  {name: "withdrawalsRoot", bytes: 32, isRest: true}, // EIP-4895
  {name: "blobGasUsed", numberBytes: 8}, // EIP-4844
  {name: "excessBlobGas", numberBytes: 8},
  {name: "parentBeaconBlockRoot", bytes: 32, isRest: true}, // EIP-4788
  {name: "requestsHash", bytes: 32, isRest: true}, // EIP-7685
  {name: "blockAccessListHash", bytes: 32, isRest: true}, // EIP-7928
  {name: "slotNumber", numberBytes: 8, isRest: true}, // EIP-7843
];
export const FIRST_ITEMS = 15;

/** @param rlp - not a Buffer, whose views cost three times as much. @throws RlpError naming the field */
export function decodeHeader(rlp: Uint8Array): WholeHeader {
  const outer = new RlpReader(rlp);
  const list = outer.readList();
  outer.close();
  const fields: Partial<Record<keyof BlockHeader, unknown>> = {};
  const rest: Uint8Array[] = [];
  for (let at = 0; at < FIRST_ITEMS || !list.isDone; at++) {
    const item = HEADER_ITEMS[at];
    if (item === undefined || item.isRest) rest.push(readEncoded(list));
    else fields[item.name] = readField(list, item);
  }
  const {number, ...others} = fields as Record<keyof BlockHeader, never>;
  return {
    ...others,
    number: Number(number),
    hash: keccak256(rlp),
    rest: new Uint8Array(Buffer.concat(rest)),
  };
}

/** @returns undefined if its source gave only single fields. @throws RlpError if `rest` is not RLP */
export function encodeHeader(header: BlockHeader): Uint8Array | undefined {
  const {rest} = header;
  if (rest === undefined) return undefined;
  const others = new RlpReader(rest);
  const items: (Uint8Array | EncodedItem)[] = [];
  for (let at = 0; ; at++) {
    const item = HEADER_ITEMS[at];
    // The record of a block leaves out a difficulty of 0.
    const name = item?.isRest ? undefined : item?.name;
    const value = name && (header[name] ?? (name === "difficulty" ? 0n : undefined));
    if (value instanceof Uint8Array) items.push(value);
    else if (value !== undefined) items.push(encodeNumber(BigInt(value)));
    else if (others.isDone) return encodeList(items);
    else items.push(new EncodedItem(readEncoded(others)));
  }
}

/**
 * The items of a whole header by name. An item that is missing before a present one is left out.
 *
 * @returns undefined if its source gave only single fields, or for a header of another chain with other items
 */
export function listHeaderItems(header: BlockHeader): HeaderValues | undefined {
  const rlp = encodeHeader(header);
  if (rlp === undefined) return undefined;
  const list = new RlpReader(rlp).readList();
  const values = new Map<string, Uint8Array | bigint>();
  try {
    for (let at = 0; !list.isDone; at++) {
      const item = HEADER_ITEMS[at];
      if (item === undefined) return undefined;
      // geth encodes a missing item before a present one as an empty string.
      if (at >= FIRST_ITEMS && item.bytes !== undefined && list.isEmpty) list.readBytes();
      else values.set(item.name, readField(list, item));
    }
    return values;
  } catch (error) {
    if (error instanceof RlpError) return undefined;
    throw error;
  }
}

const REST_BEFORE_BEACON_ROOT = HEADER_ITEMS.filter(({isRest}) => isRest).findIndex(
  ({name}) => name === "parentBeaconBlockRoot",
);

/** Has the header parentBeaconBlockRoot (EIP-4788)? Then its block has Cancun's rules. false: nothing is known. */
export function hasBeaconRoot({excessBlobGas, rest}: BlockHeader): boolean {
  if (excessBlobGas === undefined || rest === undefined) return false;
  const items = new RlpReader(rest);
  for (let at = 0; at < REST_BEFORE_BEACON_ROOT && !items.isDone; at++) readEncoded(items);
  return !items.isDone && readEncoded(items).length === 33;
}

/** @throws StoreError BLOCK_INVALID if the header is complete, and has another hash */
export function requireHash(header: BlockHeader): void {
  const {number, hash} = header;
  let rlp: Uint8Array | undefined;
  try {
    rlp = encodeHeader(header);
  } catch (error) {
    throw new StoreError("BLOCK_INVALID", `block ${number}: rest of its header: ${(error as Error).message}`);
  }
  const computed = rlp && keccak256(rlp);
  if (computed !== undefined && !isSame(computed, hash))
    throw new StoreError(
      "BLOCK_INVALID",
      `block ${number}: expected a header with the hash ${toHex(hash)}, got one with ${toHex(computed)}`,
    );
}

function readField(list: RlpReader, {name, bytes, numberBytes}: HeaderItem): Uint8Array | bigint {
  try {
    return numberBytes === undefined ? list.readBytes(bytes) : list.readNumber(numberBytes);
  } catch (error) {
    throw new RlpError(`${name}: ${(error as Error).message}`);
  }
}

function readEncoded(list: RlpReader): Uint8Array {
  const start = list.at;
  if (list.isList) list.readList();
  else list.readBytes();
  return list.bytes.subarray(start, list.at);
}
