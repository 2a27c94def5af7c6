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
  check(
    isEqual(keccak_256(bytes), plainBytes("blockHash", blockHash)),
    at,
    "does not hash to the trusted block hash",
  );
  const fields = decodeList(at, bytes);
  check(
    fields.length >= LEAST_FIELDS,
    at,
    () => `expected ${LEAST_FIELDS} fields or more, got ${fields.length}`,
  );
  return {
    number: readNumber(at, fields[NUMBER] as RlpItem, 8),
    stateRoot: readHash(at, fields[STATE_ROOT] as RlpItem),
  };
}
