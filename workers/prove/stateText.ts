/** One value of the state at a block, as geth answers eth_getBalance, eth_getTransactionCount, eth_getCode and eth_getStorageAt. */
import type {FinalizedBlocks} from "../../storage/block/finalizedBlocks.ts";
import type {StateReader} from "../../storage/block/stateReader.ts";
import {KECCAK_EMPTY} from "../../storage/hash/keccak.ts";
import {WORD_BYTES} from "../../storage/hash/suite.ts";
import {isSame, toHex} from "../../storage/hex.ts";
import {decodeStoredAccount} from "../../storage/tree/account.ts";
import {writeWordInto} from "../../storage/tree/shortNumber.ts";
import {storageTree, type Tree} from "../../storage/tree/tree.ts";
import {decodeSlot, readTrieAccount} from "../../storage/trie/trieAccount.ts";
import {MAX_ACCOUNT_CODE_BYTES} from "../messages/codesCall.ts";
import {CallFailure} from "../messages/failure.ts";
import {
  KEYS_AT,
  ProofForm,
  packedBytes,
  readAddress,
  readCallBlock,
  readCallForm,
} from "../messages/packedCall.ts";
import type {AnswerText} from "./answerText.ts";
import type {TrieRoots} from "./ethProver.ts";
import type {SlicePath} from "./slicePath.ts";

/** Of a word with its quotes. */
const WORD_TEXT_BYTES = 68;
const NO_BYTES = new Uint8Array(0);

/** Numbers are big-endian, without leading zeros. */
interface ReadAccount {
  readonly nonce: Uint8Array;
  readonly balance: Uint8Array;
  /** 32 bytes, keccak256. */
  readonly codeHash: Uint8Array;
  readonly readSlot: (slot: Uint8Array) => Uint8Array;
}

const NO_ACCOUNT: ReadAccount = {
  nonce: NO_BYTES,
  balance: NO_BYTES,
  codeHash: KECCAK_EMPTY,
  readSlot: () => NO_BYTES,
};

export class StateText {
  private readonly word = new Uint8Array(WORD_BYTES);

  /** @param trees, roots - of blocks. @param path - for a store without sparse trees */
  constructor(
    private readonly store: StateReader,
    private readonly trees: FinalizedBlocks<Tree>,
    private readonly roots: TrieRoots,
    private readonly path: SlicePath,
  ) {}

  /** Appends the JSON text of the value that a packed call asks for. @throws CallFailure, StoreError */
  write(text: AnswerText, call: Buffer): void {
    const block = readCallBlock(call, 0);
    const address = readAddress(call);
    const account = this.open(block, address);
    text.reserve(WORD_TEXT_BYTES);
    switch (readCallForm(call, 0)) {
      case ProofForm.BALANCE:
        text.quotedNumber(account.balance, 0, account.balance.length);
        break;
      case ProofForm.NONCE:
        text.quotedNumber(account.nonce, 0, account.nonce.length);
        break;
      case ProofForm.CODE:
        this.writeCode(text, account.codeHash, address);
        break;
      default:
        writeWordInto(this.word, 0, account.readSlot(call.subarray(KEYS_AT, packedBytes(1))));
        this.close(block);
        text.quotedHex(this.word, 0, WORD_BYTES);
    }
  }

  /** Opens an account, whose slots can then be read. Call `close` after the last one. @throws CallFailure, StoreError */
  open(block: number, address: Uint8Array): ReadAccount {
    this.path.begin();
    return this.store.hasTrees ? this.readTree(block, address) : this.readTrie(block, address);
  }

  /** @throws CallFailure SLOTS_MISSING if the store lacks some of the slots that were read */
  close(block: number): void {
    this.path.end(block);
  }

  private readTree(block: number, address: Uint8Array): ReadAccount {
    const {store} = this;
    const hKey = store.suite.hashAddress(address);
    const leaf = this.trees.at(block).read(hKey);
    if (leaf === undefined) return NO_ACCOUNT;
    const {nonce, balance, code, storage} = decodeStoredAccount(leaf.value);
    const slots = storage && storageTree(store, storage.tree, hKey);
    return {
      nonce,
      balance,
      codeHash: code?.keccakCodeHash ?? KECCAK_EMPTY,
      readSlot: slot => slots?.read(store.suite.hashSlot(slot))?.value ?? NO_BYTES,
    };
  }

  private readTrie(block: number, address: Uint8Array): ReadAccount {
    const {path} = this;
    const stored = path.openAccount(block, this.roots.at(block), address);
    if (stored === undefined) return NO_ACCOUNT;
    const {nonce, balance, codeHash, storage} = readTrieAccount(stored);
    const readSlot = (slot: Uint8Array): Uint8Array => {
      const value = path.openSlot(storage, address, slot);
      return value === undefined ? NO_BYTES : decodeSlot(value);
    };
    return {nonce, balance, codeHash, readSlot};
  }

  private writeCode(text: AnswerText, hash: Uint8Array, address: Uint8Array): void {
    const code = isSame(hash, KECCAK_EMPTY) ? NO_BYTES : this.readCode(hash, address);
    text.reserve(2 * code.length + WORD_TEXT_BYTES);
    text.quotedHex(code, 0, code.length);
  }

  private readCode(hash: Uint8Array, address: Uint8Array): Uint8Array {
    const {store} = this;
    if (store.isSliced) {
      const detail = `the code of ${toHex(address)} is not in the store: a store of slices (--contracts) has no codes`;
      throw new CallFailure({failure: "NOT_IN_SLICE", detail});
    }
    const code = store.readCode(hash);
    if (code.length <= MAX_ACCOUNT_CODE_BYTES) return code;
    const [limit, got] = [MAX_ACCOUNT_CODE_BYTES, code.length];
    const detail = `the code of ${toHex(address)} has ${got} bytes: eth_getCode answers at most ${limit}. Use chain_getCodes`;
    throw new CallFailure({failure: "LIMIT_EXCEEDED", detail, limit, got});
  }
}
