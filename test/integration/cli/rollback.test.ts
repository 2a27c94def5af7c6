/** `proofd rollback` while another proofd serves and imports: unfinalized blocks go, and the import takes other ones. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {decodeHex} from "../../../client/bytes/hex.ts";
import {sha256Suite} from "../../../client/hash/hashSuites.ts";
import {sendCommand} from "../../../server/lifecycle/control/controlClient.ts";
import {type DifferenceLine, encodeLines} from "../../support/chains/differenceLine.ts";
import {
  ACCOUNTS,
  createLine,
  createLines,
  hashOfBlock,
  WorkFolder,
} from "../../support/chains/serviceChain.ts";
import {waitForHead} from "../../support/http/followingDaemon.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {runProofd} from "../../support/processes/daemon.ts";
import {runHere} from "../../support/processes/ownCommand.ts";
import {verifyProof} from "../../support/reference/exactProof.ts";

/** Its balance tells the branches apart: rich in the first one's blocks, poor in the other's. */
const ACCOUNT = ACCOUNTS[0] as string;
const RICH = "0x1000000";
const POOR = "0x10";
const ESTIMATING = ["--hardfork", "prague", "--estimate-workers", "1"];

const folder = new WorkFolder();

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

/** Serves what is written to its standard input: blocks 0 to 5, finalized up to 2. */
async function startBranch(
  name: string,
  {estimates = false} = {},
): Promise<{daemon: OwnService; db: string}> {
  const db = folder.file(name);
  const flags = ["--chain-id", "1337", "--workers", "1", ...(estimates ? ESTIMATING : [])];
  const daemon = await OwnService.fed(db, flags, {estimates});
  const lines = [...createLines(0, 2), createLine(3, 2), withBalance(4, RICH), withBalance(5, RICH)];
  daemon.input.write(encodeLines(lines));
  await waitForHead(daemon, 5);
  return {daemon, db};
}

/** @returns undefined, or why it fails */
async function estimateTransfer(daemon: OwnService, block: string): Promise<string | undefined> {
  const call = {from: ACCOUNT, to: ACCOUNTS[1], value: "0x10000"};
  return (await daemon.call("chain_estimateGas", [call, block])).error?.message;
}

test("after a rollback nothing of the blocks that went is served under their numbers", async t => {
  const {daemon, db} = await startBranch("served", {estimates: true});
  t.after(() => daemon.stop());
  assert.equal(await estimateTransfer(daemon, "0x5"), undefined);
  const gone = (await daemon.call("chain_getStateRoot", ["0x5"])).result;
  assert.equal(await daemon.readMetric("proofd_head_timestamp_seconds"), 1_700_000_005);

  const {code, stdout, stderr} = await runProofd(["rollback", "--db", db, "--to", "3"]);
  assert.equal(stdout, "rolled back from block 5 to block 3\n", stderr);
  assert.equal(code, 0);
  assert.match(daemon.stderr, /"msg":"proofd rollback"/);
  const coverage = (await daemon.call("chain_getCoverage")).result;
  assert.deepEqual([coverage.latest, coverage.finalized], ["0x3", "0x2"]);
  assert.equal((await daemon.call("chain_getStateRoot", ["0x4"])).error.code, -32001);
  assert.equal((await daemon.call("chain_getStateRoot", [{blockHash: gone.hash}])).error.code, -32001);
  assert.equal(await daemon.readMetric("proofd_head_timestamp_seconds"), 1_700_000_003);

  // Block 3 again: it is held.
  daemon.input.write(encodeLines([createLine(3), otherLine(4), otherLine(5)]));
  await waitForHead(daemon, 5);
  assert.equal(await daemon.readMetric("proofd_head_timestamp_seconds"), 1_800_000_005);
  for (const block of ["0x4", "0x5", "latest"])
    assert.match((await estimateTransfer(daemon, block)) ?? "", /^insufficient funds for transfer/);
  const root = (await daemon.call("chain_getStateRoot", ["0x5"])).result;
  assert.notEqual(root.stateRoot, gone.stateRoot);

  daemon.input.write(encodeLines([{...otherLine(6), finalized: "0x5"}]));
  await waitForHead(daemon, 6);
  const {block, proof} = (await daemon.call("chain_getProofAt", [ACCOUNT, [], "0x5"])).result;
  assert.deepEqual(block, {...root, finalized: true});
  const {account} = verifyProof(sha256Suite, decodeHex(root.stateRoot), ACCOUNT, [], proof);
  assert.equal(account?.balance, BigInt(POOR));
});

test("what is finalized or not stored is refused, and an import goes on with the block after the newest one", async () => {
  const {daemon, db} = await startBranch("refused");
  try {
    const rollback = (to: number) => sendCommand(db, {kind: "rollback", to});
    const finalized = await rollback(1);
    assert.match(finalized.ok ? "" : finalized.message, /blocks up to 2 are finalized/);
    const unknown = await rollback(6);
    assert.match(unknown.ok ? "" : unknown.message, /block 6 is not in the store/);
    daemon.input.write(encodeLines([createLine(6)]));
    await waitForHead(daemon, 6);
    assert.ok((await rollback(4)).ok);
    daemon.input.write(encodeLines([createLine(6)]));
    await daemon.waitForStderr(/expected block 5 next, got block 6/);
    // The import has ended: the server does it itself.
    const answer = await rollback(3);
    assert.deepEqual(answer.ok && [answer.before.latest, answer.after.latest], [4, 3]);
    assert.equal((await daemon.call("chain_getCoverage")).result.latest, "0x3");
  } finally {
    await daemon.stop();
  }
  const args = ["rollback", "--db", db, "--to", "1", "--finalized"];
  const {stdout} = await runHere(args);
  assert.match(
    stdout,
    /^rolled back from block 3 to block 1\nThe removed blocks may still exist elsewhere:\n/,
  );
  for (const where of [
    /caches of GET \/v1\/proof, for up to 60 minutes/,
    /replicas/,
    /stream of serve --publish/,
  ])
    assert.match(stdout, where);
});
