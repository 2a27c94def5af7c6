/** HTTP when the service ends: which calls are still answered, and what cannot keep it from ending. */
import assert from "node:assert/strict";
import {once} from "node:events";
import {after, before, describe, test} from "node:test";
import {startDaemon} from "../support/daemon.ts";
import {encodePost, RawConnection} from "../support/rawConnection.ts";
import {WorkFolder} from "../support/serviceChain.ts";
import {CHAIN_ANSWER, CHAIN_CALL, largeBatch} from "../support/wireRequests.ts";

describe("HTTP at the end of the service", () => {
  let folder: WorkFolder;
  let db: string;

  before(async () => {
    folder = await WorkFolder.create();
    db = await folder.importChain("db", 2, 2);
  });

  after(() => folder.remove());

  test("after SIGTERM calls under way are answered, new requests are 503, new connections refused, exit 0", async () => {
    const daemon = await startDaemon(["--db", db, "--workers", "1"]);
    const {port} = daemon;
    const idle = await RawConnection.open(port);
    await idle.write(encodePost(CHAIN_CALL));
    assert.equal((await idle.readAnswer()).body, CHAIN_ANSWER);
    const probe = await RawConnection.open(port);
    const busy = await RawConnection.open(port);
    await busy.write(encodePost(largeBatch(30)));
    await once(busy.socket, "data");
    busy.socket.pause(); // under way until it is read
    daemon.child.kill("SIGTERM");
    await daemon.waitForStderr(/stopping/);
    await probe.write("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
    const unready = await probe.readAnswer();
    assert.equal(unready.status, 503);
    await idle.write(encodePost(CHAIN_CALL));
    const refused = await idle.readAnswer();
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.connection, "close");
    assert.notEqual(refused.headers["retry-after"], undefined);
    assert.equal(JSON.parse(refused.body).error.code, -32005);
    await idle.closed;
    await assert.rejects(RawConnection.open(port), /ECONNREFUSED/);
    busy.socket.resume();
    assert.equal(JSON.parse((await busy.readAnswer()).body).length, 30);
    const {code} = await daemon.finished;
    assert.equal(code, 0);
  });

  test("SIGINT does the same, and an idle service ends at once", async () => {
    const daemon = await startDaemon(["--db", db, "--workers", "1"]);
    const startedMs = performance.now();
    assert.equal((await daemon.stop("SIGINT")).code, 0);
    assert.ok(performance.now() - startedMs < 5_000);
  });

  test("a reader that never reads cannot keep the service beyond 10 s", async () => {
    const daemon = await startDaemon(["--db", db, "--workers", "1"]);
    const stuck = await RawConnection.open(daemon.port);
    await stuck.write(encodePost(largeBatch(100)));
    await once(stuck.socket, "data");
    stuck.socket.pause();
    const startedMs = performance.now();
    const {code, signal, stderr} = await daemon.stop();
    assert.equal(code, 0, `${signal}: ${stderr}`);
    assert.ok(performance.now() - startedMs < 10_000);
    stuck.destroy();
  });

  test("a second signal ends it at once, with the signal's exit code", async () => {
    for (const [signal, code] of [
      ["SIGTERM", 143],
      ["SIGINT", 130],
    ] as const) {
      const daemon = await startDaemon(["--db", db, "--workers", "1"]);
      const stuck = await RawConnection.open(daemon.port);
      await stuck.write(encodePost(largeBatch(100)));
      await once(stuck.socket, "data");
      stuck.socket.pause();
      daemon.child.kill("SIGTERM");
      await daemon.waitForStderr(/stopping/);
      assert.equal((await daemon.stop(signal)).code, code);
      stuck.destroy();
    }
  });
});
