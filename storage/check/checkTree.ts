/**
 * Checking one tree as of one block: hashes from the leaves to the sub-root, values, the linked list, the index.
 */

import {StoreError} from "../errors.ts";
import {ACCOUNT_VALUE_BYTES, WORD_BYTES} from "../hash/suite.ts";
import {listIndex} from "../index/indexList.ts";
import {
  childOnPath,
  childrenPerPage,
  LEAVES_PER_PAGE,
  occupied,
  pageRootHeight,
  rootLevel,
} from "../page/geometry.ts";
import {compareAt} from "../page/indexPage.ts";
import {childPage, childRootAt} from "../page/innerPage.ts";
import {type Leaf, leafAt} from "../page/leafPage.ts";
import type {StateReader} from "../stateReader.ts";
import {type Account, decodeStoredAccount, encodeAccountValueInto} from "../tree/account.ts";
import {FIRST_FREE_NODE, foldLeftSpine, HEAD_INDEX, TAIL_INDEX} from "../tree/emptyTree.ts";
import {findKey, readLeaf} from "../tree/treeReader.ts";
import type {TreeRoot} from "../tree/treeRoot.ts";
import {checkIndex} from "./checkIndex.ts";
import {rehashPage} from "./checkPage.ts";
import {type Findings, toFinding} from "./findings.ts";

/** What the leaves of a tree hold. */
export type TreeKind = "accounts" | "slots";

export interface TreeCheck {
  readonly tree: TreeRoot;
  readonly kind: TreeKind;
  /** For messages: `block 7, account tree`. */
  readonly where: string;
  /** Pages with lower numbers were checked with an earlier block: only their roots are compared. */
  readonly sincePage: number;
  /** The first page number that the block does not have. */
  readonly untilPage: number;
  /** Also the linked list and the index, which cannot be checked page by page. */
  readonly links: boolean;
  readonly onAccount?: (account: Account, where: string) => Promise<void>;
}

export async function checkTree(store: StateReader, check: TreeCheck, findings: Findings): Promise<void> {
  const {tree, where} = check;
  if (tree.rootPage === 0) {
    if (tree.nextFreeNode !== FIRST_FREE_NODE || Buffer.compare(tree.subRoot, store.empty.subRoot) !== 0)
      findings.report(where, "it has no pages, but is not a new tree");
    return;
  }
  try {
    const level = rootLevel(tree.nextFreeNode);
    const root = await checkPages(store, check, findings, tree.rootPage, level, 0);
    if (root !== undefined) {
      const subRoot = foldLeftSpine(store.suite, store.empty.zeros, root, pageRootHeight(level));
      if (Buffer.compare(subRoot, tree.subRoot) !== 0)
        findings.report(where, "its pages give another sub-root than its record says");
    }
  } catch (error) {
    findings.report(where, toFinding(error));
  }
  await checkIndex(store, check, findings);
  if (check.links) await checkLinks(store, check, findings);
}

/** @returns the root that the page gives, or undefined if it cannot be read */
async function checkPages(
  store: StateReader,
  check: TreeCheck,
  findings: Findings,
  page: number,
  level: number,
  pageIndex: number,
): Promise<Uint8Array | undefined> {
  const where = `${check.where}, page ${page}`;
  try {
    const body = store.pages.read(page);
    const {root, entries, mismatches} = rehashPage(store.suite, store.empty, body, level, page);
    if (page < check.sincePage) return root;
    if (page >= check.untilPage) findings.report(where, "it belongs to a later block");
    findings.pages++;
    for (const mismatch of mismatches) findings.report(where, mismatch);
    const expected = occupied(level, pageIndex, check.tree.nextFreeNode);
    if (entries !== expected) findings.report(where, `${entries} entries in use, expected ${expected}`);
    if (!(await findings.pause(check.where))) return undefined;
    for (let position = 0; position < entries; position++)
      if (level === 0)
        await checkLeaf(
          store,
          check,
          findings,
          leafAt(body, position),
          pageIndex * LEAVES_PER_PAGE + position,
        );
      else {
        const child = await checkPages(
          store,
          check,
          findings,
          childPage(body, position),
          level - 1,
          pageIndex * childrenPerPage(level) + position,
        );
        const at = childRootAt(body, position);
        if (child !== undefined && Buffer.compare(child, body.subarray(at, at + WORD_BYTES)) !== 0)
          findings.report(where, `page ${childPage(body, position)} has another root than stands here`);
      }
    return root;
  } catch (error) {
    findings.report(where, toFinding(error));
    return undefined;
  }
}

async function checkLeaf(
  store: StateReader,
  check: TreeCheck,
  findings: Findings,
  leaf: Leaf | undefined,
  leafIndex: number,
): Promise<void> {
  if (leaf === undefined || leafIndex === HEAD_INDEX || leafIndex === TAIL_INDEX) return;
  findings.leaves++;
  const where = `${check.where}, leaf ${leafIndex}`;
  let hVal: Uint8Array;
  if (check.kind === "accounts") {
    const account = decodeStoredAccount(leaf.value);
    const value = new Uint8Array(ACCOUNT_VALUE_BYTES);
    encodeAccountValueInto(value, 0, account, store.empty);
    hVal = store.suite.hashAccountValue(value);
    await check.onAccount?.(account, where);
  } else {
    const value = new Uint8Array(WORD_BYTES);
    value.set(leaf.value, WORD_BYTES - leaf.value.length);
    hVal = store.suite.hashSlotValue(value);
  }
  if (Buffer.compare(hVal, leaf.hVal) !== 0) findings.report(where, "hVal is not the hash of its value");
}

/** Follows the linked list from head to tail, in step with the index. */
async function checkLinks(store: StateReader, check: TreeCheck, findings: Findings): Promise<void> {
  const {tree} = check;
  try {
    const indexed = tree.indexPage === 0 ? undefined : listIndex(store.pages, tree.indexPage);
    if (indexed === undefined) findKey(store.pages, tree, store.suite.tailHKey); // refuses leaves beyond the first page
    let left = readLeaf(store.pages, tree, HEAD_INDEX);
    let leftIndex = HEAD_INDEX;
    while (leftIndex !== TAIL_INDEX) {
      const leaf = readLeaf(store.pages, tree, left.next);
      const where = `${check.where}, leaf ${left.next}`;
      if (leaf.prev !== leftIndex)
        findings.report(where, `prev is ${leaf.prev}, but leaf ${leftIndex} points here`);
      if (compareAt(left.hKey, 0, leaf.hKey) >= 0) {
        findings.report(where, `hKey is not above that of leaf ${leftIndex}`);
        return;
      }
      if (left.next !== TAIL_INDEX && indexed !== undefined) {
        const entry = indexed.next().value;
        if (entry?.leafIndex !== left.next || Buffer.compare(entry.hKey, leaf.hKey) !== 0)
          findings.report(
            where,
            `the index has ${entry === undefined ? "no more keys" : `leaf ${entry.leafIndex}`} here`,
          );
      }
      leftIndex = left.next;
      left = leaf;
      if (!(await findings.pause(check.where))) return;
    }
    if (indexed?.next().done === false)
      findings.report(check.where, "the index has keys that are not in the linked list");
  } catch (error) {
    findings.report(`${check.where}, linked list`, toFinding(error));
  }
}

/** Re-hashes the pages from the root to one leaf, and looks its key up. @returns the leaf, if there is one */
export async function checkPath(
  store: StateReader,
  check: TreeCheck,
  leafIndex: number,
  findings: Findings,
): Promise<Leaf | undefined> {
  const {tree} = check;
  const where = `${check.where}, leaf ${leafIndex}`;
  try {
    let page = tree.rootPage;
    let expected: Uint8Array | undefined;
    for (let level = rootLevel(tree.nextFreeNode); level >= 0; level--) {
      const body = store.pages.read(page);
      const {root, mismatches} = rehashPage(store.suite, store.empty, body, level, page);
      findings.pages++;
      for (const mismatch of mismatches) findings.report(`${where}, page ${page}`, mismatch);
      expected ??= tree.subRoot;
      const actual =
        expected === tree.subRoot
          ? foldLeftSpine(store.suite, store.empty.zeros, root, pageRootHeight(level))
          : root;
      if (Buffer.compare(actual, expected) !== 0)
        findings.report(`${where}, page ${page}`, "it has another root than stands above it");
      if (level === 0) {
        const leaf = leafAt(body, leafIndex % LEAVES_PER_PAGE);
        await checkLeaf(store, check, findings, leaf, leafIndex);
        if (leaf !== undefined && leafIndex >= FIRST_FREE_NODE) checkLookup(store, tree, leaf, leafIndex);
        return leaf;
      }
      const position = childOnPath(level, leafIndex);
      const at = childRootAt(body, position);
      expected = body.subarray(at, at + WORD_BYTES);
      page = childPage(body, position);
    }
  } catch (error) {
    findings.report(where, toFinding(error));
  }
  return undefined;
}

function checkLookup(store: StateReader, tree: TreeRoot, leaf: Leaf, leafIndex: number): void {
  const found = findKey(store.pages, tree, leaf.hKey);
  if (!found.present || found.leafIndex !== leafIndex)
    throw new StoreError(
      "RECORD_DAMAGED",
      `looking its key up gives ${found.present ? `leaf ${found.leafIndex}` : "no leaf"}`,
    );
}
