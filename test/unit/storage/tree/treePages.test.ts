import assert from "node:assert/strict";
import {test} from "node:test";
import {StoreError} from "../../../../storage/errors.ts";
import {sha256Suite} from "../../../../storage/hash/sha256Suite.ts";
import {InnerPageDraft} from "../../../../storage/page/pageDraft.ts";
import {emptyTree} from "../../../../storage/tree/emptyTree.ts";
import {TreePages} from "../../../../storage/tree/treePages.ts";
import {TreeOperations} from "../../../support/reference/treeOperations.ts";
import {anySuiteKeyOf} from "../../../support/stores/hKeys.ts";
import {MemoryPages} from "../../../support/stores/memoryPages.ts";

test("a page that lacks a child or a node is damage", () => {
  const pages = new MemoryPages();
  const operations = TreeOperations.create(pages);
  for (let i = 0; i < 30; i++) operations.put(anySuiteKeyOf(i), 1);
  const root = operations.writer.seal();
  const [child] = [pages.read(root.rootPage).readUIntBE(2, 6)] as [number];
  const draft = new InnerPageDraft(0, 1, 1, undefined);
  draft.setChild(0, child, 3);
  pages.replace(root.rootPage, draft.encode(0).fill(0, 8));
  const open = new TreePages(sha256Suite, emptyTree(sha256Suite));
  open.begin(pages, root);
  const isDamage = (error: unknown) => error instanceof StoreError && error.code === "RECORD_DAMAGED";
  assert.throws(() => open.pageOver(31, 0), isDamage);
  assert.throws(() => open.nodeInto(2, 3, new Uint8Array(32), 0), isDamage);
});
