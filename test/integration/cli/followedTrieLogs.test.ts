/** A node whose trie logs are followed: the same roots as those of the same chain's differences, with each suite. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {setTimeout as pause} from "node:timers/promises";
import type {LoggedBlock} from "../../../bench/chains/loggedBlock.ts";
import {sendOrder} from "../../../server/control/controlClient.ts";
import {SUITE_NAMES} from "../../../storage/hash/suiteNames.ts";
import {toHex} from "../../../storage/hex.ts";
import type {DifferenceLine} from "../../support/chains/differenceLine.ts";
import {headLines} from "../../support/chains/headedLines.ts";
import {createMixedLine} from "../../support/chains/mixedLines.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import type {AskedService} from "../../support/http/askedService.ts";
import {readReadiness, UNVERIFIED, waitForMetric, waitForState} from "../../support/http/followingDaemon.ts";
import {readLog, waitForHash, withFollower} from "../../support/http/nodeFollower.ts";
import {logLines} from "../../support/nodes/trieLogLines.ts";
import {TrieLogNode} from "../../support/nodes/trieLogNode.ts";
import {startDaemon} from "../../support/processes/daemon.ts";
import {importHere, importLines, importSource} from "../../support/stores/importedStore.ts";
import {readStoredRoots} from "../../support/stores/storedRoots.ts";

/** Time between two looks at a service. */
const LOOK_MS = 20;
const FORK = 8;
/** An account that block 6 creates, and one that every block changes. */
const OWN = `0x${(1006).toString(16).padStart(40, "0")}`;
const ONE = `0x${"1".padStart(40, "0")}`;
/** The contract of EIP-2935. */
const BLOCK_HASHES = "0x0000f90827f1c53a10cb7a02335b175320002935";
/** The contract of EIP-7002. */
const WITHDRAWAL_REQUESTS = "0x00000961ef480eb55e80d19ad83579a64c007002";

/** Blocks 0 to `last`; from FORK on they are those of the branch. */
function createLines(last: number, branch: number): DifferenceLine[] {
  return Array.from({length: last + 1}, (_, n) => createMixedLine(n, n < FORK ? 0 : branch));
}

let folder: WorkFolder;
let node: TrieLogNode;
let lines: DifferenceLine[];
let stores = 0;
before(async () => {
  folder = await WorkFolder.create();
});
after(() => folder.remove());

async function readRoots(daemon: AskedService, latest: number): Promise<string[]> {
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

function waitForLines(daemon: AskedService): Promise<void> {
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

const SPOILED: readonly (readonly [what: string, spoil: (accounts: DifferenceLine["accounts"]) => void])[] = [
  ["without an account", accounts => void delete accounts[OWN]],
  ["without a slot", accounts => void delete accounts[ONE]?.storage?.["0x7"]],
  ["with a wrong balance", accounts => Object.assign(accounts[OWN] as object, {balance: "0x63"})],
  ["of the block before", accounts => Object.assign(accounts, createMixedLine(5).accounts)],
];

/** The node's trie log of block 6 is that of a block whose changes `spoil` has changed. @returns its headers */
async function spoilLog(spoil: (accounts: DifferenceLine["accounts"]) => void) {
  const spoiled = structuredClone(lines);
  spoil((spoiled[6] as DifferenceLine).accounts);
  const {headers} = await headLines(spoiled);
  const changed = await logLines(JSON.parse(JSON.stringify(spoiled)));
  const trieLog = toHex((changed[6] as LoggedBlock).trieLog);
  node.changeLogs = logs => logs.map(log => (log.blockNumber === 6 ? {...log, trieLog} : log));
  return headers;
}

function importLogs(db: string) {
  return importSource(db, {
    kind: "node",
    source: "trielogs",
    nodes: {urls: [node.url.href], headers: {}, timeoutMs: 10_000, maxAnswerBytes: 1 << 26},
    subscriptions: [],
    surveyAfterMs: 0,
    genesisPath: undefined,
    follow: false,
    audit: 64,
    to: undefined,
  });
}

for (const [what, spoil] of SPOILED)
  test(`a trie log ${what} is refused before its block is stored, with the block, both roots and the node`, async () => {
    ({node, lines} = await TrieLogNode.start(createLines(7, 0)));
    try {
      const headers = await spoilLog(spoil);
      const outcome = await importLogs(folder.file(`refused${++stores}.db`));
      assert.ok(!outcome.ok);
      const [expected, given] = [node.headers, headers].map(of => of[6]?.stateRoot);
      assert.equal(
        outcome.message,
        `block 6: expected state root ${expected} as in its header, its changes give ${given}: the trie log of ` +
          `${node.url.origin} leaves out a change of this block, or has a wrong value. Nothing of the block is stored`,
      );
      assert.equal(outcome.head.latest, 5);
    } finally {
      await node.stop();
    }
  });

/** A store whose block 0 came without a header does not hold the state trie, so its blocks are audited. */
async function makeStoreWithoutTrie(db: string): Promise<void> {
  const {header: _, ...zero} = lines[0] as DifferenceLine;
  await importLines(db, [zero]);
}

test("without the state trie, what transactions, EIP-2935 and EIP-7002 touch is audited too, so a trie log that omits it is found out", async () => {
  const chain = createLines(6, 0);
  for (const [contract, slot] of [
    [BLOCK_HASHES, "0x5"],
    [WITHDRAWAL_REQUESTS, "0x3"],
  ] as const) {
    (chain[0] as DifferenceLine).accounts[contract] = {nonce: "0x1", code: "0x6001"};
    (chain[6] as DifferenceLine).accounts[contract] = {storage: {[slot]: "0x7"}};
  }
  ({node, lines} = await TrieLogNode.start(chain));
  try {
    for (const [omitted, found] of [
      [OWN, /^the audit found a wrong value: block 6: account 0x0+3ee: balance is 0 here, 7 at /],
      [BLOCK_HASHES, /: block 6: account 0x0000f908.*: slot 0x0+5 is 0x0 here, 0x7 at .*; block.* removed$/],
      [WITHDRAWAL_REQUESTS, /: block 6: account 0x00000961.*: slot 0x0+3 is 0x0 here, 0x7 at .*$/],
    ] as const) {
      const db = folder.file(`omitted${++stores}.db`);
      await makeStoreWithoutTrie(db);
      node.transactions = [{hash: lines[0]?.hash, from: ONE, to: OWN}];
      await spoilLog(accounts => void delete accounts[omitted]);
      const outcome = await importLogs(db);
      assert.match(outcome.ok ? "" : outcome.message, found);
      assert.equal(outcome.head.latest, 0);
    }
  } finally {
    await node.stop();
  }
});

test("without the state trie, wrong values are found out by an audit, and the blocks are removed", async () => {
  ({node, lines} = await TrieLogNode.start(createLines(5, 0)));
  const db = folder.file("lied.db");
  await makeStoreWithoutTrie(db);
  const flags = ["--db", db, "--l2", node.url.href, "--finalized", "0"];
  await withFollower(flags, async daemon => {
    await waitForLines(daemon);
    await waitForState(daemon, "following");
    assert.deepEqual(await readReadiness(daemon), [200, `ready\n${UNVERIFIED}`]);
    const [line] = readLog(daemon, "blocks are unverified: no header vouches for their state");
    assert.deepEqual([line?.block, line?.reason], [1, "the store does not hold the state trie"]);
    // Of the values that are asked for, slots alone are words.
    node.changeState = value => (value.length === 66 ? `0x${"63".padStart(64, "0")}` : value);
    lines = await node.load(createLines(6, 0));
    await waitForState(daemon, "failed");
    const [status, text] = await readReadiness(daemon);
    assert.equal(status, 503);
    assert.match(
      text,
      /block 6: account 0x[0-9a-f]{40}: slot 0x[0-9a-f]{64} is 0x\d+ here, 0x63 at .*; block 6 was removed\n/,
    );
    node.changeState = value => value;
    await waitForLines(daemon);
    await waitForState(daemon, "following");
  });
  const refused = await importHere(["--db", db, "--l2", node.url.href, "--source", "execute"]);
  assert.match(
    refused.ok ? "" : refused.message,
    /does not hold the state trie of its newest block, 6, .*: go on with --source trace/,
  );
  await node.stop();
});

test("no block is shown or finalized before its audit, not even after kill -9, and the next start makes up for it", async () => {
  ({node, lines} = await TrieLogNode.start(createLines(2, 0)));
  const db = folder.file("unaudited.db");
  await makeStoreWithoutTrie(db);
  const flags = ["--db", db, "--l2", node.url.href, "--finality", "tag"];
  const readFinalized = async (daemon: AskedService) =>
    (await daemon.call("chain_getCoverage")).result?.finalized;
  const lie = (value: string): string => (value.length === 66 ? `0x${"63".padStart(64, "0")}` : value);
  let open = (): void => {};
  node.finalized = 2;
  const daemon = await startDaemon(flags, {tuning: {}});
  try {
    await waitForLines(daemon);
    await waitForMetric(daemon, 'proofd_head_block{which="finalized"} 2');
    node.stateGate = new Promise(resolve => {
      open = resolve;
    });
    node.finalized = 5;
    lines = await node.load(createLines(5, 0));
    await waitForMetric(daemon, "proofd_finality_known_block 5");
    for (;;) {
      const refused = await sendOrder(db, {kind: "finalize", to: 5});
      assert.ok(!refused.ok);
      if (/block 5 has not passed its audit yet: blocks up to 2 have/.test(refused.message)) break;
      assert.match(refused.message, /block 5 is not held/);
      await pause(LOOK_MS);
    }
    for (const block of ["0x3", "0x5", {blockHash: lines[5]?.hash}])
      assert.equal((await daemon.call("chain_getStateRoot", [block])).error?.code, -32001);
    assert.equal((await daemon.call("chain_getStateRoot")).result?.number, "0x2");
    assert.equal(await readFinalized(daemon), "0x2");
  } finally {
    await daemon.stop("SIGKILL");
  }
  node.changeState = lie;
  open();
  await withFollower(flags, async daemon => {
    await waitForState(daemon, "failed");
    const [dropped] = readLog(
      daemon,
      "blocks that still awaited their audit were removed; they are read again",
    );
    assert.deepEqual([dropped?.first, dropped?.last], [3, 5]);
    assert.match((await readReadiness(daemon))[1], /; blocks 3 to 5 were removed\n/);
    assert.equal(await readFinalized(daemon), "0x2");
    node.changeState = value => value;
    await waitForLines(daemon);
    await waitForMetric(daemon, 'proofd_head_block{which="finalized"} 5');
  });
  await node.stop();
});
