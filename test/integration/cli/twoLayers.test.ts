/** Two real nodes: layer 2 is executed, layer 1 finalizes it, and the service is killed while both grow. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {setTimeout as pause} from "node:timers/promises";
import {decodeHex} from "../../../client/bytes/hex.ts";
import {sha256Suite} from "../../../client/hash/hashSuites.ts";
import {LiveChain} from "../../support/chains/liveChain.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import type {AskedService} from "../../support/http/askedService.ts";
import {waitForCoverage} from "../../support/http/followingDaemon.ts";
import {compareBlocks, compareState} from "../../support/http/liveComparison.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {Layer1} from "../../support/layer1/rollupContract.ts";
import {startDaemon} from "../../support/processes/daemon.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {verifyProof} from "../../support/reference/exactProof.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {importHere} from "../../support/stores/importedStore.ts";
import {readStoredRoots} from "../../support/stores/storedRoots.ts";
import {waitUntil} from "../../support/wait.ts";

/** `npm run test:soak` sets it. */
const KILLS = Number(process.env.FOLLOW_KILLS ?? 1);
/** About as long as the nodes need to grow, finalize and start again. */
const KILL_WITHIN_MS = 3000;

const folder = new WorkFolder();
let layer2: LiveChain | string;
let layer1: Layer1 | string = "layer 2 comes first";
let count = 0;
/** Finalized on layer 1, in order: the last block of each, its transaction and the root in the block's header. */
const finalizations: {readonly end: number; readonly transaction: string; readonly stateRoot: string}[] = [];

before(async () => {
  layer2 = await LiveChain.create(folder.path);
  if (layer2 instanceof LiveChain) layer1 = await Layer1.start();
  // The contract is final.
  if (layer1 instanceof Layer1) await layer1.settle();
});

after(async () => {
  if (layer1 instanceof Layer1) await layer1.stop();
  if (layer2 instanceof LiveChain) await layer2.stop();
});

function layersTest(title: string, body: (below: Layer1, above: LiveChain) => Promise<void>): void {
  test(title, async t => {
    if (typeof layer2 === "string") return notRun(t, layer2);
    if (typeof layer1 === "string") return notRun(t, layer1);
    return body(layer1, layer2);
  });
}

function newStore(): string {
  return folder.file(`layers${count++}.db`);
}

function flagsOf(db: string, below: Layer1, above: LiveChain): string[] {
  return [
    ...["--db", db, "--l2", above.anvil.url, "--genesis", above.genesisPath],
    ...["--l1", below.anvil.url, "--rollup", below.address],
  ];
}

/** Finalizes the blocks after the last finalization. */
async function finalizeTo(below: Layer1, above: LiveChain, end: number): Promise<void> {
  const before = finalizations.at(-1)?.end ?? 0;
  const [parent, {stateRoot}] = [await above.block(before), await above.block(end)];
  const [parentRoot, root] = [parent.stateRoot, stateRoot].map(hex => Buffer.from(hex.slice(2), "hex"));
  const {transactionHash} = await below.finalize(before + 1, end, parentRoot, root);
  await below.settle();
  finalizations.push({end, transaction: transactionHash, stateRoot});
}

function quantity(block: number): string {
  return `0x${block.toString(16)}`;
}

function waitForFinalized(daemon: AskedService, block: number): Promise<void> {
  return waitForCoverage(daemon, "finalized", quantity(block));
}

async function waitForBlock(daemon: AskedService, above: LiveChain, block: number): Promise<void> {
  const {hash} = await above.block(block);
  const read = () => daemon.call("chain_getStateRoot", [quantity(block)]);
  await waitUntil(`block ${block}`, async () => (await read()).result?.hash === hash);
}

/** All that layer 1 has finalized is listed, with the roots that the contract was given. */
async function compareFinalizations(daemon: AskedService): Promise<void> {
  const {result} = await daemon.call("chain_getFinalizations", ["0x0", "0x3e8"]);
  assert.deepEqual(
    result.map(({endBlock, l1}: {endBlock: string; l1: Record<string, string>}) => [endBlock, l1]),
    finalizations.map(({end, transaction, stateRoot}, at) => [
      quantity(end),
      {
        blockNumber: result[at].l1.blockNumber,
        transactionHash: transaction,
        stateRoot,
      },
    ]),
  );
}

layersTest("a block can be proved as soon as layer 1 finalizes it, step by step", async (below, above) => {
  const height = await above.grow(6);
  const daemon = await OwnService.serve(flagsOf(newStore(), below, above));
  try {
    await waitForBlock(daemon, above, height);
    for (const block of [3, height]) {
      const [[address, slots]] = [...above.touched].filter(([, {size}]) => size > 0) as [
        [string, Set<string>],
      ];
      const keys = [...slots];
      const early = await daemon.call("chain_getProof", [address, keys, quantity(block)]);
      assert.equal(early.error.code, -32002, JSON.stringify(early));
      await finalizeTo(below, above, block);
      await waitForFinalized(daemon, block);
      const {result, error} = await daemon.call("chain_getProof", [address, keys, quantity(block)]);
      assert.equal(error, undefined, JSON.stringify(error));
      const {result: root} = await daemon.call("chain_getStateRoot", [quantity(block)]);
      assert.equal(root.finalized, true);
      assert.equal(root.l1.transactionHash, finalizations.at(-1)?.transaction);
      const proven = verifyProof(sha256Suite, decodeHex(root.stateRoot), address, keys, result);
      assert.ok(proven.account !== undefined && proven.slots.some(value => value !== undefined));
      await compareState(daemon, above, block);
    }
    await compareFinalizations(daemon);
  } finally {
    await daemon.stop();
  }
});

layersTest("kill -9 at any moment, and both nodes started again, lose nothing", async (below, above) => {
  const db = newStore();
  for (let round = 0; round < KILLS; round++) {
    // Both put nodes of the state trie. Each is checked against the header of the next block.
    const source = round % 2 === 0 ? "execute" : "trace";
    const daemon = await startDaemon([...flagsOf(db, below, above), "--source", source], {tuning: {}});
    const growing = (async () => {
      await finalizeTo(below, above, await above.grow(3));
      await above.restart();
      await below.restart(folder.file("layer1-state.json"));
    })();
    await Promise.race([pause(Math.random() * KILL_WITHIN_MS), daemon.finished]);
    daemon.child.kill("SIGKILL");
    const {signal, stderr} = await daemon.finished;
    assert.equal(signal, "SIGKILL", stderr);
    assert.doesNotMatch(stderr, /finality has stopped|the import failed/);
    await growing;
  }
  const height = await above.grow(2);
  await finalizeTo(below, above, height);
  const daemon = await OwnService.serve(flagsOf(db, below, above));
  let roots: string[];
  try {
    await waitForFinalized(daemon, height);
    roots = await compareBlocks(daemon, above, height);
    await compareState(daemon, above, height);
    await compareFinalizations(daemon);
  } finally {
    await daemon.stop();
  }
  const undisturbed = newStore();
  const source = ["--l2", above.anvil.url, "--genesis", above.genesisPath];
  assert.ok((await importHere(["--db", undisturbed, ...source])).ok);
  assert.deepEqual(await readStoredRoots(undisturbed), roots);
  assert.deepEqual((await checkStore(db)).found, []);
});
