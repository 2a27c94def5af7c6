/**
 * Checking a store: is everything in it what the hashes say?
 */

import type {BlockRecord} from "../block/blockRecord.ts";
import {keccak256} from "../hash/keccak.ts";
import {toHex} from "../hex.ts";
import {describeLoss, isFinding, NOTE_FILE, readNote} from "../leveldb/acknowledgedNote.ts";
import {FIRST_PAGE, isHashKey, nameOfKey} from "../record/layout.ts";
import {openRecord} from "../record/record.ts";
import type {StateReader} from "../stateReader.ts";
import type {Account} from "../tree/account.ts";
import {hashTopRoot} from "../tree/emptyTree.ts";
import type {TreeRoot} from "../tree/treeRoot.ts";
import {checkPath, checkTree} from "./checkTree.ts";
import {type Findings, toFinding} from "./findings.ts";

/** Every record's checksum; every block's new pages; the newest block's linked lists and indexes. */
export async function checkEverything(
  store: StateReader,
  records: Iterable<[key: Buffer, value: Buffer]>,
  findings: Findings,
): Promise<void> {
  if (!(await checkRecords(store, records, findings))) return;
  const earliest = await store.earliest();
  const latest = await store.latest();
  if (earliest === undefined || latest === undefined) return;
  if (earliest !== 0) findings.report("block 0", "it is not held, although later blocks are");
  if (store.readChain() === undefined)
    findings.report("chain record", "it is not there, although blocks are");
  let before: BlockRecord | undefined;
  for (let block = earliest; block <= latest; block++) {
    const record = readBlock(store, block, findings);
    if (record === undefined) continue;
    if (before !== undefined && record.nextPage < before.nextPage)
      findings.report(
        `block ${block}`,
        `its pages end at ${record.nextPage}, before those of block ${block - 1}`,
      );
    const {rootPage} = record.accounts;
    if (before !== undefined && rootPage !== before.accounts.rootPage && rootPage < before.nextPage)
      findings.report(`block ${block}`, `its root page ${rootPage} is not among its own pages`);
    const parentHash = record.header.parentHash;
    if (
      before !== undefined &&
      parentHash !== undefined &&
      Buffer.compare(parentHash, before.header.hash) !== 0
    )
      findings.report(`block ${block}`, `its parent is not block ${block - 1}`);
    await checkState(store, record, before?.nextPage ?? FIRST_PAGE, false, findings);
    if (!(await findings.pause(`block ${block}`))) return;
    before = record;
  }
  // Lists and indexes run through pages of all ages.
  if (before !== undefined) await checkState(store, before, FIRST_PAGE, true, findings);
}

/** That the blocks are there which the note of what was acknowledged names. */
export async function checkNote(directory: string, store: StateReader, findings: Findings): Promise<void> {
  const note = await readNote(directory);
  if (note === undefined) return;
  const wrong = isFinding(note) ? note.what : describeLoss(note, await store.latest());
  if (wrong !== undefined) findings.report(NOTE_FILE, wrong);
}

/** All of one block's state. */
export async function checkBlock(store: StateReader, block: number, findings: Findings): Promise<void> {
  const record = readBlock(store, block, findings);
  if (record !== undefined) await checkState(store, record, FIRST_PAGE, true, findings);
}

/** The paths of `count` random leaves of a block's accounts, and for each with storage one of its slots. */
export async function checkSample(
  store: StateReader,
  block: number,
  count: number,
  findings: Findings,
): Promise<void> {
  const record = readBlock(store, block, findings);
  if (record === undefined || record.accounts.rootPage === 0) return;
  for (let i = 0; i < count; i++) {
    const check = {
      tree: record.accounts,
      kind: "accounts",
      where: `block ${block}, account tree`,
      sincePage: FIRST_PAGE,
      untilPage: record.nextPage,
      links: false,
      onAccount: async (account: Account, where: string) => {
        checkCode(store, account, where, findings);
        const tree = account.storage?.tree;
        if (account.storage === undefined || tree === undefined) return;
        checkStorageRoot(store, account.storage.storageRoot, tree, where, findings);
        const slots = {
          tree,
          kind: "slots",
          where: `${where}, slots`,
          sincePage: FIRST_PAGE,
          untilPage: record.nextPage,
          links: false,
        } as const;
        await checkPath(store, slots, randomIndex(tree), findings);
      },
    } as const;
    await checkPath(store, check, randomIndex(record.accounts), findings);
    if (!(await findings.pause(`block ${block}`))) return;
  }
}

function randomIndex(tree: TreeRoot): number {
  return Math.floor(Math.random() * tree.nextFreeNode);
}

async function checkRecords(
  store: StateReader,
  records: Iterable<[key: Buffer, value: Buffer]>,
  findings: Findings,
): Promise<boolean> {
  try {
    for (const [key, value] of records) {
      try {
        const body = openRecord(key, value);
        if (isHashKey(key)) checkHash(store, key, body, findings);
      } catch (error) {
        findings.report(nameOfKey(key), toFinding(error));
      }
      if (!(await findings.pause("all records"))) return false;
    }
  } catch (error) {
    findings.report("all records", toFinding(error));
  }
  return true;
}

/** Also finds a newest block whose record is gone. */
function checkHash(store: StateReader, key: Buffer, body: Buffer, findings: Findings): void {
  const block = body.readUIntBE(0, 6);
  const hash = store.readBlock(block)?.header.hash;
  if (hash === undefined) findings.report(nameOfKey(key), `it leads to block ${block}, which is not held`);
  else if (Buffer.compare(hash, key.subarray(1)) !== 0)
    findings.report(nameOfKey(key), `it leads to block ${block}, which has the hash ${toHex(hash)}`);
}

function readBlock(store: StateReader, block: number, findings: Findings): BlockRecord | undefined {
  const where = `block ${block}`;
  try {
    const record = store.blockOrThrow(block);
    findings.blocks++;
    const {header, stateRoot, accounts} = record;
    if (store.findBlock(header.hash) !== block)
      findings.report(where, `its hash ${toHex(header.hash)} does not lead to it`);
    if (Buffer.compare(hashTopRoot(store.suite, accounts.nextFreeNode, accounts.subRoot), stateRoot) !== 0)
      findings.report(where, "its state root is not the hash of its account tree's root node");
    return record;
  } catch (error) {
    findings.report(where, toFinding(error));
    return undefined;
  }
}

async function checkState(
  store: StateReader,
  record: BlockRecord,
  sincePage: number,
  links: boolean,
  findings: Findings,
): Promise<void> {
  const where = `block ${record.header.number}, account tree`;
  const untilPage = record.nextPage;
  const onAccount = async (account: Account, at: string): Promise<void> => {
    checkCode(store, account, at, findings);
    if (account.storage === undefined) return;
    const {storageRoot, tree} = account.storage;
    checkStorageRoot(store, storageRoot, tree, at, findings);
    const slots = {tree, kind: "slots", where: `${at}, slots`, sincePage, untilPage, links} as const;
    await checkTree(store, slots, findings);
  };
  await checkTree(
    store,
    {tree: record.accounts, kind: "accounts", where, sincePage, untilPage, links, onAccount},
    findings,
  );
}

function checkStorageRoot(
  store: StateReader,
  storageRoot: Uint8Array,
  tree: TreeRoot,
  where: string,
  findings: Findings,
): void {
  if (Buffer.compare(hashTopRoot(store.suite, tree.nextFreeNode, tree.subRoot), storageRoot) !== 0)
    findings.report(where, "its storageRoot is not the hash of its tree's root node");
}

function checkCode(store: StateReader, {code}: Account, where: string, findings: Findings): void {
  if (code === undefined) return;
  try {
    const bytes = store.readCode(code.keccakCodeHash);
    const matches =
      bytes.length === code.codeSize &&
      Buffer.compare(keccak256(bytes), code.keccakCodeHash) === 0 &&
      Buffer.compare(store.suite.hashCode(bytes), code.codeHash) === 0;
    if (!matches) findings.report(where, "its code does not have the hashes and size that the account says");
  } catch (error) {
    findings.report(where, toFinding(error));
  }
}
