/** Two stores that get the same blocks from two sources. Their roots must be the same after each block. */
import assert from "node:assert/strict";
import {join} from "node:path";
import {isDeepStrictEqual} from "node:util";
import type {BlockDifference} from "../../../storage/block/blockDifference.ts";
import {BlockWriter} from "../../../storage/commit/blockWriter.ts";
import {toHex} from "../../../storage/hex.ts";
import type {StateStore} from "../../../storage/stateStore.ts";
import {MemoryState} from "../chains/memoryState.ts";
import {openOwned} from "./importedStore.ts";

interface Filled {
  readonly store: StateStore;
  readonly writer: BlockWriter;
  readonly state: MemoryState;
}

export class ComparedStores {
  private readonly one: Filled;
  private readonly other: Filled;

  private constructor(one: Filled, other: Filled) {
    this.one = one;
    this.other = other;
  }

  static async create(folder: string): Promise<ComparedStores> {
    return new ComparedStores(await open(join(folder, "one")), await open(join(folder, "other")));
  }

  async apply(expected: BlockDifference, got: BlockDifference): Promise<void> {
    const {number} = expected.header;
    for (const [{state, writer}, difference] of [
      [this.one, expected],
      [this.other, got],
    ] as const) {
      state.apply(difference);
      await writer.apply(difference);
      await writer.flush();
    }
    assert.deepEqual(this.other.state.accounts, this.one.state.accounts, `block ${number}: accounts`);
    const {header, stateRoot} = this.one.store.reader.blockOrThrow(number);
    const held = this.other.store.reader.blockOrThrow(number);
    assert.deepEqual(held.header, header);
    assert.equal(toHex(held.stateRoot), toHex(stateRoot), `block ${number}: state root`);
  }

  /** Whether both would give the same accounts: what their state roots would say. Nothing is applied. */
  agree(expected: BlockDifference, got: BlockDifference): boolean {
    const [one, other] = [expected, got].map(difference => {
      const state = new MemoryState(structuredClone(this.one.state.accounts));
      state.apply(difference);
      return state.accounts;
    });
    return isDeepStrictEqual(other, one);
  }

  async close(): Promise<void> {
    await this.one.store.close();
    await this.other.store.close();
  }
}

async function open(directory: string): Promise<Filled> {
  const store = await openOwned(directory, "sha256");
  return {store, writer: await BlockWriter.create(store), state: new MemoryState()};
}
