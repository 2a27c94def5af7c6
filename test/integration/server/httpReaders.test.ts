/** HTTP clients that stop reading or go away: what they cost, and that nobody else waits for them. */
import assert from "node:assert/strict";
import {readFile} from "node:fs/promises";
import {after, before, describe, test} from "node:test";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {encodePost, RawConnection} from "../../support/http/rawConnection.ts";
import {CHAIN_ANSWER, CHAIN_CALL, largeBatch, proofText} from "../../support/http/wireRequests.ts";
import {type Daemon, QUEUED_COST, startDaemon} from "../../support/processes/daemon.ts";
import {once} from "../../support/wait.ts";

const ABORTED = "proofd_requests_aborted_total";
const MADE = 'proofd_calls_total{method="chain_getProof",code="0"}';

async function readResidentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
}

describe("HTTP with slow and vanishing readers", () => {
  const folder = new WorkFolder();
  let daemon: Daemon;

  before(async () => {
    const db = await folder.importChain("db", 2, 2);
    // However slow the machine: no request is given up.
    daemon = await startDaemon([
      "--db",
      db,
      "--workers",
      "1",
      "--request-timeout",
      "3600000",
      "--max-queue",
      "1000000",
    ]);
  });

  after(() => daemon.stop());

  test("a reader of 200 MB that stops reading costs a bounded window, holds up nobody, and gets every byte", async t => {
    const count = 220;
    await daemon.post(largeBatch(40)); // the workers' own buffers have their size
    const before = await readResidentBytes(daemon.child.pid as number);
    const slow = await RawConnection.open(daemon.port);
    t.after(() => slow.destroy());
    // Bytes are counted and looked at as they pass: the test does not keep them either.
    slow.socket.removeAllListeners("data");
    slow.socket.pause();
    await slow.write(encodePost(largeBatch(count)));
    // While nothing is read, others are answered, production stops, and the paused request leaves the queue. Not longer
    // than for that: a reader that takes nothing for 10 s is cut.
    for (let round = 0, queued = 1, made = 0; round < 5 || queued > 0 || made < 2; round++) {
      for (let id = 0; id < 10; id++)
        assert.equal(JSON.parse((await daemon.post(proofText(id, 1))).text).id, id);
      const watched = await daemon.readMetrics(QUEUED_COST, "proofd_held_bytes", ABORTED, MADE);
      const [cost, held, cut, count] = watched as [number, number, number, number];
      assert.equal(cut, 0, "a reader that takes nothing for 10 s is cut");
      [queued, made] = [cost, count];
      assert.ok(held < 8e6, `holds ${held} bytes`);
    }
    const grown = (await readResidentBytes(daemon.child.pid as number)) - before;
    assert.ok(grown < 100e6, `grew by ${grown} bytes`);
    let received = 0;
    const ids: number[] = [];
    let rest = "";
    let isHead = true;
    for await (const chunk of slow.socket) {
      received += chunk.length;
      rest += chunk.toString("latin1");
      if (isHead) {
        assert.match(rest, /^HTTP\/1.1 200 OK\r\n/);
        isHead = false;
      }
      for (const match of rest.matchAll(/"jsonrpc":"2.0","id":(\d+),"result"/g)) ids.push(Number(match[1]));
      if (rest.endsWith("\r\n0\r\n\r\n")) break;
      // Long enough to find an id that lies across two pieces, too short to find one twice.
      rest = rest.slice(rest.lastIndexOf('"result"') + 1).slice(-40);
    }
    assert.ok(received > 150e6, `${received} bytes`);
    assert.deepEqual(
      ids,
      Array.from({length: count}, (_, id) => id),
    );
  });

  test("a client that goes away in mid-answer stops the work for it", async () => {
    const name = 'proofd_calls_total{method="chain_getProof",code="0"}';
    const before = await daemon.readMetric(name);
    const connection = await RawConnection.open(daemon.port);
    await connection.write(encodePost(largeBatch(220)));
    await once(connection.socket, "data");
    connection.destroy();
    await daemon.until("an aborted request", async () => (await daemon.readMetric(ABORTED)) > 0);
    assert.equal(await daemon.readMetric(QUEUED_COST), 0);
    assert.equal(await daemon.readMetric("proofd_held_bytes"), 0);
    assert.equal(JSON.parse((await daemon.post(proofText(1))).text).id, 1);
    assert.ok((await daemon.readMetric(name)) - before < 200);
  });

  test("many clients that come and go in every phase leave the service as it was", async () => {
    const rounds = Array.from({length: 60}, async (_, round) => {
      const connection = await RawConnection.open(daemon.port);
      const request = encodePost(round % 3 === 0 ? largeBatch(5) : proofText(round, 20));
      await connection.write(request.slice(0, round % 4 === 0 ? 60 + round : undefined));
      if (round % 2 === 0) connection.destroy();
      else if (round % 4 !== 0) await connection.readAnswer();
      connection.destroy();
      await connection.closed;
    });
    await Promise.all(rounds);
    await daemon.until("an empty queue", async () => (await daemon.readMetric(QUEUED_COST)) === 0);
    assert.equal(await daemon.readMetric("proofd_held_bytes"), 0);
    assert.equal((await daemon.post(CHAIN_CALL)).text, CHAIN_ANSWER);
    assert.equal(daemon.stderr, "");
  });
});
