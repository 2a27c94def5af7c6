/**
 * The headers of a call's witness, oldest first. The last one is that of the executed block. Each contains the hash of the
 * one before it, so that a trusted hash of the last one proves them all.
 *
 *   witness.headers   | oldest block whose hash is read | ... | parent | executed block |
 */
import {keccak_256} from "@noble/hashes/sha3.js";
import {encodeHex} from "../bytes/hex.ts";
import {type HeldBlockName, requireAsked} from "../methods/askedBlock.ts";
import {check, readArray, readBytes} from "../proof/strictJson.ts";
import {checkHeaderHash, decodeHeader} from "../trie/blockHeader.ts";
import {type RlpItem, readHash, readNumber} from "../trie/rlp.ts";

/** Fields of the executed block's header. Hashes have 32 bytes. */
export type CallHeader = ReturnType<typeof readLastHeader>;

const AT = "witness.headers";
/** Those that BLOCKHASH can read, and that of the executed block. */
const SIZE = {least: 1, most: 257, what: "headers"};

/** @param headers - untrusted JSON. @throws ProofError */
export function readHeaders(headers: unknown): readonly Uint8Array[] {
  return readArray(AT, headers, SIZE, (header, i) => readBytes(`${AT}[${i}]`, header));
}

/** @throws ProofError */
export function readLastHeader(headers: readonly Uint8Array[]) {
  const fields = decodeHeader(AT, headers.at(-1) as Uint8Array);
  const numberOf = (at: number) => readNumber(AT, fields[at] as RlpItem, 32);
  const hashOf = (at: number) => readHash(AT, fields[at] as RlpItem);
  const {payload: coinbase} = fields[2] as RlpItem;
  check(coinbase.length === 20, AT, "expected a coinbase of 20 bytes");
  return {
    ...{stateRoot: hashOf(3), coinbase, difficulty: numberOf(7), number: numberOf(8), gasLimit: numberOf(9)},
    // Hard forks have added fields.
    ...{timestamp: numberOf(11), prevRandao: hashOf(13), fieldCount: fields.length},
  };
}

/** @param number - in the last header. @param named - the block that the caller asked for. @throws ProofError for another one */
export function checkNamed(
  headers: readonly Uint8Array[],
  number: bigint,
  named: HeldBlockName | undefined,
): void {
  if (named === undefined) return;
  if (typeof named !== "object") {
    requireAsked(AT, named, number);
    return;
  }
  const hash = encodeHex(keccak_256(headers.at(-1) as Uint8Array));
  check(hash === named.blockHash.toLowerCase(), `${AT}.hash`, `expected ${named.blockHash}, got ${hash}`);
}

/**
 * @param blockHash - of the last header, trusted
 * @returns the hashes by number of the blocks before the last one, as far as there are headers. @throws ProofError
 */
export function proveHashes(headers: readonly Uint8Array[], blockHash: Uint8Array): Map<bigint, Uint8Array> {
  const hashes = new Map<bigint, Uint8Array>();
  let {number} = readLastHeader(headers);
  let hash = blockHash;
  for (let i = headers.length - 1; i >= 0; i--) {
    const header = headers[i] as Uint8Array;
    checkHeaderHash(`${AT}[${i}]`, header, hash);
    hash = readHash(AT, decodeHeader(AT, header)[0] as RlpItem);
    hashes.set(--number, hash);
  }
  return hashes;
}
