/**
 * Checks a few random leaves of one block's state.
 */
import type {StateReader} from "../block/stateReader.ts";
import {FIRST_PAGE} from "../record/layout.ts";
import type {Account} from "../tree/account.ts";
import type {TreeRoot} from "../tree/treeRoot.ts";
import {checkPath} from "./checkPath.ts";
import {checkCode, checkStorageRoot, readKeptBlock} from "./checkState.ts";
import type {Findings} from "./findings.ts";

/** Checks the paths of `count` random leaves of the account tree, and one slot of each of these accounts that has storage. */
export async function checkSample(
  store: StateReader,
  block: number,
  count: number,
  findings: Findings,
): Promise<void> {
  const record = readKeptBlock(store, block, findings);
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
