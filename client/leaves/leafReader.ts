/**
 * Reads the leaves of ranges and changes from their bytes, and hashes them (docs/proofs.md, 15.2).
 *
 *   account   flags u8 | key | prev | next | nonce | balance number | [codeSize number, codeHash 32, keccakCodeHash 32] | [storageRoot 32]
 *   slot      flags u8 | key | prev | next | value
 *   key       address 20 or slot number; absent if it is that of the leaf before
 */
import {isEqual} from "../bytes/byteString.ts";
import {encodeHex} from "../bytes/hex.ts";
import type {ByteReader} from "../compact/byteReader.ts";
import {type HashSuite, newTreeRoot, oncePerSuite, readWord, ZERO_WORD} from "../hash/hashSuites.ts";
import {ACCOUNT_VALUE_BYTES, type Account, NO_CODE_KECCAK, noCodeHash} from "../proof/account.ts";
import {check} from "../proof/strictJson.ts";
import type {AccountLeaf, EndLeaf, KeyedLeaf, SlotLeaf, TreeKind, TreeLeaf} from "./treeLeaf.ts";

/** The flags of an account. */
const NONCE_BITS = 0x0f;
const ACCOUNT_REMOVED = 0x0f;
const ACCOUNT_UNUSED = 0x30;
const HAS_CODE = 0x40;
const HAS_STORAGE = 0x80;
const MAX_NONCE_BYTES = 8;
/** The flags of a slot. */
const VALUE_BITS = 0x3f;
const SLOT_REMOVED = 0;
const SLOT_UNUSED = 0xc0;
const ADDRESS_BYTES = 20;
const LINK_BYTES = 5;
const BALANCE_AT = 32;
const STORAGE_ROOT_AT = 64;
const CODE_HASH_AT = 96;
const KECCAK_AT = 128;
const CODE_SIZE_AT = 160;

/** The parts of an account without code and storage, as bytes and as text. */
const plainParts = oncePerSuite(suite => ({
  storageRoot: newTreeRoot(suite),
  storageRootText: encodeHex(newTreeRoot(suite)),
  codeHash: noCodeHash(suite),
  codeHashText: encodeHex(noCodeHash(suite)),
  keccakText: encodeHex(NO_CODE_KECCAK),
}));

/**
 * Each leaf begins as a copy of one of these. Once many objects of a literal have survived a collection, as in the
 * first ranges of a pull, V8 allocates further ones in the old space: 30 MB of garbage. Objects of a spread are always
 * allocated in the young space.
 */
const NO_ACCOUNT: Account = {
  nonce: 0n,
  balance: 0n,
  storageRoot: "0x",
  codeHash: "0x",
  keccakCodeHash: "0x",
  codeSize: 0n,
};
const NO_LEAF = {leafIndex: 0, prev: 0, next: 0, hKey: ZERO_WORD, hVal: ZERO_WORD};
const NO_ACCOUNT_LEAF: AccountLeaf = {role: "account", ...NO_LEAF, address: "0x", account: NO_ACCOUNT};
const NO_SLOT_LEAF: SlotLeaf = {role: "slot", ...NO_LEAF, slot: 0n, value: 0n};

/** hKey and hVal of the leaves of a range that another thread has verified: 64 bytes each, zeros of a removed one. */
export interface KnownHashes {
  /** Leaf index of the first one. */
  readonly from: number;
  readonly bytes: Uint8Array;
}

export class LeafReader {
  /** Hash of the leaf that was read last, 32 bytes: zeros for a removed one. */
  hash: Uint8Array = ZERO_WORD;
  private readonly opening: Uint8Array;
  private readonly value = new Uint8Array(ACCOUNT_VALUE_BYTES);
  private readonly word = new Uint8Array(32);
  /** Bytes of a link. */
  private readonly width: number;
  private leafIndex = 0;
  private prev = 0;
  private next = 0;

  /** @param positions - of the tree. @param known - with it, nothing is hashed, and `hash` stays zeros */
  constructor(
    private readonly suite: HashSuite,
    private readonly reader: ByteReader,
    private readonly tree: TreeKind,
    positions: number,
    private readonly known?: KnownHashes,
  ) {
    this.opening = new Uint8Array(suite.leafOpeningBytes);
    let width = 1;
    while (256 ** width < positions) width++;
    this.width = width;
  }

  /** Hot. @param before - an older version, whose key is not repeated. @throws ProofError */
  read(leafIndex: number, nextFreeNode: number, before?: KeyedLeaf): TreeLeaf {
    this.leafIndex = leafIndex;
    if (leafIndex < 2) return this.readEnd(nextFreeNode);
    const isAccount = this.tree === "accounts";
    const flags = this.reader.uint(1);
    if (flags === (isAccount ? ACCOUNT_REMOVED : SLOT_REMOVED)) {
      this.hash = ZERO_WORD;
      return {role: "removed", leafIndex};
    }
    const isClear = (flags & (isAccount ? ACCOUNT_UNUSED : SLOT_UNUSED)) === 0;
    check(isClear, this.place, "a flag without meaning is set");
    const leaf = isAccount
      ? this.readAccount(flags, nextFreeNode, before as AccountLeaf | undefined)
      : this.readSlot(flags, nextFreeNode, before as SlotLeaf | undefined);
    this.hash = this.hashOpening(leaf.hKey, leaf.hVal);
    return leaf;
  }

  /** Reads only the links of a leaf that has the key and the value of `before`. */
  readLinked<Keyed extends KeyedLeaf>(nextFreeNode: number, before: Keyed): Keyed {
    this.leafIndex = before.leafIndex;
    this.readLinks(nextFreeNode);
    this.hash = this.hashOpening(before.hKey, before.hVal);
    return {...before, prev: this.prev, next: this.next};
  }

  /** Reads the one link of the head (0) or the tail (1) that may vary. */
  private readEnd(nextFreeNode: number): EndLeaf {
    const {leafIndex} = this;
    const link = this.readLink("its link", nextFreeNode);
    [this.prev, this.next] = leafIndex === 0 ? [0, link] : [link, 1];
    const hKey = leafIndex === 0 ? ZERO_WORD : this.suite.tailKey;
    this.hash = this.hashOpening(hKey, ZERO_WORD);
    return {role: "end", leafIndex, prev: this.prev, next: this.next, hKey, hVal: ZERO_WORD};
  }

  private readAccount(flags: number, nextFreeNode: number, before: AccountLeaf | undefined): AccountLeaf {
    const {suite, reader, leafIndex} = this;
    const nonceBytes = flags & NONCE_BITS;
    check(nonceBytes <= MAX_NONCE_BYTES, this.place, "the nonce is longer than 8 bytes");
    let {address, hKey} = before ?? NO_ACCOUNT_LEAF;
    if (before === undefined) {
      const bytes = reader.take(ADDRESS_BYTES);
      address = encodeHex(bytes);
      hKey = this.knownHash(0) ?? suite.hashAddress(bytes);
    }
    this.readLinks(nextFreeNode);
    const account = this.readValue(flags, nonceBytes);
    const hVal = this.knownHash(32) ?? suite.hashAccountValue(this.value);
    const {prev, next} = this;
    return {...NO_ACCOUNT_LEAF, leafIndex, prev, next, hKey, hVal, address, account};
  }

  private readValue(flags: number, nonceBytes: number): Account {
    const {suite, reader, value} = this;
    const plain = plainParts(suite);
    reader.wordInto(value, 0, nonceBytes);
    const balanceBytes = reader.uint(1);
    reader.wordInto(value, BALANCE_AT, balanceBytes);
    let [codeHash, codeHashText] = [plain.codeHash, plain.codeHashText];
    let [keccakCodeHash, keccakText] = [NO_CODE_KECCAK, plain.keccakText];
    let [storageRoot, storageRootText] = [plain.storageRoot, plain.storageRootText];
    let codeSizeBytes = 0;
    if ((flags & HAS_CODE) !== 0) {
      codeSizeBytes = reader.uint(1);
      check(codeSizeBytes > 0, this.place, "codeSize is zero");
      reader.wordInto(value, CODE_SIZE_AT, codeSizeBytes);
      [codeHash, keccakCodeHash] = [reader.take(32), reader.take(32)];
      check(suite.isDigest(codeHash), this.place, "codeHash is not a digest of the suite");
      [codeHashText, keccakText] = [encodeHex(codeHash), encodeHex(keccakCodeHash)];
    } else value.fill(0, CODE_SIZE_AT);
    if ((flags & HAS_STORAGE) !== 0) {
      storageRoot = reader.take(32);
      check(!isEqual(storageRoot, plain.storageRoot), this.place, "the storageRoot of a new tree is sent");
      check(suite.isDigest(storageRoot), this.place, "storageRoot is not a digest of the suite");
      storageRootText = encodeHex(storageRoot);
    }
    value.set(storageRoot, STORAGE_ROOT_AT);
    value.set(codeHash, CODE_HASH_AT);
    value.set(keccakCodeHash, KECCAK_AT);
    return {
      ...NO_ACCOUNT,
      nonce: readNumber(value, BALANCE_AT, nonceBytes),
      balance: readNumber(value, STORAGE_ROOT_AT, balanceBytes),
      storageRoot: storageRootText,
      codeHash: codeHashText,
      keccakCodeHash: keccakText,
      codeSize: readNumber(value, ACCOUNT_VALUE_BYTES, codeSizeBytes),
    };
  }

  private readSlot(flags: number, nextFreeNode: number, before: SlotLeaf | undefined): SlotLeaf {
    const {reader, word, leafIndex} = this;
    const valueBytes = flags & VALUE_BITS;
    let {slot, hKey} = before ?? NO_SLOT_LEAF;
    if (before === undefined) {
      const slotBytes = reader.uint(1);
      reader.wordInto(word, 0, slotBytes);
      slot = readNumber(word, 32, slotBytes);
      hKey = this.knownHash(0) ?? this.hashWord();
    }
    this.readLinks(nextFreeNode);
    reader.wordInto(word, 0, valueBytes);
    const value = readNumber(word, 32, valueBytes);
    const {prev, next} = this;
    const hVal = this.knownHash(32) ?? this.hashWord();
    return {...NO_SLOT_LEAF, leafIndex, prev, next, hKey, hVal, slot, value};
  }

  /** @param at - 0: hKey of the leaf that is being read; 32: its hVal */
  private knownHash(at: 0 | 32): Uint8Array | undefined {
    if (this.known === undefined) return undefined;
    const start = 64 * (this.leafIndex - this.known.from) + at;
    return this.known.bytes.subarray(start, start + 32);
  }

  /** hKey of a slot, or hVal, of what is in `word`. */
  private hashWord(): Uint8Array {
    return this.suite.hash(this.suite.safe(this.word));
  }

  private readLinks(nextFreeNode: number): void {
    this.prev = this.readLink("prev", nextFreeNode);
    this.next = this.readLink("next", nextFreeNode);
  }

  private readLink(name: string, nextFreeNode: number): number {
    const link = this.reader.uint(this.width);
    check(link < nextFreeNode, this.place, () => `${name} is not below nextFreeNode`);
    return link;
  }

  private hashOpening(hKey: Uint8Array, hVal: Uint8Array): Uint8Array {
    const {suite, opening} = this;
    if (this.known !== undefined) return ZERO_WORD;
    this.openLink(this.prev, 0);
    this.openLink(this.next, suite.safeWordBytes);
    opening.set(hKey, opening.length - 64);
    opening.set(hVal, opening.length - 32);
    return suite.hash(opening);
  }

  /** Writes safe(word(link)) into the opening. */
  private openLink(link: number, at: number): void {
    const {suite, word, opening} = this;
    word.fill(0, 0, 32 - LINK_BYTES);
    for (let i = 0, rest = link; i < LINK_BYTES; i++, rest = Math.floor(rest / 256))
      word[31 - i] = rest % 256;
    opening.set(suite.safe(word), at);
  }

  /** Of the leaf that is being read, for messages. */
  private readonly place = (): string => `leaf ${this.leafIndex}`;
}

/** The number in the last `length` bytes before `end`, 32 at most. */
function readNumber(bytes: Uint8Array, end: number, length: number): bigint {
  if (length > 6) return readWord(bytes.subarray(end - 32, end));
  let n = 0;
  for (let at = end - length; at < end; at++) n = 256 * n + (bytes[at] as number);
  return BigInt(n);
}
