import assert from "node:assert/strict";
import {test} from "node:test";
import {NodeFailure} from "../../../../nodes/rpc/node.ts";
import {parseBatchAnswer} from "../../../../nodes/rpc/response.ts";

test("a batch with a missing, second or foreign answer is a failure", () => {
  const answer = (id: unknown) => ({jsonrpc: "2.0", id, result: 1});
  const table: [unknown, RegExp][] = [
    [[], /batch of 2 calls has another number of elements: 0$/],
    [[answer(7)], /has another number of elements: 1$/],
    [[answer(7), answer(8), answer(9)], /has another number of elements: 3$/],
    [[answer(7), answer(7)], /an id twice$/],
    [[answer(7), answer(9)], /another request's id$/],
    [[answer(7), answer(6)], /another request's id$/],
    [[answer(7), answer(7.5)], /another request's id$/],
    [[answer(7), answer(null)], /another request's id$/],
    [[answer(7), null], /not JSON-RPC 2\.0$/],
    [answer(7), /no array$/],
  ];
  for (const [value, message] of table)
    assert.throws(
      // To a batch of the calls 7 and 8.
      () => parseBatchAnswer(Buffer.from(JSON.stringify(value)), 7, 2),
      error => error instanceof NodeFailure && message.test(error.message),
    );
});
