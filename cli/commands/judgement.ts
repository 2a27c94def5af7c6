/** What `proofd verify` finds in a proof. Only the independent verifier of client/ decides, never the code that makes proofs. */
import {encodeHex, quantity} from "../../client/bytes/hex.ts";
import {verifySlots} from "../../client/compact/compactProof.ts";
import {verifyMultiProof} from "../../client/compact/multiProof.ts";
import {HASH_SUITES, type HashSuite} from "../../client/hash/hashSuites.ts";
import {type Proven, verifyProof} from "../../client/proof/proofVerifier.ts";
import type {ProofRequest} from "../../client/proof/request.ts";
import {check, isObject, readBytes} from "../../client/proof/strictJson.ts";
import type {AnswerForm, AskedEntry, NamedBlock} from "./answerForm.ts";
import type {TrustedRoot} from "./trustedRoot.ts";

export interface JudgedEntry {
  readonly asked: AskedEntry;
  readonly proven: Proven;
}

/**
 * @param asked - what `chooseEntries` returned for the form
 * @throws ProofError that names the place in the proof and what is wrong there
 */
export function judge(
  suite: HashSuite,
  form: AnswerForm,
  asked: readonly AskedEntry[],
  trusted: TrustedRoot,
): readonly JudgedEntry[] {
  const proven = prove(suite, form, asked, trusted);
  return asked.map((entry, i) => ({asked: entry, proven: proven[i] as Proven}));
}

function prove(
  suite: HashSuite,
  form: AnswerForm,
  asked: readonly AskedEntry[],
  trusted: TrustedRoot,
): readonly Proven[] {
  const {root} = trusted;
  const [first] = asked as readonly [AskedEntry];
  if (form.kind === "slots")
    return [{account: undefined, slots: verifySlots(suite, root, first.storageKeys, form.bytes)}];
  const entries = asked as readonly ProofRequest[];
  if (form.kind === "accounts") return verifyMultiProof(suite, root, entries, form.bytes);
  if (form.kind === "multi") return verifyMultiProof(suite, root, entries, form.proof);
  refuseOtherSuite(suite, form.proof);
  if (form.block !== undefined) checkBlock(form.block, trusted);
  return [verifyProof(suite, root, (entries[0] as ProofRequest).address, first.storageKeys, form.proof)];
}

/** An answer of chain_getProofAt must name the block that is trusted, as far as that is known. */
function checkBlock({number, hash, stateRoot}: NamedBlock, {root, block}: TrustedRoot): void {
  const expected = encodeHex(root);
  check(
    encodeHex(readBytes("block.stateRoot", stateRoot, 32)) === expected,
    "block.stateRoot",
    `is not ${expected}`,
  );
  if (block.number !== undefined)
    check(number === quantity(BigInt(block.number)), "block.number", `is not ${block.number}`);
  if (block.hash !== undefined)
    check(hash === encodeHex(block.hash), "block.hash", `is not ${encodeHex(block.hash)}`);
}

/** Says which flag is missing where the verifier would only say that a node is too long. Root nodes differ in size. */
function refuseOtherSuite(suite: HashSuite, proof: unknown): void {
  const read = (value: unknown, ...names: readonly string[]): unknown =>
    names.reduce((at, name) => (isObject(at) ? at[name] : undefined), value);
  const nodes =
    read(proof, "accountProof", "proof", "proofRelatedNodes") ??
    read(proof, "accountProof", "leftProof", "proofRelatedNodes");
  const [rootNode] = Array.isArray(nodes) ? nodes : [];
  const other = HASH_SUITES.find(
    ({name, rootNodeBytes}) =>
      name !== suite.name && typeof rootNode === "string" && rootNode.length === 2 + 2 * rootNodeBytes,
  );
  check(
    other === undefined,
    "accountProof",
    `has a root node of the suite ${other?.name}; it was verified with --suite ${suite.name}`,
  );
}
