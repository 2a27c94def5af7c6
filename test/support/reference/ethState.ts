/** A state of Ethereum in tries of @ethereumjs/mpt, and its answers of eth_getProof as geth writes them. */
import {createMerkleProof, createMPT, type MerklePatriciaTrie} from "@ethereumjs/mpt";
import {RLP} from "@ethereumjs/rlp";
import {keccak_256} from "@noble/hashes/sha3.js";
import {joinBytes} from "../../../client/bytes/byteString.ts";
import {decodeHex, encodeHex, quantity} from "../../../client/bytes/hex.ts";
import {word} from "../../../client/hash/hashSuites.ts";
import {NO_CODE_KECCAK} from "../../../client/proof/account.ts";

/** What geth writes of an account. */
export interface EthAnswer {
  readonly address: string;
  readonly accountProof: readonly string[];
  readonly balance: string;
  readonly codeHash: string;
  readonly nonce: string;
  readonly storageHash: string;
  readonly storageProof: readonly {
    readonly key: string;
    readonly value: string;
    readonly proof: readonly string[];
  }[];
}

export interface HeldAccount {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly slots: ReadonlyMap<bigint, bigint>;
}

/** The hashes of these slots have the first 8 digits in common: small values of theirs lie in the branch above them. */
export const NEAR_SLOTS: readonly bigint[] = [40_364n, 105_566n];

const ZERO_HASH = encodeHex(word(0));
/** A node that is shorter than a hash lies in its parent. */
const HASH_BYTES = 32;

export class EthState {
  private readonly storages = new Map<string, MerklePatriciaTrie>();

  private constructor(
    private readonly trie: MerklePatriciaTrie,
    private readonly accounts: ReadonlyMap<string, HeldAccount>,
  ) {}

  /** @param accounts - by address, 0x text in lower case */
  static async create(accounts: ReadonlyMap<string, HeldAccount>): Promise<EthState> {
    const state = new EthState(await createMPT({useKeyHashing: true}), accounts);
    for (const [address, {nonce, balance, slots}] of accounts) {
      const storage = await createMPT({useKeyHashing: true});
      for (const [slot, value] of slots) await storage.put(word(slot), RLP.encode(value));
      state.storages.set(address, storage);
      const value = RLP.encode([nonce, balance, storage.root(), NO_CODE_KECCAK]);
      await state.trie.put(decodeHex(address), value);
    }
    return state;
  }

  get root(): Uint8Array {
    return this.trie.root();
  }

  async prove(address: string, keys: readonly string[]): Promise<EthAnswer> {
    const {nonce = 0n, balance = 0n, slots} = this.accounts.get(address) ?? {};
    const storage = this.storages.get(address);
    const storageProof = keys.map(async key => ({
      key,
      value: quantity(slots?.get(BigInt(key)) ?? 0n),
      proof: storage === undefined ? [] : await proveKey(storage, word(BigInt(key))),
    }));
    return {
      address,
      accountProof: await proveKey(this.trie, decodeHex(address)),
      balance: quantity(balance),
      codeHash: storage === undefined ? ZERO_HASH : encodeHex(NO_CODE_KECCAK),
      nonce: quantity(nonce),
      storageHash: storage === undefined ? ZERO_HASH : encodeHex(storage.root()),
      storageProof: await Promise.all(storageProof),
    };
  }
}

/** As geth writes it: without the nodes that are inlined in their parents. */
async function proveKey(trie: MerklePatriciaTrie, key: Uint8Array): Promise<readonly string[]> {
  const nodes = await createMerkleProof(trie, key);
  return nodes.filter((node, i) => i === 0 || node.length >= HASH_BYTES).map(encodeHex);
}

/**
 * What eth_getMultiProof answers for what eth_getProof does: the branch below an extension that ends a proof comes too.
 *
 * @param from - has that branch. Another node in its place comes back as the hash that it should have
 */
export function withBranches(answer: EthAnswer, from: EthAnswer): EthAnswer {
  const join = (proof: readonly string[], other: readonly string[] = []) => {
    const hash = childOfExtension(proof.at(-1));
    const node = other[proof.length] ?? "0x";
    return hash === undefined
      ? proof
      : [...proof, encodeHex(keccak_256(decodeHex(node))) === hash ? node : hash];
  };
  return {
    ...answer,
    accountProof: answer.accountProof && join(answer.accountProof, from.accountProof),
    storageProof: answer.storageProof.map((slot, i) => ({
      ...slot,
      proof: join(slot.proof, from.storageProof[i]?.proof),
    })),
  };
}

/** @returns the hash of the node below an extension; undefined: the node is another, or has its child in it */
export function childOfExtension(node = "0x80"): string | undefined {
  const items = RLP.decode(decodeHex(node));
  if (!Array.isArray(items) || items.length !== 2) return undefined;
  const [way, child] = items as [Uint8Array, Uint8Array];
  return (way[0] as number) < 0x20 && child.length === HASH_BYTES ? encodeHex(child) : undefined;
}

/** The nodes of a multiproof (docs/proofs.md, section 17), gathered from answers for accounts that each come once. */
export function gatherNodes(answers: readonly EthAnswer[]): readonly string[] {
  const nodes: string[] = [];
  const take = (known: Set<string>, proof: readonly string[]) => {
    nodes.push(...proof.filter(node => !known.has(node)));
    for (const node of proof) known.add(node);
  };
  const accounts = new Set<string>();
  for (const {accountProof, storageProof} of byPath(answers, ({address}) => decodeHex(address))) {
    take(accounts, accountProof);
    const slots = new Set<string>();
    for (const {proof} of byPath(storageProof, ({key}) => word(BigInt(key)))) take(slots, proof);
  }
  return nodes;
}

/** @param nodes - hex. @returns the bytes of a multiproof */
export function joinNodes(nodes: readonly string[]): Uint8Array {
  return joinBytes([Uint8Array.of(5), ...nodes.map(decodeHex)]);
}

function byPath<One>(ones: readonly One[], keyOf: (one: One) => Uint8Array): readonly One[] {
  const pathOf = (one: One) => encodeHex(keccak_256(keyOf(one)));
  return ones.toSorted((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1));
}
