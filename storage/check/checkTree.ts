/**
 * Checks one tree as of one block: hashes from the leaves to the sub-root, values, the linked list, the index.
 */
import type {StateReader} from "../block/stateReader.ts";
import {WORD_BYTES} from "../hash/suite.ts";
import {childrenPerPage, LEAVES_PER_PAGE, occupied, pageRootHeight, rootLevel} from "../page/geometry.ts";
import {childPage, childRootAt} from "../page/innerPage.ts";
import {leafAt} from "../page/leafPage.ts";
import {FIRST_FREE_NODE, foldLeftSpine} from "../tree/emptyTree.ts";
import {checkIndex} from "./checkIndex.ts";
import {checkLeaf} from "./checkLeaf.ts";
import {checkLinks} from "./checkLinks.ts";
import {rehashPage} from "./checkPage.ts";
import {type Findings, toFinding} from "./findings.ts";
import type {TreeCheck} from "./treeCheck.ts";

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

/** @returns the root calculated from the page, or undefined if the page cannot be read */
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
    if (entries !== expected) findings.report(where, `expected ${expected} entries in use, got ${entries}`);
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
          findings.report(where, `page ${childPage(body, position)} has another root than this page says`);
      }
    return root;
  } catch (error) {
    findings.report(where, toFinding(error));
    return undefined;
  }
}
