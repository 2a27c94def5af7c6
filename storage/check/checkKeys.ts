/** Checks that the key of each leaf hashes to its hKey. */
import type {StateReader} from "../block/stateReader.ts";
import {WORD_BYTES} from "../hash/suite.ts";
import {toHex} from "../hex.ts";
import {leafKeysKey, nameOfKey} from "../record/layout.ts";
import type {Account} from "../tree/account.ts";
import {ACCOUNTS_OWNER, KEYS_PER_RECORD, type LeafKeys, missingKey} from "../tree/leafKeys.ts";
import {writeWordInto} from "../tree/shortNumber.ts";
import type {TreeRoot} from "../tree/treeRoot.ts";
import {type Findings, toFinding} from "./findings.ts";

export class KeyCheck {
  /** The page that was read last: leaves come page by page. Without keys: its record is damaged. */
  private page: {readonly owner: number; readonly index: number; readonly keys: LeafKeys | undefined} = {
    owner: -1,
    index: -1,
    keys: undefined,
  };
  private readonly word = new Uint8Array(WORD_BYTES);

  constructor(
    private readonly store: StateReader,
    private readonly findings: Findings,
  ) {}

  /** @param owner - of the tree. @param where - names the leaf */
  check(owner: number, leafIndex: number, hKey: Uint8Array, where: string): void {
    const keys = this.keysAt(owner, Math.floor(leafIndex / KEYS_PER_RECORD));
    if (keys === undefined) return;
    const key = keys[leafIndex % KEYS_PER_RECORD];
    if (key === undefined) this.findings.report(where, toFinding(missingKey(owner, leafIndex)));
    else if (Buffer.compare(this.hash(owner, key), hKey) !== 0) {
      const name = nameOfKey(leafKeysKey(owner, this.page.index));
      this.findings.report(where, `its key in ${name}, ${toHex(key)}, does not hash to its hKey`);
    }
  }

  private keysAt(owner: number, index: number): LeafKeys | undefined {
    if (this.page.owner !== owner || this.page.index !== index)
      this.page = {owner, index, keys: this.readKeys(owner, index)};
    return this.page.keys;
  }

  private readKeys(owner: number, index: number): LeafKeys | undefined {
    try {
      return this.store.readLeafKeys(owner, index);
    } catch (error) {
      this.findings.report(nameOfKey(leafKeysKey(owner, index)), toFinding(error));
      return undefined;
    }
  }

  private hash(owner: number, key: Uint8Array): Uint8Array {
    if (owner === ACCOUNTS_OWNER) return this.store.suite.hashAddress(key);
    writeWordInto(this.word, 0, key);
    return this.store.suite.hashSlot(this.word);
  }
}

/** A tree that is checked, and how much of it. */
export interface TreeCheck {
  readonly store: StateReader;
  readonly findings: Findings;
  readonly tree: TreeRoot;
  /** For messages: `block 7, account tree`. */
  readonly where: string;
  /** Pages with lower numbers were checked with an earlier block. Of those, only the roots are compared. */
  readonly sincePage: number;
  /** The first page number above those of the block. */
  readonly untilPage: number;
  /** new: pages from `sincePage` on; all: also the list and the index's order; leaf: path and key of a random leaf. */
  readonly extent: "new" | "all" | "leaf";
  /** Of the leaves' keys: 0 for the account tree, else the index of the account's leaf. */
  readonly owner: number;
  readonly keys: KeyCheck;
  /** The leaves hold accounts. undefined: they hold slots. */
  readonly onAccount?: (account: Account, leafIndex: number, where: string) => Promise<void>;
}
