/**
 * Verifies answers of chain_getProof, and their parts, by docs/proofs.md, sections 5 and 6. Only a root is trusted.
 *
 * Texts are read strictly (lower case, whole bytes, no node too long). Unknown fields are ignored.
 */
import {decodeHex} from "../bytes/hex.ts";
import {isObject, shown} from "../bytes/values.ts";
import {type HashSuite, newTreeRoot, readWord} from "../hash/hashSuites.ts";
import {type Account, decodeAccount, hashAccount} from "./account.ts";
import {verifyKey} from "./keyProof.ts";
import {hashSlotBytes} from "./leafProof.ts";
import {type AskedKey, readAddress, readStorageKey, readStorageKeys} from "./request.ts";
import {check, readArray, readFields} from "./strictJson.ts";

export interface ProvenAccount extends Account {
  readonly leafIndex: number;
}

/** What an answer proves; undefined: proven absent. */
export interface Proven {
  readonly account: ProvenAccount | undefined;
  /** One per requested key, in request order. */
  readonly slots: readonly (bigint | undefined)[];
}

/**
 * @param stateRoot - the trusted root, 32 bytes
 * @param address - as requested, in any case
 * @param keys - as requested, in any case; `0x` and 1 to 64 digits each
 * @param result - the `result` of the answer, parsed
 * @throws ProofError that names the place in the answer and the check that failed
 */
export function verifyProof(
  suite: HashSuite,
  stateRoot: Uint8Array,
  address: string,
  keys: readonly string[],
  result: unknown,
): Proven {
  const [accountProof, proofs] = readFields("result", result, ["accountProof", "storageProofs"]);
  const account = proveAccount(suite, stateRoot, address, accountProof);
  const asked = readStorageKeys(suite, keys);
  // An account that does not exist has no storage root. Its slots are proven absent from a new tree.
  const storageRoot = account === undefined ? newTreeRoot(suite) : decodeHex(account.storageRoot);
  const slots = readArray("storageProofs", proofs, asked.length, (entry, i) =>
    proveSlot(suite, storageRoot, asked[i] as AskedKey, `storageProofs[${i}]`, entry),
  );
  return {account, slots};
}

/** Verifies that an account exists. @throws ProofError, also if the proof shows that there is no such account */
export function verifyAccount(
  suite: HashSuite,
  stateRoot: Uint8Array,
  address: string,
  accountProof: unknown,
): ProvenAccount {
  const account = proveAccount(suite, stateRoot, address, accountProof);
  check(account !== undefined, "accountProof", "proves that the account is absent");
  return account;
}

/**
 * Verifies that a slot has a value.
 *
 * @param storageRoot - of the account, once it is proven
 * @param storageProof - one of `storageProofs`, parsed
 * @returns the value, not zero
 * @throws ProofError, also if the proof shows that the slot is absent, that is zero
 */
export function verifySlot(
  suite: HashSuite,
  storageRoot: Uint8Array,
  key: string,
  storageProof: unknown,
): bigint {
  const value = proveSlot(suite, storageRoot, readStorageKey(suite, key), "storageProof", storageProof);
  check(value !== undefined, "storageProof", "proves that the slot is absent");
  return value;
}

/**
 * Verifies that an account does not exist, or that a slot is zero.
 *
 * @param root - a state root for an address, a storageRoot for a slot
 * @throws ProofError, also if the proof shows that the key exists
 */
export function verifyAbsence(
  suite: HashSuite,
  root: Uint8Array,
  key: {readonly address: string} | {readonly slot: string},
  proof: unknown,
): void {
  check(isObject(key), "request", () => `expected an address or a slot, got ${shown(key)}`);
  const [at, found] =
    "address" in key
      ? ["accountProof", proveAccount(suite, root, key.address, proof)]
      : ["storageProof", proveSlot(suite, root, readStorageKey(suite, key.slot), "storageProof", proof)];
  check(found === undefined, at as string, "proves that the key exists");
}

function proveAccount(
  suite: HashSuite,
  stateRoot: Uint8Array,
  address: string,
  entry: unknown,
): ProvenAccount | undefined {
  const at = "accountProof";
  const leaf = verifyKey(suite, hashAccount, stateRoot, readAddress(suite, address), at, entry);
  return leaf && {leafIndex: leaf.leafIndex, ...decodeAccount(suite, leaf.value, `${at}.proof.value`)};
}

function proveSlot(
  suite: HashSuite,
  storageRoot: Uint8Array,
  key: AskedKey,
  at: string,
  entry: unknown,
): bigint | undefined {
  const leaf = verifyKey(suite, hashSlotBytes, storageRoot, key, at, entry);
  return leaf && readWord(leaf.value);
}
