/**
 * Checks the keys of leaves: each hashes to the hKey of its leaf, and as many are unknown as the store says.
 */
import type {StateReader} from "../block/stateReader.ts";
import {WORD_BYTES} from "../hash/suite.ts";
import {toHex} from "../hex.ts";
import {decodeKeyMark, type KeyMark} from "../keys/keyMark.ts";
import {ACCOUNTS_OWNER, type LeafKeys, missingKey} from "../keys/leafKeys.ts";
import {LEAVES_PER_PAGE} from "../page/geometry.ts";
import {leafKeysKey, META, nameOfKey} from "../record/layout.ts";
import {writeWordInto} from "../tree/shortNumber.ts";
import {type Findings, toFinding} from "./findings.ts";

export class KeyCheck {
  /** Leaves without a known key that were checked. */
  private unknown = 0;
  private damaged = 0;
  /** undefined: the store is of a format without keys, or its record is damaged. */
  private readonly mark: KeyMark | undefined;
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
  ) {
    this.mark = this.readMark();
  }

  /** @param owner - of the tree. @param where - names the leaf */
  check(owner: number, leafIndex: number, hKey: Uint8Array, where: string): void {
    const keys = this.keysAt(owner, Math.floor(leafIndex / LEAVES_PER_PAGE));
    if (keys === undefined) return;
    const key = keys[leafIndex % LEAVES_PER_PAGE];
    if (key === undefined) {
      this.unknown++;
      if (this.mark?.to === 0) this.findings.report(where, toFinding(missingKey(owner, leafIndex)));
    } else if (Buffer.compare(this.hash(owner, key), hKey) !== 0) {
      const name = nameOfKey(leafKeysKey(owner, this.page.index));
      this.findings.report(where, `its key in ${name}, ${toHex(key)}, does not hash to its hKey`);
    }
  }

  /** Call it before all leaves of the newest block are checked, with nothing else after it. */
  beginCount(): void {
    this.unknown = 0;
  }

  /** Compares the leaves without a known key since `beginCount` with the number that is recorded. */
  endCount(): void {
    const {mark, unknown, damaged} = this;
    if (mark !== undefined && damaged === 0 && mark.unknown !== unknown)
      this.findings.report(
        nameOfKey(META.keys),
        `it counts ${mark.unknown} leaves without a known key; the newest block has ${unknown}`,
      );
  }

  private readMark(): KeyMark | undefined {
    try {
      const body = this.store.readRecord(META.keys);
      return body === undefined ? undefined : decodeKeyMark(body);
    } catch (error) {
      this.findings.report(nameOfKey(META.keys), toFinding(error));
      return undefined;
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
      this.damaged++;
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
