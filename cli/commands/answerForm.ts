/**
 * The forms of an answer that `proofd verify` takes. Nothing is verified here.
 *
 *   {"jsonrpc", "id", "result": ...}                 the whole response; or its result alone:
 *   {"accountProof", "storageProofs"}                chain_getProof
 *   {"block", "proof": {...}}                        chain_getProofAt
 *   {"accountTree"}                                  chain_getMultiProof
 *   {"address", "storageKeys", "proof": "0x01.."}    compact form with its request (docs/proofs.md, section 11)
 *   "0x01..", 0x01..                                 proof bytes in hex, with or without quotation marks
 *   01.., 02..                                       proof bytes
 */
import {decodeHex, encodeHex} from "../../client/bytes/hex.ts";
import {ProofError} from "../../client/proof/proofError.ts";
import {isObject, readBytes, readFields} from "../../client/proof/strictJson.ts";
import {cleanText} from "../../sync/rpc/nodeText.ts";
import {isAddress, isKey} from "../flags/verifyFlags.ts";

/** An entry of a request. */
export interface AskedEntry {
  /** undefined for the slots of a storage tree alone. */
  readonly address: string | undefined;
  readonly storageKeys: readonly string[];
}

export type AnswerForm =
  | {readonly kind: "single"; readonly proof: unknown; readonly block: NamedBlock | undefined}
  | {readonly kind: "multi"; readonly proof: unknown}
  /** `echo` is the request that stands with the bytes. */
  | {readonly kind: "accounts"; readonly bytes: Uint8Array; readonly echo: AskedEntry | undefined}
  | {readonly kind: "slots"; readonly bytes: Uint8Array};

/** The block of an answer of chain_getProofAt, 0x text as the node wrote it. It is not proven. */
export interface NamedBlock {
  readonly number: unknown;
  readonly hash: unknown;
  readonly stateRoot: unknown;
}

const FORMS =
  "expected is the JSON of chain_getProof, chain_getProofAt or chain_getMultiProof, or proof bytes, plain or in hex";
const MAX_TEXT = 300;

/** @throws ProofError if the input has none of the forms */
export function parseAnswer(input: Uint8Array): AnswerForm {
  if (input[0] === 1 || input[0] === 2) return readProofBytes(input, undefined);
  const text = Buffer.from(input.buffer, input.byteOffset, input.length).toString().trim();
  return text.startsWith("0x") ? readHex(text) : readResult(parseJson(text));
}

function parseJson(text: string): unknown {
  if (text === "") throw new ProofError("answer", `is empty; ${FORMS}`);
  try {
    return JSON.parse(text);
  } catch {
    throw new ProofError("answer", `is not JSON and does not begin with 0x; ${FORMS}`);
  }
}

function readResult(json: unknown): AnswerForm {
  if (typeof json === "string") return readHex(json);
  if (Array.isArray(json)) throw new ProofError("answer", "is an array; expected is one answer of a batch");
  if (!isObject(json)) throw new ProofError("answer", `is none; ${FORMS}`);
  if ("jsonrpc" in json) {
    if (!("result" in json)) throw new ProofError("answer", describeError(json.error));
    const {jsonrpc: _, ...response} = json;
    // Without its `jsonrpc`, the result cannot be a response again.
    if (isObject(response.result) && "jsonrpc" in response.result)
      throw new ProofError("answer", "its result is a response again");
    return readResult(response.result);
  }
  if ("accountTree" in json) return {kind: "multi", proof: json};
  if ("accountProof" in json) return {kind: "single", proof: json, block: undefined};
  if ("block" in json) return readProofAt(json);
  if ("address" in json) return readCompact(json);
  throw new ProofError("answer", `has no accountProof, accountTree or proof; ${FORMS}`);
}

function describeError(error: unknown): string {
  const [code, message] = isObject(error) ? [error.code, error.message] : [];
  const said = typeof message === "string" ? cleanText(message, text => text, MAX_TEXT) : "without a message";
  return `is an error of the server: ${typeof code === "number" ? code : "without a code"}, ${said}`;
}

function readProofAt(json: unknown): AnswerForm {
  const [block, proof] = readFields("result", json, ["block", "proof"]);
  const [number, hash, stateRoot] = readFields("block", block, ["number", "hash", "stateRoot"]);
  return {kind: "single", proof, block: {number, hash, stateRoot}};
}

function readCompact(json: unknown): AnswerForm {
  const [address, storageKeys, proof] = readFields("answer", json, ["address", "storageKeys", "proof"]);
  if (!isAddress(address)) throw new ProofError("address", "is not 0x and 40 hex digits");
  if (!Array.isArray(storageKeys) || !storageKeys.every(isKey))
    throw new ProofError("storageKeys", "are not each 0x and 1 to 64 hex digits");
  return readProofBytes(readBytes("proof", proof), {address, storageKeys});
}

function readHex(text: string): AnswerForm {
  try {
    return readProofBytes(decodeHex(text), undefined);
  } catch (error) {
    if (error instanceof ProofError) throw error;
    throw new ProofError("answer", (error as Error).message);
  }
}

function readProofBytes(bytes: Uint8Array, echo: AskedEntry | undefined): AnswerForm {
  if (bytes[0] === 1) return {kind: "accounts", bytes, echo};
  if (bytes[0] === 2 && echo === undefined) return {kind: "slots", bytes};
  const first = encodeHex(bytes.subarray(0, 1));
  throw new ProofError("byte 0", `is ${first}, expected is 0x01${echo === undefined ? " or 0x02" : ""}`);
}
