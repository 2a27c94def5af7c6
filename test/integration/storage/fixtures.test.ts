/** The store against test/fixtures: state roots are checked by the import, proofs byte by byte. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {P} from "../../../client/hash/poseidon2.ts";
import {SUITE_NAMES} from "../../../storage/hash/suiteNames.ts";
import {readVectors} from "../../support/reference/ownVectors.ts";
import type {ProofVectors} from "../../support/reference/proofVectors.ts";
import {proveCalls} from "../../support/stores/proveCalls.ts";
import {TemporaryStore} from "../../support/stores/temporaryStore.ts";

for (const suite of SUITE_NAMES)
  test(`${suite}: the store comes to the state roots of the fixtures and proves what they prove, byte by byte`, async t => {
    const {blocks, proofs} = readVectors<ProofVectors>("proofs", suite);
    const store = await TemporaryStore.create(suite);
    t.after(() => store.close());
    await store.mustImport(blocks, "last");
    const calls = proofs.map(({block, address, keys}) => ({block, address, slots: keys.map(BigInt)}));
    const answers = await proveCalls(store.engine, calls);
    for (const [i, {what, result}] of proofs.entries())
      assert.equal(answers[i], `{"jsonrpc":"2.0","id":${i},"result":${JSON.stringify(result)}}`, what);
  });

/** Accounts of the live network's own tests, and its state roots. */
const NETWORK_LINES = [
  {
    number: "0x0",
    hash: `0x${"01".repeat(32)}`,
    stateRoot: "0x6b5d2e111a55e55826396df03ac3d0055dc4a88671edbcc8274db3f0117e0f97",
    accounts: {"0x2400000000000000000000000000000000000000": {nonce: "0x41", balance: "0x343"}},
  },
  {
    number: "0x1",
    hash: `0x${"02".repeat(32)}`,
    stateRoot: "0x7bcc50ea4546465f153f5c0a35e3cddb59f492f4183438ed52733bc92823fbb7",
    accounts: {"0x2900000000000000000000000000000000000000": {nonce: "0x2a", balance: "0x162"}},
  },
];

test("the live network's state roots are taken, and refused if an element is p or more, even where it is the right one modulo p", async t => {
  const store = await TemporaryStore.create("poseidon2");
  t.after(() => store.close());
  const [line] = NETWORK_LINES as [(typeof NETWORK_LINES)[0]];
  for (let element = 0; element < 8; element++) {
    const root = Buffer.from(line.stateRoot.slice(2), "hex");
    root.writeUInt32BE(root.readUInt32BE(4 * element) + P, 4 * element);
    const outcome = await store.importLines([{...line, stateRoot: `0x${root.toString("hex")}`}]);
    assert.ok(!outcome.ok);
    assert.equal(
      outcome.message,
      `line 1: block 0: expected state root 0x${root.toString("hex")}, its changes give ${line.stateRoot}`,
    );
  }
  await store.mustImport(NETWORK_LINES, "last");
});
