/** Verifies the answer to an eth_getProof call (EIP-1186): Merkle-Patricia proofs against a block's state root. */
import {verifyMerkleProof} from "@ethereumjs/mpt";
import {RLP} from "@ethereumjs/rlp";
import {keccak_256} from "@noble/hashes/sha3.js";
import {encodeHex} from "proofd-client";
import type {Presence} from "./verification.ts";

export const EMPTY_TRIE = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";
const EMPTY_CODE = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";
const ZERO = `0x${"00".repeat(32)}`;

type Fields = Readonly<Record<string, unknown>>;

/**
 * @param roots - the trusted roots; the proof must lead to one of them
 * @returns what the answer proves
 * @throws Error that says what is wrong
 */
export async function verifyEthProof(
  roots: readonly string[],
  address: string,
  slots: readonly string[],
  result: unknown,
): Promise<Presence> {
  const proof = (result ?? {}) as Fields;
  if (String(proof.address).toLowerCase() !== address) throw new Error(`address: is not ${address}`);
  const nodes = readNodes("accountProof", proof.accountProof);
  const root = rootOf(nodes);
  if (!roots.includes(root)) throw new Error(`it leads to the root ${root}, which is not the block's`);
  const value = await readProven("accountProof", root, decode("address", address), nodes);
  checkAccount(proof, value);

  const {storageProof} = proof;
  if (!Array.isArray(storageProof) || storageProof.length !== slots.length)
    throw new Error(`storageProof: not one entry for each of ${slots.length} slots`);
  const present: boolean[] = [];
  for (const [i, text] of slots.entries()) {
    const at = `storageProof[${i}]`;
    const entry = (storageProof[i] ?? {}) as Fields;
    const slot = BigInt(text);
    if (readNumber(`${at}.key`, entry.key) !== slot) throw new Error(`${at}.key: is not ${text}`);
    // Some nodes give no storage root for an account without storage.
    const storageRoot =
      value === undefined || proof.storageHash === ZERO ? EMPTY_TRIE : String(proof.storageHash);
    const proven = await readProven(at, storageRoot, word(slot), readNodes(`${at}.proof`, entry.proof));
    const stored = proven === undefined ? 0n : toNumber(RLP.decode(proven) as Uint8Array);
    if (readNumber(`${at}.value`, entry.value) !== stored)
      throw new Error(`${at}.value: ${stored} is proved`);
    present.push(stored !== 0n);
  }
  return {account: value !== undefined, slots: present};
}

/** @returns the state root that an answer leads to. @throws Error if its nodes are not bytes */
export function readProofRoot(result: unknown): string {
  return rootOf(readNodes("accountProof", ((result ?? {}) as Fields).accountProof));
}

function rootOf(nodes: readonly Uint8Array[]): string {
  return nodes.length === 0 ? EMPTY_TRIE : encodeHex(keccak_256(nodes[0] as Uint8Array));
}

/** The fields next to the proof must say what it proves. For an account that does not exist they must be empty. */
function checkAccount(proof: Fields, value: Uint8Array | undefined): void {
  const numbers = ["nonce", "balance"] as const;
  if (value === undefined) {
    if (numbers.some(name => readNumber(name, proof[name]) !== 0n))
      throw new Error("the account is proved absent, but has a nonce or a balance");
    if (proof.codeHash !== ZERO && proof.codeHash !== EMPTY_CODE)
      throw new Error("the account is proved absent, but has code");
    return;
  }
  const fields = RLP.decode(value) as Uint8Array[];
  for (const [i, name] of [...numbers, "storageHash", "codeHash"].entries()) {
    const field = fields[i] as Uint8Array;
    const isNumber = i < numbers.length;
    const proved = isNumber ? toNumber(field) : encodeHex(field);
    if ((isNumber ? readNumber(name, proof[name]) : proof[name]) !== proved)
      throw new Error(`${name}: ${proved} is proved`);
  }
}

/** @returns the value, or undefined if its absence is proven */
async function readProven(
  at: string,
  root: string,
  key: Uint8Array,
  nodes: readonly Uint8Array[],
): Promise<Uint8Array | undefined> {
  if (root === EMPTY_TRIE) {
    // An empty trie: geth sends no node, anvil sends the root, which is the empty string.
    if (nodes.every(node => encodeHex(keccak_256(node)) === EMPTY_TRIE)) return undefined;
    throw new Error(`${at}: a node of an empty trie`);
  }
  if (nodes.length === 0) throw new Error(`${at}: no nodes`);
  if (encodeHex(keccak_256(nodes[0] as Uint8Array)) !== root)
    throw new Error(`${at}: does not lead to ${root}`);
  try {
    return (await verifyMerkleProof(keccak_256(key), [...nodes], {root: decode(at, root)})) ?? undefined;
  } catch (error) {
    throw new Error(`${at}: ${(error as Error).message}`);
  }
}

function readNodes(at: string, value: unknown): Uint8Array[] {
  if (!Array.isArray(value)) throw new Error(`${at}: not an array`);
  return value.map((text, i) => decode(`${at}[${i}]`, text));
}

function readNumber(at: string, value: unknown): bigint {
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]{1,64}$/.test(value))
    throw new Error(`${at}: no 0x number`);
  return BigInt(value);
}

function toNumber(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(encodeHex(bytes));
}

function word(value: bigint): Uint8Array {
  return decode("slot", `0x${value.toString(16).padStart(64, "0")}`);
}

function decode(at: string, text: unknown): Uint8Array {
  if (typeof text !== "string" || !/^0x(?:[0-9a-fA-F]{2})*$/.test(text))
    throw new Error(`${at}: no 0x bytes`);
  return new Uint8Array(Buffer.from(text.slice(2), "hex"));
}
