/** The header of a block, verified by its hash: it has the state root for answers of eth_getProof. */
import {keccak_256} from "@noble/hashes/sha3.js";
import {isEqual} from "../bytes/byteString.ts";
import {check, plainBytes} from "../proof/strictJson.ts";
import {decodeList, type RlpItem, readHash, readNumber} from "./rlp.ts";

export interface ProvenHeader {
  readonly number: bigint;
  /** 32 bytes. */
  readonly stateRoot: Uint8Array;
}

const STATE_ROOT = 3;
const NUMBER = 8;
/** Those of Ethereum's first headers. Later headers, and those of other chains, have more. */
const LEAST_FIELDS = 15;

/**
 * @param blockHash - trusted, 32 bytes
 * @param header - RLP, as debug_getRawHeader gives it
 * @throws ProofError unless it is the header of this block
 */
export function verifyHeader(blockHash: Uint8Array, header: Uint8Array): ProvenHeader {
  const at = "header";
  const bytes = plainBytes(at, header);
  checkHeaderHash(at, bytes, blockHash);
  const fields = decodeHeader(at, bytes);
  return {
    number: readNumber(at, fields[NUMBER] as RlpItem, 8),
    stateRoot: readHash(at, fields[STATE_ROOT] as RlpItem),
  };
}

/** @param blockHash - trusted, 32 bytes. @throws ProofError unless the header has this hash */
export function checkHeaderHash(at: string, header: Uint8Array, blockHash: Uint8Array): void {
  const isSame = isEqual(keccak_256(header), plainBytes("blockHash", blockHash));
  check(isSame, at, "does not hash to the trusted block hash");
}

/** @returns its fields, at least LEAST_FIELDS. @throws ProofError */
export function decodeHeader(at: string, header: Uint8Array): readonly RlpItem[] {
  const fields = decodeList(at, header);
  check(
    fields.length >= LEAST_FIELDS,
    at,
    () => `expected ${LEAST_FIELDS} fields or more, got ${fields.length}`,
  );
  return fields;
}
