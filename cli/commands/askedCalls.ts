/** The calls that `proofd verify` verifies answers to: a JSON-RPC request, or a batch of them. */
import type {ProofRequest} from "../../client/proof/request.ts";
import {check, readFields} from "../../client/proof/strictJson.ts";

export interface AskedCall {
  /** undefined if it has none. */
  readonly id: unknown;
  /** One for a call of chain_getProof and its relatives. */
  readonly entries: readonly ProofRequest[];
}

export interface AskedCalls {
  readonly isBatch: boolean;
  /** At least one. */
  readonly calls: readonly AskedCall[];
}

/** @param json - calls of chain_getProof, chain_getProofAt or chain_getMultiProof. @throws ProofError */
export function parseRequest(json: unknown): AskedCalls {
  const isBatch = Array.isArray(json);
  const list: readonly unknown[] = isBatch ? json : [json];
  check(list.length > 0, "request", "expected at least one call, got an empty batch");
  return {isBatch, calls: list.map((call, i) => readCall(isBatch ? `request[${i}]` : "request", call))};
}

function readCall(at: string, call: unknown): AskedCall {
  const [params] = readFields(at, call, ["params"]);
  check(Array.isArray(params), `${at}.params`, "expected an array");
  const [first, second] = params;
  const entries: readonly unknown[] = Array.isArray(first) ? first : [{address: first, storageKeys: second}];
  return {
    id: (call as {id?: unknown}).id,
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
