/** Law: a store's multiproof is, to the byte, the one that is gathered from the reference's single proofs. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {decodeHex} from "../../client/bytes/hex.ts";
import {compactAnswers, verifyMultiProof} from "../../client/compact/compactProof.ts";
import {type HashSuite, word} from "../../client/hash/hashSuites.ts";
import {verifyProof} from "../../client/proof/proofVerifier.ts";
import type {ProofRequest} from "../../client/proof/request.ts";
import {ADDRESS_AT, KEYS_AT, ProofForm, writeCallHead} from "../../workers/messages/packedCall.ts";
import {growingChains} from "../support/chains/growingBlocks.ts";
import {type RandomChain, randomChains} from "../support/chains/randomBlocks.ts";
import {proofRequests} from "../support/reference/proofRequests.ts";
import {ReferenceState} from "../support/reference/referenceState.ts";
import {isSoak, propertyRuns, sampleOf} from "../support/soak.ts";
import {memoisedPoseidon2, memoisedSha256} from "../support/stores/everyKey.ts";
import {proveBothForms} from "../support/stores/proveCalls.ts";
import {TemporaryStore} from "../support/stores/temporaryStore.ts";

function packMulti(block: number, request: readonly ProofRequest[], form: ProofForm): Buffer {
  return Buffer.concat(
    request.flatMap(({address, storageKeys}, entry) => {
      const head = Buffer.alloc(KEYS_AT);
      writeCallHead(head, 0, block, storageKeys.length, entry === 0 ? form : ProofForm.NEXT_ENTRY);
      head.set(decodeHex(address.toLowerCase()), ADDRESS_AT);
      return [head, ...storageKeys.map(key => word(BigInt(key)))];
    }),
  );
}

interface Case {
  readonly chain: RandomChain;
  readonly requests: readonly (readonly ProofRequest[])[];
}

function casesOf(chains: fc.Arbitrary<RandomChain>, maxEntries: number): fc.Arbitrary<Case> {
  return chains.chain(chain =>
    fc.record({
      chain: fc.constant(chain),
      requests: fc.array(proofRequests(chain, maxEntries), {minLength: 1, maxLength: 4}),
    }),
  );
}

/** Asks every request at every block of the chain. */
async function checkCase(suite: HashSuite, {chain, requests}: Case): Promise<void> {
  const state = new ReferenceState(suite, chain.lines);
  await TemporaryStore.use(suite.name, async store => {
    await store.mustImport(chain.lines, "last");
    for (let block = 0; block <= state.latest; block++) {
      for (const request of requests) {
        const root = state.stateRoot(block);
        const answers = request.map(entry => state.prove(block, entry.address, entry.storageKeys));
        const bytes = await proveBothForms(
          store.engine,
          packMulti(block, request, ProofForm.MULTI_HEX),
          packMulti(block, request, ProofForm.MULTI_BYTES),
        );
        if (typeof bytes === "string") assert.fail(bytes);
        assert.deepEqual(bytes, compactAnswers(suite, request, answers));
        const proven = request.map(({address, storageKeys}, i) =>
          verifyProof(suite, root, address, storageKeys, answers[i]),
        );
        assert.deepEqual(verifyMultiProof(suite, root, request, bytes), proven);
      }
    }
  });
}

/** The reference's poseidon2 takes some ten times as long as its sha256, so it gets fewer blocks and leaves. */
const EXTENTS = [
  {suite: memoisedSha256, maxBlocks: 10, boundaries: sampleOf([128, 8, 512], 3)},
  {suite: memoisedPoseidon2, maxBlocks: 4, boundaries: isSoak() ? [32] : []},
];

for (const {suite, maxBlocks, boundaries} of EXTENTS) {
  test(`${suite.name}: a multiproof is the one that is gathered from single proofs, at every block of random chains`, async () => {
    const cases = casesOf(fc.noBias(randomChains({maxBlocks})), 12);
    const property = fc.asyncProperty(cases, one => checkCase(suite, one));
    await fc.assert(property, {numRuns: propertyRuns(1), includeErrorInReport: true});
  });

  for (const boundary of boundaries)
    test(`${suite.name}: a multiproof is right while accounts and slots grow past ${boundary} leaves, and after they are gone`, async () => {
      const cases = casesOf(growingChains({boundary, maxBlocks: 4}), 30);
      const property = fc.asyncProperty(cases, one => checkCase(suite, one));
      await fc.assert(property, {numRuns: propertyRuns(1), includeErrorInReport: true});
    });
}
