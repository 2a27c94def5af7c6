/** The table of contracts/README.md: what a transaction to a verifier costs on anvil. Gas is counted, so it is the same on every machine. */
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {test} from "node:test";
import {encodeHex} from "../../../client/bytes/hex.ts";
import {askAccounts} from "../../../client/compact/askedKeys.ts";
import {gatherPart} from "../../../client/compact/gatherPart.ts";
import type {OpenedKey, OpenedLeaf} from "../../../client/compact/openedPaths.ts";
import {encodeProofBytes} from "../../../client/compact/proofBytes.ts";
import type {TreePart} from "../../../client/compact/treePart.ts";
import {verifyAccountsPart, verifySlotsPart} from "../../../client/compact/verifyPart.ts";
import {
  encodeLeafOpening,
  type HashSuite,
  hashWord,
  type LeafOpening,
  poseidon2Suite,
  readWord,
  sha256Suite,
  word,
  zeroSubTrees,
} from "../../../client/hash/hashSuites.ts";
import {encodeAccount} from "../../../client/proof/account.ts";
import {DeployedContract} from "../../support/contracts/deployedContract.ts";
import {readDocument} from "../../support/documents/printedBlocks.ts";
import {Anvil} from "../../support/processes/anvil.ts";
import {notRun} from "../../support/processes/notRun.ts";

const ACCOUNTS = 1_000_000;
const SLOTS = 1000;
const DEPTH = 40;

const QUESTIONS: readonly {name: string; isAbsent?: true; present?: number; absent?: number}[] = [
  {name: "account"},
  {name: "absent account", isAbsent: true},
  {name: "account and 1 slot", present: 1},
  {name: "account and 2 slots", present: 2},
  {name: "account and 10 slots", present: 10},
  {name: "account and 1 absent slot", absent: 1},
  {name: "account, 5 slots, 5 absent ones", present: 5, absent: 5},
];

/** A digest of both suites: all limbs are below p. */
function fakeDigest(seed: string): Uint8Array {
  const digest = createHash("sha256").update(seed).digest();
  return digest.map((byte, i) => (i % 4 === 0 ? byte & 0x3f : byte));
}

interface FilledKey {
  readonly hKey: Uint8Array;
  readonly present?: {readonly value: Uint8Array; readonly hVal: Uint8Array};
}

/** A tree of any size at the cost of the opened paths: a sub-tree that none of them enters is a random digest. */
class FilledTree {
  private readonly nextFreeNode: number;
  private readonly zero: readonly Uint8Array[];
  private readonly leaves = new Map<number, LeafOpening>();
  private drawn = 0;

  constructor(
    private readonly suite: HashSuite,
    private readonly seed: string,
    count: number,
  ) {
    this.nextFreeNode = count + 2;
    this.zero = zeroSubTrees(suite);
  }

  /** Puts a leaf at a random position for each present key, and two neighbours for each absent one. */
  open(keys: readonly FilledKey[]): OpenedKey[] {
    const {nextFreeNode} = this;
    const placed = keys.map(({hKey, present}): (() => OpenedKey) => {
      if (present !== undefined) {
        const own = this.drawIndex();
        this.leaves.set(own, {prev: this.drawIndex(), next: this.drawIndex(), hKey, hVal: present.hVal});
        return () => ({nextFreeNode, leaf: this.openLeaf(own), value: present.value});
      }
      const [left, right] = [this.drawIndex(), this.drawIndex()];
      const hVal = fakeDigest(`${this.seed} neighbour ${left}`);
      const beside = (step: number) => hKey.with(1, (hKey[1] as number) + step);
      this.leaves.set(left, {prev: this.drawIndex(), next: right, hKey: beside(-1), hVal});
      this.leaves.set(right, {prev: left, next: this.drawIndex(), hKey: beside(1), hVal});
      return () => ({nextFreeNode, left: this.openLeaf(left), right: this.openLeaf(right)});
    });
    return placed.map(open => open());
  }

  private openLeaf(leafIndex: number): OpenedLeaf {
    const siblings = Array.from({length: DEPTH}, (_, height) => {
      const position = Math.floor(leafIndex / 2 ** height);
      return this.node(height, position % 2 === 0 ? position + 1 : position - 1);
    });
    return {leafIndex, ...(this.leaves.get(leafIndex) as LeafOpening), siblings};
  }

  private node(height: number, position: number): Uint8Array {
    const size = 2 ** height;
    if (position * size >= this.nextFreeNode) return this.zero[height] as Uint8Array;
    const isEntered = [...this.leaves.keys()].some(index => Math.floor(index / size) === position);
    if (!isEntered) return fakeDigest(`${this.seed} ${height} ${position}`);
    if (height === 0)
      return this.suite.hash(encodeLeafOpening(this.suite, this.leaves.get(position) as LeafOpening));
    return this.suite.hashPair(this.node(height - 1, 2 * position), this.node(height - 1, 2 * position + 1));
  }

  /** A position that no leaf has yet, the same in every run. */
  private drawIndex(): number {
    for (;;) {
      const seed = `${this.seed} index ${this.drawn++}`;
      const random = createHash("sha256").update(seed).digest().readUIntBE(0, 6);
      const index = 2 + (random % (this.nextFreeNode - 2));
      if (!this.leaves.has(index)) return index;
    }
  }
}

type Question = (typeof QUESTIONS)[number];

/** @returns the arguments of verifyAccount or verifySlots, as bytes */
function prove(suite: HashSuite, {name, isAbsent, present = 0, absent = 0}: Question) {
  const random = (what: string) => createHash("sha256").update(`${name} ${what}`).digest();
  const address = new Uint8Array(random("address").subarray(0, 20));
  // As the slots of a mapping are.
  const slots = Array.from({length: present + absent}, (_, i) => new Uint8Array(random(`slot ${i}`)));
  const tree = new FilledTree(suite, `${suite.name} ${name}`, ACCOUNTS);
  const hKey = suite.hashAddress(address);
  let part: TreePart;
  if (isAbsent) part = gatherPart(suite, "", tree.open([{hKey}]));
  else {
    const storage = slots.length === 0 ? undefined : proveSlots(suite, name, slots, present);
    const hKeys = slots.map(slot => hashWord(suite, readWord(slot)));
    const storageRoot =
      storage === undefined ? fakeDigest("storage") : verifySlotsPart(suite, "", storage, hKeys, 3).root;
    const value = encodeAccount({
      nonce: 1n,
      balance: 10n ** 18n,
      storageRoot: encodeHex(storageRoot),
      codeHash: encodeHex(fakeDigest("code")),
      keccakCodeHash: encodeHex(fakeDigest("keccak")),
      codeSize: 12_000n,
    });
    const opened = tree.open([{hKey, present: {value, hVal: suite.hashAccountValue(value)}}]);
    part = gatherPart(suite, "", opened, () => storage);
  }
  const request = {address: encodeHex(address), storageKeys: slots.map(encodeHex)};
  const {root} = verifyAccountsPart(suite, part, askAccounts(suite, [request]));
  return {root, ...request, proof: encodeProofBytes(suite, "accounts", part)};
}

/** @param present - how many of the slots are there; the values are amounts of a token */
function proveSlots(suite: HashSuite, name: string, slots: readonly Uint8Array[], present: number): TreePart {
  const tree = new FilledTree(suite, `${suite.name} ${name} slots`, SLOTS);
  const opened = tree.open(
    slots.map((slot, i) => {
      const hKey = hashWord(suite, readWord(slot));
      if (i >= present) return {hKey};
      const value = readWord(fakeDigest(`value ${i}`)) >> 184n;
      return {hKey, present: {value: word(value), hVal: hashWord(suite, value)}};
    }),
  );
  return gatherPart(suite, "", opened);
}

function spaced(n: number): string {
  return n.toLocaleString("en").replaceAll(",", " ");
}

test("bytes and gas of each proof are those that the page prints", async t => {
  const anvil = await Anvil.start(["--hardfork", "osaka"]);
  if (typeof anvil === "string") return notRun(t, anvil);
  t.after(() => anvil.stop());
  const columns: string[][] = [QUESTIONS.map(({name}) => name)];
  for (const [suite, name] of [
    [sha256Suite, "Sha256ProofVerifier"],
    [poseidon2Suite, "Poseidon2ProofVerifier"],
  ] as const) {
    const verifier = await DeployedContract.create(anvil, name);
    const [bytes, gas]: [string[], string[]] = [[], []];
    for (const question of QUESTIONS) {
      const {root, address, storageKeys, proof} = prove(suite, question);
      const about = storageKeys.length === 0 ? [address] : [address, storageKeys];
      const method = storageKeys.length === 0 ? "verifyAccount" : "verifySlots";
      const {gasUsed} = await verifier.send(method, encodeHex(root), ...about, encodeHex(proof));
      bytes.push(spaced(proof.length));
      gas.push(spaced(Number(gasUsed)));
    }
    columns.push(bytes, gas);
  }
  const measured = QUESTIONS.map((_, i) => `| ${columns.map(column => column[i]).join(" | ")} |`);
  const printed = readDocument("contracts/README.md").match(/^\| (absent )?account.*$/gm);
  assert.deepEqual(printed, measured);
});
