/**
 * A page of one of Ethereum's tries (Merkle-Patricia, 16 children a branch), written by wasm/pages.ts.
 *
 *   branch page   'T' | depth u8 | branch u8 | nibbles | 16 children
 *   nibbles       of every path below, from `depth` to `branch`, packed as in the path; none if the two are equal
 *   child         0                                           no child
 *                 16 | hash 32                                only the hash of its node is known (wasm/absorb.ts)
 *                 1 to 4 | node | so many leaves              all of its leaves: its nodes are recomputed from them
 *                 128 + n | page, n bytes | node              more leaves: a page of its own, whose depth is branch + 1
 *   node          its hash, with 16 added to the byte before. Nodes under 32 bytes are inlined: their RLP instead
 *   leaf          value length u8 | path from byte (branch + 1) / 2 on | value
 *   small page    't' | count u8 | 1 to 4 leaves with full paths          of a trie with at most 4 leaves
 *   value         an account as trieAccount.ts stores it, or a slot's RLP
 *
 *   depth 0          root: a branch, or an extension of some nibbles and a branch
 *   1, 2, ..         a branch page for each node with more than 4 leaves below
 *   the last         a proof recomputes the nodes of one child, from its 1 to 4 leaves; the page has the other 15 references
 *
 * So the pages of a trie depend on its leaves alone. A page has everything that a proof needs at its nodes.
 */
import {StoreError} from "../errors.ts";
import {nibbleAt} from "../page/indexPage.ts";
import {NUMBER_BYTES} from "../record/layout.ts";

const TRIE_PAGE = 0x54;
const SMALL_PAGE = 0x74;
/** Bits of a child's first byte: the number of leaves, or of bytes of a page number. */
const COUNT = 0x0f;
const HASHED = 0x10;
const CHILD_PAGE = 0x80;
const HEAD_BYTES = 3;
const SHORT_LIST = 0xc0;
const HASH_HEAD = Buffer.of(0xa0);
const PATH_BYTES = 32;

/** A page of a branch. Pages of at most 4 leaves do not count. */
export function isTriePage(body: Buffer): boolean {
  return body[0] === TRIE_PAGE;
}

/** Is the first child of a branch page without an extension a page too? Then most of its children are. */
export function isUpperTriePage(body: Buffer): boolean {
  return isTriePage(body) && (body[HEAD_BYTES] as number) > CHILD_PAGE && body[1] === body[2];
}

export interface TriePlace {
  readonly page: number;
  /** 32 bytes that begin with the nibbles on the path to the page; `depth` is their number. */
  readonly path: Buffer;
  readonly depth: number;
}

export const TRIE_ROOT = {path: Buffer.alloc(PATH_BYTES), depth: 0};

interface TrieChild extends TriePlace {
  /** RLP. */
  readonly reference: Buffer;
}

interface TrieLeaf {
  /** 32 bytes. */
  readonly path: Buffer;
  /** A view. */
  readonly value: Buffer;
}

/** @param path - begins with the nibbles on the path to the page. @throws StoreError RECORD_DAMAGED */
export function readTriePage(
  page: number,
  body: Buffer,
  path: Buffer,
): {readonly children: TrieChild[]; readonly leaves: TrieLeaf[]} {
  const children: TrieChild[] = [];
  const leaves: TrieLeaf[] = [];
  const damage = () => new StoreError("RECORD_DAMAGED", `page ${page}: expected a page of a trie`);
  let at = 2;
  const takeLeaves = (count: number, first: number, above: Buffer): void => {
    for (let i = 0; i < count; i++) {
      const valueAt = at + 1 + PATH_BYTES - first;
      const end = valueAt + (body[at] ?? 0);
      if (end > body.length) throw damage();
      const own = Buffer.from(above);
      body.copy(own, first, at + 1, valueAt);
      leaves.push({path: own, value: body.subarray(valueAt, end)});
      at = end;
    }
  };
  if (body[0] === SMALL_PAGE) takeLeaves(body[1] as number, 0, path);
  else if (body[0] === TRIE_PAGE) {
    const [, depth = 0, branch = 0] = body;
    const above = Buffer.from(path);
    for (let nibble = depth; nibble < branch; nibble++)
      setNibble(above, nibble, nibbleAt(body, 2 * HEAD_BYTES + nibble - (depth & ~1)));
    at = HEAD_BYTES + (depth === branch ? 0 : ((branch + 1) >> 1) - (depth >> 1));
    for (let nibble = 0; nibble < 16; nibble++) {
      const kind = body[at++];
      if (kind === undefined) throw damage();
      if (kind === 0) continue;
      if (kind === HASHED) {
        at += PATH_BYTES;
        continue;
      }
      setNibble(above, branch, nibble);
      const numberBytes = kind & CHILD_PAGE ? kind & COUNT : 0;
      const nodeAt = at + numberBytes;
      const end = nodeAt + (kind & HASHED ? PATH_BYTES : 1 + (body[nodeAt] ?? 0) - SHORT_LIST);
      const isKnown = (kind & ~(COUNT | HASHED | CHILD_PAGE)) === 0 && (kind & COUNT) > 0;
      if (end > body.length || end <= nodeAt || numberBytes > NUMBER_BYTES || !isKnown) throw damage();
      const node = body.subarray(nodeAt, end);
      const reference = kind & HASHED ? Buffer.concat([HASH_HEAD, node]) : node;
      const number = at;
      at = end;
      if (numberBytes === 0) takeLeaves(kind & COUNT, (branch + 1) >> 1, above);
      else {
        const page = body.readUIntBE(number, numberBytes);
        children.push({page, path: Buffer.from(above), depth: branch + 1, reference});
      }
    }
  } else throw damage();
  if (at !== body.length) throw damage();
  return {children, leaves};
}

function setNibble(path: Buffer, position: number, nibble: number): void {
  const at = position >> 1;
  const byte = path[at] as number;
  path[at] = position % 2 === 0 ? (byte & 15) | (nibble << 4) : (byte & 0xf0) | nibble;
}
