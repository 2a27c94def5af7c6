/** `serve --finality l1`: what the rollup contract on a real layer 1 (anvil) says is finalized here. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {rootOf} from "../../support/chains/finalityEvents.ts";
import {createLines, WorkFolder} from "../../support/chains/serviceChain.ts";
import {Layer1} from "../../support/layer1/rollupContract.ts";
import {type Daemon, runProofd, startDaemon} from "../../support/processes/daemon.ts";

let folder: WorkFolder;

before(async () => {
  folder = await WorkFolder.create();
});

after(() => folder.remove());

/** Blocks 0 to `last`, none finalized. @returns the store's folder */
async function importUnfinalized(name: string, last: number, ...args: readonly string[]): Promise<string> {
  const db = folder.file(name);
  const input = encodeLines(createLines(0, last));
  const {code, stderr} = await runProofd(["import", "--db", db, "--diffs", "-", ...args], {input});
  assert.equal(code, 0, stderr);
  return db;
}

function serveBeside(layer1: Layer1, db: string, ...args: readonly string[]): Promise<Daemon> {
  const flags = ["--l1", layer1.anvil.url, "--rollup", layer1.address, "--finality-poll", "100"];
  return startDaemon(["--db", db, ...flags, ...args]);
}

async function withLayer1(
  skip: (reason: string) => void,
  work: (layer1: Layer1) => Promise<void>,
): Promise<void> {
  const layer1 = await Layer1.start();
  if (typeof layer1 === "string") return skip(layer1);
  try {
    await work(layer1);
  } finally {
    await layer1.stop();
  }
}

/** Waits until blocks up to `block` are finalized. */
async function waitForFinalized(daemon: Daemon, block: number): Promise<void> {
  const expected = `0x${block.toString(16)}`;
  for (;;) {
    const {finalized} = (await daemon.call("chain_getCoverage")).result ?? {};
    if (finalized === expected) return;
    assert.ok(finalized === null || finalized === undefined || Number(finalized) < block, `${finalized}`);
  }
}

function hex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString("hex")}`;
}

test("events of both kinds finalize their blocks once layer 1 is final, and a restart goes on there", t =>
  withLayer1(t.skip.bind(t), async layer1 => {
    const db = await importUnfinalized("steps", 12);
    await layer1.finalizeOld(1, 2);
    const first = await layer1.finalize(3, 4);
    await layer1.settle();
    let daemon = await serveBeside(layer1, db);
    try {
      await waitForFinalized(daemon, 4);
      const second = await layer1.finalize(5, 7);
      await layer1.settle();
      await waitForFinalized(daemon, 7);
      const {result} = await daemon.call("chain_getStateRoot", ["0x7"]);
      assert.equal(result.finalized, true);
      assert.deepEqual(result.l1, {
        blockNumber: second.blockNumber,
        transactionHash: second.transactionHash,
        stateRoot: hex(rootOf(7)),
      });
      assert.equal((await daemon.call("chain_getStateRoot", ["0x6"])).result.l1, undefined);
      assert.match(daemon.stderr, /"msg":"finalized on layer 1"/);
    } finally {
      await daemon.stop();
    }
    await layer1.finalize(8, 9);
    await layer1.settle();
    daemon = await serveBeside(layer1, db);
    try {
      await waitForFinalized(daemon, 9);
      const {result} = await daemon.call("chain_getFinalizations", ["0x3", "0x2"]);
      assert.deepEqual(
        result.map(({startBlock, endBlock}: Record<string, string>) => [startBlock, endBlock]),
        [
          ["0x3", "0x4"],
          ["0x5", "0x7"],
        ],
      );
      assert.equal(result[0].l1.transactionHash, first.transactionHash);
    } finally {
      await daemon.stop("SIGKILL");
    }
  }));
