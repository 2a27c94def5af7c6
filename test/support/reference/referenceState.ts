/**
 * The rollup's state at every block, slow and obvious. It applies the block differences of docs/importing.md to in-memory
 * trees, in the order of docs/proofs.md, section 4. It keeps a copy of the account tree for each block.
 *
 *   block n   ->  account tree (a ReferenceTree)  +  address -> account
 *   account   ->  nonce, balance, code, slots, storage tree; replaced whole when it changes
 */
import {keccak_256} from "@noble/hashes/sha3.js";
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import {type HashSuite, hashWord, word} from "../../../client/hash/hashSuites.ts";
import type {AccountDifference, DifferenceLine} from "../chains/differenceLine.ts";
import {type AbsenceProof, type ExistenceProof, ReferenceTree} from "./referenceTree.ts";

export interface ReferenceAccount {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly code: Uint8Array;
  /** Only slots that are not zero. */
  readonly slots: ReadonlyMap<bigint, bigint>;
  readonly storage: ReferenceTree;
}

/** The `result` of chain_getProof. */
export interface ProofResult {
  readonly accountProof: ExistenceProof | AbsenceProof;
  readonly storageProofs: readonly (ExistenceProof | AbsenceProof)[];
}

interface Snapshot {
  readonly hash: string;
  readonly stateRoot: Uint8Array;
  readonly tree: ReferenceTree;
  readonly accounts: ReadonlyMap<string, ReferenceAccount>;
}

export class ReferenceState {
  readonly suite: HashSuite;
  private readonly blocks: Snapshot[] = [];
  /** The storage of accounts that are absent. */
  private readonly emptyTree: ReferenceTree;

  constructor(suite: HashSuite, lines: readonly DifferenceLine[] = []) {
    this.suite = suite;
    this.emptyTree = ReferenceTree.create(suite);
    for (const line of lines) this.applyBlock(line);
  }

  get latest(): number {
    return this.blocks.length - 1;
  }

  /** @throws Error if the line does not follow the newest block, or expects another state root */
  applyBlock(line: DifferenceLine): void {
    const previous = this.blocks.at(-1);
    if (Number(line.number) !== this.blocks.length)
      throw new Error(`block ${line.number} is not the next one`);
    if (previous !== undefined && line.parentHash !== undefined && line.parentHash !== previous.hash)
      throw new Error(`block ${line.number} has another parent`);

    const tree = previous?.tree.copy() ?? ReferenceTree.create(this.suite);
    const accounts = new Map(previous?.accounts);
    const touched = sortByKey(
      Object.entries(line.accounts).map(([text, difference]) => {
        const address = text.toLowerCase();
        return {hKey: this.suite.hashAddress(decodeHex(address)), address, difference};
      }),
    );
    for (const {hKey, address, difference} of touched) {
      if (difference === null) {
        tree.delete(hKey);
        accounts.delete(address);
        continue;
      }
      if (difference.reset === true) {
        tree.delete(hKey);
        accounts.delete(address);
      }
      const account = this.applyDifference(accounts.get(address) ?? this.createAccount(), difference);
      const value = this.encodeAccount(account);
      accounts.set(address, account);
      const old = tree.read(hKey);
      if (old === undefined || Buffer.compare(old, value) !== 0)
        tree.put(hKey, this.suite.hashAccountValue(value), value);
    }

    const stateRoot = tree.topRoot();
    if (line.stateRoot !== undefined && line.stateRoot !== encodeHex(stateRoot))
      throw new Error(`block ${line.number} expects another state root`);
    this.blocks.push({hash: line.hash, stateRoot, tree, accounts});
  }

  rollback(block: number): void {
    this.blocks.length = block + 1;
  }

  /** @returns 32 bytes */
  stateRoot(block: number): Uint8Array {
    return this.at(block).stateRoot;
  }

  accountTree(block: number): ReferenceTree {
    return this.at(block).tree;
  }

  /** Lower case. */
  listAddresses(block: number): readonly string[] {
    return [...this.at(block).accounts.keys()];
  }

  readAccount(block: number, address: string): ReferenceAccount | undefined {
    return this.at(block).accounts.get(address.toLowerCase());
  }

  /** @returns 0 where the slot or its account is absent */
  readSlot(block: number, address: string, slot: bigint): bigint {
    return this.readAccount(block, address)?.slots.get(slot) ?? 0n;
  }

  /** @param keys - storage keys in any spelling of docs/json-rpc.md */
  prove(block: number, address: string, keys: readonly string[]): ProofResult {
    const {accountProof, storageProofs} = this.proveTexts(block, address, keys);
    return {
      accountProof: JSON.parse(accountProof),
      storageProofs: storageProofs.map(text => JSON.parse(text)),
    };
  }

  /** JSON of the proofs. Each is written once for a tree that has not changed. */
  proveTexts(
    block: number,
    address: string,
    keys: readonly string[],
  ): {accountProof: string; storageProofs: string[]} {
    const {tree} = this.at(block);
    const key = address.toLowerCase();
    const storage = this.readAccount(block, address)?.storage ?? this.emptyTree;
    return {
      accountProof: tree.proveText(key, this.suite.hashAddress(decodeHex(key))),
      storageProofs: keys.map(text => {
        const slot = BigInt(text);
        return storage.proveText(encodeHex(word(slot)), hashWord(this.suite, slot));
      }),
    };
  }

  private at(block: number): Snapshot {
    const snapshot = this.blocks[block];
    if (snapshot === undefined) throw new RangeError(`block ${block} is not held`);
    return snapshot;
  }

  private createAccount(): ReferenceAccount {
    return {nonce: 0n, balance: 0n, code: new Uint8Array(), slots: new Map(), storage: this.emptyTree};
  }

  /** Missing fields keep their values. Slots are applied by ascending hKey; zero deletes. */
  private applyDifference(old: ReferenceAccount, difference: AccountDifference): ReferenceAccount {
    let {slots, storage} = old;
    if (difference.storage !== undefined) {
      const written = new Map(slots);
      storage = storage.copy();
      const changes = sortByKey(
        Object.entries(difference.storage).map(([slot, value]) => {
          return {hKey: hashWord(this.suite, BigInt(slot)), slot: BigInt(slot), value: BigInt(value)};
        }),
      );
      for (const {hKey, slot, value} of changes) {
        if (value === 0n) {
          written.delete(slot);
          storage.delete(hKey);
        } else {
          written.set(slot, value);
          storage.put(hKey, hashWord(this.suite, value), word(value));
        }
      }
      slots = written;
    }
    return {
      nonce: difference.nonce === undefined ? old.nonce : BigInt(difference.nonce),
      balance: difference.balance === undefined ? old.balance : BigInt(difference.balance),
      code: difference.code === undefined ? old.code : decodeHex(difference.code.toLowerCase()),
      slots,
      storage,
    };
  }

  private encodeAccount(account: ReferenceAccount): Uint8Array {
    return Buffer.concat([
      word(account.nonce),
      word(account.balance),
      account.storage.topRoot(),
      this.suite.hashCode(account.code),
      keccak_256(account.code),
      word(account.code.length),
    ]);
  }
}

function sortByKey<Entry extends {readonly hKey: Uint8Array}>(entries: Entry[]): Entry[] {
  return entries.sort((a, b) => Buffer.compare(a.hKey, b.hKey));
}
