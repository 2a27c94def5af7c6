/** What an import refuses, how it says so, and that nothing of a refused block stays. */
import assert from "node:assert/strict";
import {writeFile} from "node:fs/promises";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {gzipSync} from "node:zlib";
import type {Engine} from "../../../workers/engine.ts";
import type {ImportOutcome} from "../../../workers/messages/importJob.ts";
import {type DifferenceLine, encodeLines} from "../../support/chains/differenceLine.ts";
import {addressAt, blockHash, longChain} from "../../support/chains/longChain.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {openEngine} from "../../support/stores/importedStore.ts";
import {makeTemporaryFolder} from "../../support/temporaryFolder.ts";

const SUITES = ["sha256", "keccak"] as const;

const folder = makeTemporaryFolder();
let engines: readonly Engine[];
let files = 0;
before(async () => {
  engines = await Promise.all(SUITES.map(suite => openEngine(join(folder, suite), suite)));
});
after(async () => {
  for (const engine of engines) await engine.close();
});

const good = longChain(4, 5);

async function importText(engine: Engine, content: string | Buffer): Promise<ImportOutcome> {
  const path = join(folder, `${files++}.ndjson`);
  await writeFile(path, content);
  return engine.startImport({source: {kind: "diffs", path}, allowUnverified: true}, () => {}).outcome;
}

/** Imports the chain's first lines and then `last`. @returns the message of the refusal */
async function refusal(engine: Engine, last: string): Promise<string> {
  const outcome = await importText(engine, encodeLines(good) + last);
  assert.ok(!outcome.ok, `${last} was imported`);
  assert.equal(outcome.head.latest, good.length - 1, "the blocks before it are kept");
  assert.deepEqual((await checkStore(join(folder, engine.chain.suite))).found, []);
  return outcome.message;
}

function next(fields: object): string {
  const block = {
    number: "0x4",
    hash: blockHash(4),
    parentHash: blockHash(3),
    accounts: {[addressAt(0)]: {balance: "0x9"}},
  };
  return `${JSON.stringify({...block, ...fields})}\n`;
}

const REFUSED: readonly [string, string, RegExp][] = [
  ["a gap", next({number: "0x6"}), /^line 5: expected block 4 next, got block 6$/],
  [
    "another hash for a stored block",
    next({number: "0x2"}),
    /^line 5: block 2 has hash 0x.{64}, but the store has 0x.{64}$/,
  ],
  [
    "a wrong parent",
    next({parentHash: blockHash(9)}),
    /^line 5: block 4 .* has parent 0x.*, but block 3 is 0x/,
  ],
  ["a hash that an older block has", next({hash: blockHash(1)}), /^line 5: block 4 has the hash of block 1/],
  [
    "a wrong state root",
    next({stateRoot: blockHash(7)}),
    /^line 5: block 4: expected state root 0x.{64}, its changes give 0x/,
  ],
  [
    "an account twice",
    next({}).replace('"accounts":{', `"accounts":{"${addressAt(0).toUpperCase().replace("0X", "0x")}":{},`),
    /^line 5: block 4: account 0x.* twice$/,
  ],
  [
    "a slot twice",
    next({accounts: {[addressAt(0)]: {storage: {"0x1": "0x1", "0x01": "0x2"}}}}),
    /slot 0x0.*1 twice$/,
  ],
  // What else is no line is in differenceLines.test.ts.
  ["text that is not JSON", "hello\n", /^line 5: expected an object: "\{", got "h"$/],
];

for (const [what, line, message] of REFUSED)
  test(`${what} is refused with its line and reason`, async () => {
    for (const engine of engines) assert.match(await refusal(engine, line), message);
  });

test("a gzip file is unpacked whatever its name, and one cut short is refused with what was whole kept", async () => {
  const whole = gzipSync(encodeLines(good) + next({}));
  const [engine] = engines as [Engine];
  const outcome = await importText(engine, whole);
  assert.ok(outcome.ok);
  assert.equal(outcome.head.latest, 4);
  await engine.writes.rollback(3);
  const cut = await importText(engine, gzipSync(encodeLines(longChain(40, 200))).subarray(0, 9000));
  assert.ok(!cut.ok);
  assert.match(cut.message, /does not unpack: unexpected end of file/);
});

test("a source of another chain is refused before anything is read from it", async () => {
  const lines: DifferenceLine[] = [{number: "0x0", hash: blockHash(0), chainId: "0x5", accounts: {}}];
  const path = join(folder, "chain5.ndjson");
  await writeFile(path, encodeLines(lines));
  const other = await openEngine(join(folder, "chain5"));
  const source = {kind: "diffs", path} as const;
  const refused = await other.startImport({source, allowUnverified: true, chainId: 6n}, () => {}).outcome;
  assert.ok(!refused.ok);
  assert.equal(refused.message, "line 1: block 0: expected chain 6, got chain 5");
  assert.ok((await other.startImport({source, allowUnverified: true}, () => {}).outcome).ok);
  assert.equal(other.chain.chainId, 5n);
  const again = await other.startImport({source, allowUnverified: true, chainId: 6n}, () => {}).outcome;
  assert.ok(!again.ok);
  assert.equal(again.message, "the store: expected chain 6, got chain 5");
  await other.close();
});
