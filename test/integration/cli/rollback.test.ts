/** `proofd rollback` while another proofd serves and imports: unfinalized blocks go, and the import takes other ones. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {decodeHex} from "../../../client/bytes/hex.ts";
import {sha256Suite} from "../../../client/hash/hashSuites.ts";
import {type DifferenceLine, encodeLines} from "../../support/chains/differenceLine.ts";
import {
  ACCOUNTS,
  createLine,
  createLines,
  hashOfBlock,
  WorkFolder,
} from "../../support/chains/serviceChain.ts";
import {waitForHead} from "../../support/http/followingDaemon.ts";
import {type Daemon, type Finished, runProofd, startDaemon} from "../../support/processes/daemon.ts";
import {verifyProof} from "../../support/reference/exactProof.ts";

/** Its balance tells the branches apart: rich in the first one's blocks, poor in the other's. */
const ACCOUNT = ACCOUNTS[0] as string;
const RICH = "0x1000000";
const POOR = "0x10";
const RULES = ["--hardfork", "prague", "--chain-id", "1337"];

let folder: WorkFolder;

before(async () => {
  folder = await WorkFolder.create();
});

after(() => folder.remove());

/** Block `number` of the first branch, with `balance` for ACCOUNT. */
function withBalance(number: number, balance: string): DifferenceLine {
  const line = createLine(number);
  return {...line, accounts: {...line.accounts, [ACCOUNT]: {balance}}};
}

/** Block `number` of the branch that leaves the first one after block 3. */
function otherLine(number: number): DifferenceLine {
  const hashOf = (block: number): string => (block > 3 ? hashOfBlock(1000 + block) : hashOfBlock(block));
  return {
    ...withBalance(number, POOR),
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    timestamp: `0x${(1_800_000_000 + number).toString(16)}`,
  };
}

function rollback(db: string, to: number, ...flags: readonly string[]): Promise<Finished> {
  return runProofd(["rollback", "--db", db, "--to", String(to), ...flags]);
}

/** Serves what is written to its standard input: blocks 0 to 5, finalized up to 2. */
async function startBranch(name: string): Promise<{daemon: Daemon; db: string}> {
  const db = folder.file(name);
  const daemon = await startDaemon(["--db", db, "--diffs", "-", ...RULES], {estimates: true});
  const lines = [...createLines(0, 2), createLine(3, 2), withBalance(4, RICH), withBalance(5, RICH)];
  daemon.child.stdin.write(encodeLines(lines));
  await waitForHead(daemon, 5);
  return {daemon, db};
}

/** @returns undefined, or why it fails */
async function estimateTransfer(daemon: Daemon, block: string): Promise<string | undefined> {
  const call = {from: ACCOUNT, to: ACCOUNTS[1], value: "0x10000"};
  return (await daemon.call("chain_estimateGas", [call, block])).error?.message;
}

test("after a rollback nothing of the blocks that went is served under their numbers", async () => {
  const {daemon, db} = await startBranch("served");
  try {
    assert.equal(await estimateTransfer(daemon, "0x5"), undefined);
    const gone = (await daemon.call("chain_getStateRoot", ["0x5"])).result;
    assert.equal(await daemon.readMetric("proofd_head_timestamp_seconds"), 1_700_000_005);

    const {code, stdout, stderr} = await rollback(db, 3);
    assert.equal(stdout, "rolled back from block 5 to block 3\n", stderr);
    assert.equal(code, 0);
    assert.match(daemon.stderr, /"msg":"proofd rollback"/);
    const coverage = (await daemon.call("chain_getCoverage")).result;
    assert.deepEqual([coverage.latest, coverage.finalized], ["0x3", "0x2"]);
    assert.equal((await daemon.call("chain_getStateRoot", ["0x4"])).error.code, -32001);
    assert.equal((await daemon.call("chain_getStateRoot", [{blockHash: gone.hash}])).error.code, -32001);
    assert.equal(await daemon.readMetric("proofd_head_timestamp_seconds"), 1_700_000_003);

    // Block 3 again: it is held.
    daemon.child.stdin.write(encodeLines([createLine(3), otherLine(4), otherLine(5)]));
    await waitForHead(daemon, 5);
    assert.equal(await daemon.readMetric("proofd_head_timestamp_seconds"), 1_800_000_005);
    for (const block of ["0x4", "0x5", "latest"])
      assert.match((await estimateTransfer(daemon, block)) ?? "", /^insufficient funds for transfer/);
    const root = (await daemon.call("chain_getStateRoot", ["0x5"])).result;
    assert.notEqual(root.stateRoot, gone.stateRoot);

    daemon.child.stdin.write(encodeLines([{...otherLine(6), finalized: "0x5"}]));
    await waitForHead(daemon, 6);
    const {block, proof} = (await daemon.call("chain_getProofAt", [ACCOUNT, [], "0x5"])).result;
    assert.deepEqual(block, {...root, finalized: true});
    const {account} = verifyProof(sha256Suite, decodeHex(root.stateRoot), ACCOUNT, [], proof);
    assert.equal(account?.balance, BigInt(POOR));
  } finally {
    assert.equal((await daemon.stop()).code, 0);
  }
});

test("what is finalized or not held is refused, and the import goes on", async () => {
  const {daemon, db} = await startBranch("refused");
  try {
    for (const [to, message] of [
      [1, /cannot roll back to block 1: blocks up to 2 are finalized/],
      [6, /cannot roll back to block 6: block 6 is not held/],
    ] as const) {
      const {code, stdout, stderr} = await rollback(db, to);
      assert.match(stderr, message);
      assert.deepEqual([code, stdout], [1, ""]);
    }
    daemon.child.stdin.write(encodeLines([createLine(6)]));
    await waitForHead(daemon, 6);
    const {stderr, code} = await rollback(db, 1, "--finalized");
    assert.match(stderr, /another process/);
    assert.equal(code, 1);
  } finally {
    assert.equal((await daemon.stop()).code, 0);
  }
  assert.equal((await rollback(db, 1, "--finalized")).stdout, "rolled back from block 6 to block 1\n");
});

test("an import whose source does not go on after the block that is the newest now says which one is expected", async () => {
  const {daemon, db} = await startBranch("gap");
  try {
    assert.equal((await rollback(db, 4)).code, 0);
    daemon.child.stdin.write(encodeLines([createLine(6)]));
    await daemon.waitForStderr(/expected block 5 next, got block 6/);
    // The import has ended: the server does it itself.
    assert.equal((await rollback(db, 2)).stdout, "rolled back from block 4 to block 2\n");
    assert.equal((await daemon.call("chain_getCoverage")).result.latest, "0x2");
  } finally {
    assert.equal((await daemon.stop()).code, 0);
  }
});
