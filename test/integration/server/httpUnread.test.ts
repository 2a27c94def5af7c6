/** Answers that wait for a reader in the process, because the kernel takes no more: with both HTTP libraries (test/run.ts). */
import assert from "node:assert/strict";
import {Socket} from "node:net";
import {before, type TestContext, test} from "node:test";
import {setTimeout as pause} from "node:timers/promises";
import {type FrontService, FrontStore} from "../../support/http/frontService.ts";
import {encodePost, RawConnection} from "../../support/http/rawConnection.ts";
import {proofText} from "../../support/http/wireRequests.ts";
import {LOOK_MS} from "../../support/wait.ts";

/** A library hands what is left of an answer to the system in one write, if it is not more. */
const WRITE_BYTES = 64 * 1024;
/** More than a kernel keeps for a connection. */
const MOST_BYTES = 16e6;
/** An answer that is never told to be over would otherwise be waited for without end. */
const OPTIONS = {timeout: 60_000};

let store: FrontStore;

before(async () => {
  store = await FrontStore.create();
});

interface Unread {
  readonly connection: RawConnection;
  /** Requests that were sent. The answer to the last one is not taken by the kernel. */
  readonly sent: number;
  readonly answerBytes: number;
  /** Resolves when the last request is over. */
  readonly settled: Promise<boolean>;
}

/** Asks on a connection, one call after the other, and reads no answer. */
async function leaveUnread(t: TestContext, service: FrontService): Promise<Unread> {
  const {metrics} = service.front;
  const observe = metrics.observeRequest.bind(metrics);
  let settle: (isSettled: boolean) => void = () => {};
  t.mock.method(metrics, "observeRequest", (...request: Parameters<typeof observe>) => {
    observe(...request);
    settle(true);
  });
  const request = proofText(1, 4);
  const answerBytes = (await service.ask(JSON.parse(request))).length;
  assert.ok(answerBytes < WRITE_BYTES, `answers of ${answerBytes} bytes`);
  const connection = await RawConnection.open(service.port);
  t.after(() => connection.destroy());
  connection.socket.pause();
  for (let sent = 1; sent * answerBytes < MOST_BYTES; sent++) {
    const settled = new Promise<boolean>(resolve => {
      settle = resolve;
    });
    await connection.write(encodePost(request));
    while (!(await Promise.race([settled, pause(LOOK_MS, false)])))
      if ((await service.readMetric("proofd_held_bytes")) > 0)
        return {connection, sent, answerBytes, settled};
  }
  throw new Error(`expected held bytes behind ${MOST_BYTES} that are not read, got none`);
}

test("an answer that its reader does not take is held, until its connection has idled", OPTIONS, async t => {
  await store.serve(async service => {
    const idles = t.mock.method(Socket.prototype, "setTimeout");
    const {answerBytes, settled} = await leaveUnread(t, service);
    assert.ok((await service.readMetric("proofd_held_bytes")) <= answerBytes);
    if (service.front.http.library === "node") {
      // What Node would do after this time is done now. uWebSockets.js has a time of its own.
      const last = idles.mock.calls.at(-1) ?? assert.fail("no time-out was set");
      assert.equal(last.arguments[0], 10_000);
      (last.this as Socket).emit("timeout");
    }
    await settled;
    assert.equal(await service.readMetric("proofd_requests_aborted_total"), 1);
    assert.equal(await service.readMetric("proofd_held_bytes"), 0);
  });
});

test("a stop waits for the end of an answer that its reader takes late", OPTIONS, async t => {
  await store.serve(async service => {
    const {connection, sent, answerBytes} = await leaveUnread(t, service);
    let isDrained = false;
    const drained = service.front.http.drain().then(() => {
      isDrained = true;
    });
    await pause(LOOK_MS);
    assert.equal(isDrained, false);
    connection.socket.resume();
    await drained;
    service.front.http.close();
    const text = await connection.readToClose();
    const bodies = text.split(/HTTP\/1\.1 200 OK\r\n[^{]*/).slice(1);
    assert.equal(bodies.length, sent);
    for (const body of bodies) assert.equal(body.length, answerBytes);
  });
});
