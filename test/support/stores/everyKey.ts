/** The rule that property tests check: at every block, the proof of every key, present or absent, matches the reference. */
import assert from "node:assert/strict";
import {encodeHex} from "../../../client/bytes/hex.ts";
import {poseidon2Suite, sha256Suite} from "../../../client/hash/hashSuites.ts";
import type {ProofPool} from "../../../workers/pool/pool.ts";
import type {RandomChain} from "../chains/randomBlocks.ts";
import {verifyProof} from "../reference/exactProof.ts";
import {memoiseSuite} from "../reference/memoisedSuite.ts";
import type {ReferenceState} from "../reference/referenceState.ts";
import {proveCalls} from "./proveCalls.ts";

/** The suites of the stores under test. They are shared, so that trees which recur are hashed only once. */
export const memoisedSha256 = memoiseSuite(sha256Suite);
export const memoisedPoseidon2 = memoiseSuite(poseidon2Suite);

/**
 * Asks for all addresses with all slots at the given blocks, and checks each answer three ways: the independent
 * verifier accepts it under the reference's root, the proven value is that of the reference, and the text is that of the
 * reference's own proof.
 *
 * @param blocks - default: all blocks of the chain
 * @returns how many leaves were proven
 */
export async function checkEveryKey(
  pool: ProofPool,
  state: ReferenceState,
  chain: RandomChain,
  blocks: readonly number[] = chain.lines.map((_, block) => block),
): Promise<number> {
  assert.equal(pool.chain.suite, state.suite.name);
  for (const block of blocks) {
    const summary = pool.chain.readBlock(block);
    assert.ok("stateRoot" in summary, `block ${block} is held`);
    assert.equal(summary.number, block);
    assert.equal(encodeHex(summary.hash), chain.lines[block]?.hash);
    assert.equal(
      encodeHex(summary.stateRoot),
      encodeHex(state.stateRoot(block)),
      `state root of block ${block}`,
    );
    assert.equal(pool.chain.findBlock(summary.hash), block);
  }
  const calls = blocks.flatMap(block =>
    chain.addresses.map(address => ({block, address, slots: chain.slots})),
  );
  const keys = chain.slots.map(slot => `0x${slot.toString(16)}`);
  const answers = await proveCalls(pool, calls);
  for (const [i, {block, address}] of calls.entries()) {
    const at = `account ${address} at block ${block}`;
    const text = answers[i] as string;
    assert.equal(text[0], "{", `${at}: ${text.slice(0, 80)}`);
    const {jsonrpc, id, result} = JSON.parse(text) as {jsonrpc: string; id: number; result: unknown};
    assert.deepEqual([jsonrpc, id], ["2.0", i], at);

    const {account, slots} = verifyProof(state.suite, state.stateRoot(block), address, keys, result);
    const held = state.readAccount(block, address);
    assert.equal(account?.nonce, held?.nonce, at);
    assert.equal(account?.balance, held?.balance, at);
    assert.equal(account && Number(account.codeSize), held?.code.length, at);
    for (const [k, slot] of chain.slots.entries())
      assert.equal(slots[k] ?? 0n, state.readSlot(block, address, slot), `${at}, slot ${keys[k]}`);

    const expected = JSON.stringify(state.prove(block, address, keys));
    assert.ok(text.includes(`"result":${expected}`), `${at}: the text is not that of the reference`);
  }
  return calls.length * (1 + keys.length);
}
