import assert from "node:assert/strict";
import {connect} from "node:net";
import {test} from "node:test";
import {pino} from "pino";
import {SharedBytes} from "../../../../server/fairness/sharedBytes.ts";
import type {Work} from "../../../../server/fairness/work.ts";
import {NodeListener} from "../../../../server/listener/nodeListener.ts";
import {once, waitUntil} from "../../../support/wait.ts";

test("unparsed bytes above a client's limit close its connection, and are not subtracted from its others", async t => {
  const limit = 20_000;
  const unread = new SharedBytes({bodyBytes: limit, bodyBytesTotal: 4 * limit});
  const reads: Work[] = [];
  let closed = 0;
  const listener = new NodeListener(
    {
      connect: () => ({client: "a"}),
      disconnect: () => closed++,
      take: () => assert.fail("nothing is parsed"),
      unread,
      work: (_, read) => reads.push(read),
    },
    pino({enabled: false}),
  );
  t.after(() => listener.close());
  const port = await listener.listen("127.0.0.1", 0);
  const send = () => {
    const socket = connect(port, "127.0.0.1");
    socket.write(Buffer.alloc(15_000, "x"));
    return socket;
  };
  const first = send();
  await waitUntil("the first read", () => reads.length === 1);
  await once(send().resume(), "close");
  first.destroy();
  await waitUntil("the end of both connections", () => closed === 2);
  const holder = {client: "a", giveWay: () => {}};
  assert.equal(unread.add(holder, limit), undefined);
  assert.equal(unread.add(holder, 1)?.got, limit + 1);
});
