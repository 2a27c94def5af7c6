/** Law on random trees: a compact form proves what the answers prove that it is made of. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {encodeHex} from "../../client/bytes/hex.ts";
import {compact, compactAnswers, verifyMultiProof} from "../../client/compact/compactProof.ts";
import type {HashSuite} from "../../client/hash/hashSuites.ts";
import {verifyProof} from "../../client/proof/proofVerifier.ts";
import type {ProofRequest} from "../../client/proof/request.ts";
import {randomChains} from "../support/chains/randomBlocks.ts";
import {proofRequests} from "../support/reference/proofRequests.ts";
import {ReferenceState} from "../support/reference/referenceState.ts";
import {memoisedPoseidon2, memoisedSha256} from "../support/stores/everyKey.ts";

const SUITES: readonly {suite: HashSuite; numRuns: number; maxEntries: number}[] = [
  {suite: memoisedSha256, numRuns: 25, maxEntries: 12},
  {suite: memoisedPoseidon2, numRuns: 3, maxEntries: 6},
];

const cases = (maxEntries: number) =>
  randomChains({maxBlocks: 6}).chain(chain =>
    fc.record({chain: fc.constant(chain), block: fc.nat(), request: proofRequests(chain, maxEntries)}),
  );

for (const {suite, numRuns, maxEntries} of SUITES)
  test(`${suite.name}: a compact form proves what the answers prove that it is made of`, () => {
    fc.assert(
      fc.property(cases(maxEntries), ({chain, block: seed, request}) => {
        const state = new ReferenceState(suite, chain.lines);
        const block = seed % (state.latest + 1);
        const answers = request.map(entry => state.prove(block, entry.address, entry.storageKeys));
        const root = state.stateRoot(block);
        const proven = request.map(({address, storageKeys}, i) =>
          verifyProof(suite, root, address, storageKeys, answers[i]),
        );
        const multiProof = compactAnswers(suite, request, answers);
        assert.deepEqual(verifyMultiProof(suite, root, request, multiProof), proven);
        const [entry, answer] = [request[0] as ProofRequest, answers[0]];
        const bytes = compact(suite, entry, answer);
        for (const proof of [bytes, encodeHex(bytes)])
          assert.deepEqual(verifyMultiProof(suite, root, [entry], proof), proven.slice(0, 1));
      }),
      {numRuns},
    );
  });
