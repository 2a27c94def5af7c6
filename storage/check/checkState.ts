/** Checks everything that a block record leads to: the account tree, and each account's slots and code. */

import type {BlockRecord} from "../block/blockRecord.ts";
import type {StateReader} from "../block/stateReader.ts";
import {keccak256} from "../hash/keccak.ts";
import {isSame, toHex} from "../hex.ts";
import {FIRST_PAGE} from "../record/layout.ts";
import type {Account} from "../tree/account.ts";
import {hashTopRoot} from "../tree/emptyTree.ts";
import {ACCOUNTS_OWNER} from "../tree/leafKeys.ts";
import type {KeyCheck, TreeCheck} from "./checkKeys.ts";
import {checkTree} from "./checkTree.ts";
import {checkTrie} from "./checkTrie.ts";
import {type Findings, toFinding} from "./findings.ts";

/** Checks a block's record, that of its hash, and its state root. @returns undefined if the record cannot be read */
export function readBlock(
  store: StateReader,
  block: number,
  findings: Findings,
  mayBePruned = false,
): BlockRecord | undefined {
  const where = `block ${block}`;
  try {
    if (!mayBePruned) store.refusePruned(block);
    const record = store.headerRecordOrThrow(block);
    findings.blocks++;
    const {header, stateRoot, accounts, trie} = record;
    if (store.findBlock(header.hash) !== block)
      findings.report(where, `its hash ${toHex(header.hash)} does not lead to it`);
    if (!store.hasTrees) {
      // Of a block that a slice lacks, only the header is stored.
      const isMissed = trie === undefined && store.isSliced && store.readPruned(block) !== undefined;
      if (!isSame(isMissed ? header.stateRoot : trie?.root, stateRoot))
        findings.report(where, "its state root is not that of its trie");
    } else if (!isSame(hashTopRoot(store.suite, accounts.nextFreeNode, accounts.subRoot), stateRoot))
      findings.report(where, "its state root is not the hash of its account tree's root node");
    return record;
  } catch (error) {
    findings.report(where, toFinding(error));
    return undefined;
  }
}

export async function checkState(
  store: StateReader,
  findings: Findings,
  keys: KeyCheck,
  record: BlockRecord,
  extent: TreeCheck["extent"],
  sincePage = FIRST_PAGE,
): Promise<void> {
  const scope = {store, findings, keys, extent, sincePage, untilPage: record.nextPage};
  const onAccount = async (account: Account, owner: number, at: string): Promise<void> => {
    checkCode(store, account, at, findings);
    if (account.storage === undefined) return;
    const {storageRoot, tree} = account.storage;
    if (Buffer.compare(hashTopRoot(store.suite, tree.nextFreeNode, tree.subRoot), storageRoot) !== 0)
      findings.report(at, "its storageRoot is not the hash of its tree's root node");
    await checkTree({...scope, tree, owner, where: `${at}, slots`});
  };
  const where = `block ${record.header.number}, account tree`;
  await checkTrie(scope, record);
  if (store.hasTrees)
    await checkTree({...scope, tree: record.accounts, owner: ACCOUNTS_OWNER, where, onAccount});
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
