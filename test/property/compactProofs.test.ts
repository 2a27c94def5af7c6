/** Law on random trees: a compact form expands to the answers that it is made of. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {encodeHex} from "../../client/bytes/hex.ts";
import {compact, compactAnswers, expand} from "../../client/compact/compactProof.ts";
import {openAnswer} from "../../client/compact/openedPaths.ts";
import type {HashSuite} from "../../client/hash/hashSuites.ts";
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
  test(`${suite.name}: expanded, a proof has the sibling hashes of the answers that it is made of`, () => {
    fc.assert(
      fc.property(cases(maxEntries), ({chain, block: seed, request}) => {
        const state = new ReferenceState(suite, chain.lines);
        const block = seed % (state.latest + 1);
        const answers = request.map(entry => state.prove(block, entry.address, entry.storageKeys));
        const opened = request.map((entry, i) => openAnswer(suite, entry, answers[i]));
        assert.deepEqual(expand(suite, request, compactAnswers(suite, request, answers)), opened);
        const [entry, answer] = [request[0] as ProofRequest, answers[0]];
        const bytes = compact(suite, entry, answer);
        for (const proof of [bytes, encodeHex(bytes)])
          assert.deepEqual(expand(suite, [entry], proof), opened.slice(0, 1));
      }),
      {numRuns},
    );
  });
