/** Pruning in a service: kept blocks are proved as before, pruned ones are refused, nothing else fails, whenever it is killed. */
import assert from "node:assert/strict";
import {cp, readdir, stat, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {before, test} from "node:test";
import {StateStore} from "../../../storage/stateStore.ts";
import {type DifferenceLine, encodeLines} from "../../support/chains/differenceLine.ts";
import {addressAt, longChain} from "../../support/chains/longChain.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {startDaemon} from "../../support/processes/daemon.ts";
import {runHere} from "../../support/processes/ownCommand.ts";
import {sampleOf} from "../../support/soak.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {importLines} from "../../support/stores/importedStore.ts";
import {reachablePages, storedPages} from "../../support/stores/reachablePages.ts";

/** So many that more than 16 384 pages go, and the store is compacted. */
const BLOCKS = 420;
const ACCOUNTS = 10;
const KEPT = 20;
const FIRST_KEPT = BLOCKS - KEPT;
const LATEST = BLOCKS - 1;
const HISTORY = ["--history", `${KEPT}`];
/** Blocks that are asked for: some are pruned, some stay. */
const ASKED = [0, 7, 100, FIRST_KEPT - 1, FIRST_KEPT, FIRST_KEPT + 9, LATEST];

const folder = new WorkFolder();
/** A store with all blocks, and the text of each proof from it. */
let whole: string;
const proofs = new Map<number, string>();

function requestOf(block: number): string {
  const params = [addressAt(7), ["0x0", "0x7", "0x99"], `0x${block.toString(16)}`];
  return JSON.stringify({jsonrpc: "2.0", id: 1, method: "chain_getProof", params});
}

async function sizeOf(directory: string): Promise<number> {
  const sizes = (await readdir(directory)).map(async name => (await stat(join(directory, name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

async function copyOf(name: string): Promise<string> {
  const directory = folder.file(name);
  await cp(whole, directory, {recursive: true});
  return directory;
}

/** Asks until `isOver`. A proof is that of the whole store, or the block is pruned, which no kept block may be. */
async function askUntil(
  daemon: OwnService,
  isOver: () => boolean,
): Promise<{refused: number; proved: number}> {
  const counts = {refused: 0, proved: 0};
  while (!isOver())
    for (const block of ASKED) {
      const {text} = await daemon.post(requestOf(block));
      if (text === proofs.get(block)) counts.proved++;
      else {
        assert.ok(block < FIRST_KEPT, `block ${block}: ${text.slice(0, 200)}`);
        assert.equal(JSON.parse(text).error?.code, -32001, text.slice(0, 200));
        counts.refused++;
      }
    }
  return counts;
}

/** Every page in the store is one that a kept block reaches. */
async function assertExact(directory: string): Promise<void> {
  const store = await StateStore.open({directory, role: "owner", cacheBytes: 1 << 20});
  try {
    const kept = Array.from({length: KEPT}, (_, at) => FIRST_KEPT + at);
    assert.equal(store.reader.readEarliest(), FIRST_KEPT);
    assert.deepEqual(await storedPages(store), reachablePages(store.reader, kept));
  } finally {
    await store.close();
  }
}

before(async () => {
  whole = folder.file("whole");
  await importLines(whole, longChain(BLOCKS, ACCOUNTS), {finalized: "last"});
  const service = await OwnService.start({db: whole});
  for (const block of ASKED) proofs.set(block, (await service.post(requestOf(block))).text);
  await service.stop();
});

test("while a service prunes, kept blocks are proved as before and pruned ones are -32001", async t => {
  const directory = await copyOf("served");
  const sizeBefore = await sizeOf(directory);
  const flags = ["--db", directory, "--workers", "1", "--estimate-workers", "1", ...HISTORY];
  const daemon = await OwnService.serve(flags, {estimates: true});
  try {
    let isOver = false;
    const pruned = daemon.waitForStderr(/"msg":"pruned"/).then(() => {
      isOver = true;
    });
    const counts = await askUntil(daemon, () => isOver);
    await pruned;
    t.diagnostic(`${counts.proved} proofs and ${counts.refused} refusals meanwhile`);
    assert.match(daemon.stderr, /pruning blocks that are not kept/);
    for (const block of ASKED) {
      const {text} = await daemon.post(requestOf(block));
      if (block >= FIRST_KEPT) assert.equal(text, proofs.get(block));
      else {
        const {error} = JSON.parse(text);
        assert.equal(error.code, -32001);
        assert.match(error.message, /is pruned/);
        const [earliest, finalized] = [FIRST_KEPT, LATEST].map(number => `0x${number.toString(16)}`);
        assert.deepEqual(error.data, {earliest, finalized, below: null, above: earliest});
        const entries = [{address: addressAt(1), storageKeys: []}];
        const multi = await daemon.call("chain_getMultiProof", [entries, `0x${block.toString(16)}`]);
        assert.deepEqual(multi.error, error);
        const leaves = await daemon.call("chain_getLeaves", [
          "accounts",
          "0x0",
          "0x1",
          `0x${block.toString(16)}`,
        ]);
        assert.deepEqual(leaves.error, error);
        const compared = [`0x${block.toString(16)}`, `0x${LATEST.toString(16)}`];
        for (const blocks of [compared, compared.toReversed()]) {
          const changes = await daemon.call("chain_getChanges", ["all", ...blocks, "0x0", "0x1"]);
          assert.deepEqual(changes.error, error);
        }
        const asBytes = await daemon.postAccepting("application/octet-stream", {
          ...{jsonrpc: "2.0", id: 1, method: "chain_getMultiProof"},
          params: [entries, `0x${block.toString(16)}`],
        });
        assert.deepEqual([asBytes.status, asBytes.type], [200, "application/json"]);
        assert.deepEqual(JSON.parse(asBytes.body.toString()).error, error);
      }
    }
    const tag = await daemon.call("chain_getStateRoot", ["earliest"]);
    assert.equal(Number(tag.result.number), FIRST_KEPT);
    assert.equal((await daemon.call("chain_getStateRoot", ["0x5"])).error.code, -32001);
    const call = {from: addressAt(1), to: addressAt(2)};
    assert.equal((await daemon.call("chain_estimateGas", [call, "0x5"])).error.code, -32001);
    for (const [method, asked] of [
      ["eth_call", call],
      ["eth_getBalance", call.to],
    ] as const) {
      const {error} = await daemon.call(method, [asked, "0x5"]);
      assert.equal(error.code, -32001);
      assert.match(error.message, /^block 0x5 is pruned/);
    }
    const coverage = (await daemon.call("chain_getCoverage")).result;
    assert.deepEqual(coverage.ranges, [[coverage.earliest, coverage.finalized]]);
    assert.equal(Number(coverage.earliest), FIRST_KEPT);
    assert.equal(await daemon.readMetric("proofd_pruned_blocks_total"), FIRST_KEPT);
    assert.equal(await daemon.readMetric("proofd_prune_backlog_blocks"), 0);
    assert.equal(await daemon.readMetric("proofd_prune_failed"), 0);
    assert.equal(await daemon.readMetric("proofd_damaged_records_total"), 0);
  } finally {
    await daemon.stop();
  }
  const sizeAfter = await sizeOf(directory);
  t.diagnostic(`${sizeBefore} bytes before, ${sizeAfter} after`);
  assert.ok(sizeAfter < sizeBefore / 3, `${sizeBefore} bytes before, ${sizeAfter} after`);
  await assertExact(directory);
});

test("a service that is killed again and again while it prunes ends with exactly the pages of the kept blocks", async t => {
  const directory = await copyOf("killed");
  let kills = 0;
  for (const pages of sampleOf([1500, 1, 1025, 4500, 2500], 5)) {
    const daemon = await startDaemon(["--db", directory, "--workers", "1", ...HISTORY]);
    try {
      // The last kill may have come when all was done: then there is nothing to begin.
      const isIdle = async () =>
        !/pruning blocks/.test(daemon.stderr) &&
        (await daemon.readMetric("proofd_prune_backlog_blocks")) === 0;
      const isDone = async () => /"msg":"pruned"/.test(daemon.stderr) || (await isIdle());
      const isFar = async () => (await daemon.readMetric("proofd_pruned_pages_total")) >= pages;
      await daemon.until(`${pages} pruned pages`, async () => (await isDone()) || (await isFar()));
      kills++;
    } finally {
      await daemon.stop("SIGKILL");
    }
  }
  t.diagnostic(`killed ${kills} times`);
  // It goes on with what it began although nothing is to be pruned now.
  const service = await OwnService.serve(["--db", directory, "--workers", "1"]);
  await service.engine.pruner?.idle();
  for (const block of ASKED.filter(asked => asked >= FIRST_KEPT))
    assert.equal((await service.post(requestOf(block))).text, proofs.get(block));
  await service.stop();
  await assertExact(directory);
  assert.deepEqual((await checkStore(directory)).found, []);
});

test("an import prunes too, skips blocks that are pruned, and refuses other blocks in their place", async () => {
  const directory = folder.file("imported");
  const lines = longChain(40, 3);
  const flags = ["import", "--db", directory, "--finalized", "last", "--history", "5"];
  const importThese = async (some: readonly DifferenceLine[]) => {
    await writeFile(folder.file("lines"), encodeLines(some));
    return runHere([...flags, "--allow-unverified", "--diffs", folder.file("lines")]);
  };
  const first = await importThese(lines.slice(0, 30));
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stdout, /the store has blocks 25 to 29.*; pruned 25 blocks, \d+ pages/);
  const second = await importThese(lines);
  assert.equal(second.code, 0, second.stderr);
  assert.match(second.stdout, /imported 10 blocks, 30 already in the store; the store has blocks 35 to 39/);
  const other = lines.map((line, at) => (at === 3 ? {...line, hash: `0x${"77".repeat(32)}`} : line));
  const third = await importThese(other);
  assert.equal(third.code, 1);
  assert.match(third.stderr, /block 3 has hash 0x7777/);
  assert.deepEqual((await checkStore(directory)).found, []);
  const rollback = await runHere(["rollback", "--db", directory, "--to", "3"]);
  assert.equal(rollback.code, 1);
  assert.match(rollback.stderr, /finalized/);
  const check = await runHere(["check", "--db", directory, "--block", "3"]);
  assert.equal(check.code, 1);
  assert.match(check.stdout + check.stderr, /block 3 is pruned/);
});
