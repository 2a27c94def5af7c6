/** Compares what a service proves with what a node holds: block hashes, and all accounts and slots that were touched. */
import assert from "node:assert/strict";
import {decodeHex} from "../../../client/bytes/hex.ts";
import {sha256Suite} from "../../../client/hash/hashSuites.ts";
import type {LiveChain} from "../chains/liveChain.ts";
import type {Daemon} from "../processes/daemon.ts";
import {verifyProof} from "../reference/exactProof.ts";

/** Each block's hash and state root, as the service has them. The hashes must be the node's. */
export async function compareBlocks(daemon: Daemon, chain: LiveChain, latest: number): Promise<string[]> {
  const roots: string[] = [];
  for (let number = 0; number <= latest; number++) {
    const {result, error} = await daemon.call("chain_getStateRoot", [`0x${number.toString(16)}`]);
    assert.equal(error, undefined, JSON.stringify(error));
    assert.equal(result.hash, (await chain.block(number)).hash, `block ${number}`);
    roots.push(result.stateRoot);
  }
  return roots;
}

/** @param block - finalized in the service */
export async function compareState(daemon: Daemon, chain: LiveChain, block: number): Promise<void> {
  const tag = `0x${block.toString(16)}`;
  const {anvil} = chain;
  const {result: root} = await daemon.call("chain_getStateRoot", [tag]);
  for (const [address, slots] of chain.touched) {
    const keys = [...slots];
    const {result, error} = await daemon.call("chain_getProof", [address, keys, tag]);
    assert.equal(error, undefined, JSON.stringify(error));
    const proven = verifyProof(sha256Suite, decodeHex(root.stateRoot), address, keys, result);
    const where = `${address} at block ${block}`;
    const balance = BigInt(await anvil.request<string>("eth_getBalance", address, tag));
    const nonce = BigInt(await anvil.request<string>("eth_getTransactionCount", address, tag));
    assert.equal(proven.account?.balance ?? 0n, balance, where);
    assert.equal(proven.account?.nonce ?? 0n, nonce, where);
    for (const [at, key] of keys.entries()) {
      const value = BigInt(await anvil.request<string>("eth_getStorageAt", address, key, tag));
      assert.equal(proven.slots[at] ?? 0n, value, `${where}, slot ${key}`);
    }
  }
}
