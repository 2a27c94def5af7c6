/** Ethereum's tries in pages: finds, proves and writes paths. Drawn in triePage.ts. */
import {NodeMissing, StoreError} from "../errors.ts";
import {keccak256} from "../hash/keccak.ts";
import {isSame, toHex} from "../hex.ts";
import {type TrieHost, TrieModule} from "./trieModule.ts";
import type {TriePages, TriePageWriter} from "./trieStore.ts";

/** keccak256 of the RLP of no bytes. */
export const EMPTY_ROOT: Uint8Array = new Uint8Array(
  Buffer.from("56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421", "hex"),
);

export interface TrieRoot {
  /** 32 bytes. */
  readonly root: Uint8Array;
  /** The root's page; 0: the trie is empty. */
  readonly page: number;
}

export const EMPTY_TRIE: TrieRoot = {root: EMPTY_ROOT, page: 0};

export type TrieKind = "accounts" | "slots";

export interface TrieWrite {
  /** 32 bytes. */
  readonly path: Uint8Array;
  /** An account's stored form, or a slot's RLP; undefined: remove it. Or made from the current one, a view. */
  readonly value: Uint8Array | undefined | ((current: Uint8Array | undefined) => Uint8Array);
}

/** Of the first byte of a reference: the length of what follows. */
const SHORT = 0x3f;
const VALUE_BYTES_AT = 36;
const VALUE_AT = 40;
const HASH_BYTES = 32;
/** In place of a page: the root's hash is given. */
const BY_HASH = -1;

/** No nodes, and no pages, by hash or path. */
export const NO_NODES: ReadonlyMap<string, Uint8Array> = new Map();
const NO_PAGES: ReadonlyMap<string, number> = new Map();

export class TrieReader {
  protected readonly module: TrieModule;

  constructor(private readonly source: TriePages) {
    this.module = new TrieModule(this.createHost());
  }

  protected createHost(): Partial<TrieHost> {
    return {
      load: (page, to) => this.load(page, to),
      refuse: page => {
        throw new StoreError("RECORD_DAMAGED", `page ${page}: expected a page of a trie at this depth`);
      },
      node: (hash, to) => this.loadNode(hash, to),
      storage: () => 0,
      miss: hash => {
        throw new NodeMissing(this.wordAt(hash));
      },
      refuseNode: (hash, depth) => {
        const name = toHex(this.wordAt(hash));
        throw new StoreError("RECORD_DAMAGED", `node ${name}: expected a node of a trie at depth ${depth}`);
      },
    };
  }

  /**
   * @param root - counts if `page` is 0: only the root's hash may be known
   * @returns a view until the next call; undefined: absent. @throws StoreError RECORD_MISSING, RECORD_DAMAGED; NodeMissing
   */
  find(page: number, path: Uint8Array, kind: TrieKind, root?: Uint8Array): Uint8Array | undefined {
    const {wasm} = this.module;
    this.module.memory.set(path, wasm.pathAt.value);
    return this.found(wasm.find(this.beginAt(page, root), kind === "accounts"));
  }

  /**
   * As `find`. Keeps the nodes on the path, as far as it is in the trie, for `copyNodes`. @param joins - also the
   * branch below an extension at which the path leaves the trie
   */
  walk(
    page: number,
    path: Uint8Array,
    kind: TrieKind,
    joins: boolean,
    root?: Uint8Array,
  ): Uint8Array | undefined {
    const {wasm} = this.module;
    this.module.memory.set(path, wasm.pathAt.value);
    return this.found(wasm.walk(this.beginAt(page, root), kind === "accounts", joins));
  }

  /** Copies the nodes that `walk` kept, except inlined ones, back to back. @param ends - receives the end of each */
  copyNodes(bytes: Uint8Array, ends: Uint32Array): number {
    const {wasm, memory, words} = this.module;
    const count = wasm.gather();
    const endsAt = wasm.endsAt.value / 4;
    for (let i = 0; i < count; i++) ends[i] = words[endsAt + i] as number;
    const at = wasm.gatheredAt.value;
    if (count > 0) bytes.set(memory.subarray(at, at + (ends[count - 1] as number)));
    return count;
  }

  /**
   * Recomputes the hashes of a page's nodes.
   *
   * @param place - `path` begins with the `depth` nibbles that lead to the page
   * @returns its reference in its parent as RLP, or the root hash; the first child with leaves of another reference, or
   * -1
   */
  check(
    page: number,
    {path, depth}: {readonly path: Uint8Array; readonly depth: number},
    kind: TrieKind,
  ): {readonly reference: Uint8Array; readonly wrongChild: number} {
    const {wasm} = this.module;
    this.module.memory.set(path, wasm.pathAt.value);
    const wrongChild = wasm.check(page, depth, kind === "accounts");
    if (depth === 0) return {reference: this.module.result, wrongChild};
    const at = wasm.referenceAt.value;
    const head = this.module.memory[at] as number;
    return {reference: this.module.memory.slice(at, at + 1 + (head & SHORT)), wrongChild};
  }

  /** @param hash - 32 bytes. @returns RLP */
  protected findNode(hash: Uint8Array): Uint8Array | undefined {
    return this.source.findNode(hash);
  }

  protected wordAt(at: number): Uint8Array {
    return this.module.memory.slice(at, at + HASH_BYTES);
  }

  private beginAt(page: number, root: Uint8Array | undefined): number {
    if (page !== 0 || root === undefined || isSame(root, EMPTY_ROOT)) return page;
    this.module.memory.set(root, this.module.wasm.rootAt.value);
    return BY_HASH;
  }

  private loadNode(hash: number, to: number): number {
    const node = this.findNode(this.wordAt(hash));
    if (node === undefined) return 0;
    return this.hand(node, to, this.module.wasm.maxNodeBytes.value, () => `node ${toHex(this.wordAt(hash))}`);
  }

  private found(at: number): Uint8Array | undefined {
    return at === 0 ? undefined : this.module.memory.subarray(at, at + this.module.wasm.foundBytes());
  }

  private load(page: number, to: number): number {
    return this.hand(this.source.read(page), to, this.module.wasm.maxPageBytes.value, () => `page ${page}`);
  }

  /** @param nameOf - for the message */
  private hand(bytes: Uint8Array, to: number, most: number, nameOf: () => string): number {
    const {length} = bytes;
    if (length > most)
      throw new StoreError("RECORD_DAMAGED", `${nameOf()}: expected at most ${most} bytes, got ${length}`);
    this.module.memory.set(bytes, to);
    return length;
  }
}

export class TrieWriter extends TrieReader {
  private writes: readonly TrieWrite[] = [];
  /** RLP by hash (0x text): nodes that are known besides those stored. */
  nodes: ReadonlyMap<string, Uint8Array> = NO_NODES;
  private storages: ReadonlyMap<string, number> = NO_PAGES;

  constructor(private readonly pages: TriePageWriter) {
    super(pages);
  }

  /** @param writes - the last one of a path counts. @throws StoreError RECORD_MISSING, RECORD_DAMAGED */
  update(before: TrieRoot, writes: readonly TrieWrite[], kind: TrieKind): TrieRoot {
    const {wasm} = this.module;
    const most = wasm.maxEntries.value;
    let after = before;
    for (let first = 0; first < writes.length; first += most) {
      this.writes = writes.slice(first, first + most);
      for (const [i, {path, value}] of this.writes.entries()) {
        this.module.memory.set(path, wasm.entriesAt.value + i * wasm.entryBytes.value);
        this.putValue(i, value);
      }
      const page = wasm.update(after.page, this.writes.length, kind === "accounts");
      after = {page, root: this.module.result};
    }
    return after;
  }

  /**
   * Writes a trie of which only the root, `nodes` and the stored nodes are known (wasm/absorb.ts).
   *
   * @param before - an older version. @param root - 32 bytes
   * @param storages - root pages of storage tries by the path of their account (0x text)
   * @returns page 0: the trie is empty, or its root is not known. `unexplained`: how many places below which the older
   * version has leaves are known by a new hash alone. @throws StoreError, as `update`
   */
  absorb(
    before: TrieRoot,
    root: Uint8Array,
    kind: TrieKind,
    storages: ReadonlyMap<string, number> = new Map(),
  ): TrieRoot & {readonly unexplained: number} {
    if (before.page !== 0 && isSame(before.root, root)) return {...before, unexplained: 0};
    const {wasm} = this.module;
    this.storages = storages;
    try {
      this.module.memory.set(root, wasm.rootAt.value);
      this.module.memory.set(before.root, wasm.pathAt.value);
      const isByHash = before.page === 0 && !isSame(before.root, EMPTY_ROOT);
      const page = wasm.absorb(isByHash ? BY_HASH : before.page, kind === "accounts");
      return {root, page, unexplained: wasm.unexplainedPlaces()};
    } finally {
      this.storages = NO_PAGES;
    }
  }

  protected override findNode(hash: Uint8Array): Uint8Array | undefined {
    return this.nodes.get(toHex(hash)) ?? super.findNode(hash);
  }

  protected override createHost(): Partial<TrieHost> {
    return {
      ...super.createHost(),
      put: (from, bytes, before) => this.put(from, bytes, before),
      make: (position, from, bytes) => this.make(position, from, bytes),
      keep: (from, bytes) => {
        const node = this.module.memory.slice(from, from + bytes);
        this.pages.putNode(keccak256(node), node);
      },
      storage: path => this.storages.get(toHex(this.wordAt(path))) ?? 0,
    };
  }

  private put(from: number, bytes: number, before: number): number {
    const {memory} = this.module;
    const encode = (spare: number): Buffer => {
      // From Node's shared slab: its other buffers end at about the same time. Separate ones took 7 % of an update.
      const body = Buffer.allocUnsafe(bytes + spare);
      body.set(memory.subarray(from, from + bytes));
      return body;
    };
    return this.pages.putPage(encode, {
      page: before,
      differ: (base, most) => this.differ(base, from, most),
    });
  }

  private differ(base: Buffer, from: number, most: number): Uint8Array | undefined {
    const {wasm, memory} = this.module;
    if (base.length > wasm.maxPageBytes.value) return undefined;
    memory.set(base, wasm.baseAt.value);
    const length = wasm.differ(base.length, from, most);
    const at = wasm.stepsAt.value;
    return length < 0 ? undefined : memory.subarray(at, at + length);
  }

  private make(position: number, from: number, bytes: number): void {
    const {value} = this.writes[position] as TrieWrite;
    const current = bytes === 0 ? undefined : this.module.memory.subarray(from, from + bytes);
    this.putValue(position, typeof value === "function" ? value(current) : value);
  }

  private putValue(position: number, value: TrieWrite["value"]): void {
    const {wasm, memory} = this.module;
    const at = wasm.entriesAt.value + position * wasm.entryBytes.value;
    const isUnmade = typeof value === "function";
    memory[at + VALUE_BYTES_AT] = isUnmade ? wasm.unmade.value : (value?.length ?? 0);
    if (value === undefined || isUnmade) return;
    if (value.length === 0 || value.length > wasm.maxValueBytes.value)
      throw new RangeError(`expected a value of 1 to ${wasm.maxValueBytes.value} bytes, got ${value.length}`);
    memory.set(value, at + VALUE_AT);
  }
}
