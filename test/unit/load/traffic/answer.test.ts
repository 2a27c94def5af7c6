/** What an answer with HTTP 200 says of each call: cheaply where it is plain, exactly where it is not. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {readAnswer, shorten, type Verdict} from "../../../../load/traffic/answer.ts";

function read(answer: unknown, batch: number, estimates: readonly number[] = []): Verdict {
  const text = typeof answer === "string" ? answer : JSON.stringify(answer);
  return readAnswer(Buffer.from(text), {text: "", estimates}, batch, shorten);
}

test("a result for each call needs no parsing", () => {
  const answers = [0, 1, 2].map(id => ({jsonrpc: "2.0", id, result: {proof: "0x"}}));
  const all = {results: 3, estimateResults: 1, troubles: [], malformed: 0, malformedReason: ""};
  assert.deepEqual(read(answers, 3, [2]), all);
  assert.deepEqual(read(answers[0], 1), {...all, results: 1, estimateResults: 0});
});

test("each error has its code and message, and estimates are told from proofs", () => {
  const answers = [
    {id: 3, result: "0x1"},
    {id: 1, error: {message: "first", code: -32002}},
    {id: 0, error: {code: 3, message: "reverted", data: '"result"'}},
    {id: 2, error: {code: -32002, message: "second\u001b\n\u2028"}},
  ];
  assert.deepEqual(read(answers, 4, [0, 3]), {
    results: 1,
    estimateResults: 1,
    troubles: [
      {code: 3, message: "reverted", calls: 1},
      {code: -32002, message: "first", calls: 1},
      {code: -32002, message: "second   ", calls: 1},
    ],
    malformed: 0,
    malformedReason: "",
  });
});

test("a batch refused as a whole is an error of each of its calls; one beside a result counts, and a message that is no text is none", () => {
  const table: [unknown, number, Verdict["troubles"]][] = [
    [
      {id: null, error: {code: -32005, message: "too long"}},
      7,
      [{code: -32005, message: "too long", calls: 7}],
    ],
    [{id: 0, error: {code: 1, message: {toString: 1}}}, 1, [{code: 1, message: "", calls: 1}]],
    [{id: 0, result: null, error: {code: 1, message: "both"}}, 1, [{code: 1, message: "both", calls: 1}]],
  ];
  for (const [answer, batch, expected] of table) {
    const {troubles, results} = read(answer, batch);
    assert.deepEqual({troubles, results}, {troubles: expected, results: 0});
  }
});

test("calls without an answer, and answers to nobody's call, are malformed", () => {
  const table: [unknown, number, number, RegExp][] = [
    ["<html>", 2, 2, /not JSON: <html>/],
    ["", 1, 1, /not JSON/],
    ["7", 1, 1, /no answer with id 0/],
    [[{id: 0, result: 1}], 1, 1, /an array for a single call/],
    [{id: 0, result: 1}, 2, 2, /no array of answers/],
    [[{id: 0, result: 1}], 2, 1, /no answer with id 1/],
    [[{id: 0, result: 1}, {id: 1}], 2, 1, /neither result nor error for id 1/],
    [{id: 0, error: "no code"}, 1, 1, /neither result nor error for id 0/],
  ];
  for (const [answer, batch, malformed, reason] of table) {
    const verdict = read(answer, batch);
    assert.equal(verdict.malformed, malformed, JSON.stringify(answer));
    assert.match(verdict.malformedReason, reason);
    assert.equal(verdict.results, batch - malformed);
  }
});
