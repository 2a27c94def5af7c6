/** Keys of leaves that are damaged, gone or wrong: a call that needs them fails by name, and check names them. */
import assert from "node:assert/strict";
import {cp} from "node:fs/promises";
import {before, test} from "node:test";
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import {word} from "../../../client/hash/hashSuites.ts";
import {leafKeysKey, nameOfKey, pageOfLeafKeys} from "../../../storage/record/layout.ts";
import {openRecord, sealRecord} from "../../../storage/record/record.ts";
import {ACCOUNTS_OWNER, decodeLeafKeys, encodeLeafKeys} from "../../../storage/tree/leafKeys.ts";
import {Engine} from "../../../workers/engine.ts";
import type {DifferenceLine} from "../../support/chains/differenceLine.ts";
import type {RandomChain} from "../../support/chains/randomBlocks.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {ReferenceState} from "../../support/reference/referenceState.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {checkEveryKey, memoisedSha256} from "../../support/stores/everyKey.ts";
import {importLines} from "../../support/stores/importedStore.ts";
import {proveLeaves} from "../../support/stores/proveLeaves.ts";
import {tamper} from "../../support/stores/tamper.ts";

const addresses = Array.from({length: 9}, (_, i) => `0x${(0x2400 + i).toString(16).padStart(40, "0")}`);
const [HOLDER, , , CONTRACT, , DELETED] = addresses as [string, string, string, string, string, string];
const SLOTS = Object.fromEntries(Array.from({length: 9}, (_, i) => [`0x${i + 1}`, `0x${i + 16}`]));

/** The accounts of each block: created, changed, deleted, created again. */
const BLOCKS: readonly DifferenceLine["accounts"][] = [
  {
    ...Object.fromEntries(addresses.map(address => [address, {balance: "0x1"}])),
    [CONTRACT]: {nonce: "0x1", code: "0x6001", storage: SLOTS},
  },
  {[CONTRACT]: {storage: {"0x3": "0x0"}}, [DELETED]: null},
  {
    [DELETED]: {balance: "0x5"},
    [CONTRACT]: {reset: true, code: "0x6002", storage: {"0x2": "0x9", "0x20": "0x1"}},
  },
  {[CONTRACT]: {storage: {"0x3": "0x7"}}, [HOLDER]: {nonce: "0x1"}},
];
const lines: readonly DifferenceLine[] = BLOCKS.map((accounts, block) => ({
  number: `0x${block}`,
  hash: encodeHex(word(block + 1)),
  parentHash: encodeHex(word(block)),
  accounts,
}));
const chain: RandomChain = {lines, addresses, slots: [1n, 2n, 3n]};
const state = new ReferenceState(memoisedSha256, lines);

const folder = new WorkFolder();
let copies = 0;
/** What all leaves of the whole store answer. */
let right: readonly (Uint8Array | string)[];
before(async () => {
  await importLines(folder.file("whole"), lines, {finalized: "last"});
  right = await askLeaves(folder.file("whole"));
});

type Change = (db: Parameters<Parameters<typeof tamper>[1]>[0]) => Promise<void>;

/** @returns a copy of the store that was changed without proofd */
async function copyWith(change: Change): Promise<string> {
  const directory = folder.file(`copy-${++copies}`);
  await cp(folder.file("whole"), directory, {recursive: true});
  await tamper(directory, change);
  return directory;
}

async function keysOfStore(): Promise<Buffer[]> {
  const keys: Buffer[] = [];
  await copyWith(
    async db => void keys.push(...(await db.keys({gte: Buffer.from("k"), lt: Buffer.from("l")}).all())),
  );
  return keys;
}

/** What all leaves of both kinds of tree at two blocks answer: text for a failure. Proofs of single keys are right whatever it is. */
async function askLeaves(directory: string): Promise<(Uint8Array | string)[]> {
  const engine = await Engine.open({directory, workers: 1, cacheBytes: 1 << 20, createIfMissing: false});
  try {
    await checkEveryKey(engine, state, chain, [3]);
    const answers: (Uint8Array | string)[] = [];
    for (const block of [0, 3])
      for (const address of [undefined, decodeHex(CONTRACT)])
        answers.push(await proveLeaves(engine, {block, address, from: 0, count: 4096}));
    return answers;
  } finally {
    await engine.close();
  }
}

/** Exactly the trees that have this record fail, by its name; the others answer as before. */
async function checkFailures(directory: string, key: Buffer, expected: RegExp): Promise<void> {
  let failed = 0;
  for (const [i, answer] of (await askLeaves(directory)).entries())
    if (typeof answer === "string") {
      assert.match(answer, expected);
      failed++;
    } else assert.deepEqual(answer, right[i]);
  assert.ok(failed > 0, nameOfKey(key));
  const found = (await checkStore(directory)).found.join("\n");
  assert.match(found, expected, nameOfKey(key));
}

test("every leaf has its key from the first block on", async () => {
  const keys = await keysOfStore();
  // Accounts, and the slots of the contract before and after it was created again.
  assert.deepEqual([...new Set(keys.map(key => pageOfLeafKeys(key).owner))].length, 3);
  assert.ok(right.every(answer => typeof answer !== "string"));
  assert.deepEqual((await checkStore(folder.file("whole"))).found, []);
});

test("a flipped bit in any record of keys fails the calls that need it, and names it", async () => {
  for (const [i, key] of (await keysOfStore()).entries()) {
    const directory = await copyWith(async db => {
      const value = Buffer.from((await db.get(key)) as Buffer);
      const at = (i * 7) % value.length;
      value[at] = (value[at] as number) ^ (1 << (i % 8));
      await db.put(key, value);
    });
    await checkFailures(directory, key, new RegExp(`RECORD_DAMAGED: ${nameOfKey(key)}: checksum`));
  }
});

test("a record of keys that is gone fails the calls that need it, and names it", async () => {
  const keys = await keysOfStore();
  for (const key of [keys[0], keys.at(-1)] as Buffer[]) {
    const directory = await copyWith(db => db.del(key));
    await checkFailures(
      directory,
      key,
      new RegExp(`RECORD_MISSING: ${nameOfKey(key)}: that of leaf \\d+ is not`),
    );
  }
});

test("a key that is not that of its leaf is found by check, whatever its checksum says", async () => {
  const key = leafKeysKey(ACCOUNTS_OWNER, 0);
  const directory = await copyWith(async db => {
    const body = openRecord(key, (await db.get(key)) as Buffer);
    const wrong = [...decodeLeafKeys(ACCOUNTS_OWNER, 0, body)].map(one => one && Buffer.from(one));
    (wrong[4] as Buffer)[19] = 0x99;
    await db.put(key, sealRecord(key, encodeLeafKeys(ACCOUNTS_OWNER, wrong)));
  });
  const {found} = await checkStore(directory);
  assert.ok(found.length > 0);
  for (const text of found)
    assert.match(
      text,
      /account tree, leaf 4: its key in keys of leaf page 0 of the account tree, 0x0.*99, does not hash/,
    );
});
