/** `serve --finality l1`: what the rollup contract on a real layer 1 (anvil) says is finalized here. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {setTimeout as pause} from "node:timers/promises";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {rootOf} from "../../support/chains/finalityEvents.ts";
import {ACCOUNTS, createLines, hashOfBlock, WorkFolder} from "../../support/chains/serviceChain.ts";
import {answerCalls, Upstream} from "../../support/http/upstream.ts";
import {Layer1} from "../../support/layer1/rollupContract.ts";
import {type Daemon, startDaemon} from "../../support/processes/daemon.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {type ImportOptions, importLines} from "../../support/stores/importedStore.ts";

/** Time between two looks at a service. */
const LOOK_MS = 20;

let folder: WorkFolder;

before(async () => {
  folder = await WorkFolder.create();
});

after(() => folder.remove());

/** Blocks 0 to `last`, none finalized. @returns the store's folder */
async function importUnfinalized(name: string, last: number, options?: ImportOptions): Promise<string> {
  const db = folder.file(name);
  await importLines(db, createLines(0, last), options);
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
    await pause(LOOK_MS);
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

test("a finalization waits until its last block is held, and kill -9 meanwhile loses nothing", t =>
  withLayer1(t.skip.bind(t), async layer1 => {
    const db = await importUnfinalized("waits", 4);
    await layer1.finalize(1, 3);
    await layer1.finalize(4, 6);
    await layer1.finalize(7, 8);
    await layer1.settle();
    for (const signal of ["SIGKILL", "SIGTERM"] as const) {
      const daemon = await serveBeside(layer1, db, "--diffs", "-");
      try {
        await waitForFinalized(daemon, 3);
        await daemon.waitForStderr(/"block":6,.*a finalized block is not held yet/);
        assert.equal(await daemon.readMetric('proofd_finality_state{state="waiting"}'), 1);
        assert.equal(await daemon.readMetric("proofd_finality_known_block"), 8);
        const listed = await daemon.call("chain_getFinalizations", ["0x0"]);
        assert.equal(listed.result.length, 1);
        if (signal === "SIGKILL") continue;
        daemon.child.stdin.write(encodeLines(createLines(5, 6)));
        await waitForFinalized(daemon, 6);
        daemon.child.stdin.write(encodeLines(createLines(7, 9)));
        await waitForFinalized(daemon, 8);
        const {result} = await daemon.call("chain_getFinalizations", ["0x0"]);
        assert.deepEqual(
          result.map(({endBlock}: Record<string, string>) => endBlock),
          ["0x3", "0x6", "0x8"],
        );
      } finally {
        await daemon.stop(signal);
      }
    }
    assert.deepEqual((await checkStore(db)).found, []);
  }));

test("a layer 1 that contradicts itself stops finality, not serving; what was right before it counts", t =>
  withLayer1(t.skip.bind(t), async layer1 => {
    const db = await importUnfinalized("contradicts", 9);
    await layer1.finalize(1, 3);
    await layer1.finalize(4, 5, rootOf(3), rootOf(200));
    await layer1.finalize(6, 7);
    await layer1.settle();
    const daemon = await serveBeside(layer1, db);
    try {
      await waitForFinalized(daemon, 5);
      await daemon.waitForStderr(/up to block 7 .* follows state root 0x0606.* up to block 5, has 0xc9c9/);
      const ready = await daemon.get("/readyz");
      assert.equal(ready.status, 200);
      assert.match(ready.text, /^ready\nfinality has stopped: the finalization up to block 7/);
      assert.equal(await daemon.readMetric('proofd_finality_state{state="stopped"}'), 1);
      assert.ok((await daemon.call("chain_getProof", [ACCOUNTS[0], [], "0x5"])).result !== undefined);
      // It is asked again and again, and named once.
      await layer1.settle();
      const read = () => daemon.readMetric("proofd_layer1_final_block");
      const before = await read();
      await layer1.settle();
      while ((await read()) === before) await pause(LOOK_MS);
      assert.equal(daemon.stderr.match(/finality has stopped/g)?.length, 1);
    } finally {
      await daemon.stop();
    }
  }));

test("layer-1 blocks that were read and get another hash stop finality", t =>
  withLayer1(t.skip.bind(t), async layer1 => {
    const db = await importUnfinalized("reorganised", 9);
    const {anvil} = layer1;
    await layer1.finalize(1, 2);
    const snapshot = await anvil.request<string>("evm_snapshot");
    await layer1.settle();
    await layer1.finalize(3, 4);
    const daemon = await serveBeside(layer1, db, "--l1-depth", "0");
    try {
      await waitForFinalized(daemon, 4);
      await anvil.request("evm_revert", snapshot);
      await anvil.request("evm_increaseTime", 100);
      await layer1.settle();
      await layer1.finalize(3, 6);
      await daemon.waitForStderr(/layer-1 block \d+ had hash 0x\w+ when it was read, now it has 0x\w+/);
      assert.equal((await daemon.call("chain_getCoverage")).result.finalized, "0x4");
    } finally {
      await daemon.stop();
    }
  }));

test("a block that the layer-2 node has another one for is not finalized before its branch is held", t =>
  withLayer1(t.skip.bind(t), async layer1 => {
    const db = await importUnfinalized("branches", 9);
    await layer1.finalize(1, 4);
    await layer1.finalize(5, 8);
    await layer1.settle();
    // A node that is behind: nothing is removed for it. Its chain has been reorganised from block 6 on.
    const layer2 = new Upstream();
    let hashOf = (block: number) => hashOfBlock(block < 6 ? block : 100 + block);
    layer2.handler = ({call: {id, params}}, response) => {
      // A batch. Finality sends single calls.
      if (params === undefined) return void response.writeHead(500).end();
      const number = Number(params[0] === "latest" ? 5 : params[0]);
      const result = {
        number: `0x${number.toString(16)}`,
        hash: hashOf(number),
        parentHash: hashOf(number - 1),
      };
      response.writeHead(200, {"content-type": "application/json"});
      response.end(JSON.stringify({jsonrpc: "2.0", id, result}));
    };
    await layer2.start();
    t.after(() => layer2.stop());
    const daemon = await serveBeside(layer1, db, "--l2", layer2.url.href);
    try {
      await daemon.waitForStderr(
        /another branch: block 8 has hash 0x\w+ here, but 0x\w+ at the layer-2 node/,
      );
      assert.equal((await daemon.call("chain_getCoverage")).result.finalized, "0x4");
      hashOf = hashOfBlock;
      await waitForFinalized(daemon, 8);
    } finally {
      await daemon.stop();
    }
  }));

test("poseidon2: a contract's root that is not the one here stops finality before its block", t =>
  withLayer1(t.skip.bind(t), async layer1 => {
    const db = await importUnfinalized("poseidon2", 5, {suite: "poseidon2"});
    const daemon = await serveBeside(layer1, db);
    try {
      const root = async (block: number) => {
        const {result} = await daemon.call("chain_getStateRoot", [`0x${block}`]);
        return Buffer.from(result.stateRoot.slice(2), "hex");
      };
      await layer1.finalize(1, 2, await root(0), await root(2));
      await layer1.settle();
      await waitForFinalized(daemon, 2);
      const {result} = await daemon.call("chain_getStateRoot", ["0x2"]);
      assert.equal(result.l1.stateRoot, result.stateRoot);
      await layer1.finalize(3, 4, await root(2), await root(5));
      await layer1.settle();
      await daemon.waitForStderr(/up to block 4 .* has state root 0x\w+, but block 4 has 0x\w+ here/);
      assert.equal((await daemon.call("chain_getCoverage")).result.finalized, "0x2");
    } finally {
      await daemon.stop();
    }
  }));

test("ranges that a node refuses are split down to what it allows, and a contract without code is named", t =>
  withLayer1(t.skip.bind(t), async layer1 => {
    const db = await importUnfinalized("ranges", 9);
    const proxy = new Upstream();
    let widest = 0;
    // Refuses more than 7 blocks at once, as providers do.
    const refuse = answerCalls(() => ({error: {code: -32005, message: "query exceeds max block range 7"}}));
    proxy.handler = (request, response) => {
      const {call, body} = request;
      const query = [call].flat().find(({method}) => method === "eth_getLogs");
      const [filter] = (query?.params ?? []) as [{fromBlock: string; toBlock: string}?];
      const blocks = filter === undefined ? 0 : Number(filter.toBlock) - Number(filter.fromBlock) + 1;
      if (blocks > 7) {
        refuse(request, response);
        return;
      }
      response.writeHead(200, {"content-type": "application/json"});
      widest = Math.max(widest, blocks);
      void fetch(layer1.anvil.url, {method: "POST", headers: {"content-type": "application/json"}, body})
        .then(answer => answer.text())
        .then(text => response.end(text));
    };
    for (let end = 1; end <= 8; end++) {
      await layer1.finalize(end, end);
      await layer1.anvil.request("anvil_mine", "0x9");
    }
    await layer1.settle();
    await proxy.start();
    t.after(() => proxy.stop());
    const flags = ["--l1", proxy.url.href, "--finality-poll", "100"];
    const daemon = await startDaemon(["--db", db, ...flags, "--rollup", layer1.address]);
    try {
      await waitForFinalized(daemon, 8);
      assert.ok(widest > 1 && widest <= 7, `${widest} blocks at once`);
      assert.equal((await daemon.call("chain_getFinalizations")).result.length, 8);
    } finally {
      await daemon.stop();
    }
    const empty = `0x${"12".repeat(20)}`;
    const other = await startDaemon([
      "--db",
      await importUnfinalized("empty", 1),
      ...flags,
      "--rollup",
      empty,
    ]);
    try {
      await other.waitForStderr(/0x1212\w+ has no code at layer-1 block \d+: expected the rollup contract/);
    } finally {
      await other.stop();
    }
    const foreign = await startDaemon(["--db", db, ...flags, "--rollup", empty]);
    try {
      await foreign.waitForStderr(/are those of contract 0x\w+, not of --rollup 0x1212/);
      assert.equal((await foreign.call("chain_getCoverage")).result.finalized, "0x8");
    } finally {
      await foreign.stop();
    }
  }));

test("--l1-from above the newest final block is waited for, and no event before it counts", t =>
  withLayer1(t.skip.bind(t), async layer1 => {
    const db = await importUnfinalized("ahead", 9);
    const {blockNumber} = await layer1.finalize(1, 3);
    await layer1.settle();
    const from = Number(blockNumber) + 500;
    const daemon = await serveBeside(layer1, db, "--l1-from", String(from));
    try {
      const line = `events are read from layer-1 block ${from} on .*; waiting until layer 1 is final up to block ${from - 1}, now it is up to block \\d+"`;
      await daemon.waitForStderr(new RegExp(line));
      assert.equal(await daemon.readMetric('proofd_finality_state{state="waiting"}'), 1);
      await layer1.anvil.request("anvil_mine", "0x200");
      await layer1.finalize(4, 6);
      await layer1.settle();
      await waitForFinalized(daemon, 6);
      const {result} = await daemon.call("chain_getFinalizations", ["0x0"]);
      assert.equal(result.length, 1);
      assert.equal(daemon.stderr.match(/waiting until layer 1 is final/g)?.length, 1);
    } finally {
      await daemon.stop();
    }
  }));
