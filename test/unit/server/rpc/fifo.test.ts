import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {Fifo} from "../../../../server/rpc/fifo.ts";

test("what is pushed comes out in order, as from an array", () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), {maxLength: 2000}), steps => {
      const fifo = new Fifo<number>();
      const model: number[] = [];
      for (const [at, isPush] of steps.entries()) {
        if (isPush) {
          fifo.push(at);
          model.push(at);
        } else {
          assert.equal(fifo.peek(), model[0]);
          assert.equal(fifo.shift(), model.shift());
        }
        assert.equal(fifo.length, model.length);
      }
    }),
  );
});
