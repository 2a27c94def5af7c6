/**
 * Checks one leaf and its path to the sub-root.
 */
import type {StateReader} from "../block/stateReader.ts";
import {StoreError} from "../errors.ts";
import {WORD_BYTES} from "../hash/suite.ts";
import {childOnPath, LEAVES_PER_PAGE, pageRootHeight, rootLevel} from "../page/geometry.ts";
import {childPage, childRootAt} from "../page/innerPage.ts";
import {type Leaf, leafAt} from "../page/leafPage.ts";
import {FIRST_FREE_NODE, foldLeftSpine} from "../tree/emptyTree.ts";
import {findKey} from "../tree/treeReader.ts";
import type {TreeRoot} from "../tree/treeRoot.ts";
import {checkLeaf} from "./checkLeaf.ts";
import {rehashPage} from "./checkPage.ts";
import {type Findings, toFinding} from "./findings.ts";
import type {TreeCheck} from "./treeCheck.ts";

/** Hashes the pages from the root to one leaf again, and looks its key up. @returns the leaf, if there is one */
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
        findings.report(`${where}, page ${page}`, "its root is not the one recorded above it");
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
