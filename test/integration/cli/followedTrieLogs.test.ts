/** A node whose trie logs are followed: the same roots as those of the same chain's differences, with each suite. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {SUITE_NAMES} from "../../../storage/hash/suiteNames.ts";
import type {DifferenceLine} from "../../support/chains/differenceLine.ts";
import {createMixedLine} from "../../support/chains/mixedLines.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {readReadiness, waitForMetric, waitForState} from "../../support/http/followingDaemon.ts";
import {readLog, waitForHash, withFollower} from "../../support/http/nodeFollower.ts";
import {TrieLogNode} from "../../support/nodes/trieLogNode.ts";
import {type Daemon, runProofd, startDaemon} from "../../support/processes/daemon.ts";
import {importLines} from "../../support/stores/importedStore.ts";
import {readStoredRoots} from "../../support/stores/storedRoots.ts";

const FORK = 8;

/** Blocks 0 to `last`; from FORK on they are those of the branch. */
function createLines(last: number, branch: number): DifferenceLine[] {
  return Array.from({length: last + 1}, (_, n) => createMixedLine(n, n < FORK ? 0 : branch));
}

let folder: WorkFolder;
let node: TrieLogNode;
let lines: DifferenceLine[];
before(async () => {
  folder = await WorkFolder.create();
});
after(() => folder.remove());

async function readRoots(daemon: Daemon, latest: number): Promise<string[]> {
  const roots: string[] = [];
  for (let number = 0; number <= latest; number++) {
    const {result, error} = await daemon.call("chain_getStateRoot", [`0x${number.toString(16)}`]);
    assert.equal(error, undefined, JSON.stringify(error));
    assert.equal(result.hash, lines[number]?.hash);
    roots.push(result.stateRoot);
  }
  return roots;
}

/** Of the same chain, imported as differences. */
async function importRoots(suite: string): Promise<string[]> {
  const db = folder.file(`${suite}-differences.db`);
  await importLines(db, lines, {suite});
  return readStoredRoots(db);
}

function waitForLines(daemon: Daemon): Promise<void> {
  return waitForHash(daemon, lines.length - 1, lines.at(-1)?.hash);
}

for (const suite of SUITE_NAMES)
  test(`${suite}: a node that has trie logs only is followed through a reorganisation and a restart`, async () => {
    ({node, lines} = await TrieLogNode.start(createLines(11, 0)));
    const flags = ["--db", folder.file(`${suite}.db`), "--l2", node.url.href, "--finalized", "2"];
    await withFollower([...flags, "--suite", suite], async daemon => {
      await waitForLines(daemon);
      assert.match(daemon.stderr, /"chosen":"trielogs","why":"the node answers shomei_getTrieLogsByRange"/);
      lines = await node.load(createLines(14, 1));
      await waitForLines(daemon);
      const [change] = readLog(
        daemon,
        "the node's chain was reorganised: the blocks above the common ancestor were removed, those of the new branch come now",
      );
      assert.deepEqual([change?.latest, change?.ancestor], [11, FORK - 1]);
      await waitForState(daemon, "following");
      assert.deepEqual(await readReadiness(daemon), [200, "ready\n"]);
    });
    lines = await node.load(createLines(17, 1));
    await withFollower([...flags, "--source", "trielogs"], async daemon => {
      await waitForLines(daemon);
      assert.deepEqual(await readRoots(daemon, 17), await importRoots(suite));
    });
    await node.stop();
  });

test("trie logs with other values than the node's state are found out, and the blocks are removed", async () => {
  ({node, lines} = await TrieLogNode.start(createLines(5, 0)));
  const flags = ["--db", folder.file("lied.db"), "--l2", node.url.href, "--finalized", "0"];
  await withFollower(flags, async daemon => {
    await waitForLines(daemon);
    await waitForState(daemon, "following");
    // Of the values that are asked for, slots alone are words.
    node.changeState = value => (value.length === 66 ? `0x${"63".padStart(64, "0")}` : value);
    lines = await node.load(createLines(6, 0));
    await waitForState(daemon, "failed");
    const [status, text] = await readReadiness(daemon);
    assert.equal(status, 503);
    assert.match(
      text,
      /block 6: account 0x[0-9a-f]{40}: slot 0x[0-9a-f]{64} is 0x\d+ here, 0x63 at .*; block 6 was removed\n$/,
    );
    node.changeState = value => value;
    await waitForLines(daemon);
    await waitForState(daemon, "following");
  });
  await node.stop();
});

test("nothing is finalized before its audit, not even after kill -9, and the next start makes up for the audit", async () => {
  ({node, lines} = await TrieLogNode.start(createLines(2, 0)));
  const db = folder.file("unaudited.db");
  const flags = ["--db", db, "--l2", node.url.href, "--finality", "tag", "--finality-poll", "100"];
  const readFinalized = async (daemon: Daemon) => (await daemon.call("chain_getCoverage")).result?.finalized;
  const lie = (value: string): string => (value.length === 66 ? `0x${"63".padStart(64, "0")}` : value);
  let open = (): void => {};
  node.finalized = 2;
  const daemon = await startDaemon(flags);
  try {
    await waitForLines(daemon);
    await waitForMetric(daemon, 'proofd_head_block{which="finalized"} 2');
    node.stateGate = new Promise(resolve => {
      open = resolve;
    });
    node.finalized = 5;
    lines = await node.load(createLines(5, 0));
    await waitForLines(daemon);
    await waitForMetric(daemon, "proofd_finality_known_block 5");
    const refused = await runProofd(["finalize", "--db", db, "--to", "4"]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /block 4 has not passed its audit yet: blocks up to 2 have/);
    assert.equal(await readFinalized(daemon), "0x2");
  } finally {
    await daemon.stop("SIGKILL");
  }
  node.changeState = lie;
  open();
  await withFollower(flags, async daemon => {
    await waitForState(daemon, "failed");
    assert.match((await readReadiness(daemon))[1], /; blocks 3 to 5 were removed\n$/);
    assert.equal(await readFinalized(daemon), "0x2");
    node.changeState = value => value;
    await waitForLines(daemon);
    await waitForMetric(daemon, 'proofd_head_block{which="finalized"} 5');
  });
  await node.stop();
});
