/**
 * Vectors for anyone who writes a verifier: proofs in all forms of docs/proofs.md, good and forged, and what a verifier must say.
 *
 *   answer       JSON of chain_getProof                      request: one entry
 *   bytes        proof bytes that begin with 0x01            request: one entry or more
 *   slots        proof bytes that begin with 0x02            request: one entry without address; root: a storageRoot
 */
import {encodeHex, quantity} from "../../../client/bytes/hex.ts";
import {compact, compactSlots} from "../../../client/compact/compactProof.ts";
import {type HashSuite, sha256Suite} from "../../../client/hash/hashSuites.ts";
import {ProofError} from "../../../client/proof/proofError.ts";
import {type Proven, type ProvenAccount, verifyProof} from "../../../client/proof/proofVerifier.ts";
import type {ProofRequest} from "../../../client/proof/request.ts";
import {COMPACT_REQUESTS, CompactCases, type CompactRequestName} from "./compactCases.ts";
import {FEW_REQUESTS, ForgerySource, refusalOf} from "./forgedProofs.ts";
import {forgeTrees, PRESENT} from "./forgedTrees.ts";
import {complaintOf, forgeAnswers} from "./forgeries.ts";
import type {JsonEdit} from "./jsonPath.ts";
import {memoiseSuite} from "./memoisedSuite.ts";

type VectorForm = "answer" | "bytes" | "slots";

/** An account's numbers are quantities; null: proven absent. */
interface ExpectedEntry {
  readonly account: Record<keyof ProvenAccount, string | number> | null;
  readonly slots: readonly (string | null)[];
}

export interface VerifierVector {
  readonly what: string;
  readonly form: VectorForm;
  /** 32 bytes that the verifier trusts. */
  readonly root: string;
  readonly request: readonly (ProofRequest | Pick<ProofRequest, "storageKeys">)[];
  /** Hex of bytes, or JSON. */
  readonly proof?: unknown;
  /** In place of `proof`: the proof of the vector of this name, with these changes. */
  readonly forgeryOf?: string;
  readonly edits?: readonly JsonEdit[];
  /** Per entry of the request. */
  readonly expect: "refused" | readonly ExpectedEntry[];
}

export interface VerifierVectors {
  readonly suite: HashSuite["name"];
  readonly vectors: readonly VerifierVector[];
}

/** Longer edits copy most of a proof. They are left out, since the files are to be small. */
const MAX_EDIT_LENGTH = 2000;

export function expectEntries(proven: readonly Proven[]): ExpectedEntry[] {
  return proven.map(({account, slots}) => {
    return {
      account: account === undefined ? null : expectAccount(account),
      slots: slots.map(value => (value === undefined ? null : quantity(value))),
    };
  });
}

function expectAccount(account: ProvenAccount): Record<keyof ProvenAccount, string | number> {
  const {nonce, balance, codeSize} = account;
  return {...account, nonce: quantity(nonce), balance: quantity(balance), codeSize: quantity(codeSize)};
}

export function makeVerifierVectors(plain: HashSuite): VerifierVectors {
  const suite = memoiseSuite(plain);
  const cases = new CompactCases(suite);
  return {
    suite: suite.name,
    vectors: [
      ...makeGood(cases),
      ...makeForgedAnswers(cases),
      ...makeForgedBytes(suite),
      ...(suite.name === "sha256" ? makeForgedTrees() : []),
    ],
  };
}

function goodName(form: VectorForm, name: CompactRequestName): string {
  return `${form}: ${name}`;
}

function makeGood(cases: CompactCases): VerifierVector[] {
  const {suite, state} = cases;
  const names = Object.keys(COMPACT_REQUESTS) as CompactRequestName[];
  const expectOf = (request: readonly ProofRequest[], root: Uint8Array) =>
    expectEntries(
      request.map(({address, storageKeys}) =>
        verifyProof(suite, root, address, storageKeys, state.prove(state.latest, address, storageKeys)),
      ),
    );
  const bytes = names.map((name): VerifierVector => {
    const {root, request, bytes: proof} = cases.prove(name);
    return {
      what: goodName("bytes", name),
      form: "bytes",
      root: encodeHex(root),
      request,
      proof: encodeHex(proof),
      expect: expectOf(request, root),
    };
  });
  const answers = (["answer", "absent"] as const).map((name): VerifierVector => {
    const {root, request} = cases.prove(name);
    const {address, storageKeys} = request[0] as ProofRequest;
    const proof = state.prove(state.latest, address, storageKeys);
    const what = goodName("answer", name);
    return {what, form: "answer", root: encodeHex(root), request, proof, expect: expectOf(request, root)};
  });
  return [...bytes, ...answers, ...makeSlots(cases)];
}

/** Slots of the contract alone, at both blocks: the older has a slot that the newer lost. */
function makeSlots({suite, state}: CompactCases): VerifierVector[] {
  const [{address, storageKeys}] = COMPACT_REQUESTS.slots;
  return [0, 1].flatMap((block): VerifierVector[] => {
    const rootAt = (at: number) => encodeHex(state.readAccount(at, address)?.storage.topRoot() as Uint8Array);
    const slots = storageKeys.map(key => state.readSlot(block, address, BigInt(key)));
    const proof = encodeHex(
      compactSlots(suite, storageKeys, state.prove(block, address, storageKeys).storageProofs),
    );
    const vector = {form: "slots" as const, request: [{storageKeys}], proof};
    const expect = [{account: null, slots: slots.map(value => (value === 0n ? null : quantity(value)))}];
    return [
      {...vector, what: `slots: of block ${block}`, root: rootAt(block), expect},
      {
        ...vector,
        what: `slots: of block ${block}, for the other block's root`,
        root: rootAt(1 - block),
        expect: "refused",
      },
    ];
  });
}

/** A message without what came and without its numbers: what is refused by the same rule has the same. */
export function ruleOf(complaint: string): string {
  return complaint
    .replace(/, got .*/s, "")
    .replace(/0x[0-9a-f]+/g, "the key")
    .replace(/\b\d+\b/g, "n");
}

/** @returns the first of those that are refused by the same rule */
function firstByRule(vectors: Iterable<VerifierVector>): VerifierVector[] {
  const first = new Map<string, VerifierVector>();
  for (const vector of vectors) if (!first.has(vector.what)) first.set(vector.what, vector);
  return [...first.values()];
}

function makeForgedAnswers(cases: CompactCases): VerifierVector[] {
  const {root, request} = cases.prove("answer");
  const {address, storageKeys} = request[0] as ProofRequest;
  const answer = cases.state.prove(cases.state.latest, address, storageKeys);
  const made = [...forgeAnswers(answer, true)].flatMap(({edit, answer: forged}): VerifierVector[] => {
    // Not even JSON has a zero below zero.
    if (Object.is(edit.value, -0) || JSON.stringify(edit).length > MAX_EDIT_LENGTH) return [];
    const rule = ruleOf(complaintOf(() => verifyProof(cases.suite, root, address, storageKeys, forged)));
    const forgery = {forgeryOf: goodName("answer", "answer"), edits: [edit], expect: "refused" as const};
    const what = `an answer that is refused: ${rule}`;
    return [{what, form: "answer", root: encodeHex(root), request, ...forgery}];
  });
  return firstByRule(made);
}

/** Of one forgery in four: hashing takes its time. */
function makeForgedBytes(suite: HashSuite): VerifierVector[] {
  const all = [...new ForgerySource(suite).list(FEW_REQUESTS).values()].flat();
  const made = all
    .filter((_, at) => at % 4 === 0)
    .map((forged): VerifierVector => {
      const what = `proof bytes that are refused: ${ruleOf(refusalOf(suite, forged))}`;
      const [root, proof] = [forged.root, forged.bytes].map(encodeHex) as [string, string];
      return {what, form: "bytes", root, request: forged.request, proof, expect: "refused"};
    });
  return firstByRule(made);
}

/** Roots that no honest tree has. Where the flaw cannot even be written as proof bytes, there is no vector. */
function makeForgedTrees(): VerifierVector[] {
  const request = {address: PRESENT, storageKeys: []};
  return [...forgeTrees()].flatMap(({isShownOnly, name, root, answer}): VerifierVector[] => {
    const proof = isShownOnly ? undefined : tryCompact(request, answer);
    if (proof === undefined) return [];
    const what = `a tree with ${name}`;
    return [{what, form: "bytes", root: encodeHex(root), request: [request], proof, expect: "refused"}];
  });
}

function tryCompact(request: ProofRequest, answer: unknown): string | undefined {
  try {
    return encodeHex(compact(sha256Suite, request, answer));
  } catch (error) {
    if (error instanceof ProofError) return undefined;
    throw error;
  }
}
