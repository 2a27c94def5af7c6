/** A store whose blocks a test writes itself, one account in each, and what an import shows to a source. */
import {AccountDifferences} from "../../../storage/block/accountDifferences.ts";
import type {BlockDifference} from "../../../storage/block/blockDifference.ts";
import {BlockWriter} from "../../../storage/commit/blockWriter.ts";
import {StateBuilder} from "../../../storage/commit/stateBuilder.ts";
import {StateTrie} from "../../../storage/commit/stateTrie.ts";
import {StateStore} from "../../../storage/stateStore.ts";
import {FIRST_FREE_NODE} from "../../../storage/tree/emptyTree.ts";
import type {SourceHost} from "../../../workers/import/sourceHost.ts";
import "../processes/testProcess.ts";
import {makeTemporaryFolder} from "../temporaryFolder.ts";

/** The account that every block changes. */
const TOUCHED = new Uint8Array(20).fill(0xaa);

/** @param branch - below 256 */
export function hashOf(block: number, branch: number): Uint8Array {
  const hash = Buffer.alloc(32, branch);
  hash.writeInt32BE(block);
  return hash;
}

/** A block whose account has its number as nonce. @param branch - of this block; @param parentBranch - of the one before */
export function createBlock(block: number, branch: number, parentBranch = branch): BlockDifference {
  const accounts = new AccountDifferences();
  accounts.add({address: TOUCHED, change: {nonce: BigInt(block), balance: 1n}});
  const parentHash = hashOf(block - 1, parentBranch);
  return {header: {number: block, hash: hashOf(block, branch), parentHash}, accounts};
}

export class WrittenStore {
  readonly host: SourceHost;
  readonly store: StateStore;
  private readonly writer: BlockWriter;

  private constructor(store: StateStore, writer: BlockWriter) {
    this.store = store;
    this.writer = writer;
    this.host = {
      writer,
      reader: store.reader,
      signal: new AbortController().signal,
      progress: {bytesRead: 0, bytesTotal: undefined, target: undefined},
      onEvent: () => {},
    };
  }

  /** Holds blocks 0 to `latest` of branch 1. @param headerRoot - the state root in the header of a block */
  static async create(latest: number, headerRoot?: (block: number) => Uint8Array): Promise<WrittenStore> {
    const store = await openStore();
    const written = new WrittenStore(store, await BlockWriter.create(store));
    for (let number = 0; number <= latest; number++) {
      const block = createBlock(number, 1);
      const stateRoot = headerRoot?.(number);
      await written.apply({
        ...block,
        header: {...block.header, ...(stateRoot === undefined ? {} : {stateRoot})},
      });
    }
    return written;
  }

  /** Begins with block `first`, whose state is empty, and holds blocks of branch 1 up to `latest`. */
  static async begun(first: number, latest: number): Promise<WrittenStore> {
    const store = await openStore();
    const block = {
      ...{header: createBlock(first, 1).header, stateRoot: store.reader.empty.topRoot},
      ...{chain: {}, ancestors: []},
    };
    const builder = await StateBuilder.create(store, block, FIRST_FREE_NODE, () => {});
    await builder.finish();
    const written = new WrittenStore(store, await BlockWriter.create(store));
    for (let number = first + 1; number <= latest; number++) await written.apply(createBlock(number, 1));
    return written;
  }

  /** @param isVerified - does a trusted root commit to the state after it? */
  async apply(block: BlockDifference, isVerified = true): Promise<void> {
    await this.writer.apply(block, {isVerified});
    await this.writer.flush();
  }

  async rollback(to: number): Promise<void> {
    await this.writer.flush();
    await this.store.rollback(to);
    await this.writer.reload();
  }

  close(): Promise<void> {
    return this.store.close();
  }
}

function openStore(): Promise<StateStore> {
  const directory = makeTemporaryFolder();
  return StateStore.open({directory, role: "owner", createIfMissing: true, cacheBytes: 1 << 20});
}

export async function applyWithTrie(writer: BlockWriter, block: BlockDifference): Promise<void> {
  const prepared = await writer.prepare(block);
  const trie = await new StateTrie(writer.batch, writer.trie).apply(block.accounts);
  writer.commit(prepared, {trie: {...trie, isExecuted: false}});
}
