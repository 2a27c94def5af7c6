/** Ethereum's tries in pages: finds, proves and writes paths. Drawn in triePage.ts. */
import {StoreError} from "../errors.ts";
import type {PageReader, PageWriter} from "../page/pageReader.ts";
import {TrieModule} from "./trieModule.ts";

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

export class TrieReader {
  protected readonly module: TrieModule;

  constructor(pages: PageReader) {
    this.module = new TrieModule({
      load: (page, to) => this.load(pages, page, to),
      put: (from, bytes, before) => this.put(from, bytes, before),
      make: (position, from, bytes) => this.make(position, from, bytes),
      refuse: page => {
        throw new StoreError("RECORD_DAMAGED", `page ${page}: expected a page of a trie at this depth`);
      },
    });
  }

  /** @returns a view until the next call; undefined: absent. @throws StoreError RECORD_MISSING, RECORD_DAMAGED */
  find(page: number, path: Uint8Array, kind: TrieKind): Uint8Array | undefined {
    const {wasm} = this.module;
    this.module.memory.set(path, wasm.pathAt.value);
    return this.found(wasm.find(page, kind === "accounts"));
  }

  /**
   * As `find`. Keeps the nodes on the path, as far as it is in the trie, for `copyNodes`. @param joins - also the
   * branch below an extension at which the path leaves the trie
   */
  walk(page: number, path: Uint8Array, kind: TrieKind, joins: boolean): Uint8Array | undefined {
    const {wasm} = this.module;
    this.module.memory.set(path, wasm.pathAt.value);
    return this.found(wasm.walk(page, kind === "accounts", joins));
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

  protected put(_from: number, _bytes: number, _before: number): number {
    throw new Error("a page was put by a reader");
  }

  protected make(_position: number, _from: number, _bytes: number): void {
    throw new Error("a value was made by a reader");
  }

  private found(at: number): Uint8Array | undefined {
    return at === 0 ? undefined : this.module.memory.subarray(at, at + this.module.wasm.foundBytes());
  }

  private load(pages: PageReader, page: number, to: number): number {
    const body = pages.read(page);
    const most = this.module.wasm.maxPageBytes.value;
    if (body.length > most)
      throw new StoreError(
        "RECORD_DAMAGED",
        `page ${page}: expected at most ${most} bytes, got ${body.length}`,
      );
    this.module.memory.set(body, to);
    return body.length;
  }
}

export class TrieWriter extends TrieReader {
  private writes: readonly TrieWrite[] = [];

  constructor(private readonly pages: PageWriter) {
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

  protected override put(from: number, bytes: number, before: number): number {
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

  protected override make(position: number, from: number, bytes: number): void {
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
