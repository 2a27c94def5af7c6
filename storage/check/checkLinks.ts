/**
 * Checks the linked list of one tree: keys ascend, neighbours point at each other, and the index has the same keys.
 */
import {compareHKeyAt} from "../hash/hKeyOrder.ts";
import {HEAD_INDEX, TAIL_INDEX} from "../tree/emptyTree.ts";
import {listIndex} from "../tree/indexList.ts";
import {findKey, readLeaf} from "../tree/treeReader.ts";
import {toFinding} from "./findings.ts";
import type {TreeCheck} from "./treeCheck.ts";

/** Follows the linked list from head to tail and compares it with the index step by step. */
export async function checkLinks(check: TreeCheck): Promise<void> {
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
      if (compareHKeyAt(left.hKey, 0, leaf.hKey) >= 0) {
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
