import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {Fifo} from "../../../../server/fairness/fifo.ts";

test("what is pushed comes out at both ends, as from an array", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("push", "push", "shift", "pop"), {maxLength: 2000}), steps => {
      const fifo = new Fifo<number>();
      const model: number[] = [];
      for (const [at, step] of steps.entries()) {
        if (step === "push") {
          fifo.push(at);
          model.push(at);
        } else if (step === "pop") assert.equal(fifo.pop(), model.pop());
        else {
          assert.equal(fifo.peek(), model[0]);
          assert.equal(fifo.shift(), model.shift());
        }
        assert.equal(fifo.length, model.length);
      }
    }),
  );
});
