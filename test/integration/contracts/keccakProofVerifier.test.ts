/** KeccakProofVerifier on anvil: slots of Ethereum's state trie by multiproofs of docs/proofs.md, section 17. */
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {before} from "node:test";
import {encodeHex} from "../../../client/bytes/hex.ts";
import {word} from "../../../client/hash/hashSuites.ts";
import {verifyEthMultiProof} from "../../../client/trie/ethMultiProof.ts";
import {VerifierContract} from "../../support/contracts/verifierContract.ts";
import {createAnvilTest} from "../../support/processes/anvilTest.ts";
import {
  EthState,
  gatherNodes,
  type HeldAccount,
  joinNodes,
  NEAR_SLOTS,
} from "../../support/reference/ethState.ts";

const ACCOUNTS = 200;
const SLOTS = 40;
const RICH = addressOf(0);
const ABSENT = addressOf(ACCOUNTS);
/** Small values of these lie in the branch above them. */
const NEAR = NEAR_SLOTS.map(slot => encodeHex(word(slot)));
const PRESENT = Array.from({length: SLOTS}, (_, i) => encodeHex(word(i)));
const MISSING = [SLOTS, SLOTS + 1, 2n ** 256n - 1n].map(slot => encodeHex(word(BigInt(slot))));
const LONG = 2n ** 256n - 2n;

const testVerifier = createAnvilTest(["--hardfork", "osaka"]);
let state: EthState;
before(async () => {
  const accounts = new Map<string, HeldAccount>();
  for (let i = 0; i < ACCOUNTS; i++)
    accounts.set(addressOf(i), {nonce: BigInt(i), balance: 10n ** 18n * BigInt(i), slots: new Map()});
  const slots = new Map([
    ...NEAR_SLOTS.map(slot => [slot, 5n] as const),
    [0n, 0x7fn],
    [1n, 0x80n],
    [2n, LONG],
  ]);
  for (let i = 3; i < SLOTS; i++) slots.set(BigInt(i), BigInt(i) ** 40n);
  accounts.set(RICH, {nonce: 0n, balance: 0n, slots});
  state = await EthState.create(accounts);
});

function addressOf(i: number): string {
  return encodeHex(createHash("sha256").update(`account ${i}`).digest().subarray(0, 20));
}

async function prove(address: string, storageKeys: readonly string[]) {
  const proof = joinNodes(gatherNodes([await state.prove(address, storageKeys)]));
  const [proven] = verifyEthMultiProof(state.root, [{address, storageKeys}], proof);
  return {
    root: state.root,
    address,
    slots: storageKeys,
    proof,
    values: proven?.slots.map(value => value ?? 0n),
  };
}

testVerifier(
  "slots are those that the client reads, and zero where the proof shows that they are absent",
  async anvil => {
    const verifier = await VerifierContract.deploy(anvil, "KeccakProofVerifier");
    const questions: [address: string, slots: readonly string[]][] = [
      [RICH, [...PRESENT, ...NEAR, ...MISSING]],
      [RICH, NEAR.toReversed()],
      [RICH, [...MISSING, ...MISSING]],
      [addressOf(1), MISSING],
      [ABSENT, PRESENT.slice(0, 3)],
      [RICH, []],
    ];
    for (const slot of [...PRESENT, ...NEAR, ...MISSING]) questions.push([RICH, [slot]]);
    const proofs = await Promise.all(questions.map(question => prove(...question)));
    assert.deepEqual(
      await verifier.judgeAll(proofs),
      proofs.map(({values}) => ({values})),
    );
    assert.ok(proofs[0]?.values?.includes(LONG) && proofs[0].values.includes(0n));
    const [{root, ...first}] = proofs as [(typeof proofs)[0]];
    const others = [
      {...first, root, address: addressOf(1)},
      {...(await prove(RICH, PRESENT.slice(0, 1))), slots: PRESENT.slice(3, 4)},
      {...first, root: word(1)},
      {...first, root, proof: new Uint8Array()},
      {...first, root, proof: first.proof.with(0, 1)},
      {...first, root, proof: first.proof.subarray(0, -1)},
      {...first, root, proof: Uint8Array.of(...first.proof, 0)},
    ];
    assert.deepEqual(await verifier.judgeAll(others), [
      ...[
        "NodeMissing",
        "NodeMissing",
        "NodeMissing",
        "NotATrieProof",
        "NotATrieProof",
        "NotANode",
        "NotANode",
      ].map(refused => ({refused})),
    ]);
  },
);

testVerifier("no proof with a changed byte is accepted", async anvil => {
  const verifier = await VerifierContract.deploy(anvil, "KeccakProofVerifier");
  const valid = await prove(RICH, [...PRESENT.slice(0, 3), ...NEAR, ...MISSING]);
  const forged = Array.from(valid.proof, (byte, i) => ({
    ...valid,
    proof: valid.proof.with(i, byte ^ (1 << (i % 8))),
  }));
  const accepted = (await verifier.judgeAll(forged)).filter(verdict => !("refused" in verdict));
  assert.ok(forged.length > 2000);
  assert.deepEqual(accepted, []);
});
