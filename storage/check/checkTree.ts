/** Checks one tree as of one block: hashes from the leaves to the sub-root, values, the linked list, the index. */

import {compareWordAt} from "../hash/hKeyOrder.ts";
import {ACCOUNT_VALUE_BYTES, WORD_BYTES} from "../hash/suite.ts";
import {CHILDREN, childOnPath, leavesPerPage, occupied, rootHeight, rootLevel} from "../page/geometry.ts";
import {childPage, childRootAt} from "../page/innerPage.ts";
import {type Leaf, leafAt} from "../page/leafPage.ts";
import {decodeStoredAccount, encodeAccountValueInto} from "../tree/account.ts";
import {FIRST_FREE_NODE, foldLeftSpine, HEAD_INDEX, TAIL_INDEX} from "../tree/emptyTree.ts";
import {writeWordInto} from "../tree/shortNumber.ts";
import {findKey, readLeaf} from "../tree/treeReader.ts";
import {checkIndex, listIndex} from "./checkIndex.ts";
import type {TreeCheck} from "./checkKeys.ts";
import {rehashPage} from "./checkPage.ts";
import {toFinding} from "./findings.ts";

export async function checkTree(check: TreeCheck): Promise<void> {
  const {store, findings, tree, where, extent} = check;
  if (tree.rootPage === 0) {
    if (tree.nextFreeNode !== FIRST_FREE_NODE || Buffer.compare(tree.subRoot, store.empty.subRoot) !== 0)
      findings.report(where, "it has no pages, but is not a new tree");
    return;
  }
  const only = extent === "leaf" ? Math.floor(Math.random() * tree.nextFreeNode) : undefined;
  try {
    const level = rootLevel(tree.nextFreeNode);
    const root = await checkPages(check, tree.rootPage, level, 0, only);
    if (root !== undefined) {
      const subRoot = foldLeftSpine(store.suite, store.empty.zeros, root, rootHeight(tree.nextFreeNode));
      if (Buffer.compare(subRoot, tree.subRoot) !== 0)
        findings.report(where, "its pages give another sub-root than its record says");
    }
  } catch (error) {
    findings.report(where, toFinding(error));
  }
  if (extent !== "leaf") await checkIndex(check);
  if (extent === "all") await checkLinks(check);
}

/** @param only - the leaf whose path is checked; undefined: all are. @returns undefined if unreadable or stopped */
async function checkPages(
  check: TreeCheck,
  page: number,
  level: number,
  pageIndex: number,
  only: number | undefined,
): Promise<Uint8Array | undefined> {
  const {store, findings, sincePage, untilPage, tree} = check;
  const where = `${check.where}, page ${page}`;
  try {
    const {body, root, entries, mismatches} = rehashPage(
      store.suite,
      store.empty,
      store.pages.read(page),
      level,
      page,
      tree.nextFreeNode,
    );
    if (page < sincePage) return root;
    if (page >= untilPage) findings.report(where, "it belongs to a later block");
    findings.pages++;
    for (const mismatch of mismatches) findings.report(where, mismatch);
    const expected = occupied(level, pageIndex, tree.nextFreeNode);
    if (entries !== expected) findings.report(where, `expected ${expected} entries in use, got ${entries}`);
    if (!(await findings.pause(check.where))) return undefined;
    for (let position = 0; position < entries; position++) {
      const index = pageIndex * (level === 0 ? leavesPerPage(tree.nextFreeNode) : CHILDREN) + position;
      if (level === 0) {
        if (only === undefined || only === index) await checkLeaf(check, leafAt(body, position), index);
        continue;
      }
      if (only !== undefined && childOnPath(level, only) !== position) continue;
      const child = await checkPages(check, childPage(body, position), level - 1, index, only);
      const at = childRootAt(body, position);
      if (child !== undefined && Buffer.compare(child, body.subarray(at, at + WORD_BYTES)) !== 0)
        findings.report(where, `page ${childPage(body, position)} has another root than this page says`);
    }
    return root;
  } catch (error) {
    findings.report(where, toFinding(error));
    return undefined;
  }
}

/** Is the leaf's hVal the hash of its value, and its hKey that of its key? */
async function checkLeaf(check: TreeCheck, leaf: Leaf | undefined, leafIndex: number): Promise<void> {
  if (leaf === undefined || leafIndex < FIRST_FREE_NODE) return;
  const {store, findings, tree, extent, owner, keys, onAccount} = check;
  findings.leaves++;
  const where = `${check.where}, leaf ${leafIndex}`;
  let hVal: Uint8Array;
  if (onAccount !== undefined) {
    const account = decodeStoredAccount(leaf.value);
    const value = new Uint8Array(ACCOUNT_VALUE_BYTES);
    encodeAccountValueInto(value, 0, account, store.empty);
    hVal = store.suite.hashAccountValue(value);
    await onAccount(account, leafIndex, where);
  } else {
    const value = new Uint8Array(WORD_BYTES);
    writeWordInto(value, 0, leaf.value);
    hVal = store.suite.hashSlotValue(value);
  }
  if (Buffer.compare(hVal, leaf.hVal) !== 0) findings.report(where, "hVal is not the hash of its value");
  keys.check(owner, leafIndex, leaf.hKey, where);
  if (extent !== "leaf") return;
  try {
    const found = findKey(store.pages, tree, leaf.hKey);
    if (found.present && found.leafIndex === leafIndex) return;
    findings.report(
      where,
      `looking its key up gives ${found.present ? `leaf ${found.leafIndex}` : "no leaf"}`,
    );
  } catch (error) {
    findings.report(where, toFinding(error));
  }
}

/** Follows the linked list from head to tail and compares it with the index step by step. */
async function checkLinks(check: TreeCheck): Promise<void> {
  const {store, findings, tree} = check;
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
      if (compareWordAt(left.hKey, 0, leaf.hKey) >= 0) {
        findings.report(where, `hKey is not above that of leaf ${leftIndex}`);
        return;
      }
      if (left.next !== TAIL_INDEX && indexed !== undefined) {
        const index = indexed.next().value;
        if (index !== left.next)
          findings.report(
            where,
            `the index has ${index === undefined ? "no more keys" : `leaf ${index}`} here`,
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
