/** Compares what a service proves with what a node holds: block hashes, and all accounts and slots that were touched. */
import assert from "node:assert/strict";
import {decodeHex} from "../../../client/bytes/hex.ts";
import {sha256Suite} from "../../../client/hash/hashSuites.ts";
import type {LiveChain} from "../chains/liveChain.ts";
import {verifyProof} from "../reference/exactProof.ts";
import type {AskedService} from "./askedService.ts";
import type {RpcAnswer} from "./rpcAnswer.ts";

type Call = readonly [method: string, ...params: readonly unknown[]];

/** Sent in batches: a request of its own costs each call a millisecond of three processes' time. */
async function callAll<Result>(
  send: (body: unknown) => Promise<unknown>,
  calls: readonly Call[],
): Promise<Result[]> {
  const batch = calls.map(([method, ...params], id) => ({jsonrpc: "2.0", id, method, params}));
  const results: Result[] = [];
  for (const {id, result, error} of (await send(batch)) as (RpcAnswer & {readonly id: number})[]) {
    assert.equal(error, undefined, `${calls[id]}: ${JSON.stringify(error)}`);
    results[id] = result as Result;
  }
  assert.equal(results.length, calls.length);
  return results;
}

/** Each block's hash and state root, as the service has them. The hashes must be the node's. */
export async function compareBlocks(
  daemon: AskedService,
  {anvil}: Pick<LiveChain, "anvil">,
  latest: number,
): Promise<string[]> {
  const tags = Array.from({length: latest + 1}, (_, number) => `0x${number.toString(16)}`);
  const served = await callAll<{hash: string; stateRoot: string}>(
    body => daemon.send(body),
    tags.map(tag => ["chain_getStateRoot", tag]),
  );
  const blocks = await callAll<{hash: string}>(
    body => anvil.send(body),
    tags.map(tag => ["eth_getBlockByNumber", tag, false]),
  );
  for (const [number, {hash}] of blocks.entries())
    assert.equal(served[number]?.hash, hash, `block ${number}`);
  return served.map(({stateRoot}) => stateRoot);
}

/** @param block - finalized in the service */
export async function compareState(daemon: AskedService, chain: LiveChain, block: number): Promise<void> {
  const tag = `0x${block.toString(16)}`;
  const {result: root} = await daemon.call("chain_getStateRoot", [tag]);
  const touched = [...chain.touched].map(([address, slots]) => ({address, keys: [...slots]}));
  const proofs = await callAll<unknown>(
    body => daemon.send(body),
    touched.map(({address, keys}) => ["chain_getProof", address, keys, tag]),
  );
  const values = await callAll<string>(
    body => chain.anvil.send(body),
    touched.flatMap(({address, keys}): Call[] => [
      ["eth_getBalance", address, tag],
      ["eth_getTransactionCount", address, tag],
      ...keys.map(key => ["eth_getStorageAt", address, key, tag] as const),
    ]),
  );
  let next = 0;
  const nextValue = (): bigint => BigInt(values[next++] as string);
  for (const [at, {address, keys}] of touched.entries()) {
    const proven = verifyProof(sha256Suite, decodeHex(root.stateRoot), address, keys, proofs[at]);
    const where = `${address} at block ${block}`;
    assert.equal(proven.account?.balance ?? 0n, nextValue(), where);
    assert.equal(proven.account?.nonce ?? 0n, nextValue(), where);
    for (const [slot, key] of keys.entries())
      assert.equal(proven.slots[slot] ?? 0n, nextValue(), `${where}, slot ${key}`);
  }
}
