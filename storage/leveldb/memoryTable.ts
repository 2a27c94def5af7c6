/** The newest version of each key in LevelDB's logs (loggedBatch.ts). */
import {countBelow} from "../bisect.ts";
import {readLoggedBatch} from "./loggedBatch.ts";
import type {Version} from "./tableReader.ts";

export class MemoryTable {
  /** By key as latin1, which keeps the order of bytes; undefined: deleted. */
  private readonly values = new Map<string, Buffer | undefined>();
  private order: readonly string[] | undefined;

  /** @param batch - a record of a log; records come in writing order. @throws RangeError if it is not a batch */
  apply(batch: Buffer): void {
    this.order = undefined;
    readLoggedBatch(batch, (key, value) => this.values.set(key.toString("latin1"), value));
  }

  *versions(from: Buffer): Generator<Version> {
    const names = this.names();
    for (let at = this.keysBelow(from); at < names.length; at++) {
      const name = names[at] as string;
      yield {key: Buffer.from(name, "latin1"), value: this.values.get(name)};
    }
  }

  /** The last key below `bound`, deleted or not. */
  lastBelow(bound: Buffer): Buffer | undefined {
    const last = this.names()[this.keysBelow(bound) - 1];
    return last === undefined ? undefined : Buffer.from(last, "latin1");
  }

  private names(): readonly string[] {
    this.order ??= [...this.values.keys()].sort();
    return this.order;
  }

  private keysBelow(bound: Buffer): number {
    const names = this.names();
    const end = bound.toString("latin1");
    return countBelow(names.length, at => (names[at] as string) < end);
  }
}
