/**
 * Checks one leaf: is its hVal the hash of its value?
 */
import type {StateReader} from "../block/stateReader.ts";
import {ACCOUNT_VALUE_BYTES, WORD_BYTES} from "../hash/suite.ts";
import type {Leaf} from "../page/leafPage.ts";
import {decodeStoredAccount, encodeAccountValueInto} from "../tree/account.ts";
import {HEAD_INDEX, TAIL_INDEX} from "../tree/emptyTree.ts";
import {writeWordInto} from "../tree/shortNumber.ts";
import type {Findings} from "./findings.ts";
import type {TreeCheck} from "./treeCheck.ts";

export async function checkLeaf(
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
    writeWordInto(value, 0, leaf.value);
    hVal = store.suite.hashSlotValue(value);
  }
  if (Buffer.compare(hVal, leaf.hVal) !== 0) findings.report(where, "hVal is not the hash of its value");
}
