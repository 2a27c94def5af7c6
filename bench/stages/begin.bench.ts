/**
 * An empty store that begins with a whole state: from its leaves, as of a pull (StateBuilder), and from the differences of block 0. Both
 * write the same trees, synced, each time into a new store.
 */
import {mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import type {StateReader} from "../../storage/block/stateReader.ts";
import {BlockWriter} from "../../storage/commit/blockWriter.ts";
import {StateBuilder} from "../../storage/commit/stateBuilder.ts";
import {LEAVES_PER_PAGE} from "../../storage/page/geometry.ts";
import {type Leaf, leafAt} from "../../storage/page/leafPage.ts";
import {StateStore} from "../../storage/stateStore.ts";
import {type Account, decodeStoredAccount} from "../../storage/tree/account.ts";
import {FIRST_FREE_NODE} from "../../storage/tree/emptyTree.ts";
import {readLeafPage} from "../../storage/tree/treeReader.ts";
import type {TreeRoot} from "../../storage/tree/treeRoot.ts";
import {makeBlock0} from "./benchChain.ts";
import {type BenchStore, CACHE_BYTES} from "./benchStore.ts";
import type {Stage} from "./stage.ts";

/** More would take seconds each time. */
const MOST_ACCOUNTS = 20_000;

interface KeyedLeaf extends Leaf {
  readonly leafIndex: number;
  readonly key: Uint8Array;
}

export async function createBeginStage({store: {reader: shown}, accounts}: BenchStore): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "proofd-begin-"));
  const suite = shown.suite.name;
  let stores = 0;
  let open: StateStore | undefined;
  const openNext = async (): Promise<void> => {
    await open?.close();
    if (stores > 0) rmSync(join(folder, `${stores - 1}`), {recursive: true});
    const directory = join(folder, `${stores++}`);
    open = await StateStore.open({
      ...{directory, role: "owner", createIfMissing: true},
      ...{suite, cacheBytes: CACHE_BYTES},
    });
  };
  const block = makeBlock0(Math.min(accounts, MOST_ACCOUNTS));
  const apply = async (): Promise<void> => {
    const writer = await BlockWriter.create(open as StateStore);
    await writer.apply(block);
    await writer.flush();
  };
  await openNext();
  await apply();
  const state = readState((open as StateStore).reader);
  const {hooks, units} = {hooks: {beforeEach: openNext}, units: state.leaves};
  return {
    tasks: [
      {name: "each leaf, from a pull's leaves", units, run: () => state.build(open as StateStore), hooks},
      {name: "each leaf, from the differences of block 0", units, run: async () => apply(), hooks},
    ],
    close: async () => {
      await open?.close();
      rmSync(folder, {recursive: true});
    },
  };
}

/** All leaves of block 0, in memory. */
function readState(reader: StateReader) {
  const {header, stateRoot, accounts: tree} = reader.blockOrThrow(0);
  const accounts = leavesOf(reader, tree, 0).map(leaf => ({
    ...leaf,
    account: decodeStoredAccount(leaf.value),
  }));
  const storages = accounts.flatMap(({leafIndex, account: {storage}}) =>
    storage === undefined
      ? []
      : [{owner: leafIndex, tree: storage.tree, slots: leavesOf(reader, storage.tree, leafIndex)}],
  );
  const codes = accounts.flatMap(({account: {code}}) =>
    code === undefined ? [] : [Buffer.from(reader.readCode(code.keccakCodeHash))],
  );
  const build = async (store: StateStore): Promise<void> => {
    const begun = {header, stateRoot, chain: {}, ancestors: []};
    const builder = await StateBuilder.create(store, begun, tree.nextFreeNode, () => {});
    for (const code of codes) await builder.addCode(code);
    for (const {leafIndex, key, account} of accounts) builder.addAccount(leafIndex, key, builtOf(account));
    for (const {owner, tree: slotTree, slots} of storages) {
      builder.beginSlots(owner, slotTree.nextFreeNode);
      for (const {leafIndex, key, value} of slots) builder.addSlot(leafIndex, key, value);
      await builder.endSlots();
    }
    await builder.finish();
  };
  const leaves = storages.reduce((sum, {slots}) => sum + slots.length, accounts.length);
  return {leaves, build};
}

function builtOf({nonce, balance, code, storage}: Account) {
  return {nonce, balance, code, storageRoot: storage?.storageRoot};
}

function leavesOf(reader: StateReader, tree: TreeRoot, owner: number): KeyedLeaf[] {
  const leaves: KeyedLeaf[] = [];
  for (let first = 0; first < tree.nextFreeNode; first += LEAVES_PER_PAGE) {
    const pageIndex = first / LEAVES_PER_PAGE;
    const page = Buffer.from(readLeafPage(reader.pages, tree, pageIndex));
    const keys = reader.readLeafKeys(owner, pageIndex);
    for (let position = 0; position < LEAVES_PER_PAGE; position++) {
      const leaf = leafAt(page, position);
      const key = keys[position];
      if (leaf === undefined || key === undefined || first + position < FIRST_FREE_NODE) continue;
      const bytes = new Uint8Array(owner === 0 ? key.length : 32);
      bytes.set(key, bytes.length - key.length);
      leaves.push({...leaf, leafIndex: first + position, key: bytes});
    }
  }
  return leaves;
}
