import assert from "node:assert/strict";
import {test} from "node:test";
import {UnsentBytes} from "../../../../server/http/unsentBytes.ts";

/** What a reply looks like from there: closing it gives its bytes back. */
function stall(held: UnsentBytes, byteCount: number, closed: number[], client = "a") {
  const reply = {
    unsentBytes: byteCount,
    readClient: () => client,
    close() {
      closed.push(byteCount);
      held.remove(byteCount);
      held.unstall(reply);
    },
  };
  held.add(byteCount);
  held.stall(reply);
  return reply;
}

test("beyond the limit the replies that stalled first are cut, and no more than needed", () => {
  const held = new UnsentBytes(100);
  const closed: number[] = [];
  const moving = stall(held, 30, closed);
  stall(held, 31, closed);
  stall(held, 32, closed);
  held.relieve();
  assert.deepEqual(closed, []);
  held.unstall(moving);
  held.stall(moving);
  held.add(10);
  held.relieve();
  assert.deepEqual(closed, [31]);
  assert.equal(held.total, 72);
  assert.equal(held.cut, 1);
});

test("a client that holds less than the others keeps its connections, however long it has stalled", () => {
  const held = new UnsentBytes(100);
  const closed: number[] = [];
  stall(held, 20, closed, "b");
  for (let at = 0; at < 4; at++) stall(held, 30 + at, closed, `a${at % 2}`);
  held.relieve();
  assert.deepEqual(closed, [30, 31]);
  assert.equal(held.total, 85);
});
