/**
 * Checks a state trie as of one block: each page is hashed from its leaves and child references, and compared with the
 * reference in the page above.
 */
import type {BlockRecord} from "../block/blockRecord.ts";
import {KECCAK_EMPTY, keccak256} from "../hash/keccak.ts";
import {isSame, toHex} from "../hex.ts";
import type {TrieKind, TrieReader, TrieRoot} from "../trie/trie.ts";
import {decodeSlot, decodeTrieAccount} from "../trie/trieAccount.ts";
import {readTriePage, TRIE_ROOT, type TriePlace} from "../trie/triePage.ts";
import type {TreeCheck} from "./checkKeys.ts";
import {toFinding} from "./findings.ts";

type Scope = Pick<TreeCheck, "store" | "findings" | "extent" | "sincePage" | "untilPage">;

export async function checkTrie(scope: Scope, {header, trie}: BlockRecord): Promise<void> {
  if (trie === undefined) return;
  const where = `block ${header.number}, state trie`;
  // A chain may begin with another state than that of block 0's header: evm/execution.
  if (header.number > 0 && header.stateRoot !== undefined && !isSame(trie.root, header.stateRoot))
    scope.findings.report(
      where,
      `its header has the root ${toHex(header.stateRoot)}, not ${toHex(trie.root)}`,
    );
  const reader = scope.store.tries;
  const only =
    scope.extent === "leaf" ? toHex(crypto.getRandomValues(new Uint8Array(32))).slice(2) : undefined;
  await new TrieCheck(scope, reader, only).checkRoot(trie, "accounts", where);
}

class TrieCheck {
  /** @param only - the leaf whose path is checked, in hex; undefined: all are */
  constructor(
    private readonly scope: Scope,
    private readonly reader: TrieReader,
    private readonly only: string | undefined,
  ) {}

  async checkRoot({root, page}: TrieRoot, kind: TrieKind, where: string): Promise<void> {
    if (page !== 0) await this.checkPage({...TRIE_ROOT, page}, Buffer.from(root), kind, where);
  }

  /** @param expected - the reference to the page in the page above it */
  private async checkPage(place: TriePlace, expected: Buffer, kind: TrieKind, above: string): Promise<void> {
    const {store, findings, sincePage, untilPage} = this.scope;
    const {page} = place;
    if (page < sincePage) return;
    const where = `${above}, page ${page}`;
    try {
      if (page >= untilPage) findings.report(where, "it belongs to a later block");
      const {reference, wrongChild} = this.reader.check(page, place, kind);
      findings.pages++;
      if (wrongChild >= 0) findings.report(where, `the leaves below child ${wrongChild} have another hash`);
      if (!expected.equals(reference))
        findings.report(
          where,
          `expected ${toHex(expected)} as the page above says, its nodes give ${toHex(reference)}`,
        );
      if (!(await findings.pause(above))) return;
      const {children, leaves} = readTriePage(page, store.pages.read(page), place.path);
      for (const child of children)
        if (this.only?.startsWith(child.path.toString("hex").slice(0, child.depth)) ?? true)
          await this.checkPage(child, child.reference, kind, above);
      for (const {path, value} of leaves) await this.checkLeaf(path, value, kind, above);
    } catch (error) {
      findings.report(where, toFinding(error));
    }
  }

  private async checkLeaf(path: Buffer, value: Buffer, kind: TrieKind, above: string): Promise<void> {
    this.scope.findings.leaves++;
    if (kind === "slots") {
      decodeSlot(value);
      return;
    }
    const {codeHash, storage} = decodeTrieAccount(value);
    // Where there are sparse trees, codes are checked with their accounts. Slices have none.
    if (!this.scope.store.hasTrees && !this.scope.store.isSliced)
      this.checkCode(codeHash, `${above}, account ${toHex(path)}`);
    await this.checkRoot(storage, "slots", `${above}, slots of ${toHex(path)}`);
  }

  private checkCode(codeHash: Uint8Array, where: string): void {
    if (isSame(codeHash, KECCAK_EMPTY)) return;
    const {store, findings} = this.scope;
    try {
      if (!isSame(keccak256(store.readCode(codeHash)), codeHash))
        findings.report(where, "its code does not have the hash that the account says");
    } catch (error) {
      findings.report(where, toFinding(error));
    }
  }
}
