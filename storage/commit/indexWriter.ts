/** Changes the hKey index by copy-on-write: changed pages are drafts in memory until `seal`. */

import {
  BUCKET_ENTRIES,
  bucketEntries,
  DIRECTORY,
  DIRECTORY_CHILDREN,
  differBuckets,
  directoryChild,
  ENTRY_BYTES,
  encodeBucket,
  encodeDirectory,
  encodeEntry,
  entryLeafIndex,
  nibbleAt,
  searchEntries,
} from "../page/indexPage.ts";
import type {PageWriter} from "../page/pageReader.ts";
import {edgeLeaf, type IndexPosition, searchBucket, searchIndex} from "../tree/hKeyIndex.ts";

/** A page number (0 = nothing there), or a draft that will become a page. */
type Node = number | DirectoryDraft | BucketDraft;

interface DirectoryDraft {
  /** The page that it replaces; 0: none. */
  readonly page: number;
  readonly children: Node[];
}

interface BucketDraft {
  readonly page: number;
  /** Sorted, as in a bucket page; never empty. */
  entries: Buffer;
}

export class IndexWriter {
  private root: Node;

  /** @param page - the root page of the index, 0 for an empty index */
  constructor(
    private readonly pages: PageWriter,
    page: number,
  ) {
    this.root = page;
  }

  /** @returns undefined if the index is empty */
  search(hKey: Uint8Array): IndexPosition | undefined {
    let node = this.root;
    for (let depth = 0; ; depth++) {
      if (node === 0) return undefined;
      if (typeof node === "number") return searchIndex(this.pages, node, depth, hKey);
      if ("entries" in node) return searchBucket(node.entries, hKey);
      const nibble = nibbleAt(hKey, depth);
      const child = node.children[nibble] as Node;
      if (child === 0) return this.nearest(node, nibble);
      node = child;
    }
  }

  insert(hKey: Uint8Array, leafIndex: number): void {
    this.root = this.insertInto(this.root, 0, hKey, leafIndex);
  }

  /** @param hKey - a key that is in the index */
  remove(hKey: Uint8Array): void {
    this.root = this.removeFrom(this.root, 0, hKey);
  }

  /** Writes the changed pages. @returns page number of the root */
  seal(): number {
    this.root = this.sealNode(this.root);
    return this.root;
  }

  private sealNode(node: Node): number {
    if (typeof node === "number") return node;
    if ("entries" in node)
      return this.pages.putPage(spare => encodeBucket(node.entries, spare), {
        page: node.page,
        differ: differBuckets,
      });
    const children = node.children.map(child => this.sealNode(child));
    return this.pages.putPage(spare => encodeDirectory(children, spare), node);
  }

  private draft(page: number): DirectoryDraft | BucketDraft {
    const body = this.pages.read(page);
    if (body[0] !== DIRECTORY) return {page, entries: bucketEntries(body)};
    const children: Node[] = [];
    for (let nibble = 0; nibble < DIRECTORY_CHILDREN; nibble++) children.push(directoryChild(body, nibble));
    return {page, children};
  }

  private insertInto(node: Node, depth: number, hKey: Uint8Array, leafIndex: number): Node {
    if (node === 0) return {page: 0, entries: encodeEntry(hKey, leafIndex)};
    const draft = typeof node === "number" ? this.draft(node) : node;
    if ("entries" in draft) {
      const at = -(searchEntries(draft.entries, hKey) + 1) * ENTRY_BYTES;
      if (at < 0) throw new RangeError("the key is already in the index");
      draft.entries = Buffer.concat([
        draft.entries.subarray(0, at),
        encodeEntry(hKey, leafIndex),
        draft.entries.subarray(at),
      ]);
      return split(draft.entries, depth, draft.page);
    }
    const nibble = nibbleAt(hKey, depth);
    draft.children[nibble] = this.insertInto(draft.children[nibble] as Node, depth + 1, hKey, leafIndex);
    return draft;
  }

  private removeFrom(node: Node, depth: number, hKey: Uint8Array): Node {
    if (node === 0) throw new RangeError("the key is not in the index");
    const draft = typeof node === "number" ? this.draft(node) : node;
    if ("entries" in draft) {
      const at = searchEntries(draft.entries, hKey) * ENTRY_BYTES;
      if (at < 0) throw new RangeError("the key is not in the index");
      if (draft.entries.length === ENTRY_BYTES) return 0;
      draft.entries = Buffer.concat([
        draft.entries.subarray(0, at),
        draft.entries.subarray(at + ENTRY_BYTES),
      ]);
      return draft;
    }
    const nibble = nibbleAt(hKey, depth);
    draft.children[nibble] = this.removeFrom(draft.children[nibble] as Node, depth + 1, hKey);
    return draft.children.every(child => child === 0) ? 0 : draft;
  }

  /** Like `nearest` in hKeyIndex.ts, for drafts. */
  private nearest(directory: DirectoryDraft, nibble: number): IndexPosition {
    for (let i = nibble - 1; i >= 0; i--) {
      const child = directory.children[i] as Node;
      if (child !== 0) return {kind: "lower", leafIndex: this.edge(child, true)};
    }
    for (let i = nibble + 1; i < DIRECTORY_CHILDREN; i++) {
      const child = directory.children[i] as Node;
      if (child !== 0) return {kind: "higher", leafIndex: this.edge(child, false)};
    }
    throw new RangeError("a directory without children");
  }

  private edge(node: Node, greatest: boolean): number {
    if (typeof node === "number") return edgeLeaf(this.pages, node, greatest);
    if ("entries" in node)
      return entryLeafIndex(node.entries, greatest ? node.entries.length / ENTRY_BYTES - 1 : 0);
    const used = node.children.filter(child => child !== 0);
    return this.edge((greatest ? used.at(-1) : used[0]) as Node, greatest);
  }
}

/** Makes one bucket, or directories of buckets if there are too many entries for one. */
function split(entries: Buffer, depth: number, page = 0): DirectoryDraft | BucketDraft {
  if (entries.length <= BUCKET_ENTRIES * ENTRY_BYTES) return {page, entries};
  const children: Node[] = new Array(DIRECTORY_CHILDREN).fill(0);
  let start = 0;
  while (start < entries.length) {
    const nibble = nibbleAt(entries.subarray(start), depth);
    let end = start + ENTRY_BYTES;
    while (end < entries.length && nibbleAt(entries.subarray(end), depth) === nibble) end += ENTRY_BYTES;
    children[nibble] = split(entries.subarray(start, end), depth + 1);
    start = end;
  }
  return {page, children};
}
