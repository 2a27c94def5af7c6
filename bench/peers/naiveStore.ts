/** Makes the naive server's records from the newest block of a proofd store, and checks that the root is the same. */
import {existsSync, renameSync, rmSync} from "node:fs";
import {Level} from "level";
import type {StateReader} from "../../storage/block/stateReader.ts";
import {ACCOUNT_VALUE_BYTES, TREE_HEIGHT, WORD_BYTES} from "../../storage/hash/suite.ts";
import {LEAVES_PER_PAGE} from "../../storage/page/geometry.ts";
import {leafAt, leafCount} from "../../storage/page/leafPage.ts";
import {StateStore} from "../../storage/stateStore.ts";
import {decodeStoredAccount, encodeAccountValueInto} from "../../storage/tree/account.ts";
import {emptyTree, hashTopRoot, ZERO_WORD} from "../../storage/tree/emptyTree.ts";
import {readLeafPage} from "../../storage/tree/treeReader.ts";
import type {TreeRoot} from "../../storage/tree/treeRoot.ts";
import {ACCOUNTS, HEAD_KEY, keyOf, LEVEL_OPTIONS, NEW, OPENING_BYTES} from "./naiveLayout.ts";

const CACHE_BYTES = 64 << 20;
const BATCH_RECORDS = 10_000;

/** Makes the naive store if it is missing. @param from - a store of proofd that no process has open */
export async function makeNaiveStore(from: string, directory: string): Promise<void> {
  if (existsSync(directory)) return;
  const unfinished = `${directory}.unfinished`;
  rmSync(unfinished, {recursive: true, force: true});
  const store = await StateStore.open({directory: from, role: "owner", cacheBytes: CACHE_BYTES});
  const db = new Level<string, Buffer>(unfinished, LEVEL_OPTIONS);
  await db.open();
  await new NaiveBuilder(store.reader, db).build();
  await db.close();
  await store.close();
  renameSync(unfinished, directory);
}

class NaiveBuilder {
  private records: {type: "put"; key: string; value: Buffer}[] = [];

  constructor(
    private readonly store: StateReader,
    private readonly db: Level<string, Buffer>,
  ) {}

  async build(): Promise<void> {
    const block = this.store.blockOrThrow(this.store.readFinalized() as number);
    const root = await this.addTree(ACCOUNTS, block.accounts);
    if (Buffer.compare(root, block.stateRoot) !== 0)
      throw new Error(`the naive tree has the root ${hex(root)}, the store ${hex(block.stateRoot)}`);
    await this.addNewTree();
    const head = {
      number: `0x${block.header.number.toString(16)}`,
      hash: `0x${hex(block.header.hash)}`,
      stateRoot: `0x${hex(block.stateRoot)}`,
    };
    await this.put(HEAD_KEY, Buffer.from(JSON.stringify(head)));
    await this.flush();
  }

  /** The tree of an account without slots. */
  private async addNewTree(): Promise<void> {
    const {suite} = this.store;
    for (const [index, hKey] of [ZERO_WORD, suite.tailHKey].entries()) {
      // The value is zero, too.
      const leaf = Buffer.alloc(OPENING_BYTES + WORD_BYTES);
      suite.encodeLeafOpeningInto(leaf, 0, 0, 1, hKey, ZERO_WORD);
      await this.put(keyOf.leaf(NEW, index), leaf);
      await this.put(keyOf.hKey(NEW, hex(hKey)), Buffer.from(String(index)));
    }
    const rootNode = Buffer.alloc(suite.rootNodeBytes);
    suite.encodeRootNodeInto(rootNode, 0, 2, emptyTree(suite).subRoot);
    await this.put(keyOf.root(NEW), rootNode);
  }

  /** @returns the top root */
  private async addTree(tree: string, root: TreeRoot): Promise<Uint8Array> {
    const {suite, pages} = this.store;
    const count = root.nextFreeNode;
    let row: Buffer = Buffer.alloc(count * WORD_BYTES);
    for (let first = 0; first < count; first += LEAVES_PER_PAGE) {
      const page = readLeafPage(pages, root, first / LEAVES_PER_PAGE);
      for (let position = 0; position < leafCount(page); position++) {
        const leaf = leafAt(page, position);
        if (leaf === undefined) continue;
        const index = first + position;
        const record = Buffer.alloc(OPENING_BYTES);
        suite.encodeLeafOpeningInto(record, 0, leaf.prev, leaf.next, leaf.hKey, leaf.hVal);
        row.set(suite.hashNode(record), index * WORD_BYTES);
        const hKey = hex(leaf.hKey);
        const value = index < 2 ? Buffer.alloc(WORD_BYTES) : await this.valueOf(tree, hKey, leaf.value);
        await this.put(keyOf.leaf(tree, index), Buffer.concat([record, value]));
        await this.put(keyOf.hKey(tree, hKey), Buffer.from(String(index)));
      }
    }
    for (let height = 1; height <= TREE_HEIGHT; height++) row = await this.addRow(tree, height, row);
    const rootNode = Buffer.alloc(suite.rootNodeBytes);
    suite.encodeRootNodeInto(rootNode, 0, count, row);
    await this.put(keyOf.root(tree), rootNode);
    return hashTopRoot(suite, count, row);
  }

  /** Adds the nodes of `height` above the row `below`. Nodes to the right of that row are empty sub-trees. */
  private async addRow(tree: string, height: number, below: Buffer): Promise<Buffer> {
    const {suite, empty} = this.store;
    const belowCount = below.length / WORD_BYTES;
    const count = Math.ceil(belowCount / 2);
    const pairs = Buffer.alloc(count * 2 * WORD_BYTES);
    below.copy(pairs);
    if (belowCount % 2 === 1) pairs.set(empty.zeros[height - 1] as Uint8Array, below.length);
    const row = Buffer.alloc(count * WORD_BYTES);
    suite.hashPairsInto(pairs, count, row);
    if (height === TREE_HEIGHT) return row;
    for (let index = 0; index < count; index++)
      await this.put(keyOf.node(tree, height, index), pairs.subarray(index * 64, index * 64 + 64));
    return row;
  }

  private async valueOf(tree: string, hKey: string, stored: Uint8Array): Promise<Buffer> {
    if (tree !== ACCOUNTS) return Buffer.concat([Buffer.alloc(WORD_BYTES - stored.length), stored]);
    const account = decodeStoredAccount(stored);
    const value = Buffer.alloc(ACCOUNT_VALUE_BYTES);
    encodeAccountValueInto(value, 0, account, this.store.empty);
    if (account.storage !== undefined) await this.addTree(hKey, account.storage.tree);
    return value;
  }

  private async put(key: string, value: Buffer): Promise<void> {
    this.records.push({type: "put", key, value});
    if (this.records.length >= BATCH_RECORDS) await this.flush();
  }

  private async flush(): Promise<void> {
    await this.db.batch(this.records);
    this.records = [];
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
