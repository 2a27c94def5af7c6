/**
 * Decodes the transactions of a block. Type 0 is an RLP list of fields; types 1 to 4 are a byte string that holds the
 * type and then the list (EIP-2718).
 *
 *   0  [nonce, gasPrice, gas, to, value, data, v, r, s]
 *   1  [chainId, nonce, gasPrice, gas, to, value, data, accessList, yParity, r, s]
 *   2  [chainId, nonce, maxPriorityFee, maxFee, gas, to, value, data, accessList, yParity, r, s]
 *   3  [chainId, nonce, maxPriorityFee, maxFee, gas, to, value, data, accessList, maxBlobFee, blobHashes, yParity, r,
 *   s]
 *   4  [chainId, nonce, maxPriorityFee, maxFee, gas, to, value, data, accessList, authorizations, yParity, r, s]
 *
 * The sender signs the hash of the same encoding with only the fields before the signature. In type 0 with a chain id
 * in v (EIP-155), chainId, 0, 0 follow these fields.
 */
import {count} from "../../../storage/count.ts";
import {keccak256} from "../../../storage/hash/keccak.ts";
import {RlpError, RlpReader, readAll} from "../../../storage/rlp/rlpReader.ts";
import {EncodedItem, encodeList, encodeNumber} from "../../../storage/rlp/rlpWriter.ts";

export interface Transaction {
  readonly type: number;
  readonly nonce: bigint;
  readonly gasLimit: bigint;
  /** Wei per gas. In types 0 and 1 both fees are the gas price. */
  readonly maxFee: bigint;
  readonly maxPriorityFee: bigint;
  /** 20 bytes; undefined for a contract creation. */
  readonly to: Uint8Array | undefined;
  readonly value: bigint;
  readonly data: Uint8Array;
  readonly accessList: readonly Readonly<ReturnType<typeof readListedAddress>>[];
  /** Wei per blob gas. */
  readonly maxBlobFee: bigint;
  /** 32 bytes each. */
  readonly blobHashes: readonly Uint8Array[];
  /** undefined unless the type is 4. */
  readonly authorizations: readonly Authorization[] | undefined;
  readonly signature: Signature;
}

/** A signed authorization (EIP-7702). */
export type Authorization = Readonly<ReturnType<typeof readAuthorization>>;

interface Signature {
  /** The hash that was signed, 32 bytes. */
  readonly hash: Uint8Array;
  /** The parity of the y coordinate of the point whose x coordinate is r. */
  readonly isOdd: boolean;
  /** r and s, 32 bytes each. */
  readonly rs: Uint8Array;
}

const NEWEST_TYPE = 4;
const ACCESS_LIST = 1;
const BLOBS = 3;
const DELEGATION = 4;

const WORD_BYTES = 32;
const ADDRESS_BYTES = 20;
/** Maximum length of gas limits and nonces. */
const COUNT_BYTES = 8;

const NO_BYTES = new Uint8Array(0);
/** The first v with a chain id (EIP-155), and without one. */
const CHAIN_V = 35n;
const PLAIN_V = 27n;

/** @param item - positioned at the transaction; advances past it. @throws RlpError */
export function readTransaction(item: RlpReader, chainId: bigint): Transaction {
  if (item.isList) return readLegacy(item.readList(), chainId);
  const encoded = item.readBytes();
  const type = encoded[0] ?? 0;
  if (type === 0 || type > NEWEST_TYPE)
    throw new RlpError(`expected a transaction of type 1 to 4, got ${type}: other types need --source trace`);
  const outer = new RlpReader(encoded, 1);
  const fields = outer.readList();
  outer.close();
  return readTyped(fields, type, chainId);
}

function readLegacy(fields: RlpReader, chainId: bigint): Transaction {
  const from = fields.at;
  const nonce = fields.readNumber(COUNT_BYTES);
  const maxFee = fields.readNumber(WORD_BYTES);
  const call = readCall(fields);
  const signed = fields.bytes.subarray(from, fields.at);
  const v = fields.readNumber(WORD_BYTES);
  const hasChain = v === CHAIN_V + 2n * chainId || v === CHAIN_V + 2n * chainId + 1n;
  if (!hasChain && v !== PLAIN_V && v !== PLAIN_V + 1n)
    throw new RlpError(
      `expected v to be 27, 28, or ${CHAIN_V + 2n * chainId} or the next for chain ${chainId}, got ${v}`,
    );
  const isOdd = v === (hasChain ? CHAIN_V + 2n * chainId : PLAIN_V) + 1n;
  const signature = readSignature(
    fields,
    isOdd,
    hashSigned(undefined, signed, hasChain ? chainId : undefined),
  );
  const typed = {type: 0, accessList: [], maxBlobFee: 0n, blobHashes: [], authorizations: undefined};
  return {...typed, ...call, nonce, maxFee, maxPriorityFee: maxFee, signature};
}

function readTyped(fields: RlpReader, type: number, chainId: bigint): Transaction {
  const from = fields.at;
  const chain = fields.readNumber(WORD_BYTES);
  if (chain !== chainId) throw new RlpError(`expected a transaction of chain ${chainId}, got chain ${chain}`);
  const nonce = fields.readNumber(COUNT_BYTES);
  const maxPriorityFee = fields.readNumber(WORD_BYTES);
  const maxFee = type === ACCESS_LIST ? maxPriorityFee : fields.readNumber(WORD_BYTES);
  const call = readCall(fields);
  const accessList = readAll(fields.readList(), readListedAddress);
  const maxBlobFee = type === BLOBS ? fields.readNumber(WORD_BYTES) : 0n;
  const blobHashes = type === BLOBS ? readAll(fields.readList(), hashes => hashes.readBytes(WORD_BYTES)) : [];
  const authorizations = type === DELEGATION ? readAll(fields.readList(), readAuthorization) : undefined;
  const signed = fields.bytes.subarray(from, fields.at);
  const parity = fields.readNumber(1);
  if (parity > 1n) throw new RlpError(`expected yParity to be 0 or 1, got ${parity}`);
  const signature = readSignature(fields, parity === 1n, hashSigned(type, signed, undefined));
  const fees = {nonce, maxFee, maxPriorityFee, maxBlobFee};
  return {type, ...fees, ...call, accessList, blobHashes, authorizations, signature};
}

function readCall(fields: RlpReader): Pick<Transaction, "gasLimit" | "to" | "value" | "data"> {
  const gasLimit = fields.readNumber(COUNT_BYTES);
  const to = fields.readBytes();
  if (to.length !== 0 && to.length !== ADDRESS_BYTES)
    throw new RlpError(`expected an address or nothing, got ${count(to.length, "byte")}`);
  const value = fields.readNumber(WORD_BYTES);
  return {gasLimit, to: to.length === 0 ? undefined : to, value, data: fields.readBytes()};
}

function readListedAddress(entries: RlpReader) {
  const entry = entries.readList();
  const address = entry.readBytes(ADDRESS_BYTES);
  const slots = readAll(entry.readList(), words => words.readBytes(WORD_BYTES));
  entry.close();
  return {address, slots};
}

function readAuthorization(entries: RlpReader) {
  const entry = entries.readList();
  const authorization = {
    chainId: entry.readNumber(WORD_BYTES),
    address: entry.readBytes(ADDRESS_BYTES),
    nonce: entry.readNumber(COUNT_BYTES),
    yParity: entry.readNumber(1),
    r: entry.readNumber(WORD_BYTES),
    s: entry.readNumber(WORD_BYTES),
  };
  entry.close();
  return authorization;
}

function readSignature(fields: RlpReader, isOdd: boolean, hash: Uint8Array): Signature {
  const rs = new Uint8Array(2 * WORD_BYTES);
  fields.readWordInto(rs, 0);
  fields.readWordInto(rs, WORD_BYTES);
  fields.close();
  return {hash, isOdd, rs};
}

/** @param fields - the RLP before the signature. @param chainId - of a legacy transaction with one (EIP-155) */
function hashSigned(type: number | undefined, fields: Uint8Array, chainId: bigint | undefined): Uint8Array {
  const tail = chainId === undefined ? [] : [encodeNumber(chainId), NO_BYTES, NO_BYTES];
  const list = encodeList([new EncodedItem(fields), ...tail]);
  return keccak256(type === undefined ? list : Buffer.concat([Uint8Array.of(type), list]));
}
