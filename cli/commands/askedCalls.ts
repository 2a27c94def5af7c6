/** Parses the request and the response for `proofd verify`. Nothing is verified here. */
import {isObject, oneLine} from "../../client/bytes/values.ts";
import {keccakSuite} from "../../client/methods/trustedRoot.ts";
import {ProofError} from "../../client/proof/proofError.ts";
import type {ProofRequest} from "../../client/proof/request.ts";
import {check, readBytes, readFields} from "../../client/proof/strictJson.ts";

const FORMS = "expected a JSON-RPC response or proof bytes";
const MAX_TEXT = 300;
/** Proof bytes begin with a smaller number, JSON with a character. */
const FIRST_CHARACTER = 0x09;

export interface AskedCall {
  /** undefined if the call has none. */
  readonly id: unknown;
  /** One, except for multiproofs. */
  readonly entries: readonly ProofRequest[];
  /** The proof is of Ethereum's tries: a call of eth_getProof, or with the suite keccak. */
  readonly isTrie: boolean;
}

/**
 * @param json - calls of chain_getProof, chain_getProofAt, chain_getMultiProof or eth_getProof
 * @returns at least one. @throws ProofError
 */
export function parseRequest(json: unknown) {
  const isBatch = Array.isArray(json);
  const list: readonly unknown[] = isBatch ? json : [json];
  check(list.length > 0, "request", "expected at least one call, got an empty batch");
  return {isBatch, calls: list.map((call, i) => readCall(isBatch ? `request[${i}]` : "request", call))};
}

function readCall(at: string, call: unknown): AskedCall {
  const [params] = readFields(at, call, ["params"]);
  check(Array.isArray(params), `${at}.params`, "expected an array");
  const {id, method} = call as {id?: unknown; method?: unknown};
  check(method !== "proof_call", at, "expected proof_call alone, got it in a batch");
  const [first, second, third, fourth] = params;
  const isList = Array.isArray(first) && method !== "eth_getProof";
  const entries: readonly unknown[] = isList ? first : [{address: first, storageKeys: second}];
  return {
    id,
    isTrie: method === "eth_getProof" || (isList ? third : fourth) === keccakSuite.name,
    entries: entries.map((entry, i) => {
      const here = `${at}.entries[${i}]`;
      const [address, storageKeys] = readFields(here, entry, ["address", "storageKeys"]);
      check(typeof address === "string", here, "expected an address as text");
      check(Array.isArray(storageKeys), here, "expected an array of storageKeys");
      check(
        storageKeys.every(key => typeof key === "string"),
        here,
        "expected storage keys as text",
      );
      return {address, storageKeys};
    }),
  };
}

/** @param answer - a JSON-RPC response, a batch, or proof bytes. @returns a result per call. @throws ProofError */
export function readResults(
  answer: Buffer,
  {isBatch, calls}: ReturnType<typeof parseRequest>,
): readonly unknown[] {
  const [first] = answer;
  check(first !== undefined, "answer", `${FORMS}, got nothing`);
  if (first < FIRST_CHARACTER) {
    check(!isBatch, "answer", `expected ${calls.length} responses, got proof bytes`);
    return [answer];
  }
  const json = parseJson(answer.toString());
  if (!isBatch) return [readResult("answer", json)];
  check(Array.isArray(json), "answer", `expected an array of ${calls.length} responses, got no array`);
  return calls.map(({id}) => {
    const response: unknown = json.find(one => isObject(one) && one.id === id);
    return readResult(`answer to the call ${JSON.stringify(id)}`, response);
  });
}

/** @returns the header in a response of chain_getProofAt or proof_call, if there is one. @throws ProofError */
export function findHeader(results: readonly unknown[]): Uint8Array | undefined {
  const headers = results.map(result => {
    if (!isObject(result)) return undefined;
    const {headerRlp, witness} = result;
    if (isObject(witness) && Array.isArray(witness.headers)) return witness.headers.at(-1) as unknown;
    return headerRlp ?? undefined;
  });
  const header = headers.find(one => one !== undefined);
  return header === undefined ? undefined : readBytes("headerRlp", header);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProofError("answer", `${FORMS}, got text that is not JSON`);
  }
}

function readResult(at: string, response: unknown): unknown {
  check(!Array.isArray(response), at, "expected one response, got a batch");
  check(isObject(response), at, "expected a JSON-RPC response, got none");
  if ("error" in response) throw new ProofError(at, describeError(response.error));
  check("result" in response, at, "expected a JSON-RPC response, got an object without result");
  return response.result;
}

function describeError(error: unknown): string {
  const [code, message] = isObject(error) ? [error.code, error.message] : [];
  const said = typeof message === "string" ? oneLine(message, MAX_TEXT) : "without a message";
  return `is an error of the server: ${typeof code === "number" ? code : "without a code"}, ${said}`;
}
