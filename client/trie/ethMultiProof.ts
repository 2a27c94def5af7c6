/**
 * Checks multiproofs of Ethereum's state trie (docs/proofs.md, section 17): the RLP of nodes in the order in which walks to the keys need
 * them, every node of a trie once.
 */
import {keccak_256} from "@noble/hashes/sha3.js";
import {compareBytes, concatBytes} from "../bytes/byteString.ts";
import {decodeHex, encodeHex} from "../bytes/hex.ts";
import {askAccounts} from "../compact/askedKeys.ts";
import {ByteReader} from "../compact/byteReader.ts";
import type {KeyHashes} from "../hash/hashSuites.ts";
import type {ProofRequest} from "../proof/request.ts";
import {check} from "../proof/strictJson.ts";
import {decodeEthAccount, decodeSlot, type EthAccount, type ProvenEth} from "./ethProof.ts";
import {readItem} from "./rlp.ts";
import {
  checkNode,
  EMPTY_TRIE,
  MAX_NODE_BYTES,
  type NodeSource,
  type PlacedNode,
  walkTrie,
} from "./trieProof.ts";

const FIRST_BYTE = 0x05;

/** Paths are hashes of keys. */
const KEYS: KeyHashes = {
  hash: (...parts) => keccak_256(concatBytes(...parts)),
  safe: bytes => bytes,
  hashAddress: keccak_256,
};

/** An account that is asked for, perhaps by several entries. */
interface AskedAccount {
  readonly path: Uint8Array;
  readonly slots: Map<string, Uint8Array>;
  account?: EthAccount | undefined;
  /** By path. */
  readonly values: Map<string, bigint | undefined>;
}

/**
 * @param stateRoot - of the block's header, trusted, 32 bytes
 * @param request - your own, not the answer's
 * @param bytes - of the proof. As JSON, chain_getMultiProof gives them in hex (`decodeHex`)
 * @returns what is proven, per entry of the request
 * @throws ProofError
 */
export function verifyEthMultiProof(
  stateRoot: Uint8Array,
  request: readonly ProofRequest[],
  bytes: Uint8Array,
): readonly ProvenEth[] {
  const {hKeys, slots} = askAccounts(KEYS, request);
  const asked = new Map<string, AskedAccount>();
  const names = hKeys.map((path, entry) => {
    const name = encodeHex(path);
    const one: AskedAccount = asked.get(name) ?? {path, slots: new Map(), values: new Map()};
    asked.set(name, one);
    return {one, slots: (slots[entry] as readonly Uint8Array[]).map(slot => nameSlot(one, slot))};
  });
  const reader = new ByteReader(bytes);
  const first = reader.u8();
  check(
    first === FIRST_BYTE,
    "byte 0",
    `expected ${FIRST_BYTE}, for a proof of Ethereum's trie, got ${first}`,
  );
  const nodes = new NodeBytes(reader);
  for (const one of inOrder(asked.values(), ({path}) => path)) {
    const value = nodes.prove(stateRoot, one.path);
    one.account = value && decodeEthAccount(nodes.place, value);
    if (one.account !== undefined) proveSlots(reader, one, decodeHex(one.account.storageHash));
  }
  reader.end();
  return names.map(({one: {account, values}, slots: named}) => ({
    account,
    slots: named.map(slot => values.get(slot)),
  }));
}

function nameSlot({slots}: AskedAccount, path: Uint8Array): string {
  const name = encodeHex(path);
  slots.set(name, path);
  return name;
}

function proveSlots(reader: ByteReader, {slots, values}: AskedAccount, root: Uint8Array): void {
  const nodes = new NodeBytes(reader);
  for (const [name, path] of inOrder(slots, ([, path]) => path)) {
    const value = nodes.prove(root, path);
    values.set(name, value && decodeSlot(nodes.place, value));
  }
}

function inOrder<One>(ones: Iterable<One>, pathOf: (one: One) => Uint8Array): One[] {
  return [...ones].sort((a, b) => compareBytes(pathOf(a), pathOf(b)));
}

/** The nodes of one trie, those that come next in the bytes and those that came before. */
class NodeBytes implements NodeSource {
  /** Of the node that was given last. */
  place = "";
  /** By hash. */
  private readonly known = new Map<string, PlacedNode>();

  constructor(private readonly reader: ByteReader) {}

  /** @returns as verifyTrieKey */
  prove(root: Uint8Array, path: Uint8Array): Uint8Array | undefined {
    return compareBytes(root, EMPTY_TRIE) === 0 ? undefined : walkTrie(root, path, this);
  }

  take(hash: Uint8Array, isRoot: boolean): PlacedNode {
    const name = encodeHex(hash);
    const known = this.known.get(name) ?? this.read(hash, isRoot);
    this.known.set(name, known);
    this.place = known.at;
    return known;
  }

  private read(hash: Uint8Array, isRoot: boolean): PlacedNode {
    const {reader} = this;
    const at = reader.place();
    const {encoded: node} = readItem(at, reader.left, 0);
    check(
      node.length <= MAX_NODE_BYTES,
      at,
      () => `expected at most ${MAX_NODE_BYTES} bytes, got ${node.length}`,
    );
    checkNode(at, node, hash, isRoot);
    reader.take(node.length);
    return {at, node};
  }
}
