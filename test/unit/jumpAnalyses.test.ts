import assert from "node:assert/strict";
import {test} from "node:test";
import {JumpAnalyses} from "../../workers/estimate/jumpAnalyses.ts";

/** An analysis of its own for each code, and how often one was made. */
class Counter {
  readonly analyses = new JumpAnalyses();
  made = 0;

  of(code: Uint8Array): unknown {
    return this.analyses.of(code, () => ({made: ++this.made}));
  }
}

test("a code is analysed once, another code of the same bytes for itself", () => {
  const counter = new Counter();
  const [first, second] = [new Uint8Array(100), new Uint8Array(100)];
  const analysis = counter.of(first);
  assert.equal(counter.of(first), analysis);
  assert.notEqual(counter.of(second), analysis);
  assert.equal(counter.of(first), analysis);
  assert.equal(counter.made, 2);
});

test("a view of larger memory is analysed every time", () => {
  const counter = new Counter();
  const view = new Uint8Array(1000).subarray(10, 20);
  counter.of(view);
  counter.of(view);
  assert.equal(counter.made, 2);
});

test("what is kept is bounded: by the codes' bytes, and for tiny codes by their number", () => {
  for (const [bytes, enough] of [
    [300_000, 4],
    [1, 40_000],
  ] as const) {
    const counter = new Counter();
    const first = new Uint8Array(bytes);
    counter.of(first);
    for (let code = 0; code < enough; code++) counter.of(new Uint8Array(bytes));
    const {made} = counter;
    counter.of(first);
    assert.equal(counter.made, made + 1, `${bytes} bytes`);
  }
});
