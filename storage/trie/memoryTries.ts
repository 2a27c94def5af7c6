/** State tries in memory, for a genesis block that is only compared with the stored one. */
import {toHex} from "../hex.ts";
import type {TrieStore} from "./trieStore.ts";

const SPARE_BYTES = 4;

export class MemoryTries implements TrieStore {
  /** @param pages - numbered from 1 in writing order. @param codes - by their hashes */
  constructor(
    readonly pages: Buffer[] = [],
    readonly codes = new Map<string, Uint8Array>(),
  ) {}

  private readonly nodes = new Map<string, Uint8Array>();

  read(page: number): Buffer {
    const body = this.pages[page - 1];
    if (body === undefined)
      throw new RangeError(`expected a page from 1 to ${this.pages.length}, got ${page}`);
    return body;
  }

  putPage(encode: (spare: number) => Buffer): number {
    const value = encode(SPARE_BYTES);
    return this.pages.push(value.subarray(0, value.length - SPARE_BYTES));
  }

  findNode(hash: Uint8Array): Uint8Array | undefined {
    return this.nodes.get(toHex(hash));
  }

  putNode(hash: Uint8Array, node: Uint8Array): void {
    this.nodes.set(toHex(hash), node);
  }

  findCode(hash: Uint8Array): Uint8Array | undefined {
    return this.codes.get(Buffer.from(hash).toString("hex"));
  }

  putCode(hash: Uint8Array, code: Uint8Array): void {
    this.codes.set(Buffer.from(hash).toString("hex"), new Uint8Array(code));
  }

  begin(): () => void {
    const {length} = this.pages;
    return () => {
      this.pages.length = length;
    };
  }
}
