/** chain_getCodes: contract code by its keccak hash, which anyone can compute: it needs no block and no proof. */
import {MAX_CODES, MAX_CODES_BYTES, packCodesHead} from "../../../workers/messages/codesCall.ts";
import {LaneId} from "../../request/requestCalls.ts";
import {createLimitError, createValueError} from "../../rpc/rpcError.ts";
import type {LaneMethod} from "../method.ts";
import type {PackedCalls} from "../packedCalls.ts";
import {ParamList} from "../params.ts";
import {arrayOf, BYTES, nullable, STORAGE_KEY_PARAM} from "../schema.ts";
import {decodeWordInto, WORD_BYTES} from "../words.ts";

const HASHES_NAME = "params[0] (codeHashes)";
/** A thread reads a code of 24 KB and writes its hex in the time of two proofs. At least 2, which is room for a packed call. */
const CODE_COST = 2;
const HASH_CHARACTERS = 2 + 2 * WORD_BYTES;

export const getCodes: LaneMethod<PackedCalls> = {
  name: "chain_getCodes",
  summary: "Contract codes by their keccak hashes; null for a hash whose code is not in the store.",
  params: new ParamList([
    {name: "codeHashes", required: true, schema: {...arrayOf(STORAGE_KEY_PARAM), minItems: 1}},
  ]),
  result: {name: "codes", schema: arrayOf(nullable(BYTES))},
  errors: [],
  lane: LaneId.PROOF,
  cost(params) {
    const hashes = Array.isArray(params) ? params[0] : undefined;
    return Array.isArray(hashes) && hashes.length <= MAX_CODES ? CODE_COST * hashes.length : 0;
  },
  maxTextBytes(cost) {
    return 2 * MAX_CODES_BYTES + (cost / CODE_COST) * "0x,null".length;
  },
  prepare(params, _view, calls) {
    const [hashes] = this.params.read(this, params);
    if (!Array.isArray(hashes) || hashes.length === 0)
      throw createValueError(HASHES_NAME, hashes, "an array of one or more code hashes");
    if (hashes.length > MAX_CODES) throw createLimitError(HASHES_NAME, MAX_CODES, hashes.length, "hashes");
    const {packed, end: start} = calls;
    let at = packCodesHead(packed, start, hashes.length);
    for (const [index, hash] of hashes.entries()) {
      if (!(typeof hash === "string" && hash.length === HASH_CHARACTERS && decodeWordInto(hash, packed, at)))
        throw createValueError(`params[0][${index}]`, hash, "32 bytes, 0x and 64 hex digits");
      at += WORD_BYTES;
    }
    calls.add(at, CODE_COST * hashes.length);
  },
};
