/**
 * The state that a call runs on. What the call has not written is read from the nodes and codes of a witness, each found
 * by its hash, from a trusted state root down. A read that the witness lacks throws.
 */
import {SimpleStateManager} from "@ethereumjs/statemanager";
import {Account, type Address} from "@ethereumjs/util";
import {keccak_256} from "@noble/hashes/sha3.js";
import {isEqual} from "../bytes/byteString.ts";
import {decodeHex, encodeHex} from "../bytes/hex.ts";
import {word} from "../hash/hashSuites.ts";
import {NO_CODE_KECCAK} from "../proof/account.ts";
import {check, readArray, readBytes} from "../proof/strictJson.ts";
import {decodeEthAccount, decodeSlot, type EthAccount} from "../trie/ethProof.ts";
import {EMPTY_TRIE, walkTrie} from "../trie/trieProof.ts";

const NO_CODE = encodeHex(NO_CODE_KECCAK);
const NO_BYTES = new Uint8Array(0);

/** @returns what finds byte strings of a witness by their keccak256, as text with `0x`. Both throw ProofError */
function indexByHash(at: string, list: unknown): (hash: string) => Uint8Array {
  // Any number of them: the answer's bytes are bounded.
  const all = readArray(at, list, undefined, (one, i) => readBytes(`${at}[${i}]`, one));
  const byHash = new Map<string, Uint8Array>(all.map(bytes => [encodeHex(keccak_256(bytes)), bytes]));
  return hash => {
    const bytes = byHash.get(hash);
    check(bytes !== undefined, at, () => `the call reads ${hash}, which is missing`);
    return bytes;
  };
}

export class WitnessState extends SimpleStateManager {
  private readonly findNode: (hash: string) => Uint8Array;
  private readonly findCode: (hash: string) => Uint8Array;
  private readonly accounts = new Map<string, EthAccount | undefined>();
  private readonly slots = new Map<string, Uint8Array>();

  /** @param root - of the state, trusted. @param state, codes - of the witness, untrusted JSON. @throws ProofError */
  constructor(
    private readonly root: Uint8Array,
    state: unknown,
    codes: unknown,
  ) {
    super();
    this.findNode = indexByHash("witness.state", state);
    this.findCode = indexByHash("witness.codes", codes);
  }

  /** @returns a copy: the EVM changes it, and may not keep the change. @throws ProofError, as all reads */
  override async getAccount(address: Address): Promise<Account | undefined> {
    const written = this.topAccountStack();
    const name = address.toString();
    if (written.has(name)) {
      const account = written.get(name);
      return account && new Account(account.nonce, account.balance, account.storageRoot, account.codeHash);
    }
    const account = this.readAccount(address);
    if (account === undefined) return undefined;
    const {nonce, balance, storageHash, codeHash} = account;
    return new Account(nonce, balance, decodeHex(storageHash), decodeHex(codeHash));
  }

  override async getCode(address: Address): Promise<Uint8Array> {
    const written = this.topCodeStack().get(address.toString());
    if (written !== undefined) return written;
    const codeHash = this.readAccount(address)?.codeHash ?? NO_CODE;
    return codeHash === NO_CODE ? NO_BYTES : this.findCode(codeHash);
  }

  /** @param slot - 32 bytes. @returns up to 32 bytes */
  override async getStorage(address: Address, slot: Uint8Array): Promise<Uint8Array> {
    // An account that the call creates had no slots, else its creation would have failed (EIP-7610).
    return this.topStorageStack().get(`${address}_${encodeHex(slot)}`) ?? this.readSlot(address, slot);
  }

  private readAccount(address: Address): EthAccount | undefined {
    const name = address.toString();
    if (!this.accounts.has(name)) {
      const value = this.walk(this.root, address.bytes);
      this.accounts.set(name, value && decodeEthAccount(`witness.state: account ${name}`, value));
    }
    return this.accounts.get(name);
  }

  private readSlot(address: Address, slot: Uint8Array): Uint8Array {
    const name = `${address} ${encodeHex(slot)}`;
    const known = this.slots.get(name);
    if (known !== undefined) return known;
    const account = this.readAccount(address);
    const value = account && this.walk(decodeHex(account.storageHash), slot);
    const bytes = value === undefined ? NO_BYTES : word(decodeSlot(`witness.state: slot ${name}`, value));
    this.slots.set(name, bytes);
    return bytes;
  }

  private walk(root: Uint8Array, key: Uint8Array): Uint8Array | undefined {
    if (isEqual(root, EMPTY_TRIE)) return undefined;
    const take = (hash: Uint8Array) => {
      const name = encodeHex(hash);
      return {at: `witness.state: node ${name}`, node: this.findNode(name)};
    };
    return walkTrie(root, keccak_256(key), {take});
  }
}
