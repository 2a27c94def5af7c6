/** A node whose trie logs are followed: the same roots as those of the same chain's differences. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {toHex} from "../../../storage/hex.ts";
import type {DifferenceLine} from "../../support/chains/differenceLine.ts";
import {headLines} from "../../support/chains/headedLines.ts";
import type {LoggedBlock} from "../../support/chains/loggedBlock.ts";
import {createMixedLine} from "../../support/chains/mixedLines.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import type {AskedService} from "../../support/http/askedService.ts";
import {readReadiness, unverified, waitForMetric, waitForState} from "../../support/http/followingDaemon.ts";
import {readLog, waitForHash, withFollower} from "../../support/http/nodeFollower.ts";
import {logLines} from "../../support/nodes/trieLogLines.ts";
import {TrieLogNode} from "../../support/nodes/trieLogNode.ts";
import {importHere, importLines} from "../../support/stores/importedStore.ts";
import {readStoredRoots} from "../../support/stores/storedRoots.ts";

const FORK = 8;
/** An account that block 6 creates, and one that every block changes. */
const OWN = `0x${(1006).toString(16).padStart(40, "0")}`;
const ONE = `0x${"1".padStart(40, "0")}`;

/** Blocks 0 to `last`; from FORK on they are those of the branch. */
function createLines(last: number, branch: number): DifferenceLine[] {
  return Array.from({length: last + 1}, (_, n) => createMixedLine(n, n < FORK ? 0 : branch));
}

const folder = new WorkFolder();
let node: TrieLogNode;
let lines: DifferenceLine[];

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
async function importRoots(): Promise<string[]> {
  const db = folder.file("differences.db");
  await importLines(db, lines);
  return readStoredRoots(db);
}

function waitForLines(daemon: AskedService): Promise<void> {
  return waitForHash(daemon, lines.length - 1, lines.at(-1)?.hash);
}

test("a node that has trie logs only is followed through a reorganisation and a restart", async () => {
  ({node, lines} = await TrieLogNode.start(createLines(11, 0)));
  const flags = ["--db", folder.file("followed.db"), "--l2", node.url.href, "--finalized", "2"];
  await withFollower(flags, async daemon => {
    await waitForLines(daemon);
    assert.match(daemon.stderr, /"chosen":"trielogs","why":"the node answers shomei_getTrieLogsByRange"/);
    lines = await node.load(createLines(14, 1));
    await waitForLines(daemon);
    const [change] = readLog(
      daemon,
      "the node's chain was reorganised: the blocks above the common ancestor were removed, those of the new branch are read",
    );
    assert.deepEqual([change?.latest, change?.ancestor], [11, FORK - 1]);
    await waitForState(daemon, "following");
    assert.deepEqual(await readReadiness(daemon), [200, "ready\n"]);
  });
  lines = await node.load(createLines(17, 1));
  await withFollower([...flags, "--source", "trielogs"], async daemon => {
    await waitForLines(daemon);
    assert.deepEqual(await readRoots(daemon, 17), await importRoots());
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

test("a trie log that is not its block's is refused before its block is stored, with the block, both roots and the node", async () => {
  ({node, lines} = await TrieLogNode.start(createLines(7, 0)));
  for (const [what, spoil] of SPOILED) {
    const headers = await spoilLog(spoil);
    const outcome = await importHere(["--db", folder.file(`${what}.db`), "--l2", node.url.href]);
    const [expected, given] = [node.headers, headers].map(of => of[6]?.stateRoot);
    assert.equal(
      outcome.ok ? "" : outcome.message,
      `block 6: expected state root ${expected} as in its header, its changes give ${given}: the trie log of ` +
        `${node.url.origin} leaves out a change of this block, or has a wrong value. Nothing of the block is stored. ` +
        "Another kind of node or another source may have it",
    );
    assert.equal(outcome.head.latest, 5);
  }
  await node.stop();
});

test("without the state trie blocks are refused, or taken as unverified, and log, /readyz, coverage and proofs say so", async () => {
  ({node, lines} = await TrieLogNode.start(createLines(5, 0)));
  const db = folder.file("unverified.db");
  const {header: _, ...zero} = lines[0] as DifferenceLine;
  await importLines(db, [zero]);
  const flags = ["--db", db, "--l2", node.url.href, "--finality", "tag"];
  node.finalized = 4;
  const refused = await importHere(["--db", db, "--l2", node.url.href]);
  assert.ok(!refused.ok && refused.isFinal);
  assert.match(
    refused.message,
    /^block 1 is unverified: the store does not have the state trie\. --allow-unverified /,
  );
  await withFollower([...flags, "--allow-unverified"], async daemon => {
    await waitForLines(daemon);
    await waitForState(daemon, "following");
    await waitForMetric(daemon, 'proofd_head_block{which="finalized"} 4');
    assert.deepEqual(await readReadiness(daemon), [200, `ready\n${unverified(0, 5)}`]);
    const [line] = readLog(daemon, "blocks are unverified: no header or finalization commits to their state");
    assert.deepEqual([line?.block, line?.reason], [1, "the store does not have the state trie"]);
    assert.deepEqual((await daemon.call("chain_getCoverage")).result.unverified, ["0x0", "0x5"]);
    const {result} = await daemon.call("chain_getProofAt", [ONE, [], "0x4"]);
    assert.deepEqual([result.unverified, result.block.number], [true, "0x4"]);
  });
  const executed = await importHere(["--db", db, "--l2", node.url.href, "--source", "execute"]);
  assert.match(
    executed.ok ? "" : executed.message,
    /does not have the state trie of its newest block, 5, .*: continue with --source trace/,
  );
  await node.stop();
});
