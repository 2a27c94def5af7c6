/**
 * Proofs of Ethereum's state trie as JSON text, to the byte as geth answers eth_getProof (EIP-1186):
 *
 *   what                                        here
 *   an account that does not exist              codeHash and storageHash are zero, all other numbers "0x0"
 *   a slot of an account without storage        proof []
 *   any account of an empty trie                accountProof null
 *   a storage key of fewer than 63 digits       a number without leading zeros; longer ones have 64 digits
 */
import type {BlockRecord} from "../../storage/block/blockRecord.ts";
import {FinalizedBlocks} from "../../storage/block/finalizedBlocks.ts";
import type {StateReader} from "../../storage/block/stateReader.ts";
import {keccak256} from "../../storage/hash/keccak.ts";
import {WORD_BYTES} from "../../storage/hash/suite.ts";
import {RlpReader} from "../../storage/rlp/rlpReader.ts";
import {MAX_PATH_BYTES, TriePath} from "../../storage/trie/triePath.ts";
import {UnavailableError} from "../messages/failure.ts";
import {ADDRESS_AT, KEYS_AT, packedBytes, readKeyCount} from "../messages/packedCall.ts";
import type {AnswerText} from "./answerText.ts";
import type {Breaks} from "./breaks.ts";
import {NodeText, QUOTE_BYTES} from "./nodeText.ts";

/** How many roots of proved blocks are kept, 150 bytes each. */
const KEPT_ROOTS = 1 << 15;
const ADDRESS_BYTES = 20;
const NONCE_BYTES = 8;
/** Field names, hashes, a key, and numbers of 32 bytes. */
const FRAME_TEXT_BYTES = 1024;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const CLOSE_BRACE = 0x7d;
const COMMA = 0x2c;
const ZERO_WORD = new Uint8Array(WORD_BYTES);
const NO_BYTES = new Uint8Array(0);

interface EthAccount {
  /** Big-endian, without leading zeros, as `balance`. */
  readonly nonce: Uint8Array;
  readonly balance: Uint8Array;
  /** 32 bytes, as `codeHash`. */
  readonly storageRoot: Uint8Array;
  readonly codeHash: Uint8Array;
}

const NO_ACCOUNT: EthAccount = {
  nonce: NO_BYTES,
  balance: NO_BYTES,
  storageRoot: ZERO_WORD,
  codeHash: ZERO_WORD,
};

export class EthProver {
  private readonly nodes = new NodeText(MAX_PATH_BYTES);
  private readonly path: TriePath;
  /** Of the state trie, by block. */
  private readonly roots: FinalizedBlocks<Uint8Array>;

  /** @param breaks - before each slot */
  constructor(
    store: StateReader,
    private readonly breaks: Breaks,
  ) {
    this.path = new TriePath(store, this.nodes.nodes);
    this.roots = new FinalizedBlocks(store, record => readRoot(store, record), KEPT_ROOTS);
  }

  /**
   * Appends the proof that a packed call of the form ETH asks for.
   *
   * @throws UnavailableError if the store does not hold the block's trie; StoreError
   */
  write(text: AnswerText, block: number, call: Buffer): void {
    const {path} = this;
    const address = call.subarray(ADDRESS_AT, ADDRESS_AT + ADDRESS_BYTES);
    const value = path.open(this.roots.at(block), keccak256(address));
    const account = value === undefined ? NO_ACCOUNT : readAccount(value);
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
    text.quotedHex(account.storageRoot, 0, WORD_BYTES);
    text.ascii(',"storageProof":[');
    const keyCount = readKeyCount(call, 0);
    // The next path takes the place of the account's. An account that does not exist has no trie.
    const root = value === undefined || keyCount === 0 ? undefined : new Uint8Array(account.storageRoot);
    for (let i = 0; i < keyCount; i++) {
      this.breaks.check();
      if (i > 0) text.byte(COMMA);
      const isShort = call[KEYS_AT + keyCount * WORD_BYTES + i] === 1;
      this.writeSlot(text, root, call.subarray(packedBytes(i), packedBytes(i + 1)), isShort);
    }
    text.ascii("]}");
  }

  private writeSlot(text: AnswerText, root: Uint8Array | undefined, key: Uint8Array, isShort: boolean): void {
    const {path} = this;
    const stored = root === undefined ? undefined : path.open(root, keccak256(key));
    const value = stored === undefined ? NO_BYTES : new RlpReader(stored).readNumberBytes(WORD_BYTES);
    text.ascii('{"key":');
    if (isShort) text.quotedNumber(key, 0, WORD_BYTES);
    else text.quotedHex(key, 0, WORD_BYTES);
    text.ascii(',"value":');
    text.quotedNumber(value, 0, value.length);
    text.ascii(',"proof":');
    if (root === undefined || path.count === 0) text.ascii("[]");
    else this.writeNodes(text);
    text.byte(CLOSE_BRACE);
    text.reserve(FRAME_TEXT_BYTES);
  }

  /** Appends an array of the nodes that `path` has, and leaves room for FRAME_TEXT_BYTES. */
  private writeNodes(text: AnswerText): void {
    const {nodes, path} = this;
    let [start, end] = [0, 0];
    for (let i = 0; i < path.count; i++) {
      const next = path.ends[i];
      end = nodes.quote(nodes.nodes.subarray(start, next), 1, next - start, end);
      start = next;
    }
    text.reserve(end + QUOTE_BYTES + FRAME_TEXT_BYTES);
    text.byte(OPEN_BRACKET);
    // Without the comma before the first one.
    text.raw(nodes.text.subarray(1, end));
    text.byte(CLOSE_BRACKET);
  }
}

/** @param value - of an account in the state trie. @returns views of it */
function readAccount(value: Uint8Array): EthAccount {
  const fields = new RlpReader(value).readList();
  return {
    nonce: fields.readNumberBytes(NONCE_BYTES),
    balance: fields.readNumberBytes(WORD_BYTES),
    storageRoot: fields.readBytes(WORD_BYTES),
    codeHash: fields.readBytes(WORD_BYTES),
  };
}

/** @throws UnavailableError */
function readRoot(store: StateReader, {header}: BlockRecord): Uint8Array {
  const found = store.readTrieRoot(header.hash);
  if (found !== undefined) return found.root;
  throw new UnavailableError(
    `eth_getProof is not available: the store does not hold Ethereum's state trie of block ${header.number}. ` +
      "Use chain_getProof, or import the chain into a new store that begins with a genesis file (--genesis) or the header of block 0",
  );
}
