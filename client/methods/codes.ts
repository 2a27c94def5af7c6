/** chain_getCodes: contract code by its keccak hash, which proves it. */
import {keccak_256} from "@noble/hashes/sha3.js";
import {encodeHex} from "../bytes/hex.ts";
import {check, readBytes} from "../proof/strictJson.ts";
import {listOf} from "./answerFields.ts";
import type {Abortable} from "./askedBlock.ts";
import type {RpcCaller} from "./connection.ts";

export interface GetCodesParameters extends Abortable {
  /** `0x` and 64 digits each: `keccakCodeHash` of accounts. */
  readonly hashes: readonly string[];
}

/** A server takes no more in one call. */
const MAX_HASHES = 256;
/** Hex of the codes in one answer: a server sends no more than this. */
const MAX_CODES_BYTES = 2 * 512 * 1024;
/** More than the rest of a code takes besides its hex digits. */
const REST_BYTES = 16;

/**
 * Repeats the call while codes are missing: the bytes of an answer are limited.
 *
 * @returns a code for each hash; undefined if the server does not have it
 * @throws RpcError; ProofError for a code that has another hash
 */
export async function getCodes(
  caller: RpcCaller,
  {hashes, signal}: GetCodesParameters,
): Promise<readonly (Uint8Array | undefined)[]> {
  const codes: (Uint8Array | undefined)[] = [];
  while (codes.length < hashes.length) {
    const asked = hashes.slice(codes.length, codes.length + MAX_HASHES);
    const maxAnswerBytes = MAX_CODES_BYTES + REST_BYTES * asked.length;
    const request = {method: "chain_getCodes", params: [asked], maxAnswerBytes};
    const answer = listOf(1, asked.length, (_, code) => code)("codes", await caller.call(request, signal));
    for (const [i, code] of answer.entries())
      codes.push(code === null ? undefined : readCode(asked[i] as string, code));
  }
  return codes;
}

function readCode(hash: string, text: unknown): Uint8Array {
  const code = readBytes("code", text);
  const got = encodeHex(keccak_256(code));
  check(got === hash.toLowerCase(), "code", () => `expected the keccak hash ${hash}, got ${got}`);
  return code;
}
