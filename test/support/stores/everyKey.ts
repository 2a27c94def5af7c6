/** The rule that property tests check: at every block, the proof of every key, present or absent, matches the reference. */
import assert from "node:assert/strict";
import {encodeHex} from "../../../client/bytes/hex.ts";
import {poseidon2Suite, sha256Suite} from "../../../client/hash/hashSuites.ts";
import type {Engine} from "../../../workers/engine.ts";
import {type RandomChain, slotsOf} from "../chains/randomBlocks.ts";
import {verifyProof} from "../reference/exactProof.ts";
import {memoiseSuite} from "../reference/memoisedSuite.ts";
import type {ReferenceAccount, ReferenceState} from "../reference/referenceState.ts";
import {proveCalls} from "./proveCalls.ts";

/** The suites of the stores under test. They are shared, so that trees which recur are hashed only once. */
export const memoisedSha256 = memoiseSuite(sha256Suite);
export const memoisedPoseidon2 = memoiseSuite(poseidon2Suite);

/** Chains whose slots the verifier has accepted, by account: their texts are the same while it is unchanged. */
const acceptedChains = new WeakMap<ReferenceAccount | ReferenceState, RandomChain>();

/**
 * Asks for all addresses with all slots at the given blocks, and checks each answer three ways: the text is that of the
 * reference's own proof, the independent verifier accepts it under the reference's root, and the proven value is that of the
 * reference. Slots are verified once for each state of their account, whose root the account's proof proves at each block.
 *
 * @param blocks - default: all blocks of the chain
 * @returns how many leaves were proven
 */
export async function checkEveryKey(
  engine: Engine,
  state: ReferenceState,
  chain: RandomChain,
  blocks: readonly number[] = chain.lines.map((_, block) => block),
): Promise<number> {
  assert.equal(engine.chain.suite, state.suite.name);
  for (const block of blocks) {
    const summary = engine.chain.readBlock(block);
    assert.ok("stateRoot" in summary, `block ${block} is held`);
    assert.equal(summary.number, block);
    assert.equal(encodeHex(summary.hash), chain.lines[block]?.hash);
    assert.equal(
      encodeHex(summary.stateRoot),
      encodeHex(state.stateRoot(block)),
      `state root of block ${block}`,
    );
    assert.equal(engine.chain.findBlock(summary.hash), block);
  }
  const calls = blocks.flatMap(block =>
    chain.addresses.map(address => ({block, address, slots: slotsOf(chain, address)})),
  );
  let leaves = 0;
  const answers = await proveCalls(engine, calls);
  for (const [i, {block, address, slots: askedSlots}] of calls.entries()) {
    const keys = askedSlots.map(slot => `0x${slot.toString(16)}`);
    leaves += 1 + keys.length;
    const at = `account ${address} at block ${block}`;
    const {accountProof, storageProofs} = state.proveTexts(block, address, keys);
    const expected = `{"accountProof":${accountProof},"storageProofs":[${storageProofs.join(",")}]}`;
    const text = answers[i] as string;
    if (text !== `{"jsonrpc":"2.0","id":${i},"result":${expected}}`)
      assert.fail(`${at}: not the text of the reference: ${text.slice(0, 80)}`);

    const held = state.readAccount(block, address);
    const isAccepted = acceptedChains.get(held ?? state) === chain;
    const [asked, proofs] = isAccepted ? [[], []] : [keys, storageProofs.map(one => JSON.parse(one))];
    const result = {accountProof: JSON.parse(accountProof), storageProofs: proofs};
    const {account, slots} = verifyProof(state.suite, state.stateRoot(block), address, asked, result);
    assert.equal(account?.nonce, held?.nonce, at);
    assert.equal(account?.balance, held?.balance, at);
    assert.equal(account && Number(account.codeSize), held?.code.length, at);
    assert.equal(account?.storageRoot, held && encodeHex(held.storage.topRoot()), at);
    if (isAccepted) continue;
    for (const [k, slot] of askedSlots.entries())
      assert.equal(slots[k] ?? 0n, state.readSlot(block, address, slot), `${at}, slot ${keys[k]}`);
    acceptedChains.set(held ?? state, chain);
  }
  return leaves;
}
