import assert from "node:assert/strict";
import {test} from "node:test";
import {UnsentBytes} from "../../../../server/http/unsentBytes.ts";

/** What a reply looks like from there: closing it gives its bytes back. */
function stall(held: UnsentBytes, byteCount: number, closed: number[]) {
  const reply = {
    unsentBytes: byteCount,
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
