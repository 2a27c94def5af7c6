/** Requests of the wire tests' clients: one or many calls of chain_getProof, and a call that needs no worker. */
import {ACCOUNTS} from "../chains/serviceChain.ts";

export const CHAIN_CALL = '{"jsonrpc":"2.0","id":1,"method":"chain_chainId"}';
export const CHAIN_ANSWER = '{"jsonrpc":"2.0","id":1,"result":"0x539"}';

export function proofCall(
  id: unknown,
  address = ACCOUNTS[0] as string,
  keys: readonly string[] = [],
  block: unknown = "latest",
) {
  return {jsonrpc: "2.0", id, method: "chain_getProof", params: [address, keys, block]};
}

/** The same for chain_getProofAt. */
export function proofAtCall(...call: Parameters<typeof proofCall>) {
  return {...proofCall(...call), method: "chain_getProofAt"};
}

/** The text of one call. The account depends on the id. */
export function proofText(id: number, keyCount = 0): string {
  const keys = Array.from({length: keyCount}, (_, at) => `0x${at.toString(16)}`);
  return JSON.stringify(proofCall(id, ACCOUNTS[id % ACCOUNTS.length], keys));
}

/** A batch whose answer has about `count` MB: 80 absent slots in each call. */
export function largeBatch(count: number): string {
  return `[${Array.from({length: count}, (_, id) => proofText(id, 80)).join(",")}]`;
}
