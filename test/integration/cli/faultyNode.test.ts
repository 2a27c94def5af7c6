/** Nodes that fail, lie, or are of another chain, and what a service that follows them makes of it. */
import assert from "node:assert/strict";
import {after, before} from "node:test";
import {LiveChain} from "../../support/chains/liveChain.ts";
import {createLiveTest} from "../../support/chains/liveTest.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {readReadiness, waitForHead, waitForMetric, waitForState} from "../../support/http/followingDaemon.ts";
import {compareBlocks} from "../../support/http/liveComparison.ts";
import {readLog, waitForChain, waitForHash, withFollower} from "../../support/http/nodeFollower.ts";
import {FaultyProxy} from "../../support/nodes/faultyProxy.ts";
import {Anvil} from "../../support/processes/anvil.ts";
import {type Daemon, runProofd} from "../../support/processes/daemon.ts";
import {readStoredRoots} from "../../support/stores/storedRoots.ts";

const FAILED = "the import failed; the service goes on with the blocks it has";
const RECOVERED = "the import continues after a failure";
/** A service without a finalized block is never ready. */
const TRACED = ["--source", "trace", "--finalized", "0"];
const WRONG = `0x${"63".padStart(64, "0")}`;

let folder: WorkFolder;
let chain: LiveChain | string;
let proxy: FaultyProxy;
let count = 0;

before(async () => {
  folder = await WorkFolder.create();
  chain = await LiveChain.create(folder.path);
  if (typeof chain === "string") return;
  await chain.grow(6);
  proxy = await FaultyProxy.start({target: chain.anvil.url, seed: 7, share: 0, delayMs: 20});
});

after(async () => {
  if (chain instanceof LiveChain) {
    await proxy.stop();
    await chain.stop();
  }
  await folder.remove();
});

function newStore(): string {
  return folder.file(`faulty${count++}.db`);
}

const liveTest = createLiveTest(() => chain);

function flagsOf(db: string, live: LiveChain, urls: readonly string[]): string[] {
  return ["--db", db, "--l2", urls.join(","), "--genesis", live.genesisPath];
}

/** State roots of an undisturbed import. */
async function importRoots(live: LiveChain): Promise<string[]> {
  const db = newStore();
  const {code, stderr} = await runProofd(["import", ...flagsOf(db, live, [live.anvil.url])]);
  assert.equal(code, 0, stderr);
  return readStoredRoots(db);
}

/** A node's states are logged when they change, and not at each failure. */
function assertNoRepetition(daemon: Daemon): void {
  const states = daemon.stderr
    .split("\n")
    .filter(line => line.includes('"node":"') && line.includes('"state":"'))
    .map(line => JSON.parse(line).state);
  assert.ok(states.includes("down"), states.join());
  for (const [at, state] of states.entries()) assert.notEqual(state, states[at - 1], states.join());
}

liveTest("after faults of every kind the roots are those of an undisturbed import", live => {
  proxy.share = 0.3;
  const flags = (source: string): string[] => [...flagsOf(newStore(), live, [proxy.url]), "--source", source];
  return withFollower(flags("execute"), executed =>
    withFollower(flags("trace"), async traced => {
      await live.grow(2);
      await live.reorganise(2, 1);
      for (const daemon of [executed, traced]) await daemon.waitForStderr(/"state":"down"/);
      proxy.share = 0;
      const latest = await waitForChain(executed, live);
      await waitForChain(traced, live);
      const roots = await importRoots(live);
      for (const daemon of [executed, traced]) {
        assert.deepEqual(await compareBlocks(daemon, live, latest), roots);
        assertNoRepetition(daemon);
      }
    }),
  );
});

/** What a trace says of each slot after a transaction becomes WRONG. */
function lieInTraces(method: string, result: unknown): unknown {
  if (method !== "debug_traceBlockByNumber") return result;
  const traces = structuredClone(result) as {
    readonly result: {readonly post: Readonly<Record<string, {storage?: Record<string, string>}>>};
  }[];
  for (const {result} of traces)
    for (const {storage} of Object.values(result.post))
      for (const slot of Object.keys(storage ?? {})) (storage as Record<string, string>)[slot] = WRONG;
  return traces;
}

const DIFFERENCE =
  "the audit found a wrong value: block \\d+: account 0x[0-9a-f]{40}: slot 0x[0-9a-f]{64} is 0x63 here, 0x[0-9a-f]+ at http://127\\.0\\.0\\.1:\\d+";

liveTest(
  "a node that lies in its traces is found out, its blocks are removed, and others are served on",
  live =>
    withFollower([...flagsOf(newStore(), live, [proxy.url]), ...TRACED], async daemon => {
      const sound = await waitForChain(daemon, live);
      await waitForState(daemon, "following");
      proxy.alter = lieInTraces;
      try {
        await live.grow(2);
        await waitForState(daemon, "failed");
        const [status, text] = await readReadiness(daemon);
        assert.equal(status, 503);
        assert.match(
          text,
          new RegExp(
            `^the import has failed: ${DIFFERENCE}; blocks? ${sound + 1} (to \\d+ were|was) removed\n$`,
          ),
        );
        await waitForMetric(daemon, "proofd_import_retries_total 2");
        await live.grow(1);
        await waitForHead(daemon, sound);
        await compareBlocks(daemon, live, sound);
        assert.equal((await readReadiness(daemon))[0], 503);
        assert.equal(readLog(daemon, FAILED).length, 1, daemon.stderr);
      } finally {
        proxy.alter = undefined;
      }
      const latest = await waitForChain(daemon, live);
      await waitForState(daemon, "following");
      await compareBlocks(daemon, live, latest);
      assert.deepEqual(await readReadiness(daemon), [200, "ready\n"]);
      assert.equal(readLog(daemon, RECOVERED).length, 1);
    }),
);

liveTest(
  "an import from a lying node fails and keeps block 0; nothing is finalized before its audit",
  async live => {
    const latest = await live.height();
    proxy.alter = lieInTraces;
    try {
      const run = (...flags: string[]) =>
        runProofd(["import", ...flagsOf(newStore(), live, [proxy.url]), "--source", "trace", ...flags]);
      const cases = [
        [[], "none is finalized"],
        [["--finalized", "last"], "finalized up to 0"],
        [["--finalized", "3"], "finalized up to 0"],
      ] as const;
      for (const [flags, finality] of cases) {
        const {code, stderr} = await run(...flags);
        assert.equal(code, 1, stderr);
        assert.match(stderr, new RegExp(`error: ${DIFFERENCE}; blocks 1 to ${latest} were removed\n`));
        assert.match(stderr, new RegExp(`blocks 0 to 0 are held, ${finality}`));
      }
      assert.equal((await run("--audit", "0")).code, 0);
    } finally {
      proxy.alter = undefined;
    }
  },
);

liveTest(
  "when the first node is down the second is followed, and nothing is removed for one that lags",
  async live => {
    const switched = await FaultyProxy.start({
      target: live.anvil.url,
      seed: 1,
      share: 0,
      faults: ["unavailable"],
    });
    const other = await live.copy();
    const common = await live.height();
    await withFollower(flagsOf(newStore(), live, [switched.url, other.url]), async daemon => {
      const latest = await live.grow(2);
      await waitForChain(daemon, live);
      switched.share = 1;
      await daemon.waitForStderr(new RegExp(`"node":"${other.url}","state":"up"`));
      assert.equal(await daemon.readMetric('proofd_head_block{which="latest"}'), latest);
      assert.doesNotMatch(daemon.stderr, /reorganised/);
      // The second node takes another way: it is the only one that answers, so its chain is followed, as a whole.
      await other.request("anvil_mine", "0x5");
      const theirs = await readHashes(other);
      await waitForHash(daemon, common + 5, theirs[common + 5]);
      assert.deepEqual(await readServed(daemon, common + 5), theirs);
      switched.share = 0;
      await live.grow(6);
      const grown = await waitForChain(daemon, live);
      await compareBlocks(daemon, live, grown);
    });
    await switched.stop();
    await other.stop();
  },
);

liveTest(
  "a first node that stands still does not hold the head back while another one is ahead",
  async live => {
    const other = await live.copy();
    await withFollower(flagsOf(newStore(), live, [other.url, live.anvil.url]), async daemon => {
      await live.grow(3);
      await compareBlocks(daemon, live, await waitForChain(daemon, live));
      await live.grow(2);
      await waitForChain(daemon, live);
    });
    await other.stop();
  },
);

liveTest("a node of another chain is not used", async live => {
  const other = await Anvil.start(["--chain-id", "99"]);
  assert.ok(typeof other !== "string");
  await other.request("anvil_mine", "0x20");
  await withFollower(flagsOf(newStore(), live, [other.url, live.anvil.url]), async daemon => {
    const latest = await waitForChain(daemon, live);
    await compareBlocks(daemon, live, latest);
    const [line] = readLog(daemon, "the node is not used");
    assert.equal(line?.node, other.url);
    assert.match(String(line?.reason), /chain 99, expected/);
    const [, text] = await readReadiness(daemon);
    assert.ok(text.includes(`the node ${other.url} is refused: it is a node of chain 99, expected`), text);
  });
  await other.stop();
});

/** By block. */
async function readHashes(anvil: Anvil): Promise<(string | undefined)[]> {
  const hashes: string[] = [];
  const latest = Number(await anvil.request<string>("eth_blockNumber"));
  for (let number = 0; number <= latest; number++) {
    const tag = `0x${number.toString(16)}`;
    hashes.push((await anvil.request<{readonly hash: string}>("eth_getBlockByNumber", tag, false)).hash);
  }
  return hashes;
}

async function readServed(daemon: Daemon, latest: number): Promise<(string | undefined)[]> {
  const hashes: string[] = [];
  for (let number = 0; number <= latest; number++)
    hashes.push((await daemon.call("chain_getStateRoot", [`0x${number.toString(16)}`])).result?.hash);
  return hashes;
}
