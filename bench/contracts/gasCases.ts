/** The proofs whose gas is measured: of a chain with so many accounts, and a contract with so many slots. */
import {createHash} from "node:crypto";
import {encodeHex} from "../../client/bytes/hex.ts";
import {askAccounts} from "../../client/compact/askedKeys.ts";
import {gatherPart} from "../../client/compact/gatherPart.ts";
import {encodeProofBytes} from "../../client/compact/proofBytes.ts";
import type {TreePart} from "../../client/compact/treePart.ts";
import {verifyAccountsPart, verifySlotsPart} from "../../client/compact/verifyPart.ts";
import {type HashSuite, hashSlot, hashSlotValue, readWord, word} from "../../client/hash/hashSuites.ts";
import {encodeAccount} from "../../client/proof/account.ts";
import {FilledTree, fakeDigest} from "./filledTree.ts";

export interface GasCase {
  readonly name: string;
  readonly root: Uint8Array;
  readonly address: Uint8Array;
  /** undefined: the account is asked for, and no slot. */
  readonly slots: readonly Uint8Array[] | undefined;
  readonly proof: Uint8Array;
}

/** What is asked for; an absent account is asked for without slots. */
interface Question {
  readonly name: string;
  readonly isAbsent?: true;
  readonly present?: number;
  readonly absent?: number;
}

const QUESTIONS: readonly Question[] = [
  {name: "account"},
  {name: "absent account", isAbsent: true},
  {name: "account and 1 slot", present: 1},
  {name: "account and 2 slots", present: 2},
  {name: "account and 10 slots", present: 10},
  {name: "account and 1 absent slot", absent: 1},
  {name: "account, 5 slots, 5 absent ones", present: 5, absent: 5},
];

export function makeGasCases(suite: HashSuite, accounts: number, slots: number): GasCase[] {
  return QUESTIONS.map(question => makeCase(suite, question, accounts, slots));
}

function makeCase(suite: HashSuite, question: Question, accounts: number, slotCount: number): GasCase {
  const {name, isAbsent, present = 0, absent = 0} = question;
  const random = (what: string) => createHash("sha256").update(`${name} ${what}`).digest();
  const address = random("address").subarray(0, 20);
  // As the slots of a mapping are.
  const slots = Array.from({length: present + absent}, (_, i) => new Uint8Array(random(`slot ${i}`)));
  const tree = new FilledTree(suite, `${suite.name} ${name}`, accounts);
  const hKey = suite.hashAddress(address);
  let part: TreePart;
  if (isAbsent) {
    part = gatherPart(suite, "", tree.open([{hKey}]));
  } else {
    const storage = slots.length === 0 ? undefined : proveSlots(suite, name, slots, present, slotCount);
    const hKeys = slots.map(slot => hashSlot(suite, readWord(slot)));
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
  const {root} = verifyAccountsPart(suite, "", part, askAccounts(suite, [request]));
  const proof = encodeProofBytes(suite, "accounts", part);
  return {name, root, address, slots: slots.length === 0 ? undefined : slots, proof};
}

/** @param present - how many of the slots are there; the values are amounts of a token */
function proveSlots(
  suite: HashSuite,
  name: string,
  slots: readonly Uint8Array[],
  present: number,
  slotCount: number,
): TreePart {
  const tree = new FilledTree(suite, `${suite.name} ${name} slots`, slotCount);
  const opened = tree.open(
    slots.map((slot, i) => {
      const hKey = hashSlot(suite, readWord(slot));
      if (i >= present) return {hKey};
      const value = readWord(fakeDigest(`value ${i}`)) >> 184n;
      return {hKey, present: {value: word(value), hVal: hashSlotValue(suite, value)}};
    }),
  );
  return gatherPart(suite, "", opened);
}
