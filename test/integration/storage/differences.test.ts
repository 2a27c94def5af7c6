/** Pages that are stored as differences: what damage of each record of a page does, and where a batch with them is cut. */
import assert from "node:assert/strict";
import {cp, readFile, truncate, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {test} from "node:test";
import type {AccountChange} from "../../../storage/block/accountDifference.ts";
import {AccountDifferences} from "../../../storage/block/accountDifferences.ts";
import {StateReader} from "../../../storage/block/stateReader.ts";
import {BlockWriter} from "../../../storage/commit/blockWriter.ts";
import {sha256Suite} from "../../../storage/hash/sha256Suite.ts";
import {childOnPath, rootLevel} from "../../../storage/page/geometry.ts";
import {DIRECTORY, directoryChild, nibbleAt} from "../../../storage/page/indexPage.ts";
import {childPage, INNER_PAGE} from "../../../storage/page/innerPage.ts";
import {pageKey} from "../../../storage/record/layout.ts";
import type {StateStore} from "../../../storage/stateStore.ts";
import {LeafPath} from "../../../storage/tree/leafPath.ts";
import {findKey} from "../../../storage/tree/treeReader.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {openOwned} from "../../support/stores/importedStore.ts";
import {logOf, NOTE} from "../../support/stores/loggedStores.ts";
import {reachablePages} from "../../support/stores/reachablePages.ts";
import {hashOf} from "../../support/stores/writtenStore.ts";
import {makeTemporaryFolder} from "../../support/temporaryFolder.ts";

/** They fill five inner pages above the leaf pages, and sixteen buckets by half. */
const ACCOUNTS = 250;
const BLOCKS = 100;
/** Every account is looked up in each of so many. */
const LOOKED_UP = 4;

const folder = makeTemporaryFolder();

function addressOf(account: number): Buffer {
  const address = Buffer.alloc(20, 0xad);
  address.writeUInt32BE(account);
  return address;
}

/** Makes one account and changes another; block 0 makes all the others. */
async function applyBlock(writer: BlockWriter, number: number): Promise<void> {
  const accounts = new AccountDifferences();
  const set = (account: number, change: AccountChange) => accounts.add({address: addressOf(account), change});
  if (number === 0) for (let i = 0; i < ACCOUNTS; i++) set(i, {balance: 1n});
  else {
    set(ACCOUNTS + number, {balance: 1n});
    set((number * 7) % ACCOUNTS, {nonce: BigInt(number)});
  }
  await writer.apply({header: {number, hash: hashOf(number, 1)}, accounts});
  await writer.flush();
}

async function writeBlocks(directory: string): Promise<StateStore> {
  const store = await openOwned(directory);
  const writer = await BlockWriter.create(store);
  for (let number = 0; number < BLOCKS; number++) await applyBlock(writer, number);
  return store;
}

/** Without what another reader has cached. */
function newReader({db}: StateStore): StateReader {
  return new StateReader(db, {name: "sha256", trees: sha256Suite}, {pageBytes: 1 << 20, hintBytes: 0});
}

interface Path {
  readonly block: number;
  readonly hKey: Buffer;
}

/** The proof of an account, by its place in the index. */
function prove(reader: StateReader, {block, hKey}: Path): string {
  const {accounts} = reader.blockOrThrow(block);
  const position = findKey(reader.pages, accounts, hKey);
  assert.ok(position.present);
  const path = new LeafPath(reader.suite, reader.empty);
  assert.ok(path.tryOpen(reader.pages, accounts, position.leafIndex, hKey));
  return Buffer.concat([path.preImages, path.siblingOpening, path.opening, path.value]).toString("latin1");
}

/** The records that the proof needs, in the order in which they are read first. */
function recordsOf(reader: StateReader, {block, hKey}: Path): number[] {
  const {accounts} = reader.blockOrThrow(block);
  const records: number[] = [];
  const visit = (page: number): Buffer => {
    for (let record = page; record !== 0; record = reader.pages.open(record).base) records.push(record);
    return reader.pages.read(page);
  };
  let body = visit(accounts.indexPage);
  for (let depth = 0; body[0] === DIRECTORY; depth++)
    body = visit(directoryChild(body, nibbleAt(hKey, depth)));
  const position = findKey(reader.pages, accounts, hKey);
  assert.ok(position.present);
  let page = accounts.rootPage;
  for (let level = rootLevel(accounts.nextFreeNode); level > 0; level--)
    page = childPage(visit(page), childOnPath(level, position.leafIndex));
  visit(page);
  return records;
}

/** An inner page that is a difference to an anchor. @returns its three records, the whole page last */
function findThree(reader: StateReader): number[] {
  for (const page of reachablePages(reader, [BLOCKS - 1])) {
    const {body, base} = reader.pages.open(page);
    if (body[0] !== INNER_PAGE || base === 0 || !reader.pages.open(base).isAnchor) continue;
    return [page, base, reader.pages.open(base).base];
  }
  throw new Error("no inner page is a difference to an anchor");
}

test("damage of any of the three records of an inner page fails the paths that need it, by the record's page, and no other", async t => {
  const directory = join(folder, "damaged");
  const store = await writeBlocks(directory);
  t.after(() => store.close());
  const {db, reader} = store;
  const hKeys = Array.from({length: ACCOUNTS}, (_, i) => Buffer.from(sha256Suite.hashAddress(addressOf(i))));
  const blocks = Array.from({length: LOOKED_UP}, (_, i) => Math.floor(((i + 1) * BLOCKS) / LOOKED_UP) - 1);
  const paths = blocks.flatMap(block =>
    hKeys.map(hKey => {
      const path = {block, hKey};
      return {...path, records: recordsOf(reader, path), proof: prove(reader, path)};
    }),
  );
  const pages = findThree(reader);
  const original = await Promise.all(pages.map(page => db.get(pageKey(page))));
  const restore = (i: number) => db.put(pageKey(pages[i] as number), original[i] as Buffer);
  const flip = (i: number) => {
    const value = Buffer.from(original[i] as Buffer);
    value[value.length >> 1] = (value[value.length >> 1] as number) ^ 1;
    return db.put(pageKey(pages[i] as number), value);
  };
  const remove = (i: number) => db.del(pageKey(pages[i] as number));
  for (const [change, code, what] of [
    [flip, "RECORD_DAMAGED", "checksum"],
    [remove, "RECORD_MISSING", "is not in the store"],
  ] as const) {
    for (const [i, page] of pages.entries()) {
      await change(i);
      const damaged = newReader(store);
      let refused = 0;
      for (const {proof, records, ...path} of paths) {
        if (!records.includes(page)) assert.ok(prove(damaged, path) === proof);
        else {
          refused++;
          const message = new RegExp(`^page ${page}(:| ).*${what}`);
          assert.throws(() => prove(damaged, path), {code, message});
        }
      }
      assert.ok(
        refused > 0 && refused < paths.length,
        `${refused} of ${paths.length} paths need page ${page}`,
      );
      await restore(i);
    }
    for (const i of pages.keys()) await change(i);
    const found = (await checkStore(directory)).found.join("\n");
    for (const [i, page] of pages.entries()) {
      assert.match(found, new RegExp(`${code}: page ${page}(:| ).*${what}`));
      await restore(i);
    }
  }
  assert.deepEqual((await checkStore(directory)).found, []);
});

test("a batch with differences that is cut before any of its records leaves the block before it, and a whole one the block", async () => {
  const directory = join(folder, "cut");
  const store = await openOwned(directory);
  const writer = await BlockWriter.create(store);
  const roots: string[] = [];
  let start = 0;
  let noted = Buffer.alloc(0);
  const sizeOfLog = async () => (await readFile(join(directory, await logOf(directory)))).length;
  for (let number = 0; number < BLOCKS / 2; number++) {
    start = await sizeOfLog();
    if (number > 0) noted = await readFile(join(directory, NOTE));
    await applyBlock(writer, number);
    roots.push(Buffer.from(store.reader.blockOrThrow(number).stateRoot).toString("hex"));
  }
  const latest = roots.length - 1;
  const since = store.reader.blockOrThrow(latest - 1).nextPage;
  const pages = Array.from({length: store.reader.blockOrThrow(latest).nextPage - since}, (_, i) => since + i);
  const forms = pages.map(page => store.reader.pages.open(page)).filter(({base}) => base !== 0);
  assert.ok(forms.some(({body}) => body[0] === INNER_PAGE));
  const name = await logOf(directory);
  const log = await readFile(join(directory, name));
  const cuts = pages.map(page => log.indexOf(pageKey(page), start));
  assert.ok(cuts.every(at => at > start));
  const image = join(folder, "cut.image");
  await cp(directory, image, {recursive: true});
  await store.close();
  for (const [i, at] of [...cuts, log.length - 1, log.length].entries()) {
    const copy = join(folder, `cut-${i}`);
    await cp(image, copy, {recursive: true});
    await truncate(join(copy, name), at);
    await writeFile(join(copy, NOTE), noted);
    const opened = await openOwned(copy);
    const isWhole = at === log.length;
    const newest = await opened.reader.latest();
    assert.equal(newest, isWhole ? latest : latest - 1, `cut at ${at}`);
    const {stateRoot} = opened.reader.blockOrThrow(newest as number);
    assert.equal(Buffer.from(stateRoot).toString("hex"), roots[newest as number]);
    await opened.close();
  }
});
