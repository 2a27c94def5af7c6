/**
 * Block headers as JSON: from eth_getBlockByNumber, where their hashes are computed and compared, or from a line of
 * --diffs or the manifest of a pull, where fields may be missing.
 *
 * Headers of other chains may have more fields, and JSON does not show their position in the RLP. If the hash is not
 * that of Ethereum's fields, debug_getRawHeader gives the header's RLP, which must have that hash.
 */
import type {BlockHeader} from "../../storage/block/blockDifference.ts";
import {MAX_EXTRA_DATA_BYTES} from "../../storage/block/blockRecord.ts";
import {
  decodeHeader,
  FIRST_ITEMS,
  HEADER_ITEMS,
  type HeaderItem,
  type WholeHeader,
} from "../../storage/block/headerRlp.ts";
import {keccak256} from "../../storage/hash/keccak.ts";
import {isSame, toHex} from "../../storage/hex.ts";
import {encodeList, encodeNumber} from "../../storage/rlp/rlpWriter.ts";
import {type JsonObject, parseBytes, parseFixedBytes, parseQuantity} from "../rpc/answerValues.ts";
import {type Node, NodeFailure, NodeRefusal, orRefusal} from "../rpc/node.ts";

export type NodeHeader = WholeHeader;

/** Some hundred times a header of Ethereum. */
const MAX_HEADER_BYTES = 2 * MAX_EXTRA_DATA_BYTES;

/** The fields that the store keeps. */
const KEPT_ITEMS = HEADER_ITEMS.filter(item => !item.isRest);

/** The hash is not that of Ethereum's fields. */
class OtherHeader extends NodeFailure {}

/** @param blocks - numbered from `from`. @throws NodeFailure for a wrong field, another block, or another hash */
export async function readNodeHeaders(
  node: Node,
  blocks: readonly JsonObject[],
  from: number,
): Promise<readonly NodeHeader[]> {
  const headers = blocks.map((block, at) => tryHeader(block, from + at));
  const other = headers.find(header => header instanceof OtherHeader);
  if (other === undefined) return headers as NodeHeader[];
  const numbers = headers.flatMap((header, at) => (header instanceof OtherHeader ? [from + at] : []));
  const calls = numbers.map(number => ({method: "debug_getRawHeader", params: [`0x${number.toString(16)}`]}));
  const answers = await orRefusal(node.requestAll(calls));
  if (answers instanceof NodeRefusal) throw new NodeFailure(`${other.message}: ${answers.message}`);
  const raw = new Map(numbers.map((number, at) => [number, answers[at]]));
  return headers.map((header, at) =>
    header instanceof OtherHeader
      ? parseRawHeader(raw.get(from + at), blocks[at] as JsonObject, from + at)
      : header,
  );
}

function tryHeader(block: JsonObject, number: number): NodeHeader | OtherHeader {
  try {
    return decodeHeader(encodeList(checkHeader(block, number)));
  } catch (error) {
    if (error instanceof OtherHeader) return error;
    throw error;
  }
}

/** @returns Ethereum's fields in the order of the RLP. @throws NodeFailure, OtherHeader */
export function checkHeader(block: JsonObject, number: number): readonly Uint8Array[] {
  const where = `block ${number}`;
  const reported = parseQuantity(block.number, `${where}: number`, 64);
  if (reported !== BigInt(number)) throw new NodeFailure(`expected block ${number}, got block ${reported}`);
  const hash = parseFixedBytes(block.hash, `${where}: hash`, 32);
  const fields = listHeaderFields(block, where);
  const computed = keccak256(encodeList(fields));
  if (isSame(computed, hash)) return fields;
  throw new OtherHeader(
    `${where}: the node says that its hash is ${toHex(hash)}, but its header has the hash ${toHex(computed)}. A header of another form needs --source trace and debug_getRawHeader`,
  );
}

/** @param answer - of debug_getRawHeader. The fields of the block must agree with it. @throws NodeFailure */
function parseRawHeader(answer: unknown, block: JsonObject, number: number): NodeHeader {
  const where = `block ${number}`;
  const rlp = new Uint8Array(parseBytes(answer, `${where}: debug_getRawHeader`, MAX_HEADER_BYTES));
  let header: NodeHeader;
  try {
    header = decodeHeader(rlp);
  } catch (error) {
    throw new NodeFailure(`${where}: a header of an unknown form: ${(error as Error).message}`);
  }
  const hash = toHex(header.hash);
  if (!isSame(parseFixedBytes(block.hash, `${where}: hash`, 32), header.hash))
    throw new NodeFailure(
      `${where}: the node says that its hash is ${block.hash}, but debug_getRawHeader has the header of ${hash}`,
    );
  // Nodes send null for fields of later forks.
  const given = Object.fromEntries(Object.entries(block).filter(([, value]) => value !== null));
  const reported: Partial<BlockHeader> = {...parseHeaderFields(given, `${where}: `), number};
  for (const {name} of KEPT_ITEMS) {
    const [expected, got] = [header[name], reported[name]].map(showField);
    if (expected !== got)
      throw new NodeFailure(`${where}: ${name}: the raw header has ${expected}, but the node says ${got}`);
  }
  return header;
}

/** geth encodes a missing field before a present one as an empty string, which is 0. */
function showField(value: Uint8Array | bigint | number | undefined): string {
  return value instanceof Uint8Array ? toHex(value) : String(value ?? 0);
}

/** The fields in the order of the RLP. @param where - names the block in messages. @throws NodeFailure */
export function listHeaderFields(block: JsonObject, where: string): Uint8Array[] {
  const has = ({name}: HeaderItem): boolean => (block[name] ?? undefined) !== undefined;
  const items = HEADER_ITEMS.slice(0, Math.max(FIRST_ITEMS, 1 + HEADER_ITEMS.findLastIndex(has)));
  return items.map((item, at) => {
    // geth encodes a missing field before a present one as an empty string.
    if (at >= FIRST_ITEMS && !has(item)) return new Uint8Array(0);
    const value = parseHeaderItem(block, item, `${where}: `, MAX_EXTRA_DATA_BYTES);
    return value instanceof Uint8Array ? value : encodeNumber(value);
  });
}

/** Leaves out missing fields, the number, and `rest`, which has no JSON form. @param prefix - before names in messages. @throws NodeFailure */
export function parseHeaderFields(
  object: JsonObject,
  prefix: string,
): Omit<BlockHeader, "number" | "hash" | "rest"> {
  const given = KEPT_ITEMS.filter(({name}) => name !== "number" && object[name] !== undefined);
  return Object.fromEntries(given.map(item => [item.name, parseHeaderItem(object, item, prefix)]));
}

/** @param maxBytes - of extraData. @throws NodeFailure naming the field */
function parseHeaderItem(
  object: JsonObject,
  {name, bytes, numberBytes}: HeaderItem,
  prefix: string,
  maxBytes?: number,
): bigint | Uint8Array {
  const [value, field] = [object[name], prefix + name];
  if (numberBytes !== undefined) return parseQuantity(value, field, 8 * numberBytes);
  if (bytes !== undefined) return parseFixedBytes(value, field, bytes);
  return parseBytes(value, field, maxBytes);
}
