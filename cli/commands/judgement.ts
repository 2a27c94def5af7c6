/** Verifies proofs for `proofd verify` with the verifier of client/, never with the code that makes proofs. */

import {encodeHex, quantity} from "../../client/bytes/hex.ts";
import {isObject, shown} from "../../client/bytes/values.ts";
import {verifyMultiProof} from "../../client/compact/compactProof.ts";
import {HASH_SUITES, type HashSuite} from "../../client/hash/hashSuites.ts";
import {type Proven, verifyProof} from "../../client/proof/proofVerifier.ts";
import type {ProofRequest} from "../../client/proof/request.ts";
import {check, readBytes, readFields} from "../../client/proof/strictJson.ts";
import {ETH_PROOF_BYTE, verifyEthMultiProof} from "../../client/trie/ethMultiProof.ts";
import {type ProvenEth, verifyEthProof} from "../../client/trie/ethProof.ts";
import type {AskedCall} from "./askedCalls.ts";
import type {TrustedRoot} from "./rootSource.ts";

export type ProvenEntry = Proven | ProvenEth;

const OF_TRIES = "is a proof of Ethereum's tries: verify it with --suite keccak";

/**
 * @param suite - of the server's trees; undefined: it has Ethereum's tries only
 * @param result - proof bytes, plain or in hex, or the JSON of chain_getProof, chain_getProofAt or eth_getProof
 * @returns what is proven, per entry of the call. @throws ProofError
 */
export function judge(
  suite: HashSuite | undefined,
  {entries, isTrie}: AskedCall,
  result: unknown,
  trusted: TrustedRoot,
): readonly ProvenEntry[] {
  const {root} = trusted;
  const isBytes = result instanceof Uint8Array || typeof result === "string";
  if (isBytes) {
    const bytes = typeof result === "string" ? readBytes("result", result) : result;
    if (suite === undefined || isTrie) return verifyEthMultiProof(root, entries, bytes);
    check(bytes[0] !== ETH_PROOF_BYTE, "result", OF_TRIES);
    return verifyMultiProof(suite, root, entries, bytes);
  }
  check(
    entries.length === 1,
    "result",
    `expected one proof of ${entries.length} entries in hex, got other JSON`,
  );
  const [{address, storageKeys}] = entries as readonly [ProofRequest];
  let proof = result;
  if (isObject(result) && "block" in result) {
    checkBlock(result.block, trusted);
    [proof] = readFields("result", result, ["proof"]);
  }
  if (suite === undefined || isTrie) return [verifyEthProof(root, address, storageKeys, proof)];
  // Trees have an object there.
  check(!isObject(proof) || !Array.isArray(proof.accountProof), "result", OF_TRIES);
  refuseOtherSuite(suite, proof);
  return [verifyProof(suite, root, address, storageKeys, proof)];
}

/** A response of chain_getProofAt must be of the trusted block, as far as that is known. */
function checkBlock(named: unknown, {root, block}: TrustedRoot): void {
  const [number, hash, stateRoot] = readFields("block", named, ["number", "hash", "stateRoot"]);
  const compare = (field: string, got: unknown, expected: string | undefined): void =>
    check(
      expected === undefined || got === expected,
      `block.${field}`,
      () => `expected ${expected}, got ${shown(got)}`,
    );
  compare("stateRoot", encodeHex(readBytes("block.stateRoot", stateRoot, 32)), encodeHex(root));
  compare("number", number, block.number === undefined ? undefined : quantity(BigInt(block.number)));
  compare("hash", hash, block.hash && encodeHex(block.hash));
}

/** Detects another suite by the size of the root node; the verifier would only report a bad length. */
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
