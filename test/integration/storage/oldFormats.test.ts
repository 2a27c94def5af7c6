/** Stores that earlier releases wrote, opened with this one (docs/store.md, Formats). */
import assert from "node:assert/strict";
import {cp, readFile, truncate, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {SUITE_NAMES, type SuiteName} from "../../../storage/hash/suiteNames.ts";
import type {KeyMark} from "../../../storage/keys/keyMark.ts";
import {StateStore} from "../../../storage/stateStore.ts";
import {Engine} from "../../../workers/engine.ts";
import type {DifferenceLine} from "../../support/chains/differenceLine.ts";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import type {RandomChain} from "../../support/chains/randomBlocks.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {startChild} from "../../support/processes/childProcesses.ts";
import {runHere} from "../../support/processes/ownCommand.ts";
import {ReferenceState} from "../../support/reference/referenceState.ts";
import {sampleOf} from "../../support/soak.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {downgradeStore} from "../../support/stores/downgradedStore.ts";
import {checkEveryKey, memoisedPoseidon2, memoisedSha256} from "../../support/stores/everyKey.ts";
import {checkEveryLeaf} from "../../support/stores/everyLeaf.ts";
import {importLines, importSource} from "../../support/stores/importedStore.ts";
import {logOf} from "../../support/stores/loggedStores.ts";
import {unpackStore} from "../../support/stores/packedStore.ts";
import {once} from "../../support/wait.ts";

const SUITES = {sha256: memoisedSha256, poseidon2: memoisedPoseidon2};
const FORMAT = 4;
/** Accounts and slots of the newest block of the packed stores. */
const LEAVES = 13;
/** Two of its accounts: one with three slots, one without. */
const CONTRACT = `0x${"2403".padStart(40, "0")}`;
const HOLDER = `0x${"2401".padStart(40, "0")}`;

let folder: WorkFolder;
let stores = 0;
before(async () => {
  folder = await WorkFolder.create();
});
after(() => folder.remove());

interface OldStore {
  readonly directory: string;
  readonly lines: readonly DifferenceLine[];
}

async function unpack(suite: SuiteName = "sha256"): Promise<OldStore> {
  const directory = folder.file(`store-${++stores}`);
  return {directory, lines: await unpackStore(FORMAT, suite, directory)};
}

/** All that the packed stores' blocks name, and a key that they do not. */
function chainOf(lines: RandomChain["lines"]): RandomChain {
  const changes = lines.flatMap(({accounts}) => Object.values(accounts));
  const slots = changes.flatMap(change => Object.keys(change?.storage ?? {}).map(BigInt));
  const addresses = lines.flatMap(({accounts}) => Object.keys(accounts));
  return {lines, addresses: [...new Set(addresses), `0x${"7f".repeat(20)}`], slots: [...new Set(slots), 77n]};
}

/** Opens the store and closes it again. @returns what is known of its keys, and the formats that it was converted from */
async function open(directory: string): Promise<{mark: KeyMark; converted: number[]}> {
  const converted: number[] = [];
  const store = await StateStore.open({
    directory,
    role: "owner",
    cacheBytes: 1 << 20,
    onConversion: ({isDone, from}) => void (isDone && converted.push(from)),
  });
  const mark = store.reader.readKeyMark();
  await store.close();
  return {mark, converted};
}

async function withEngine(directory: string, work: (engine: Engine) => Promise<void>): Promise<void> {
  const engine = await Engine.open({directory, workers: 1, cacheBytes: 1 << 20, createIfMissing: false});
  try {
    await work(engine);
  } finally {
    await engine.close();
  }
}

/** All trees at all finalized blocks are those of the reference. */
async function checkLeaves(engine: Engine, lines: OldStore["lines"], isKnown: boolean): Promise<void> {
  const state = new ReferenceState(SUITES[engine.chain.suite as SuiteName], lines);
  const blocks = lines.map((_, block) => block).slice(0, (engine.chain.head().finalized ?? -1) + 1);
  const keyOf = isKnown ? undefined : () => undefined;
  await checkEveryLeaf(engine, state, chainOf(lines), blocks, keyOf);
}

for (const suite of SUITE_NAMES)
  test(`${suite}: a store of format 4 proves what its blocks say, with keys once its blocks are imported again`, async () => {
    const {directory, lines} = await unpack(suite);
    assert.deepEqual((await checkStore(directory)).found, []);
    const state = new ReferenceState(SUITES[suite], lines);
    await withEngine(directory, async engine => {
      assert.equal(engine.chain.head().finalized, 1);
      assert.ok((await checkEveryKey(engine, state, chainOf(lines))) > 0);
      assert.equal(engine.chain.unknownKeys(), LEAVES);
      await checkLeaves(engine, lines, false);
    });
    assert.deepEqual((await checkStore(directory)).found, []);
    // Half of the blocks, then all.
    await importLines(directory, lines.slice(0, 2));
    const half = await open(directory);
    assert.deepEqual([half.mark.from, half.mark.to, half.converted], [2, 4, []]);
    assert.ok(half.mark.unknown > 0 && half.mark.unknown < LEAVES);
    assert.deepEqual((await checkStore(directory)).found, []);
    await importLines(directory, lines, {finalized: "last"});
    assert.deepEqual((await open(directory)).mark, {unknown: 0, from: 4, to: 4});
    assert.deepEqual((await checkStore(directory)).found, []);
    await withEngine(directory, async engine => {
      assert.equal(engine.chain.unknownKeys(), 0);
      await checkLeaves(engine, lines, true);
    });
  });

test("a source with the right hashes and other accounts tells no key", async () => {
  const {directory, lines} = await unpack();
  const accounts = {[`0x${"5a".repeat(20)}`]: {balance: "0x1", storage: {"0x1": "0x1"}}};
  await importLines(
    directory,
    lines.map(line => ({...line, accounts})),
  );
  assert.equal((await open(directory)).mark.unknown, LEAVES);
  await withEngine(directory, engine => checkLeaves(engine, lines, false));
  assert.deepEqual((await checkStore(directory)).found, []);
});

test("leaves without a key that are deleted are counted no more, also with all slots of their account", async () => {
  const {directory, lines} = await unpack();
  const counts = [(await open(directory)).mark.unknown];
  let parent = lines.at(-1) as DifferenceLine;
  for (const accounts of [{[CONTRACT]: {storage: {"0x2": "0x0"}}}, {[HOLDER]: null}, {[CONTRACT]: null}]) {
    const number = Number(parent.number) + 1;
    const hash = `0x${(number + 1).toString(16).padStart(64, "0")}`;
    parent = {number: `0x${number.toString(16)}`, hash, parentHash: parent.hash, accounts};
    await importLines(directory, [parent]);
    counts.push((await open(directory)).mark.unknown);
    // It counts the leaves of the newest block, and compares.
    assert.deepEqual((await checkStore(directory)).found, []);
  }
  // A slot, an account, and an account with the two slots that were left.
  assert.deepEqual(counts, [LEAVES, LEAVES - 1, LEAVES - 2, LEAVES - 5]);
});

test("a conversion is on disk whole or not at all, wherever the disk cut its write", async () => {
  const {directory} = await unpack();
  const {converted, mark} = await open(directory);
  assert.deepEqual(converted, [FORMAT]);
  const log = await logOf(directory);
  const whole = await readFile(join(directory, log));
  assert.ok(whole.length > 80);
  const cuts = Array.from({length: whole.length}, (_, at) => at);
  for (const cut of [...sampleOf(cuts, 8), whole.length]) {
    const copy = folder.file(`store-${++stores}`);
    await cp(directory, copy, {recursive: true});
    await truncate(join(copy, log), cut);
    assert.deepEqual(
      await open(copy),
      {mark, converted: cut < whole.length ? [FORMAT] : []},
      `cut at ${cut}`,
    );
    assert.deepEqual((await open(copy)).converted, []);
    assert.deepEqual((await checkStore(copy)).found, []);
  }
});

test("kill -9 while a command converts leaves a store that opens, and the command says what it does", async () => {
  const {directory, lines} = await unpack();
  const path = folder.file("killed.ndjson");
  await writeFile(path, encodeLines(lines));
  const main = fileURLToPath(new URL("../../../cli/main.js", import.meta.url));
  const child = startChild(process.execPath, [main, "import", "--db", directory, "--diffs", path]);
  let stderr = "";
  for await (const piece of child.stderr.setEncoding("utf8")) {
    stderr += piece;
    if (stderr.includes("converting")) break;
  }
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  assert.match(stderr, /^converting the store from format 4 to 5: older releases cannot open it any more$/m);
  assert.ok((await open(directory)).mark.unknown <= LEAVES);
  assert.deepEqual((await checkStore(directory)).found, []);
  const {code, stderr: second} = await runHere(["import", "--db", directory, "--diffs", path]);
  assert.equal(code, 0, second);
  assert.doesNotMatch(second, /converting/);
  assert.equal((await open(directory)).mark.unknown, 0);
});

test("a store of format 4 that can only be read is refused with both formats", async () => {
  const {directory} = await unpack();
  await assert.rejects(StateStore.open({directory, role: "reader", cacheBytes: 1 << 20}), {
    code: "FORMAT_MISMATCH",
    message: /has store format 4, which this proofd converts to 5 when it can write to the store/,
  });
  // Nothing was changed.
  assert.deepEqual((await open(directory)).converted, [FORMAT]);
});

test("check and audit read a store of format 4 as it is", async () => {
  const {directory} = await unpack();
  const {code, stdout} = await runHere(["check", "--db", directory]);
  assert.equal(code, 0, stdout);
  const sample = await runHere(["check", "--db", directory, "--sample", "20"]);
  assert.equal(sample.code, 0, sample.stdout);
  assert.deepEqual((await open(directory)).converted, [FORMAT]);
});

test("a store of executed blocks learns its keys when they are executed again", async () => {
  const directory = folder.file("demo");
  const [genesisPath, blocksPath] = ["genesis.json", "chain.rlp"].map(name =>
    fileURLToPath(import.meta.resolve(`#package/demo/${name}`)),
  ) as [string, string];
  const source = {kind: "blocks", genesisPath, blocksPath} as const;
  assert.ok((await importSource(directory, source)).ok);
  await downgradeStore(directory, "sha256");
  assert.ok((await open(directory)).mark.unknown > 0);
  const outcome = await importSource(directory, source);
  assert.ok(outcome.ok && outcome.blocks === 0);
  assert.equal((await open(directory)).mark.unknown, 0);
  assert.deepEqual((await checkStore(directory)).found, []);
});
