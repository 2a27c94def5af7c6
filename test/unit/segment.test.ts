import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {
  assembleAnswers,
  assembleErrors,
  costOfCall,
  cutSegments,
  type ProofCalls,
  TASK_COST,
} from "../../server/dispatch/segment.ts";
import {packedBytes} from "../../server/rpc/proofParams.ts";

/** A call by its number of keys, or a text that is ready. */
type Slot = number | string;

const slots = fc.array(fc.oneof(fc.nat(100), fc.constantFrom("[1]", "[2]")), {minLength: 1, maxLength: 300});

function createCalls(slots: readonly Slot[]): ProofCalls {
  const ends: number[] = [];
  const ids: string[] = [];
  for (const slot of slots) {
    if (typeof slot === "string") continue;
    ends.push((ends.at(-1) ?? 0) + packedBytes(slot));
    ids.push(String(ids.length));
  }
  const packed = new Uint8Array(ends.at(-1) ?? 0);
  return {slots: slots.map(slot => (typeof slot === "string" ? slot : null)), ids, packed, ends};
}

test("segments cover every slot and call once, in order, and exceed the task's cost with one call only", () => {
  fc.assert(
    fc.property(slots, list => {
      fc.pre(list.some(slot => typeof slot === "number"));
      const calls = createCalls(list);
      const segments = cutSegments(calls);
      let slot = 0;
      let call = 0;
      for (const segment of segments) {
        assert.equal(segment.firstSlot, slot);
        assert.equal(segment.firstCall, call);
        assert.ok(segment.endCall > segment.firstCall);
        let cost = 0;
        for (; call < segment.endCall; call++) cost += costOfCall(calls, call);
        assert.equal(segment.cost, cost);
        assert.ok(cost <= TASK_COST || segment.endCall === segment.firstCall + 1);
        slot = segment.endSlot;
      }
      assert.equal(slot, list.length);
      assert.equal(call, calls.ids.length);
    }),
  );
});

test("answers, failures and ready texts come out in request order, whatever the task held before them", () => {
  fc.assert(
    fc.property(
      slots,
      fc.nat(3),
      fc.array(fc.boolean(), {minLength: 300, maxLength: 300}),
      (list, base, fails) => {
        fc.pre(list.some(slot => typeof slot === "number"));
        const calls = createCalls(list);
        let expected = "";
        for (const segment of cutSegments(calls)) {
          // The task: `base` answers of other requests, then this segment's.
          let text = "";
          const ends: number[] = [];
          for (let other = 0; other < base; other++) {
            text += "<other>,";
            ends.push(text.length);
          }
          for (let call = segment.firstCall; call < segment.endCall; call++) {
            if (fails[call] !== true) text += `<${call}>,`;
            ends.push(text.length);
          }
          const answers = {text: Buffer.from(text), ends: Uint32Array.from(ends), failures: []};
          const pieces = assembleAnswers(
            calls,
            segment,
            answers,
            base,
            (_call, idText) => `failed ${idText}`,
          );
          expected += Buffer.concat(pieces).toString();
        }
        let call = 0;
        const wanted = list.map(slot => {
          if (typeof slot === "string") return `${slot},`;
          const text = fails[call] === true ? `failed ${call},` : `<${call}>,`;
          call++;
          return text;
        });
        assert.equal(expected, wanted.join(""));
      },
    ),
  );
});

test("neighbouring answers stay one piece that shares the worker's memory", () => {
  const calls = createCalls([0, 0, 0]);
  const text = Buffer.from("a,b,c,");
  const answers = {text, ends: Uint32Array.of(2, 4, 6), failures: []};
  const [segment] = cutSegments(calls);
  assert.ok(segment !== undefined);
  const pieces = assembleAnswers(calls, segment, answers, 0, () => assert.fail());
  assert.equal(pieces.length, 1);
  assert.equal(pieces[0]?.buffer, text.buffer);
});

test("a segment that no worker answered has an error for each call and its ready texts", () => {
  const calls = createCalls([1, "ready", 2]);
  const [segment] = cutSegments(calls);
  assert.ok(segment !== undefined);
  const text = Buffer.concat(assembleErrors(calls, segment, idText => `error ${idText}`)).toString();
  assert.equal(text, "error 0,ready,error 1,");
});
