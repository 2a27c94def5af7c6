/**
 * The keys of the store. Integers are big-endian, so the order of keys is the order of numbers. Drawn in docs/store.md.
 *
 *   key                         value (each followed by its checksum, record.ts)
 *   'b' | block u48             block record: header, root of the account tree, next page        blockRecord.ts
 *   'c' | keccak hash 32        contract code
 *   'd' | place u48             the changes of a recent block, for a feed: a ring buffer     keptChanges.ts
 *   'f' | count u48             a finalization on layer 1, counted from 0 in their order         finalization.ts
 *   'h' | block hash 32         block number                                                     recordBody.ts
 *   'k' | owner u40 | page u40  the keys of up to 8 leaves: addresses or slots                   leafKeys.ts
 *   'm' | name                  format, chain (format.ts), finalized, floor, earliest (recordBody.ts), layer1 (layer1Mark.ts),
 *                               pruning (pruneRecord.ts), unverified (recordBody.ts), resets (openResets.ts)
 *   'n' | keccak hash 32        a node of a trie, of which a page has only the hash: RLP         trie/wasm/nodes.ts
 *   'p' | page u48              one immutable page: of a tree or of a trie                       page/, trie/
 *   'x' | block u48             the same block record, once the block is pruned: its trees are gone
 *
 * Pages are numbered in writing order, not by path. So a page is one point read at any height of the chain, and LevelDB
 * only appends. Keys by (path, block) would cost a reverse seek per page, ten times slower.
 */

/** Bytes of block numbers, page numbers and counts: u48. */
export const NUMBER_BYTES = 6;
export const PAGE_KEY_BYTES = 1 + NUMBER_BYTES;
/** Bytes of leaf indexes and of the numbers of leaf pages: u40. */
const INDEX_BYTES = 5;
/** Page numbers start at 1, because 0 means "no page". */
export const FIRST_PAGE = 1;
export const MAX_U48 = 2 ** 48 - 1;

const PREFIX = {
  block: 0x62,
  code: 0x63,
  changes: 0x64,
  finalization: 0x66,
  hash: 0x68,
  keys: 0x6b,
  meta: 0x6d,
  node: 0x6e,
  page: 0x70,
  pruned: 0x78,
} as const;

/** Each kind of record, and its keys: from `start` to before `end`. */
export const KINDS: readonly {readonly kind: string; readonly start: Buffer; readonly end: Buffer}[] =
  Object.entries(PREFIX).map(([kind, prefix]) => ({
    kind,
    start: Buffer.of(prefix),
    end: Buffer.of(prefix + 1),
  }));

export function isKeyOf(kind: keyof typeof PREFIX, key: Buffer): boolean {
  return key[0] === PREFIX[kind];
}

/** A new store gets all of them in one batch, so a missing one is damage. An empty body says: nothing yet. */
export const META = {
  format: metaKey("format"),
  /** JSON: chain id and genesis configuration. Empty before block 0. */
  chain: metaKey("chain"),
  /** u48: blocks up to this one are finalized. It only rises, perhaps above the newest block. Empty: none is. */
  finalized: metaKey("finalized"),
  /** u48: lower page numbers may be in a reader's cache, even if rolled back, and are never reused. */
  floor: metaKey("floor"),
  layer1: metaKey("layer1"),
  /** u48: every block below this one is pruned, and this one is not. */
  earliest: metaKey("earliest"),
  pruning: metaKey("pruning"),
  /** u48: the first block whose state no trusted root commits to. 2^48 - 1: there is none. */
  unverified: metaKey("unverified"),
} as const;

/** A store may lack it (openResets.ts). */
export const OPEN_RESETS: Buffer = metaKey("resets");

/** Only a store of slices has it (sliceBlock.ts). */
export const SLICE: Buffer = metaKey("slice");

/** The first and the last key that a record of META can have. */
export const META_KEYS = {gte: metaKey(""), lte: metaKey("\xff")} as const;

export function pageKey(page: number): Buffer {
  return numberedKey(PREFIX.page, page);
}

export function writePageKeyInto(key: Buffer, page: number): void {
  key[0] = PREFIX.page;
  key.writeUIntBE(page, 1, NUMBER_BYTES);
}

export function numberOfKey(key: Buffer): number {
  return key.readUIntBE(1, NUMBER_BYTES);
}

export function blockKey(block: number): Buffer {
  return numberedKey(PREFIX.block, block);
}

export function changesKey(place: number): Buffer {
  return numberedKey(PREFIX.changes, place);
}

export function prunedKey(block: number): Buffer {
  return numberedKey(PREFIX.pruned, block);
}

export function hashKey(blockHash: Uint8Array): Buffer {
  return prefixed(PREFIX.hash, blockHash);
}

export function hashOfKey(key: Buffer): Buffer {
  return key.subarray(1);
}

export function codeKey(keccakHash: Uint8Array): Buffer {
  return prefixed(PREFIX.code, keccakHash);
}

export function nodeKey(keccakHash: Uint8Array): Buffer {
  return prefixed(PREFIX.node, keccakHash);
}

export function finalizationKey(index: number): Buffer {
  return numberedKey(PREFIX.finalization, index);
}

/** @param owner, page - below 2^40 each: the tree, and leaf index / 8 */
export function leafKeysKey(owner: number, page: number): Buffer {
  const key = Buffer.allocUnsafe(1 + 2 * INDEX_BYTES);
  key[0] = PREFIX.keys;
  key.writeUIntBE(owner, 1, INDEX_BYTES);
  key.writeUIntBE(page, 1 + INDEX_BYTES, INDEX_BYTES);
  return key;
}

export function pageOfLeafKeys(key: Buffer): {readonly owner: number; readonly page: number} {
  return {owner: key.readUIntBE(1, INDEX_BYTES), page: key.readUIntBE(1 + INDEX_BYTES, INDEX_BYTES)};
}

function metaKey(name: string): Buffer {
  return prefixed(PREFIX.meta, Buffer.from(name, "latin1"));
}

function numberedKey(prefix: number, number: number): Buffer {
  const key = Buffer.allocUnsafe(PAGE_KEY_BYTES);
  key[0] = prefix;
  key.writeUIntBE(number, 1, NUMBER_BYTES);
  return key;
}

function prefixed(prefix: number, rest: Uint8Array): Buffer {
  const key = Buffer.allocUnsafe(1 + rest.length);
  key[0] = prefix;
  key.set(rest, 1);
  return key;
}

/** A key as text for messages: the kind of record and its number or hash. */
export function nameOfKey(key: Buffer): string {
  switch (key[0]) {
    case PREFIX.page:
      return `page ${numberOfKey(key)}`;
    case PREFIX.block:
      return `record of block ${numberOfKey(key)}`;
    case PREFIX.pruned:
      return `record of pruned block ${numberOfKey(key)}`;
    case PREFIX.code:
      return `code 0x${key.toString("hex", 1)}`;
    case PREFIX.node:
      return `node 0x${key.toString("hex", 1)}`;
    case PREFIX.changes:
      return `kept changes ${numberOfKey(key)}`;
    case PREFIX.finalization:
      return `finalization ${numberOfKey(key)}`;
    case PREFIX.hash:
      return `number of block 0x${key.toString("hex", 1)}`;
    case PREFIX.keys:
      return nameOfLeafKeys(key);
    case PREFIX.meta:
      return `${key.toString("latin1", 1)} record`;
    default:
      return `record 0x${key.toString("hex")}`;
  }
}

function nameOfLeafKeys(key: Buffer): string {
  const {owner, page} = pageOfLeafKeys(key);
  const tree = owner === 0 ? "the account tree" : `the slots of account leaf ${owner}`;
  return `keys of leaf page ${page} of ${tree}`;
}
