/**
 * Proofs of Ethereum's state trie as JSON text, to the byte as geth answers eth_getProof (EIP-1186):
 *
 *   what                                        here
 *   an account that does not exist              codeHash and storageHash are zero, all other numbers "0x0"
 *   a slot of an account without storage        proof []
 *   any account of an empty trie                accountProof null
 *   a storage key of fewer than 63 digits       a number without leading zeros; longer ones have 64 digits
 */
import {FinalizedBlocks} from "../../storage/block/finalizedBlocks.ts";
import type {StateReader} from "../../storage/block/stateReader.ts";
import {WORD_BYTES} from "../../storage/hash/suite.ts";
import {EMPTY_TRIE, type TrieRoot} from "../../storage/trie/trie.ts";
import {decodeSlot, readTrieAccount, type StoredTrieAccount} from "../../storage/trie/trieAccount.ts";
import {MAX_PATH_BYTES} from "../../storage/trie/triePath.ts";
import {trieOrThrow} from "../messages/blockTrie.ts";
import {ADDRESS_AT, ADDRESS_BYTES, KEYS_AT, packedBytes, readKeyCount} from "../messages/packedCall.ts";
import type {AnswerText} from "./answerText.ts";
import {NodeText, QUOTE_BYTES} from "./nodeText.ts";
import {SlicePath} from "./slicePath.ts";
import type {YieldPoint} from "./yieldPoint.ts";

/** How many roots of proved blocks are kept, 150 bytes each. */
const KEPT_ROOTS = 1 << 15;

/** The page of the state trie's root, by block. `at` throws CallFailure if the store lacks the block's trie. */
export type TrieRoots = FinalizedBlocks<number>;

export function createTrieRoots(store: StateReader): TrieRoots {
  return new FinalizedBlocks(store, record => trieOrThrow(record).page, KEPT_ROOTS);
}
/** Field names, hashes, a key, and numbers of 32 bytes. */
const FRAME_TEXT_BYTES = 1024;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const CLOSE_BRACE = 0x7d;
const COMMA = 0x2c;
const ZERO_WORD = new Uint8Array(WORD_BYTES);
const NO_BYTES = new Uint8Array(0);

const NO_ACCOUNT: StoredTrieAccount = {
  nonce: NO_BYTES,
  balance: NO_BYTES,
  storage: {root: ZERO_WORD, page: 0},
  codeHash: ZERO_WORD,
};

export class EthProver {
  private readonly nodes = new NodeText(MAX_PATH_BYTES);
  /** Call its `begin` before each call, and its `end` after it. */
  readonly path: SlicePath;

  /** @param yieldPoint - checked before each slot */
  constructor(
    store: StateReader,
    private readonly roots: TrieRoots,
    private readonly yieldPoint: YieldPoint,
  ) {
    this.path = new SlicePath(store, this.nodes.nodes);
  }

  /**
   * Appends the proof of a packed call of the forms ETH and ETH_AT, or of an entry of ETH_MULTI.
   * @param joins - as of TriePath.open. @throws CallFailure, StoreError
   */
  write(text: AnswerText, block: number, call: Buffer, joins = false): void {
    const {path} = this;
    const address = call.subarray(ADDRESS_AT, ADDRESS_AT + ADDRESS_BYTES);
    const value = path.openAccount(block, this.roots.at(block), address, joins);
    const account = value === undefined ? NO_ACCOUNT : readTrieAccount(value);
    text.reserve(FRAME_TEXT_BYTES);
    text.ascii('{"address":');
    text.quotedHex(address, 0, ADDRESS_BYTES);
    text.ascii(',"accountProof":');
    if (path.count === 0) text.ascii("null");
    else this.writeNodes(text);
    text.ascii(',"balance":');
    text.quotedNumber(account.balance, 0, account.balance.length);
    text.ascii(',"codeHash":');
    text.quotedHex(account.codeHash, 0, WORD_BYTES);
    text.ascii(',"nonce":');
    text.quotedNumber(account.nonce, 0, account.nonce.length);
    text.ascii(',"storageHash":');
    text.quotedHex(account.storage.root, 0, WORD_BYTES);
    text.ascii(',"storageProof":[');
    const keyCount = readKeyCount(call, 0);
    const storage = value === undefined ? EMPTY_TRIE : account.storage;
    for (let i = 0; i < keyCount; i++) {
      this.yieldPoint.check();
      if (i > 0) text.byte(COMMA);
      const isShort = call[KEYS_AT + keyCount * WORD_BYTES + i] === 1;
      this.writeSlot(
        text,
        storage,
        address,
        call.subarray(packedBytes(i), packedBytes(i + 1)),
        isShort,
        joins,
      );
    }
    text.ascii("]}");
  }

  private writeSlot(
    text: AnswerText,
    storage: TrieRoot,
    address: Uint8Array,
    key: Uint8Array,
    isShort: boolean,
    joins: boolean,
  ): void {
    const {path} = this;
    const stored = path.openSlot(storage, address, key, joins);
    const value = stored === undefined ? NO_BYTES : decodeSlot(stored);
    text.ascii('{"key":');
    if (isShort) text.quotedNumber(key, 0, WORD_BYTES);
    else text.quotedHex(key, 0, WORD_BYTES);
    text.ascii(',"value":');
    text.quotedNumber(value, 0, value.length);
    text.ascii(',"proof":');
    if (path.count === 0) text.ascii("[]");
    else this.writeNodes(text);
    text.byte(CLOSE_BRACE);
    text.reserve(FRAME_TEXT_BYTES);
  }

  /** Appends an array of the nodes that `path` has, and leaves room for FRAME_TEXT_BYTES. */
  private writeNodes(text: AnswerText): void {
    const {nodes, path} = this;
    let [start, end] = [0, 0];
    for (let i = 0; i < path.count; i++) {
      const next = path.ends[i] as number;
      end = nodes.quote(start, 1, next - start, end);
      start = next as number;
    }
    text.reserve(end + QUOTE_BYTES + FRAME_TEXT_BYTES);
    text.byte(OPEN_BRACKET);
    // Without the comma before the first one.
    text.raw(nodes.text.subarray(1, end));
    text.byte(CLOSE_BRACKET);
  }
}
