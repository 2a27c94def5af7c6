/** Endless loops and short estimates at once, on one estimate thread. No loop ends before its test does. */
import assert from "node:assert/strict";
import {afterEach, before, describe, test} from "node:test";
import {ACCOUNTS, WorkFolder} from "../../support/chains/serviceChain.ts";
import {codeOf} from "../../support/estimates/assembler.ts";
import {encodePost, RawConnection} from "../../support/http/rawConnection.ts";
import {type Daemon, startDaemon} from "../../support/processes/daemon.ts";

const LOOP = `0x${"99".repeat(20)}`;
/** Hashes: what takes longest for its gas. */
const ENDLESS = {[LOOP]: {code: codeOf("again: PUSH1 0 PUSH1 0 KECCAK256 POP PUSH1 again JUMP")}};
/** Counts the first word of the data down to 0, and then runs `last`. */
const countdown = (last: string) =>
  codeOf(
    `PUSH1 0 CALLDATALOAD again: DUP1 ISZERO PUSH1 done JUMPI PUSH1 1 SWAP1 SUB PUSH1 again JUMP done: ${last}`,
  );
const MANY_TURNS = `0x${(5_000_000).toString(16).padStart(64, "0")}`;
/** The most that there is. The loop takes a minute and more for it. */
const ENDLESS_GAS = 2 ** 32;
const FLAGS = `--hardfork prague --workers 1 --estimate-workers 1 --gas-cap ${ENDLESS_GAS}`.split(" ");
const LOOPING_CONNECTIONS = 8;
const LONG_STARTS = 'proofd_estimate_starts_total{queue="long"}';
/** On Linux every address of 127.0.0.0/8 is this machine's; elsewhere the loops' own client stands in. */
const OTHER_CLIENT = process.platform === "linux" ? "127.0.0.2" : "127.0.0.1";

function call(id: unknown, params: unknown): string {
  return JSON.stringify({jsonrpc: "2.0", id, method: "chain_estimateGas", params});
}

function transfer(id: unknown): string {
  return call(id, [{from: ACCOUNTS[0], to: ACCOUNTS[1], value: "0x1"}, "latest"]);
}

function loop(id: unknown): string {
  return call(id, [{to: LOOP, gas: `0x${ENDLESS_GAS.toString(16)}`}, "latest", ENDLESS]);
}

describe("estimates beside endless loops", () => {
  const folder = new WorkFolder();
  let db: string;
  let daemon: Daemon;
  const connections: RawConnection[] = [];

  before(async () => {
    db = await folder.importChain("db", 1, 1);
  });

  afterEach(async () => {
    for (const connection of connections.splice(0)) connection.destroy();
    // A loop takes as long as it may: no orderly end waits for it.
    await daemon.stop("SIGKILL");
  });

  async function start(timeout: string): Promise<void> {
    const flags = ["--db", db, ...FLAGS, "--request-timeout", timeout];
    daemon = await startDaemon(flags, {estimates: true, tuning: {settings: {timeMs: 600_000}}});
    // Code that a thread has not run yet may take longer than a slice.
    const connection = await connect();
    for (let long = -1, now = 0; now > long; now = await daemon.readMetric(LONG_STARTS)) {
      long = now;
      for (let round = 0; round < 5; round++) await ask(connection, transfer(round));
    }
  }

  async function connect(address?: string): Promise<RawConnection> {
    const connection = await RawConnection.open(daemon.port, address);
    connections.push(connection);
    return connection;
  }

  async function ask(connection: RawConnection, body: string) {
    await connection.write(encodePost(body));
    return JSON.parse((await connection.readAnswer()).body);
  }

  /** Connections that each ask for a loop; the number of answers grows with those that come. */
  async function startLoops(): Promise<{answers: number}> {
    const seen = {answers: 0};
    for (let at = 0; at < LOOPING_CONNECTIONS; at++) {
      const connection = await connect();
      await connection.write(encodePost(loop(at)));
      connection.readAnswer().then(
        () => {
          seen.answers++;
        },
        () => {}, // the server is killed at the end
      );
    }
    return seen;
  }

  test("a call of more than a slice is made on the long thread; there, and as transfers, others are answered while no loop is", async () => {
    await start("86400000");
    const counting = async (id: string, last: string, address?: string) =>
      ask(
        await connect(address),
        call(id, [
          {to: LOOP, data: MANY_TURNS, gas: "0x40000000"},
          "latest",
          {[LOOP]: {code: countdown(last)}},
        ]),
      );
    const warm = await daemon.readMetric(LONG_STARTS);
    const answer = await counting("long", "STOP");
    assert.ok(Number(answer.result?.gasLimit) > 3_000_000, JSON.stringify(answer));
    assert.equal(await daemon.readMetric(LONG_STARTS), warm + 1);
    const failing = await counting("fails", "INVALID");
    assert.equal(failing.error?.code, -32000, JSON.stringify(failing));
    const long = await daemon.readMetric(LONG_STARTS);
    const seen = await startLoops();
    const same = await connect();
    const other = await connect(OTHER_CLIENT);
    for (let round = 0; round < 5; round++)
      for (const connection of [same, other]) {
        const answer = await ask(connection, transfer(round));
        assert.equal(answer.id, round);
        assert.equal(answer.result?.gasLimit, "0x5208", JSON.stringify(answer));
      }
    const batch = await ask(same, `[${Array.from({length: 100}, (_, id) => transfer(id)).join(",")}]`);
    assert.deepEqual(
      batch.map(({id, result}: {id: number; result: {gasLimit: string}}) => [id, result.gasLimit]),
      Array.from({length: 100}, (_, id) => [id, "0x5208"]),
    );
    assert.equal(seen.answers, 0);
    // All loops get as far as they can.
    while ((await daemon.readMetric('proofd_estimate_queue_calls{queue="long"}')) < LOOPING_CONNECTIONS - 1)
      await ask(same, transfer("again"));
    assert.equal(await daemon.readMetric(LONG_STARTS), long + 1);
    assert.equal((await ask(other, transfer("last"))).result.gasLimit, "0x5208");
    // One of the loops has the only long thread. Another client's long call takes turns with it.
    if (process.platform === "linux")
      assert.deepEqual((await counting("long", "STOP", OTHER_CLIENT)).result, answer.result);
    assert.equal(seen.answers, 0);
  });
});
