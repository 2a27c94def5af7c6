/**
 * Verifies multiproofs of Ethereum's state trie (docs/proofs.md, section 17): the RLP of nodes in the order in which
 * walks to the keys need them, every node of a trie once.
 */
import {keccak_256} from "@noble/hashes/sha3.js";
import {concatBytes} from "../bytes/byteString.ts";
import {decodeHex, encodeHex} from "../bytes/hex.ts";
import {askAccounts} from "../compact/askedKeys.ts";
import {type ByteReader, openBytes} from "../compact/byteReader.ts";
import type {KeyHashes} from "../hash/hashSuites.ts";
import type {ProofEntry} from "../proof/request.ts";
import {check, plainBytes} from "../proof/strictJson.ts";
import {decodeEthAccount, decodeSlot, type EthAccount, type ProvenEth} from "./ethProof.ts";
import {readItem} from "./rlp.ts";
import {checkNode, EMPTY_TRIE, MAX_NODE_BYTES, type PlacedNode, walkTrie} from "./trieProof.ts";

/** The first byte of such a proof. Proofs of sparse trees begin with others. */
export const ETH_PROOF_BYTE = 0x05;
const EMPTY_ROOT = encodeHex(EMPTY_TRIE);

/** Paths are hashes of keys. */
const KEYS: KeyHashes = {
  hash: (...parts) => keccak_256(concatBytes(...parts)),
  safe: bytes => bytes,
  hashAddress: keccak_256,
};

/**
 * @param stateRoot - of the block's header, trusted, 32 bytes
 * @param request - your own, not the answer's
 * @param proof - its bytes, or the same in hex, as chain_getMultiProof gives them
 * @returns what is proven, per entry of the request
 * @throws ProofError
 */
export function verifyEthMultiProof(
  stateRoot: Uint8Array,
  request: readonly ProofEntry[],
  proof: Uint8Array | string,
): readonly ProvenEth[] {
  const {hKeys, slots} = askAccounts(KEYS, request);
  const asked = hKeys.map((path, i) => ({path: encodeHex(path), slots: (slots[i] ?? []).map(encodeHex)}));
  // Hex text sorts as its bytes do.
  const slotsOf = new Map<string, string[]>();
  for (const {path} of asked) slotsOf.set(path, []);
  for (const one of asked) slotsOf.get(one.path)?.push(...one.slots);
  const reader = openBytes(proof);
  const first = reader.uint(1);
  check(
    first === ETH_PROOF_BYTE,
    "byte 0",
    `expected ${ETH_PROOF_BYTE}, for a proof of Ethereum's trie, got ${first}`,
  );
  const accounts = new Map<string, EthAccount | undefined>();
  const values = new Map<string, Map<string, bigint | undefined>>();
  const prove = createWalks(reader, encodeHex(plainBytes("root", stateRoot)), decodeEthAccount);
  for (const path of [...slotsOf.keys()].sort()) {
    const account = prove(path);
    accounts.set(path, account);
    if (account === undefined) continue;
    const proveSlot = createWalks(reader, account.storageHash, decodeSlot);
    const names = [...new Set(slotsOf.get(path))].sort();
    values.set(path, new Map(names.map(slot => [slot, proveSlot(slot)])));
  }
  reader.end();
  return asked.map(({path, slots: named}) => ({
    account: accounts.get(path),
    slots: named.map(slot => values.get(path)?.get(slot)),
  }));
}

/** @returns a function that proves keys of one trie with shared nodes. undefined: absent */
function createWalks<Value>(
  reader: ByteReader,
  root: string,
  decode: (at: string, value: Uint8Array) => Value,
): (path: string) => Value | undefined {
  const known = new Map<string, PlacedNode>();
  let at = "";
  const take = (hash: Uint8Array, isRoot: boolean): PlacedNode => {
    const name = encodeHex(hash);
    const placed = known.get(name) ?? readNode(reader, hash, isRoot);
    known.set(name, placed);
    at = placed.at;
    return placed;
  };
  return path => {
    const value = root === EMPTY_ROOT ? undefined : walkTrie(decodeHex(root), decodeHex(path), {take});
    return value && decode(at, value);
  };
}

function readNode(reader: ByteReader, hash: Uint8Array, isRoot: boolean): PlacedNode {
  const at = reader.place();
  const {encoded: node} = readItem(at, reader.left, 0);
  check(
    node.length <= MAX_NODE_BYTES,
    at,
    () => `expected at most ${MAX_NODE_BYTES} bytes, got ${node.length}`,
  );
  checkNode(at, node, hash, isRoot);
  return {at, node: reader.take(node.length)};
}
