/** Every page that a block reaches, found by the plainest walk: all pages of all its trees and tries, each read, nothing skipped. */
import type {StateReader} from "../../../storage/block/stateReader.ts";
import {rootLevel} from "../../../storage/page/geometry.ts";
import {DIRECTORY, DIRECTORY_CHILDREN, directoryChild} from "../../../storage/page/indexPage.ts";
import {childCount, childPage} from "../../../storage/page/innerPage.ts";
import {leafAt, leafCount} from "../../../storage/page/leafPage.ts";
import {isKeyOf, numberOfKey, pageKey} from "../../../storage/record/layout.ts";
import type {StateStore} from "../../../storage/stateStore.ts";
import {decodeStoredAccount} from "../../../storage/tree/account.ts";
import type {TreeRoot} from "../../../storage/tree/treeRoot.ts";
import {decodeTrieAccount} from "../../../storage/trie/trieAccount.ts";
import {readTriePage, TRIE_ROOT, type TriePlace} from "../../../storage/trie/triePage.ts";

/** Page numbers, ascending. */
export function reachablePages(reader: StateReader, blocks: readonly number[]): number[] {
  const reached = new Set<number>();
  for (const block of blocks) {
    const {accounts, trie} = reader.blockOrThrow(block);
    visitTree(reader, accounts, true, reached);
    if (trie !== undefined) visitTrie(reader, {...TRIE_ROOT, page: trie.page}, true, reached);
  }
  return [...reached].sort((a, b) => a - b);
}

export async function storedPages({db}: StateStore): Promise<number[]> {
  const keys = await db.keys({gte: pageKey(0)}).all();
  return keys.filter(key => isKeyOf("page", key)).map(numberOfKey);
}

function visitTrie(
  reader: StateReader,
  {page, path}: TriePlace,
  isAccounts: boolean,
  reached: Set<number>,
): void {
  if (page === 0) return;
  addWithBases(reader, page, reached);
  const {children, leaves} = readTriePage(page, reader.pages.read(page), path);
  for (const child of children) visitTrie(reader, child, isAccounts, reached);
  if (!isAccounts) return;
  for (const {value} of leaves)
    visitTrie(reader, {...TRIE_ROOT, page: decodeTrieAccount(value).storage.page}, false, reached);
}

function addWithBases(reader: StateReader, page: number, reached: Set<number>): void {
  for (let base = page; base !== 0; base = reader.pages.open(base).base) reached.add(base);
}

function visitTree(reader: StateReader, tree: TreeRoot, isAccounts: boolean, reached: Set<number>): void {
  if (tree.rootPage === 0) return;
  visitPage(reader, tree.rootPage, rootLevel(tree.nextFreeNode), isAccounts, reached);
  if (tree.indexPage !== 0) visitIndex(reader, tree.indexPage, reached);
}

function visitPage(
  reader: StateReader,
  page: number,
  level: number,
  isAccounts: boolean,
  reached: Set<number>,
): void {
  addWithBases(reader, page, reached);
  const body = reader.pages.read(page);
  if (level > 0)
    for (let i = 0; i < childCount(body); i++)
      visitPage(reader, childPage(body, i), level - 1, isAccounts, reached);
  else if (isAccounts)
    for (let i = 0; i < leafCount(body); i++) {
      const leaf = leafAt(body, i);
      if (leaf === undefined || leaf.value.length === 0) continue;
      const {storage} = decodeStoredAccount(leaf.value);
      if (storage !== undefined) visitTree(reader, storage.tree, false, reached);
    }
}

function visitIndex(reader: StateReader, page: number, reached: Set<number>): void {
  addWithBases(reader, page, reached);
  const body = reader.pages.read(page);
  if (body[0] !== DIRECTORY) return;
  for (let nibble = 0; nibble < DIRECTORY_CHILDREN; nibble++) {
    const child = directoryChild(body, nibble);
    if (child !== 0) visitIndex(reader, child, reached);
  }
}
