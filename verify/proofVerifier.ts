/**
 * Checks an answer of chain_getProof using only docs/proofs.md, sections 5 and 6. It trusts nothing but a state root.
 *
 * It is strict on purpose: it refuses everything that the product must not send, even if a lenient reader could still make
 * sense of it (order of fields, upper case, unused bytes).
 */
import {type HashSuite, hashSlot, hashSlotValue, newTreeRoot, readWord, word} from "./hashSuites.ts";
import {decodeHex, encodeHex} from "./hex.ts";
import {isEqual, type ProvenLeaf, type TreeKind, verifyLeaf} from "./leafProof.ts";
import {check, isObject, readFields} from "./strictJson.ts";

const ACCOUNT_VALUE_BYTES = 192;
const SLOT_VALUE_BYTES = 32;

/** The six words of an account value, and where its leaf lies. */
export interface ProvenAccount {
  readonly leafIndex: number;
  readonly nonce: bigint;
  readonly balance: bigint;
  /** Text with `0x`, like the two code hashes. */
  readonly storageRoot: string;
  readonly codeHash: string;
  readonly keccakCodeHash: string;
  readonly codeSize: bigint;
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
 * @throws Error that names the place in the answer and the check that failed
 */
export function verifyProof(
  suite: HashSuite,
  stateRoot: Uint8Array,
  address: string,
  keys: readonly string[],
  result: unknown,
): Proven {
  const [accountProof, storageProofs] = readFields("result", result, ["accountProof", "storageProofs"]);
  const addressBytes = decodeHex(address.toLowerCase());
  check(addressBytes.length === 20, "request", "address is not 20 bytes");
  const accountLeaf = verifyKey(suite, accountTree(suite), stateRoot, {
    at: "accountProof",
    entry: accountProof,
    key: encodeHex(addressBytes),
    hKey: suite.hashAddress(addressBytes),
  });
  const account = accountLeaf === undefined ? undefined : decodeAccount(suite, accountLeaf);

  check(Array.isArray(storageProofs), "storageProofs", "not an array");
  check(
    storageProofs.length === keys.length,
    "storageProofs",
    `${storageProofs.length} entries for ${keys.length} keys`,
  );
  // An account that does not exist has no storage root. Its slots are proven absent from a new tree.
  const storageRoot = account === undefined ? newTreeRoot(suite) : decodeHex(account.storageRoot);
  const slots = keys.map((key, i) => {
    check(/^0x[0-9a-fA-F]{1,64}$/.test(key), "request", `storage key ${key} is not 0x and 1 to 64 digits`);
    const at = `storageProofs[${i}]`;
    const slot = BigInt(key);
    const leaf = verifyKey(suite, storageTree(suite), storageRoot, {
      at,
      entry: storageProofs[i],
      key: encodeHex(word(slot)),
      hKey: hashSlot(suite, slot),
    });
    if (leaf === undefined) return undefined;
    const value = readWord(leaf.value);
    check(value !== 0n, at, "a slot is stored as zero");
    return value;
  });
  return {account, slots};
}

function accountTree(suite: HashSuite): TreeKind {
  return {valueBytes: ACCOUNT_VALUE_BYTES, hashValue: value => suite.hashAccountValue(value)};
}

function storageTree(suite: HashSuite): TreeKind {
  return {valueBytes: SLOT_VALUE_BYTES, hashValue: value => hashSlotValue(suite, readWord(value))};
}

function decodeAccount(suite: HashSuite, leaf: ProvenLeaf): ProvenAccount {
  const words = Array.from({length: 6}, (_, i) => leaf.value.subarray(32 * i, 32 * i + 32));
  const [nonce, balance, storageRoot, codeHash, keccakCodeHash, codeSize] = words as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  check(suite.isDigest(storageRoot), "accountProof.proof.value", "storageRoot is no digest of the suite");
  check(suite.isDigest(codeHash), "accountProof.proof.value", "codeHash is no digest of the suite");
  return {
    leafIndex: leaf.leafIndex,
    nonce: readWord(nonce),
    balance: readWord(balance),
    storageRoot: encodeHex(storageRoot),
    codeHash: encodeHex(codeHash),
    keccakCodeHash: encodeHex(keccakCodeHash),
    codeSize: readWord(codeSize),
  };
}

/** @returns the key's leaf, or undefined if its absence is proven */
function verifyKey(
  suite: HashSuite,
  kind: TreeKind,
  root: Uint8Array,
  {at, entry, key, hKey}: {at: string; entry: unknown; key: string; hKey: Uint8Array},
): ProvenLeaf | undefined {
  if (isObject(entry) && "leafIndex" in entry) {
    const [echo, leafIndex, proof] = readFields(at, entry, ["key", "leafIndex", "proof"]);
    check(echo === key, `${at}.key`, `is not ${key}`);
    const leaf = verifyLeaf(suite, kind, root, `${at}.proof`, leafIndex, proof);
    check(leaf.leafIndex >= 2, `${at}.leafIndex`, "head or tail stands for a key");
    check(isEqual(leaf.opening.hKey, hKey), `${at}.proof`, "hKey of the leaf does not belong to the key");
    return leaf;
  }
  const fields = ["key", "leftLeafIndex", "leftProof", "rightLeafIndex", "rightProof"];
  const [echo, leftLeafIndex, leftProof, rightLeafIndex, rightProof] = readFields(at, entry, fields);
  check(echo === key, `${at}.key`, `is not ${key}`);
  const left = verifyLeaf(suite, kind, root, `${at}.leftProof`, leftLeafIndex, leftProof);
  const right = verifyLeaf(suite, kind, root, `${at}.rightProof`, rightLeafIndex, rightProof);
  check(
    Buffer.compare(left.opening.hKey, hKey) < 0,
    `${at}.leftProof`,
    "hKey of the left leaf is not below the key's",
  );
  check(
    Buffer.compare(hKey, right.opening.hKey) < 0,
    `${at}.rightProof`,
    "hKey of the right leaf is not above the key's",
  );
  check(
    left.opening.next === right.leafIndex,
    `${at}.leftProof`,
    "next of the left leaf is not the right leaf",
  );
  check(
    right.opening.prev === left.leafIndex,
    `${at}.rightProof`,
    "prev of the right leaf is not the left leaf",
  );
  return undefined;
}
