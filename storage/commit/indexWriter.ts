/** Changes the hKey index by copy-on-write: changed pages are drafts in memory until `seal`. */

import {compareWordAt} from "../hash/hKeyOrder.ts";
import {
  BUCKET_ENTRIES,
  bytesToTellApart,
  DIRECTORY,
  DIRECTORY_CHILDREN,
  directoryChild,
  encodeBucket,
  encodeDirectory,
  entryCount,
  entryLeafIndex,
  expectBucket,
  type IndexEntry,
  keyBytes,
  nibbleAt,
  readEntries,
  searchBucket,
} from "../page/indexPage.ts";
import type {PageWriter} from "../page/pageReader.ts";
import {edgeLeaf, nearestEntry, searchIndex} from "../tree/hKeyIndex.ts";

/** A page number (0 = nothing there), or a draft that will become a page. */
type Node = number | DirectoryDraft | BucketDraft;

interface DirectoryDraft {
  /** The page that it replaces; 0: none. */
  readonly page: number;
  readonly children: Node[];
}

interface BucketDraft {
  readonly page: number;
  readonly bucket: Buffer;
}

export class IndexWriter {
  private root: Node;

  /** @param page - the root page of the index, 0 for an empty index. @param hKeyOf - reads the key of a leaf */
  constructor(
    private readonly pages: PageWriter,
    page: number,
    private readonly hKeyOf: (leafIndex: number) => Uint8Array,
  ) {
    this.root = page;
  }

  /** @returns as searchIndex; undefined if the index is empty */
  search(hKey: Uint8Array): number | undefined {
    let node = this.root;
    for (let depth = 0; ; depth++) {
      if (node === 0) return undefined;
      if (typeof node === "number") return searchIndex(this.pages, node, depth, hKey);
      if ("bucket" in node) return nearestEntry(node.bucket, searchBucket(node.bucket, hKey));
      const nibble = nibbleAt(hKey, depth);
      const child = node.children[nibble] as Node;
      if (child === 0) return this.nearest(node, nibble);
      node = child;
    }
  }

  insert(hKey: Uint8Array, leafIndex: number): void {
    this.root = this.insertInto(this.root, 0, {hKey, leafIndex});
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
    if ("bucket" in node) {
      const entries = readEntries(node.bucket);
      return this.pages.putPage(spare => encodeBucket(entries, keyBytes(node.bucket), spare), node);
    }
    const children = node.children.map(child => this.sealNode(child));
    return this.pages.putPage(spare => encodeDirectory(children, spare), node);
  }

  private draft(page: number): DirectoryDraft | BucketDraft {
    const body = this.pages.read(page);
    if (body[0] !== DIRECTORY) return {page, bucket: expectBucket(body, page)};
    const children: Node[] = [];
    for (let nibble = 0; nibble < DIRECTORY_CHILDREN; nibble++) children.push(directoryChild(body, nibble));
    return {page, children};
  }

  private insertInto(node: Node, depth: number, entry: IndexEntry): Node {
    if (node === 0) return draftBucket([entry], bytesToTellApart([entry]), 0);
    const draft = typeof node === "number" ? this.draft(node) : node;
    if ("bucket" in draft) return this.insertIntoBucket(draft, depth, entry);
    const nibble = nibbleAt(entry.hKey, depth);
    draft.children[nibble] = this.insertInto(draft.children[nibble] as Node, depth + 1, entry);
    return draft;
  }

  private insertIntoBucket({page, bucket}: BucketDraft, depth: number, entry: IndexEntry): Node {
    const found = searchBucket(bucket, entry.hKey);
    const entries = readEntries(bucket);
    if (found < 0) {
      entries.splice(-found - 1, 0, entry);
      return split(entries, keyBytes(bucket), depth, page);
    }
    // The bucket needs more bytes to tell this key from the one that begins as it does.
    const whole = entries.map(({leafIndex}) => ({hKey: this.hKeyOf(leafIndex), leafIndex}));
    const order = compareWordAt((whole[found] as IndexEntry).hKey, 0, entry.hKey);
    if (order === 0) throw new RangeError("the key is already in the index");
    whole.splice(order < 0 ? found + 1 : found, 0, entry);
    return split(whole, bytesToTellApart(whole), depth, page);
  }

  private removeFrom(node: Node, depth: number, hKey: Uint8Array): Node {
    if (node === 0) throw new RangeError("the key is not in the index");
    const draft = typeof node === "number" ? this.draft(node) : node;
    if ("bucket" in draft) {
      const at = searchBucket(draft.bucket, hKey);
      if (at < 0) throw new RangeError("the key is not in the index");
      const others = readEntries(draft.bucket).filter((_, position) => position !== at);
      return others.length === 0 ? 0 : draftBucket(others, keyBytes(draft.bucket), draft.page);
    }
    const nibble = nibbleAt(hKey, depth);
    draft.children[nibble] = this.removeFrom(draft.children[nibble] as Node, depth + 1, hKey);
    return draft.children.every(child => child === 0) ? 0 : draft;
  }

  /** Like `nearest` in hKeyIndex.ts, for drafts. */
  private nearest(directory: DirectoryDraft, nibble: number): number {
    for (let i = nibble - 1; i >= 0; i--) {
      const child = directory.children[i] as Node;
      if (child !== 0) return this.edge(child, true);
    }
    for (let i = nibble + 1; i < DIRECTORY_CHILDREN; i++) {
      const child = directory.children[i] as Node;
      if (child !== 0) return this.edge(child, false);
    }
    throw new RangeError("a directory without children");
  }

  private edge(node: Node, greatest: boolean): number {
    if (typeof node === "number") return edgeLeaf(this.pages, node, greatest);
    if ("bucket" in node) return entryLeafIndex(node.bucket, greatest ? entryCount(node.bucket) - 1 : 0);
    const used = node.children.filter(child => child !== 0);
    return this.edge((greatest ? used.at(-1) : used[0]) as Node, greatest);
  }
}

/** Makes one bucket, or directories of buckets if there are too many entries for one. @param bytes - of each key */
function split(
  entries: readonly IndexEntry[],
  bytes: number,
  depth: number,
  page = 0,
): DirectoryDraft | BucketDraft {
  if (entries.length <= BUCKET_ENTRIES) return draftBucket(entries, bytes, page);
  const children = Array.from({length: DIRECTORY_CHILDREN}, (_, nibble): Node => {
    const below = entries.filter(({hKey}) => nibbleAt(hKey, depth) === nibble);
    return below.length === 0 ? 0 : split(below, bytes, depth + 1);
  });
  return {page, children};
}

function draftBucket(entries: readonly IndexEntry[], bytes: number, page: number): BucketDraft {
  return {page, bucket: encodeBucket(entries, bytes, 0)};
}
