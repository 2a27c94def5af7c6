/** The verifiers of contracts/ on anvil: they accept what client/ accepts, and refuse by name what it refuses. */
import assert from "node:assert/strict";
import {after, before, type TestContext, test} from "node:test";
import fc from "fast-check";
import {decodeHex} from "../../../client/bytes/hex.ts";
import {
  compact,
  compactAnswers,
  compactSlots,
  verifyCompact,
  verifyMultiProof,
  verifySlots,
} from "../../../client/compact/compactProof.ts";
import {newTreeRoot, poseidon2Suite, sha256Suite, word} from "../../../client/hash/hashSuites.ts";
import {P} from "../../../client/hash/poseidon2.ts";
import type {ProvenAccount} from "../../../client/proof/proofVerifier.ts";
import {randomChains} from "../../support/chains/randomBlocks.ts";
import {
  type AccountCall,
  type AccountsCall,
  type ContractAccount,
  callFor,
  type Verdict,
  type VerifierCall,
  VerifierContract,
} from "../../support/contracts/verifierContract.ts";
import {Anvil} from "../../support/processes/anvil.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {
  COMPACT_REQUESTS,
  type CompactCase,
  CompactCases,
  type CompactRequestName,
} from "../../support/reference/compactCases.ts";
import {forgeTrees, PRESENT, proveAcross, proveBeside} from "../../support/reference/forgedTrees.ts";
import {memoiseSuite} from "../../support/reference/memoisedSuite.ts";
import {proofRequests} from "../../support/reference/proofRequests.ts";
import {readPublicData} from "../../support/reference/publicData.ts";
import {type ProofResult, ReferenceState} from "../../support/reference/referenceState.ts";

const SUITES = [
  {suite: memoiseSuite(sha256Suite), contract: "Sha256ProofVerifier", chains: 40, step: 1},
  {suite: memoiseSuite(poseidon2Suite), contract: "Poseidon2ProofVerifier", chains: 4, step: 29},
] as const;

const NAMES = Object.keys(COMPACT_REQUESTS) as CompactRequestName[];

let anvil: Anvil | string;
const verifiers = new Map<string, VerifierContract>();

before(async () => {
  anvil = await Anvil.start(["--hardfork", "osaka"]);
  if (typeof anvil === "string") return;
  for (const {contract} of SUITES) verifiers.set(contract, await VerifierContract.deploy(anvil, contract));
});

after(async () => {
  if (typeof anvil !== "string") await anvil.stop();
});

function testVerifier(
  contract: string,
  title: string,
  work: (verifier: VerifierContract, t: TestContext) => Promise<void>,
): void {
  test(`${contract}: ${title}`, async t => {
    if (typeof anvil === "string") notRun(t, anvil);
    else await work(verifiers.get(contract) as VerifierContract, t);
  });
}

function callOf({root, request}: CompactCase, proof: Uint8Array): AccountCall | AccountsCall {
  return callFor(root, request, proof);
}

/** Proofs of several accounts are long, and most of their bytes are siblings. */
function strideOf({request}: CompactCase, step: number): number {
  return request.length > 1 ? 11 * step : step;
}

function accountOf(account: ProvenAccount | undefined): ContractAccount | undefined {
  if (account === undefined) return undefined;
  const {leafIndex: _, ...fields} = account;
  return {...fields, codeSize: BigInt(account.codeSize)};
}

function valuesOf(slots: readonly (bigint | undefined)[]): readonly bigint[] {
  return slots.map(value => value ?? 0n);
}

function assertRefused(verdicts: readonly Verdict[], error?: string): void {
  verdicts.forEach((verdict, i) => {
    if (!("refused" in verdict)) assert.fail(`proof ${i} is accepted`);
    if (error !== undefined) assert.equal(verdict.refused, error, `proof ${i}`);
  });
}

for (const {suite, contract, chains, step} of SUITES) {
  const cases = new CompactCases(suite);

  testVerifier(
    contract,
    "accounts and slots of random chains are as the client proves them",
    async verifier => {
      const requests = randomChains({maxBlocks: 6}).chain(chain =>
        fc.record({chain: fc.constant(chain), block: fc.nat(), request: proofRequests(chain, 8)}),
      );
      const calls: VerifierCall[] = [];
      const expected: Verdict[] = [];
      for (const {chain, block: seed, request} of fc.sample(requests, chains)) {
        const state = new ReferenceState(suite, chain.lines);
        const block = seed % (state.latest + 1);
        const root = state.stateRoot(block);
        for (const {address, storageKeys} of request) {
          const entry = {address: address.toLowerCase(), storageKeys};
          const proof = compact(suite, entry, state.prove(block, entry.address, storageKeys));
          const {account, slots} = verifyCompact(suite, root, entry, proof);
          calls.push(callOf({root, request: [entry], bytes: proof}, proof));
          expected.push(storageKeys.length === 0 ? {account: accountOf(account)} : {values: valuesOf(slots)});
        }
      }
      assert.deepEqual(await verifier.judgeAll(calls), expected);
    },
  );

  testVerifier(
    contract,
    "a multiproof of random chains proves what it proves to the client",
    async verifier => {
      const requests = randomChains({maxBlocks: 6}).chain(chain =>
        fc.record({chain: fc.constant(chain), request: proofRequests(chain, 12)}),
      );
      const calls: VerifierCall[] = [];
      const expected: Verdict[] = [];
      for (const {chain, request} of fc.sample(requests, chains)) {
        const state = new ReferenceState(suite, chain.lines);
        const root = state.stateRoot(state.latest);
        const answers = request.map(({address, storageKeys}) =>
          state.prove(state.latest, address, storageKeys),
        );
        const proof = compactAnswers(suite, request, answers);
        calls.push({root, request, proof});
        const proven = verifyMultiProof(suite, root, request, proof).map(({account, slots}) => ({
          account: accountOf(account),
          slots: valuesOf(slots),
        }));
        expected.push({proven});
      }
      assert.deepEqual(await verifier.judgeAll(calls), expected);
    },
  );

  testVerifier(
    contract,
    "slots are proved against a storageRoot alone, and against that of a new tree",
    async verifier => {
      const {latest} = cases.state;
      const storageKeys = ["0x1", "0x3", "0x2", "0x01"];
      const prove = (address: string) => {
        const {storageProofs} = cases.state.prove(latest, address, storageKeys);
        return compactSlots(suite, storageKeys, storageProofs);
      };
      const {address} = COMPACT_REQUESTS.contract[0];
      const whole = cases.prove("contract");
      const {account} = verifyCompact(suite, whole.root, {address, storageKeys: []}, whole.bytes);
      assert.ok(account !== undefined);
      const root = decodeHex(account.storageRoot);
      const proof = prove(address);
      assert.deepEqual(valuesOf(verifySlots(suite, root, storageKeys, proof)), [16n, 0n, 17n, 16n]);
      const empty = prove(COMPACT_REQUESTS.plain[0].address);
      const accepted = await verifier.judgeAll([
        {root, storageKeys, proof},
        {root: newTreeRoot(suite), storageKeys, proof: empty},
      ]);
      assert.deepEqual(accepted, [{values: [16n, 0n, 17n, 16n]}, {values: [0n, 0n, 0n, 0n]}]);

      const others: readonly (readonly [VerifierCall, error: string])[] = [
        [{root: whole.root, storageKeys, proof}, "RootMismatch"],
        [{root, storageKeys, proof: empty}, "RootMismatch"],
        [{root, storageKeys: ["0x2", "0x3", "0x1", "0x2"], proof}, "RootMismatch"],
        [{root, storageKeys, proof: proof.with(0, 1)}, "NotAStorageProof"],
        [{root, storageKeys: [], proof}, "LeafCountOutOfRange"],
        [{root, request: [{address, storageKeys}], proof}, "NotAnAccountProof"],
        [{root: whole.root, request: [], proof: whole.bytes}, "LeafCountOutOfRange"],
      ];
      const verdicts = await verifier.judgeAll(others.map(([other]) => other));
      for (const [i, [, error]] of others.entries()) assertRefused([verdicts[i] as Verdict], error);
    },
  );

  testVerifier(contract, "a proof with a byte changed anywhere is refused", async verifier => {
    for (const name of NAMES) {
      const valid = cases.prove(name);
      const calls: VerifierCall[] = [];
      for (let at = 0; at < valid.bytes.length; at += strideOf(valid, step))
        for (const by of [0x01, 0x80])
          calls.push(callOf(valid, valid.bytes.with(at, (valid.bytes[at] as number) ^ by)));
      assertRefused(await verifier.judgeAll(calls));
    }
  });

  testVerifier(
    contract,
    "a proof cut anywhere is too short, and one with bytes more has trailing bytes",
    async verifier => {
      for (const name of NAMES) {
        const valid = cases.prove(name);
        const cut: VerifierCall[] = [];
        for (let length = 0; length < valid.bytes.length; length += strideOf(valid, step))
          cut.push(callOf(valid, valid.bytes.subarray(0, length)));
        assertRefused(await verifier.judgeAll(cut), "ProofTooShort");
        const longer = [1, 32].map(more => callOf(valid, Buffer.concat([valid.bytes, new Uint8Array(more)])));
        assertRefused(await verifier.judgeAll(longer), "TrailingBytes");
      }
    },
  );

  testVerifier(contract, "a proof for another root, account or slot is refused", async verifier => {
    const valid = cases.prove("slots");
    const call = callOf(valid, valid.bytes);
    assert.deepEqual(await verifier.judge(call), {values: [16n, 17n, 0n]});
    const otherAccount = COMPACT_REQUESTS.other[0].address;
    const others: readonly (readonly [VerifierCall, error: string])[] = [
      [{...call, root: cases.state.stateRoot(0)}, "RootMismatch"],
      [{...call, root: word(0)}, "RootMismatch"],
      [{...call, address: otherAccount}, "RootMismatch"],
      [{...call, slots: ["0x2", "0x1", "0x3"]}, "RootMismatch"],
      [{...call, slots: ["0x1", "0x2", "0x4"]}, "KeyNotBetweenLeaves"],
      [{...call, slots: ["0x1", "0x2"]}, "LeafWithoutKey"],
    ];
    const verdicts = await verifier.judgeAll(others.map(([other]) => other));
    for (const [i, [, error]] of others.entries()) assertRefused([verdicts[i] as Verdict], error);
  });
}

testVerifier(
  "Poseidon2ProofVerifier",
  "p added to any limb of a digest makes the proof no longer one",
  async verifier => {
    const cases = new CompactCases(memoiseSuite(poseidon2Suite));
    for (const name of ["contract", "absent"] as const) {
      const valid = cases.prove(name);
      const calls: VerifierCall[] = [];
      for (let at = 0; at + 4 <= valid.bytes.length; at++) {
        const bytes = Uint8Array.from(valid.bytes);
        const view = new DataView(bytes.buffer);
        if (view.getUint32(at) + P > 0xffffffff) continue;
        view.setUint32(at, view.getUint32(at) + P);
        calls.push(callOf(valid, bytes));
      }
      const verdicts = await verifier.judgeAll(calls);
      assertRefused(verdicts);
      // At least the limbs of each digest that is sent.
      const named = verdicts.filter(verdict => "refused" in verdict && verdict.refused === "NotADigest");
      assert.ok(named.length >= 8 * Math.floor((valid.bytes.length - 100) / 32), `${named.length}`);
    }
  },
);

testVerifier(
  "Poseidon2ProofVerifier",
  "the live network's proof, made compact, is accepted against the root of layer 1",
  async (verifier, t) => {
    const file = readPublicData<{"l1_stateRootHashes[l2BlockNumber]": string; result: ProofResult}>(
      t,
      "proof_mainnet_poseidon2.json",
    );
    if (file === undefined) return;
    const root = decodeHex(file["l1_stateRootHashes[l2BlockNumber]"]);
    const address = file.result.accountProof.key;
    const slots = file.result.storageProofs.map(({key}) => key);
    const proof = compact(poseidon2Suite, {address, storageKeys: slots}, file.result);
    assert.deepEqual(await verifier.judge({root, address, slots, proof}), {values: [0n]});
    const alone = compact(poseidon2Suite, {address, storageKeys: []}, {...file.result, storageProofs: []});
    const verdict = await verifier.judge({root, address, proof: alone});
    assert.ok("account" in verdict);
    assert.equal(verdict.account?.nonce, 1n);
    assert.equal(verdict.account?.codeSize, 0x268fn);
    const otherRoot = await verifier.judge({root: poseidon2Suite.hash(root), address, slots, proof});
    assertRefused([otherRoot], "RootMismatch");
  },
);

testVerifier(
  "Sha256ProofVerifier",
  "trees that fold to their root and break a rule are refused",
  async verifier => {
    const calls = [...forgeTrees()].flatMap(({name, isShownOnly, root, answer}): VerifierCall[] => {
      // The others cannot be written as proof bytes.
      if (isShownOnly || / beyond 40 bits| value of \d+ bytes|1099511627777/.test(name)) return [];
      return [
        {root, address: PRESENT, proof: compact(sha256Suite, {address: PRESENT, storageKeys: []}, answer)},
      ];
    });
    assert.ok(calls.length > 20, `${calls.length} trees`);
    assertRefused(await verifier.judgeAll(calls));
  },
);

testVerifier(
  "Sha256ProofVerifier",
  "paths meet at every height, and a sibling of any height must begin below nextFreeNode",
  async verifier => {
    const callFor = ({root, answer}: ReturnType<typeof proveAcross>): VerifierCall => {
      return {
        root,
        address: PRESENT,
        proof: compact(sha256Suite, {address: PRESENT, storageKeys: []}, answer),
      };
    };
    const heights = Array.from({length: 38}, (_, i) => i + 2);
    const across = await verifier.judgeAll(heights.map(height => callFor(proveAcross(height))));
    for (const verdict of across) assert.deepEqual(verdict, {account: undefined});
    const beside = await verifier.judgeAll(
      heights.map(height => callFor(proveBeside(height, 2 ** height + 1))),
    );
    for (const verdict of beside) assert.equal("account" in verdict && verdict.account?.nonce, 1n);
    const beyond = await verifier.judgeAll(heights.map(height => callFor(proveBeside(height, 2 ** height))));
    assertRefused(beyond, "SiblingBeyondNextFreeNode");
  },
);

testVerifier(
  "Sha256ProofVerifier",
  "more than 16 384 slots are refused before anything is hashed",
  async verifier => {
    const call = {root: word(0), address: PRESENT, proof: new Uint8Array()};
    const slots = (count: number) => new Array<string>(count).fill("0x0");
    assertRefused([await verifier.judge({...call, slots: slots(16_385)})], "TooManySlots");
    assertRefused([await verifier.judge({...call, slots: slots(16_384)})], "ProofTooShort");
  },
);
